//! The kernels that pose: shaders, and pipelines for the needs of a group.

use super::clips::ClipStore;
use crate::gpu::Gpu;
use crate::gpu::device::objects::{BindGroup, ComputePipeline, Resource};
use crate::gpu::shader::reflection::Interface;
use crate::gpu::shader::{Constants, Edit, Kernel, WORKGROUP, layout, made_once, shader};
use crate::model::Model;
use std::rc::Rc;

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
    /// Name of its file in shaders/, without the extension.
    pub name: &'static str,
    threads: WorkUnit,
}

/// Every kernel, in the order in which they run; tests check their shaders.
pub const KERNELS: &[PoseKernel; 7] = &[
    // Clip positions and weights of the slots of every instance.
    PoseKernel { name: "pose_schedule", threads: WorkUnit::Instances },
    // Local poses of slots.
    PoseKernel { name: "pose_sample", threads: WorkUnit::Slots },
    // Blends slots to one local pose per instance.
    PoseKernel { name: "pose_blend", threads: WorkUnit::Joints },
    // Local to model poses, by one of three.
    PoseKernel { name: "pose_levels", threads: WorkUnit::Groups },
    PoseKernel { name: "pose_series", threads: WorkUnit::Instances },
    PoseKernel { name: "pose_paths", threads: WorkUnit::Joints },
    // Model poses to palettes.
    PoseKernel { name: "pose_palette", threads: WorkUnit::Entries },
];

/// Index of the skinning dispatch, after those of all kernels.
pub const SKIN: usize = KERNELS.len();
/// Number of dispatches whose sizes the device computes if only instances in view are posed.
pub const DISPATCHES: usize = KERNELS.len() + 1;

/// The dispatches of all kernels for a batch, and a last one for skinning, which compute skinning replaces with its
/// own.
pub fn dispatches(gpu: &Gpu, batch: &layout::Batch) -> [layout::Dispatch; DISPATCHES] {
    let last = WorkUnit::Instances.dispatch(batch, at_once(gpu));
    std::array::from_fn(|index| KERNELS.get(index).map_or(last, |kernel| kernel.dispatch(gpu, batch)))
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
    /// `true` if joints only rotate and translate: a model pose is then a rotation and a translation.
    pub rigid: bool,
    /// `true` if a layer of any instance fades inertially.
    pub inertia: bool,
    /// `true` if any instance is not posed at every tick.
    pub rates: bool,
    /// `true` if any joint has a fixed matrix.
    pub matrices: bool,
}

impl Needs {
    pub fn new(clips: &ClipStore, inertia: bool, rates: bool, matrices: bool) -> Self {
        let &ClipStore { forms, own_times, compact, scaled, .. } = clips;
        Self { forms, own_times, compact, rigid: !scaled && !matrices, inertia, rates, matrices }
    }

    /// Values of those overrides that a shader declares.
    fn constants(self, overrides: &[String], at_once: u32) -> Constants {
        let values = [
            ("AT_ONCE", at_once),
            ("ROTATIONS", self.forms[0]),
            ("TRANSLATIONS", self.forms[1]),
            ("SCALES", self.forms[2]),
            ("RIGID", self.rigid.into()),
            ("OWN_TIMES", self.own_times.into()),
            ("COMPACT", self.compact.into()),
            ("INERTIA", self.inertia.into()),
            ("RATES", self.rates.into()),
            ("MATRICES", self.matrices.into()),
        ];
        let declared = |(name, _): &(&str, u32)| overrides.iter().any(|known| known == name);
        values.into_iter().filter(declared).map(|(name, value)| (name, value.into())).collect()
    }
}

impl PoseKernel {
    /// The rule for computing its dispatch for a batch.
    pub fn dispatch(&self, gpu: &Gpu, batch: &layout::Batch) -> layout::Dispatch {
        self.threads.dispatch(batch, at_once(gpu))
    }

    /// The complete shader.
    pub fn shader(&self) -> String {
        shader(&format!("{}.wgsl", self.name), &[])
    }

    /// Values of the overrides on hardware, for crowds of a model: `plain` if every instance plays one layer, else for
    /// instances that use every feature of layers and update rates.
    pub fn constants_on_hardware(&self, model: &Model, plain: bool) -> Constants {
        let clips = ClipStore::new(model, plain);
        let needs = Needs::new(&clips, !plain, !plain, !model.skeleton().matrices().is_empty());
        needs.constants(&overrides(&self.shader()), AT_ONCE[1])
    }
}

/// Names of a shader's overrides; none if it does not parse, which creating its module reports.
fn overrides(wgsl: &str) -> Vec<String> {
    Interface::of(wgsl).map(|interface| interface.overrides).unwrap_or_default()
}

/// All kernels that pose a crowd, with the overrides that each declares.
pub struct Kernels(Vec<(Kernel, Vec<String>)>);

impl Kernels {
    /// Reads the kernels; `edit` changes them.
    pub fn new(gpu: &Gpu, edit: Option<&Edit>) -> Self {
        let read = |kernel: &'static PoseKernel| {
            let wgsl = kernel.shader();
            // Where no pipeline is made, parsing would only take time.
            let overrides = if gpu.plans() { Vec::new() } else { overrides(&wgsl) };
            (Kernel::new(gpu, kernel.name, wgsl, edit, true), overrides)
        };
        Self(KERNELS.iter().map(read).collect())
    }

    /// The pipeline of each kernel, for each of these needs.
    pub fn pipelines(&self, gpu: &Gpu, needs: impl IntoIterator<Item = Needs>) -> Vec<Rc<[ComputePipeline]>> {
        made_once(needs, |needs| {
            let of_kernel = |(kernel, overrides): &(Kernel, Vec<String>)| {
                kernel.pipeline(gpu, &needs.constants(overrides, at_once(gpu)))
            };
            self.0.iter().map(of_kernel).collect()
        })
    }

    /// Binds a chunk's buffers to the variables of their names in every kernel.
    pub fn bind<'a>(&self, gpu: &Gpu, resources: &[(&'a str, Resource<'a>)]) -> Vec<BindGroup> {
        self.0.iter().map(|(kernel, _)| kernel.bind(gpu, 0, resources.iter().copied())).collect()
    }
}
