//! The kernels that pose: what each is made of, reads and writes, and their pipelines for a group's needs.

use super::clips::ClipStore;
use crate::gpu::Gpu;
use crate::gpu::binding::{READ_ONLY, WRITTEN, bind_group_layout, bind_numbered, layout_entry, pipeline_layout};
use crate::gpu::layout::{self, WORKGROUP};
use crate::gpu::shader::{Constants, Edit, compute_pipeline, module};
use crate::model::Model;

/// Bindings of group 0, the same number in every kernel that has them.
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
    pub const KEPT: u32 = 19;
    /// How many there are.
    pub const COUNT: usize = 20;
}
use binding::*;

/// What a dispatch counts its threads by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// One an instance.
    Instances,
    /// A workgroup an instance.
    Groups,
    /// One a joint of `AT_ONCE` neighbouring slots.
    Slots,
    /// One a joint of an instance.
    Joints,
    /// One a palette entry of `AT_ONCE` neighbouring instances.
    Entries,
}

impl Threads {
    /// How a dispatch follows from a batch's instances and slots, where a thread takes several of either.
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

/// Neighbours that a thread walks over with what it holds of a joint or an entry, on a software adapter and on hardware:
/// a thread costs the former as much as several loads, the latter needs many.
const AT_ONCE: [u32; 2] = [8, 1];

fn at_once(gpu: &Gpu) -> u32 {
    AT_ONCE[usize::from(!gpu.summary().software)]
}

/// A kernel that poses.
#[derive(Debug)]
pub struct Kernel {
    /// Name of its file in shaders/.
    pub name: &'static str,
    /// Its WGSL, after shaders/pose.wgsl.
    parts: &'static [&'static str],
    reads: &'static [u32],
    writes: &'static [u32],
    /// Overrides that it has.
    overrides: &'static [&'static str],
    threads: Threads,
}

/// What the slots of every instance show.
const SCHEDULE: Kernel = Kernel {
    name: "pose_schedule",
    parts: &[
        include_str!("../../../shaders/pose_time.wgsl"),
        include_str!("../../../shaders/pose_keys.wgsl"),
        include_str!("../../../shaders/pose_schedule.wgsl"),
    ],
    reads: &[NOW, LAYERS, PLAYERS, CLIPS, WORDS],
    writes: &[CURSORS, MOMENTA, KEPT],
    overrides: &["INERTIA", "COMPACT", "RATES"],
    threads: Threads::Instances,
};

/// Local poses of slots.
const SAMPLE: Kernel = Kernel {
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
    threads: Threads::Slots,
};

/// Slots to one local pose an instance.
const BLEND: Kernel = Kernel {
    name: "pose_blend",
    parts: &[include_str!("../../../shaders/pose_blend.wgsl")],
    reads: &[PLAYERS, JOINTS, CURSORS, MOMENTA, MASKS, KEPT],
    writes: &[LOCALS],
    overrides: &["INERTIA", "RATES"],
    threads: Threads::Joints,
};

const fn walk(name: &'static str, parts: &'static [&'static str], threads: Threads) -> Kernel {
    let reads = &[PLAYERS, JOINTS, LOCALS, LEVELS, MATRICES];
    Kernel { name, parts, reads, writes: &[MODEL], overrides: &["MATRICES", "RIGID"], threads }
}

/// Local to model poses, a workgroup an instance.
const LEVELS_AT_ONCE: Kernel = walk(
    "pose_levels",
    &[
        include_str!("../../../shaders/pose_rows.wgsl"),
        include_str!("../../../shaders/pose_hierarchy.wgsl"),
        include_str!("../../../shaders/pose_levels.wgsl"),
    ],
    Threads::Groups,
);
/// Likewise, a thread an instance.
const SERIES: Kernel = walk(
    "pose_series",
    &[
        include_str!("../../../shaders/pose_rows.wgsl"),
        include_str!("../../../shaders/pose_hierarchy.wgsl"),
        include_str!("../../../shaders/pose_series.wgsl"),
    ],
    Threads::Instances,
);
/// Likewise, a thread a joint.
const PATHS: Kernel = walk(
    "pose_paths",
    &[
        include_str!("../../../shaders/pose_rows.wgsl"),
        include_str!("../../../shaders/pose_hierarchy.wgsl"),
        include_str!("../../../shaders/pose_paths.wgsl"),
    ],
    Threads::Joints,
);

/// Model poses to palettes.
const PALETTE: Kernel = Kernel {
    name: "pose_palette",
    parts: &[include_str!("../../../shaders/pose_rows.wgsl"), include_str!("../../../shaders/pose_palette.wgsl")],
    reads: &[MODEL, ENTRY_JOINTS, INVERSE_BINDS],
    writes: &[PALETTES],
    overrides: &["AT_ONCE", "RIGID"],
    threads: Threads::Entries,
};

/// Every kernel, in the order in which they run: tests look into their shaders.
pub const KERNELS: &[&Kernel; 7] = &[&SCHEDULE, &SAMPLE, &BLEND, &LEVELS_AT_ONCE, &SERIES, &PATHS, &PALETTE];

/// Index of the dispatch that skins, behind those of all kernels.
pub const SKIN: usize = KERNELS.len();

/// How the dispatches of all kernels follow from a batch, and one more: who skins says how.
pub fn dispatches(gpu: &Gpu, batch: &layout::Batch) -> [layout::Dispatch; KERNELS.len() + 1] {
    let dispatch = |threads: Threads| threads.dispatch(batch, at_once(gpu));
    let last = dispatch(Threads::Instances);
    std::array::from_fn(|index| KERNELS.get(index).map_or(last, |kernel| dispatch(kernel.threads)))
}

/// A kernel's place among all.
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
    /// Ways from local to model poses; which is fastest depends on the adapter.
    pub const WALKS: [Self; 3] = [Self::Levels, Self::Series, Self::Paths];

    /// The way's name, for tables.
    pub fn name(self) -> &'static str {
        KERNELS[self as usize].name.trim_start_matches("pose_")
    }
}

/// Most storage buffers that a kernel binds.
pub const STORAGE_BUFFERS: u32 = 7;

/// What a group asks of the kernels: groups that ask the same share pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    forms: [u32; 3],
    own_times: bool,
    compact: bool,
    /// Whether joints only turn and move: model poses are a rotation and a translation each.
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

    fn constants(self, kernel: &Kernel, at_once: u32) -> Constants {
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

impl Kernel {
    /// The whole shader.
    pub fn shader(&self) -> String {
        include_str!("../../../shaders/pose.wgsl").to_owned() + &self.parts.concat()
    }

    /// Values of the overrides on hardware, for crowds of a model: `plain` if every instance plays one layer, else for
    /// instances that use every feature of layers and update rates.
    pub fn constants_on_hardware(&self, model: &Model, plain: bool) -> Constants {
        let clips = ClipStore::new(model, plain);
        Needs::new(&clips, !plain, !plain, !model.skeleton().matrices().is_empty()).constants(self, AT_ONCE[1])
    }

    /// Its bindings in rising order, and which of them it writes.
    fn bindings(&self) -> impl Iterator<Item = (u32, bool)> {
        (0..COUNT as u32).filter_map(|b| match b {
            _ if self.writes.contains(&b) => Some((b, true)),
            _ if b == BATCH || self.reads.contains(&b) => Some((b, false)),
            _ => None,
        })
    }
}

/// A kernel's layout and its pipelines.
struct Made {
    kernel: &'static Kernel,
    layout: wgpu::BindGroupLayout,
    pipelines: Vec<(Needs, wgpu::ComputePipeline)>,
}

impl Made {
    fn new(gpu: &Gpu, kernel: &'static Kernel, needs: &[Needs], edit: Option<&Edit>) -> Self {
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

/// All that pose a crowd.
pub struct Kernels {
    made: [Made; KERNELS.len()],
}

impl Kernels {
    /// For groups with such needs.
    pub fn new(gpu: &Gpu, needs: &[Needs], edit: Option<&Edit>) -> Self {
        Self { made: KERNELS.map(|kernel| Made::new(gpu, kernel, needs, edit)) }
    }

    /// Binds a chunk's buffers, in the order of their bindings, to every kernel.
    pub fn bind(
        &self,
        gpu: &Gpu,
        needs: Needs,
        numbers: layout::Batch,
        buffers: &[&wgpu::Buffer; COUNT],
        workgroups: Option<wgpu::Buffer>,
    ) -> Bound {
        let groups = self.made.each_ref().map(|made| {
            let bound: Vec<_> = made.kernel.bindings().map(|(b, _)| (b, buffers[b as usize])).collect();
            bind_numbered(gpu, made.kernel.name, &made.layout, &bound)
        });
        Bound { needs, numbers, groups, workgroups }
    }

    /// Dispatches a kernel for a chunk.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut wgpu::ComputePass, step: Step, bound: &Bound) {
        let made = &self.made[step as usize];
        let Some((_, pipeline)) = made.pipelines.iter().find(|(known, _)| *known == bound.needs) else { return };
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &bound.groups[step as usize], &[]);
        let dispatch = made.kernel.threads.dispatch(&bound.numbers, at_once(gpu));
        let (instances, slots) = (bound.numbers.instances, bound.numbers.slots);
        gpu.dispatch(pass, bound.workgroups.as_ref().map(|w| (w, step as usize)), &dispatch, instances, slots);
    }
}

/// A chunk as the kernels see it.
pub struct Bound {
    /// What its group asks of the kernels.
    pub needs: Needs,
    /// Its numbers.
    pub numbers: layout::Batch,
    /// Bindings of each kernel.
    groups: [wgpu::BindGroup; KERNELS.len()],
    /// Workgroups of each kernel, if the device counts them.
    workgroups: Option<wgpu::Buffer>,
}
