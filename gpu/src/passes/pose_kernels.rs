//! The kernels that pose: shaders, and pipelines for the needs of a group.

use crate::Gpu;
use crate::forms::clips::{ClipStore, Needs};
use crate::kernel::{Constants, Kernel};
use crate::shader::reflection::Interface;
use crate::shader::{Role, WORKGROUP, layout, shader};
use skinbench_frame::Result;
use skinbench_kernels::model::Model;
use std::sync::Arc;
use strum::{IntoStaticStr, VariantArray};

/// Number of neighbouring slots or instances per thread, which reuses the loaded joint or entry, on a software adapter
/// and on hardware: on the former a thread costs as much as several loads, while the latter needs many threads.
const AT_ONCE: [u32; 2] = [8, 1];

fn at_once(gpu: &Gpu) -> u32 {
    AT_ONCE[usize::from(!gpu.adapter.summary.software)]
}

/// A kernel that poses. Its name is that of its file in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(prefix = "pose_", serialize_all = "snake_case")]
pub enum PoseKernel {
    /// Clip positions and weights of the slots of every instance.
    Schedule,
    /// Local poses of slots.
    Sample,
    /// Blends slots to one local pose per instance.
    Blend,
    /// Local to model poses, by one workgroup per instance.
    Levels,
    /// As [`PoseKernel::Levels`], by one thread per instance.
    Series,
    /// As [`PoseKernel::Levels`], by one thread per joint.
    Paths,
    /// Model poses to palettes.
    Palette,
}

/// Shaders of dispatches that pose a batch of one chunk, whose numbers are in a uniform.
pub const BATCH_OF_ONE: Role = ("batch", "batch_uniform.wgsl");

/// Shaders of dispatches that pose a batch of several chunks, whose numbers are in a table.
pub const BATCH_OF_SEVERAL: Role = ("batch", "batch_table.wgsl");

/// Every kernel, in the order in which they run; tests check their shaders.
pub const KERNELS: &[PoseKernel] = PoseKernel::VARIANTS;

impl Needs {
    /// Values of the overrides of all kernels.
    fn constants(self, at_once: u32) -> Constants {
        let [rotations, translations, scales] = self.forms;
        vec![
            ("AT_ONCE", at_once.into()),
            ("ROTATIONS", rotations.into()),
            ("TRANSLATIONS", translations.into()),
            ("SCALES", scales.into()),
            ("RIGID", self.rigid.into()),
            ("OWN_TIMES", self.own_times.into()),
            ("COMPACT", self.compact.into()),
            ("INERTIA", self.inertia.into()),
            ("RATES", self.rates.into()),
            ("MATRICES", self.matrices.into()),
        ]
    }

    /// Compiles all kernels.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub(crate) fn kernels(self, gpu: &Gpu, batch: Role) -> Result<Arc<[Kernel]>> {
        let values = self.constants(at_once(gpu));
        KERNELS
            .iter()
            .map(|kernel| Kernel::new(gpu, kernel.name(), kernel.shader(batch), &values, true))
            .collect()
    }
}

impl PoseKernel {
    /// The kernels that convert local to model poses; the fastest depends on the adapter.
    pub const WALKS: [Self; 3] = [Self::Levels, Self::Series, Self::Paths];

    /// Name of its file in shaders/, without the extension.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The rule for computing its dispatch from a chunk's instances or slots, of which a thread may take several.
    pub fn dispatch(self, gpu: &Gpu, posed: &layout::PosedChunk) -> layout::Dispatch {
        let by_instance = layout::Dispatch::by_instance(WORKGROUP);
        match self {
            Self::Levels => layout::Dispatch::by_instance(1),
            Self::Schedule | Self::Series => by_instance,
            Self::Blend | Self::Paths => layout::Dispatch {
                threads: posed.joints,
                ..by_instance
            },
            Self::Sample => layout::Dispatch {
                slots: 1,
                at_once: at_once(gpu),
                threads: posed.joints,
                ..by_instance
            },
            Self::Palette => layout::Dispatch {
                at_once: at_once(gpu),
                threads: posed.entries,
                ..by_instance
            },
        }
    }

    /// The complete shader for [`BATCH_OF_ONE`] or [`BATCH_OF_SEVERAL`].
    pub fn shader(self, batch: Role) -> String {
        shader(&format!("{}.wgsl", self.name()), &[batch])
    }

    /// Values of the overrides on hardware, for crowds of a model: `plain` if every instance plays one layer, else for
    /// instances that use every feature of layers and update rates.
    pub fn constants_on_hardware(self, model: &Model, plain: bool) -> Constants {
        let needs = Needs {
            inertia: !plain,
            rates: !plain,
            ..ClipStore::new(model, plain).needs
        };
        Interface::of(&self.shader(BATCH_OF_ONE))
            .unwrap_or_default()
            .declared(&needs.constants(AT_ONCE[1]))
    }
}
