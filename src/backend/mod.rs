//! Backends: complete ways to turn a crowd into skinned vertices. [`crate::registry`] lists them.

mod abilities;
#[cfg(test)]
pub(crate) mod altered_tests;
pub mod cpu;
pub mod cpu_kernels;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gpu")]
mod gpu_abilities;
#[cfg(feature = "gpu")]
mod gpu_read;
mod stage_bytes;

pub use abilities::{Abilities, Joints, LaterPasses};

use crate::crowd::{Crowd, Group};
#[cfg(any(feature = "gpu", doc))]
use crate::frame::BackendError;
use crate::frame::{
    Approximation, Footprint, FrameInput, Job, OutputBuffers, Result, StageTime, StageTimer,
    Traffic,
};
use crate::frustum::Frustum;
use crate::gameplay::GameplayData;
#[cfg(feature = "gpu")]
pub use crate::gpu::Flight;
#[cfg(feature = "gpu")]
use crate::gpu::draw::present::Presenter;
#[cfg(feature = "gpu")]
use crate::gpu::{Commands, Drawable, Gpu};
use crate::model::RotationBlend;
use crate::pose::PoseData;
use crate::reference::Blending;
use crate::simd::Isa;
use crate::threads::Threads;
use serde::{Deserialize, Serialize};
use std::ops::Range;
#[cfg(feature = "gpu")]
use std::sync::Arc;
use strum::{IntoStaticStr, VariantArray};

/// A way to skin on this machine, before anything is allocated.
pub trait Backend {
    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// Memory that [`Backend::prepare`] and the first frame would allocate; allocates no buffer itself.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the crowd or the job asks for something that the backend or the machine cannot
    /// do, or [`BackendError::TooLarge`] if the crowd exceeds a limit of the device.
    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint>;

    /// Allocates and uploads everything that does not change from frame to frame. Not timed.
    ///
    /// # Errors
    /// As [`Backend::footprint`], or [`BackendError::Device`] if the device was lost or refused an allocation.
    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>>;
}

/// A backend with its buffers for one crowd. Dropping it frees them.
pub trait Prepared {
    /// Instruction set or adapter, threads, and the chosen kernels if there is a choice.
    fn device(&self) -> String;

    /// Memory that it holds: on the device counted from its buffers, on the host as promised, which a test compares
    /// with the heap. Equal to what [`Backend::footprint`] promised, once a frame has been submitted, but for two
    /// things: a backend that chose a kernel promised the one that takes the most (on the device, the largest mesh),
    /// and memory for reading vertices back is allocated when it is needed.
    fn footprint(&self, crowd: &Crowd) -> Footprint;

    /// The rule by which vertices follow several joints; it selects the reference for parity.
    fn blending(&self) -> Blending {
        Blending::Linear
    }

    /// What the backend also does if it runs and times frames by a clock of its own, otherwise `None`.
    fn self_timed(&mut self) -> Option<&mut dyn SelfTimed> {
        None
    }

    /// Bounds and sockets of the last frame, if the job asks for any; waits for them. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        Ok(None)
    }

    /// Number of frames after which the processor has bounds and sockets, the most so far: 0 if it has them in the same
    /// frame. `None` if none have arrived.
    fn gameplay_delay(&self) -> Option<u32> {
        None
    }

    /// Errors that the backend makes on purpose.
    fn approximation(&self) -> Option<Approximation> {
        None
    }

    /// Bytes that the stages of a frame must move, for stages whose bandwidth is measured.
    fn traffic(&self, _crowd: &Crowd) -> Vec<Traffic> {
        Vec::new()
    }

    /// Poses and skins one frame, or records the commands that will.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket>;

    /// Moves the camera for the frames that follow, for backends that leave out instances.
    fn move_camera(&mut self, _frustum: &Frustum) {}

    /// The place where the vertices of the last frame are.
    fn skinned(&self) -> Skinned;

    /// The instances of the last frame in rising order if the backend leaves some out, otherwise `None`. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }

    /// Appends what the last frame computed of the instances in a range of one group; `output` are the buffers that it
    /// was given. Instances that the frame left out are skipped. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the backend has no poses because it bakes palettes, or [`BackendError::Device`]
    /// if the device was lost or refused a command.
    fn read(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        what: FrameData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()>;
}

/// Data that a frame computes, in the order of the stages that compute it. It is serialised as the name of its variant.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FrameData {
    /// Blended local poses, as [`PoseData::Local`].
    Local,
    /// Joints' matrices in model space, as [`PoseData::Model`].
    Model,
    /// Palettes, as [`PoseData::Palette`].
    Palette,
    /// Skinned vertices, `[instance][vertex][word]`, as floats or as the bits of packed words.
    Vertices,
}

impl FrameData {
    /// The result of posing that this is; `None` for vertices.
    pub fn pose(self) -> Option<PoseData> {
        match self {
            Self::Local => Some(PoseData::Local),
            Self::Model => Some(PoseData::Model),
            Self::Palette => Some(PoseData::Palette),
            Self::Vertices => None,
        }
    }

    /// Numbers of one instance of a group.
    pub fn numbers(self, group: &Group) -> usize {
        match self {
            Self::Local => group.model.skeleton().len() * 10,
            Self::Model => group.model.skeleton().len() * 12,
            Self::Palette => group.model.palette_joints().len() * 12,
            Self::Vertices => group.instance_words(),
        }
    }
}

/// What a prepared backend also does that runs and times frames by a clock of its own, such as a program of others.
pub trait SelfTimed {
    /// The interpolation of linear rotation keys; it selects the reference for parity.
    fn rotation_blend(&self) -> RotationBlend;

    /// Returns whether something can be read back and is compared with the reference.
    fn has(&self, what: FrameData) -> bool;

    /// Runs frames; returns the spans of each.
    ///
    /// # Errors
    /// [`BackendError::Failed`] if the frames failed, or if the times cannot be true.
    fn measure(&mut self, frames: Range<u32>) -> Result<Vec<Vec<StageTime>>>;
}

/// Unfinished work of a frame after [`Prepared::submit`].
#[derive(Default)]
pub struct Ticket {
    /// Recorded commands, not yet submitted so that drawing can join the same submission.
    #[cfg(feature = "gpu")]
    commands: Option<Commands>,
}

/// Commands that a device is executing: none without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
pub enum Flight {}

#[cfg(not(feature = "gpu"))]
impl Flight {
    /// Blocks until the device is done.
    ///
    /// # Errors
    /// There are none.
    pub fn land(self) -> Result<()> {
        match self {}
    }
}

impl Ticket {
    /// A frame whose commands are still to be submitted.
    #[cfg(feature = "gpu")]
    pub fn recorded(commands: Commands) -> Self {
        Self {
            commands: Some(commands),
        }
    }

    /// Records all passes that draw the frame's vertices.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if nothing can draw the layout of the vertices.
    #[cfg(feature = "gpu")]
    pub fn draw(
        self,
        presenter: &mut Presenter,
        skinned: &Skinned,
        frame: &FrameInput,
        timer: &mut StageTimer,
    ) -> Result<Self> {
        let drawable = match skinned {
            Skinned::Host => None,
            Skinned::HostInBlocks => {
                return Err(BackendError::Unavailable(
                    "its output cannot be drawn".into(),
                ));
            }
            Skinned::Device(drawable) => Some(drawable),
        };
        Ok(Self::recorded(presenter.draw(
            self.commands,
            drawable,
            frame,
            timer,
        )))
    }

    /// Submits recorded commands without waiting for them. Returns what to wait for, if there is anything.
    pub fn launch(self) -> Option<Flight> {
        #[cfg(feature = "gpu")]
        return self.commands.map(Commands::launch);
        #[cfg(not(feature = "gpu"))]
        None
    }

    /// Submits recorded commands and blocks until the device is done.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn finish(self) -> Result<()> {
        self.launch().map_or(Ok(()), Flight::land)
    }
}

/// Place of a backend's vertices.
pub enum Skinned {
    /// The host side of the output buffers.
    Host,
    /// The host side of the output buffers, instances interleaved block by block, which nothing draws.
    HostInBlocks,
    /// The device.
    #[cfg(feature = "gpu")]
    Device(Drawable),
}

/// The machine that backends run on.
#[derive(Clone, Default)]
pub struct Context {
    /// Instruction set of the CPU kernels; by default the strongest that this machine has.
    pub isa: Isa,
    /// Threads of the parallel backends.
    pub threads: Threads,
    /// The adapter in use, if any.
    #[cfg(feature = "gpu")]
    pub gpu: Option<Arc<Gpu>>,
}

impl Context {
    /// Returns whether there is an adapter, which skins and draws.
    pub fn has_adapter(&self) -> bool {
        #[cfg(feature = "gpu")]
        return self.gpu.is_some();
        #[cfg(not(feature = "gpu"))]
        false
    }
}
