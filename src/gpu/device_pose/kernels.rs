//! The kernels that pose: source, bindings, and pipelines for the needs of a group.

use super::clips::ClipStore;
use crate::gpu::Gpu;
use crate::gpu::binding::{READ_ONLY, WRITTEN, bind_group_layout, bind_numbered, layout_entry, pipeline_layout};
use crate::gpu::layout::{self, WORKGROUP};
use crate::gpu::shader::{Constants, Edit, compute_pipeline, module};
use crate::model::Model;

/// Bindings of group 0; a binding has the same number in every kernel.
pub mod binding {
    pub const BATCH: u32 = 0;
    pub const NOW: u32 = 1;
    pub const LAYERS: u32 = 2;
    pub const PLAYERS: u32 = 3;
    pub const CLIPS: u32 = 4;
    pub const TRACKS: u32 = 5;
    pub const WORDS: u32 = 6;
    pub const QUADS: u32 = 7;
    pub const JOINTS: u32 = 8;
    pub const CURSORS: u32 = 9;
    pub const MOMENTA: u32 = 10;
    pub const MASKS: u32 = 11;
    pub const LOCALS: u32 = 12;
    pub const LEVELS: u32 = 13;
    pub const MATRICES: u32 = 14;
    pub const MODEL: u32 = 15;
    pub const ENTRY_JOINTS: u32 = 16;
    pub const PALETTES: u32 = 17;
    pub const INVERSE_BINDS: u32 = 18;
    pub const POSE_PAIRS: u32 = 19;
    /// Number of bindings.
    pub const COUNT: usize = 20;
}
use binding::*;

/// Unit of work of a thread or workgroup in a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkUnit {
    /// One thread per instance.
    Instances,
    /// One workgroup per instance.
    Groups,
    /// One thread per joint of `AT_ONCE` neighbouring slots.
    Slots,
    /// One thread per joint of an instance.
    Joints,
    /// One thread per palette entry of `AT_ONCE` neighbouring instances.
    Entries,
}

impl WorkUnit {
    /// The rule for computing a dispatch from a batch's instances and slots, if a thread takes several of either.
    fn dispatch(self, batch: &layout::Batch, at_once: u32) -> layout::Dispatch {
        let (at_once, threads, workgroup) = match self {
            Self::Groups => (1, 1, 1),
            Self::Instances => (1, 1, WORKGROUP),
            Self::Joints => (1, batch.joints, WORKGROUP),
            Self::Slots => (at_once, batch.joints, WORKGROUP),
            Self::Entries => (at_once, batch.entries, WORKGROUP),
        };
        layout::Dispatch { slots: (self == Self::Slots).into(), at_once, threads, workgroup, x: 0, z: 1 }
    }
}

/// Number of neighbouring slots or instances per thread, which reuses the loaded joint or entry, on a software adapter
/// and on hardware: on the former a thread costs as much as several loads, while the latter needs many threads.
const AT_ONCE: [u32; 2] = [8, 1];

fn at_once(gpu: &Gpu) -> u32 {
    AT_ONCE[usize::from(!gpu.summary().software)]
}

/// A kernel that poses.
#[derive(Debug)]
pub struct PoseKernel {
    /// Name of its file in shaders/.
    pub name: &'static str,
    /// Its WGSL, after shaders/pose.wgsl.
    parts: &'static [&'static str],
    reads: &'static [u32],
    writes: &'static [u32],
    /// Names of its overrides.
    overrides: &'static [&'static str],
    threads: WorkUnit,
}

/// Clip positions and weights of the slots of every instance.
const SCHEDULE: PoseKernel = PoseKernel {
    name: "pose_schedule",
    parts: &[
        include_str!("../../../shaders/pose_time.wgsl"),
        include_str!("../../../shaders/pose_keys.wgsl"),
        include_str!("../../../shaders/pose_schedule.wgsl"),
    ],
    reads: &[NOW, LAYERS, PLAYERS, CLIPS, WORDS],
    writes: &[CURSORS, MOMENTA, POSE_PAIRS],
    overrides: &["INERTIA", "COMPACT", "RATES"],
    threads: WorkUnit::Instances,
};

/// Local poses of slots.
const SAMPLE: PoseKernel = PoseKernel {
    name: "pose_sample",
    parts: &[
        include_str!("../../../shaders/pose_keys.wgsl"),
        include_str!("../../../shaders/pose_curves.wgsl"),
        include_str!("../../../shaders/pose_compact.wgsl"),
        include_str!("../../../shaders/pose_sample.wgsl"),
    ],
    reads: &[TRACKS, WORDS, QUADS, CURSORS],
    writes: &[LOCALS],
    overrides: &["ROTATIONS", "TRANSLATIONS", "SCALES", "OWN_TIMES", "AT_ONCE"],
    threads: WorkUnit::Slots,
};

/// Blends slots to one local pose per instance.
const BLEND: PoseKernel = PoseKernel {
    name: "pose_blend",
    parts: &[include_str!("../../../shaders/pose_blend.wgsl")],
    reads: &[PLAYERS, JOINTS, CURSORS, MOMENTA, MASKS, POSE_PAIRS],
    writes: &[LOCALS],
    overrides: &["INERTIA", "RATES"],
    threads: WorkUnit::Joints,
};

const fn walk(name: &'static str, parts: &'static [&'static str], threads: WorkUnit) -> PoseKernel {
    let reads = &[PLAYERS, JOINTS, LOCALS, LEVELS, MATRICES];
    PoseKernel { name, parts, reads, writes: &[MODEL], overrides: &["MATRICES", "RIGID"], threads }
}

/// Local to model poses, one workgroup per instance.
const LEVELS_AT_ONCE: PoseKernel = walk(
    "pose_levels",
    &[
        include_str!("../../../shaders/pose_rows.wgsl"),
        include_str!("../../../shaders/pose_hierarchy.wgsl"),
        include_str!("../../../shaders/pose_levels.wgsl"),
    ],
    WorkUnit::Groups,
);
/// Local to model poses, one thread per instance.
const SERIES: PoseKernel = walk(
    "pose_series",
    &[
        include_str!("../../../shaders/pose_rows.wgsl"),
        include_str!("../../../shaders/pose_hierarchy.wgsl"),
        include_str!("../../../shaders/pose_series.wgsl"),
    ],
    WorkUnit::Instances,
);
/// Local to model poses, one thread per joint of an instance.
const PATHS: PoseKernel = walk(
    "pose_paths",
    &[
        include_str!("../../../shaders/pose_rows.wgsl"),
        include_str!("../../../shaders/pose_hierarchy.wgsl"),
        include_str!("../../../shaders/pose_paths.wgsl"),
    ],
    WorkUnit::Joints,
);

/// Model poses to palettes.
const PALETTE: PoseKernel = PoseKernel {
    name: "pose_palette",
    parts: &[include_str!("../../../shaders/pose_rows.wgsl"), include_str!("../../../shaders/pose_palette.wgsl")],
    reads: &[MODEL, ENTRY_JOINTS, INVERSE_BINDS],
    writes: &[PALETTES],
    overrides: &["AT_ONCE", "RIGID"],
    threads: WorkUnit::Entries,
};

/// Every kernel, in the order in which they run; tests check their shaders.
pub const KERNELS: &[&PoseKernel; 7] = &[&SCHEDULE, &SAMPLE, &BLEND, &LEVELS_AT_ONCE, &SERIES, &PATHS, &PALETTE];

/// Index of the skinning dispatch, after those of all kernels.
pub const SKIN: usize = KERNELS.len();
/// Number of dispatches whose sizes the device computes if only instances in view are posed.
pub const DISPATCHES: usize = KERNELS.len() + 1;

/// The dispatches of all kernels for a batch, and a last one for skinning, which compute skinning replaces with its
/// own.
pub fn dispatches(gpu: &Gpu, batch: &layout::Batch) -> [layout::Dispatch; DISPATCHES] {
    let dispatch = |threads: WorkUnit| threads.dispatch(batch, at_once(gpu));
    let last = dispatch(WorkUnit::Instances);
    std::array::from_fn(|index| KERNELS.get(index).map_or(last, |kernel| dispatch(kernel.threads)))
}

/// A kernel's index among all kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Schedule,
    Sample,
    Blend,
    Levels,
    Series,
    Paths,
    Palette,
}

impl Step {
    /// The kernels that convert local to model poses; the fastest depends on the adapter.
    pub const WALKS: [Self; 3] = [Self::Levels, Self::Series, Self::Paths];

    /// The kernel's name, for tables.
    pub fn name(self) -> &'static str {
        KERNELS[self as usize].name.trim_start_matches("pose_")
    }
}

/// Most storage buffers that a kernel binds.
pub const STORAGE_BUFFERS: u32 = 7;

/// Features that a group needs of the kernels. Groups with equal needs share pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    forms: [u32; 3],
    own_times: bool,
    compact: bool,
    /// Whether joints only rotate and translate: a model pose is then a rotation and a translation.
    pub rigid: bool,
    /// Whether a layer of any instance fades inertially.
    pub inertia: bool,
    /// Whether any instance is not posed at every tick.
    pub rates: bool,
    /// Whether any joint has a fixed matrix.
    pub matrices: bool,
}

impl Needs {
    pub fn new(clips: &ClipStore, inertia: bool, rates: bool, matrices: bool) -> Self {
        let &ClipStore { forms, own_times, compact, scaled, .. } = clips;
        Self { forms, own_times, compact, rigid: !scaled && !matrices, inertia, rates, matrices }
    }

    fn constants(self, kernel: &PoseKernel, at_once: u32) -> Constants {
        let value = |name: &&'static str| {
            let value = match *name {
                "AT_ONCE" => at_once,
                "ROTATIONS" => self.forms[0],
                "TRANSLATIONS" => self.forms[1],
                "SCALES" => self.forms[2],
                "RIGID" => self.rigid.into(),
                "OWN_TIMES" => self.own_times.into(),
                "COMPACT" => self.compact.into(),
                "INERTIA" => self.inertia.into(),
                "RATES" => self.rates.into(),
                _ => self.matrices.into(),
            };
            (*name, value.into())
        };
        kernel.overrides.iter().map(value).collect()
    }
}

impl PoseKernel {
    /// The complete shader.
    pub fn shader(&self) -> String {
        include_str!("../../../shaders/pose.wgsl").to_owned() + &self.parts.concat()
    }

    /// Values of the overrides on hardware, for crowds of a model: `plain` if every instance plays one layer, else for
    /// instances that use every feature of layers and update rates.
    pub fn constants_on_hardware(&self, model: &Model, plain: bool) -> Constants {
        let clips = ClipStore::new(model, plain);
        Needs::new(&clips, !plain, !plain, !model.skeleton().matrices().is_empty()).constants(self, AT_ONCE[1])
    }

    /// Its bindings in rising order, and whether it writes each.
    fn bindings(&self) -> impl Iterator<Item = (u32, bool)> {
        (0..COUNT as u32).filter_map(|b| match b {
            _ if self.writes.contains(&b) => Some((b, true)),
            _ if b == BATCH || self.reads.contains(&b) => Some((b, false)),
            _ => None,
        })
    }
}

/// A kernel's layout and its pipelines.
struct KernelPipelines {
    kernel: &'static PoseKernel,
    layout: wgpu::BindGroupLayout,
    pipelines: Vec<(Needs, wgpu::ComputePipeline)>,
}

impl KernelPipelines {
    fn new(gpu: &Gpu, kernel: &'static PoseKernel, needs: &[Needs], edit: Option<&Edit>) -> Self {
        let entries: Vec<_> = kernel
            .bindings()
            .map(|(binding, written)| {
                let ty = match binding {
                    BATCH | NOW => wgpu::BufferBindingType::Uniform,
                    _ if written => WRITTEN,
                    _ => READ_ONLY,
                };
                layout_entry(binding, wgpu::ShaderStages::COMPUTE, ty)
            })
            .collect();
        let layout = bind_group_layout(gpu, kernel.name, &entries);
        let pipeline_layout = pipeline_layout(gpu, kernel.name, &[Some(&layout)]);
        let wgsl = kernel.shader();
        let wgsl = if let Some(edit) = edit { edit(wgsl) } else { wgsl };
        let module = module(gpu, kernel.name, wgsl, edit.is_none());
        let mut pipelines: Vec<(Needs, wgpu::ComputePipeline)> = Vec::new();
        for &needs in needs {
            if pipelines.iter().any(|(known, _)| *known == needs) {
                continue;
            }
            let constants = needs.constants(kernel, at_once(gpu));
            let pipeline = compute_pipeline(gpu, kernel.name, &pipeline_layout, &module, &constants);
            pipelines.push((needs, pipeline));
        }
        Self { kernel, layout, pipelines }
    }
}

/// Pipelines of all kernels that pose a crowd.
pub struct Kernels {
    pipelines: [KernelPipelines; KERNELS.len()],
}

impl Kernels {
    /// Creates the pipelines for groups with these needs.
    pub fn new(gpu: &Gpu, needs: &[Needs], edit: Option<&Edit>) -> Self {
        Self { pipelines: KERNELS.map(|kernel| KernelPipelines::new(gpu, kernel, needs, edit)) }
    }

    /// Binds a chunk's buffers, in the order of their bindings, to every kernel.
    pub fn bind(
        &self,
        gpu: &Gpu,
        needs: Needs,
        numbers: layout::Batch,
        buffers: &[&wgpu::Buffer; COUNT],
        workgroups: Option<wgpu::Buffer>,
    ) -> PoseBindings {
        let groups = self.pipelines.each_ref().map(|pipelines| {
            let bindings: Vec<_> = pipelines.kernel.bindings().map(|(b, _)| (b, buffers[b as usize])).collect();
            bind_numbered(gpu, pipelines.kernel.name, &pipelines.layout, &bindings)
        });
        PoseBindings { needs, numbers, groups, workgroups }
    }

    /// Dispatches a kernel for a chunk.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut wgpu::ComputePass, step: Step, bindings: &PoseBindings) {
        let pipelines = &self.pipelines[step as usize];
        let Some((_, pipeline)) = pipelines.pipelines.iter().find(|(known, _)| *known == bindings.needs) else {
            return;
        };
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bindings.groups[step as usize], &[]);
        let dispatch = pipelines.kernel.threads.dispatch(&bindings.numbers, at_once(gpu));
        let (instances, slots) = (bindings.numbers.instances, bindings.numbers.slots);
        gpu.dispatch(pass, bindings.workgroups.as_ref().map(|w| (w, step as usize)), &dispatch, instances, slots);
    }
}

/// A chunk bound to the kernels.
pub struct PoseBindings {
    /// Features that its group needs of the kernels.
    pub needs: Needs,
    /// Its numbers.
    pub numbers: layout::Batch,
    /// Bindings of each kernel.
    groups: [wgpu::BindGroup; KERNELS.len()],
    /// Workgroups of each kernel, if the device computes them.
    workgroups: Option<wgpu::Buffer>,
}
