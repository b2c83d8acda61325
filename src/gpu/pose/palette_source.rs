//! The interface between a GPU backend and the source of its palettes.

use crate::crowd::Crowd;
use crate::frame::{Approximation, Bytes, FrameInput, Result, StageTimer};
use crate::frustum::{Eye, Frustum};
use crate::gameplay::GameplayData;
use crate::gpu::pose::visibility::Visible;
use crate::gpu::{Commands, Gpu, Palettes};
use crate::pose::PoseData;
use std::ops::Range;
use std::rc::Rc;

/// A crowd's palettes on the device, with the poser that writes them.
pub struct PaletteSource {
    /// The palettes of each chunk, or of each span of chunks that share a buffer.
    pub chunks: Vec<Palettes>,
    /// Short description of the chosen kernel for tables, if there is a choice.
    pub label: Option<String>,
    /// Bytes of its buffers in main memory.
    pub host_memory: Bytes,
    /// Bytes of its poses, if they are on the device.
    pub poses: Option<PoseBytes>,
    /// Stated error beyond rounding, if it approximates.
    pub approximation: Option<Approximation>,
    /// `true` if only groups whose vertices may be [baked](crate::crowd::Group::baked) have this error.
    pub exact_unless_baked: bool,
    /// The instances in view, if only those are posed.
    pub in_view: Option<Rc<Visible>>,
    /// Writes the palettes of a frame.
    pub poser: Box<dyn Poser>,
}

/// A way of posing palettes, frame by frame.
pub trait Poser {
    /// The instances that the last frame posed, in rising order; `None` if it posed all.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    fn visible(&self) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
    /// Range in a chunk's buffers of some of its instances, counting only those that were posed; `first` is the chunk's
    /// first instance. Before it, for each finer level of the chunk's family, the finest first, the number of its
    /// instances in the last frame: what kernels write for them comes first in a buffer that a family shares.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    fn places(
        &self,
        _index: usize,
        first: u32,
        instances: Range<u32>,
    ) -> Result<(Vec<usize>, Range<u32>)> {
        Ok((Vec::new(), instances.start - first..instances.end - first))
    }
    /// Moves the camera for the frames that follow, if the device chooses the instances in view.
    fn move_camera(&mut self, _frustum: &Frustum, _eye: &Eye) {}
    /// Bounds and sockets of the last frame, if it computes them on the host.
    fn gameplay(&self) -> Option<&GameplayData> {
        None
    }
    /// Poses a frame, or records the commands that do, and the uploads.
    fn submit(
        &mut self,
        gpu: &Gpu,
        frame: &FrameInput,
        timer: &mut StageTimer,
        commands: &mut Commands,
    );
    /// Appends poses or palettes of neighbouring instances, skipping those that were not posed.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if there are no poses because palettes
    /// are baked, or [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a
    /// command.
    fn read_poses(
        &self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()>;
}

/// Bytes of a crowd's poses on the device.
#[derive(Debug, Clone, Copy)]
pub struct PoseBytes {
    /// Bytes of local poses that a frame writes: the channels that some clip moves.
    pub sampled: u64,
    /// Bytes of local poses that `local_to_model` reads.
    pub local: u64,
    /// Bytes of model poses.
    pub model: u64,
}
