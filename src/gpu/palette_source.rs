//! The contract between a GPU backend and whatever poses its crowd.

use super::visibility::Visibility;
use super::{Chunk, Commands, Gpu, Palettes};
use crate::crowd::Crowd;
use crate::frame::{Approximation, FrameInput, Result, StageTimer};
use crate::pose::PoseData;
use std::ops::Range;

/// A source of palettes, frame by frame.
pub trait PaletteSource {
    /// The palettes of each chunk.
    fn chunks(&self) -> &[Palettes];
    /// A word for tables on how it poses, if there is a choice.
    fn label(&self) -> Option<String> {
        None
    }
    /// Bytes of its poses, where they are on the device.
    fn poses(&self) -> Option<PoseBytes> {
        None
    }
    /// Errors beyond rounding, if there are any.
    fn approximation(&self) -> Option<Approximation> {
        None
    }
    /// The instances in view, if only those are posed.
    fn visibility(&self) -> Option<&Visibility> {
        None
    }
    /// The instances that the last frame posed, rising; none if all.
    ///
    /// # Errors
    /// The device failed.
    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
    /// Places in a chunk's buffers of those of some of its instances that were posed.
    ///
    /// # Errors
    /// The device failed.
    fn places(&mut self, chunk: &Chunk, index: usize, instances: Range<u32>) -> Result<Range<u32>> {
        let _ = index;
        Ok(instances.start - chunk.instances.start..instances.end - chunk.instances.start)
    }
    /// Poses a frame, or records what will, and the uploads that it takes.
    fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, timer: &mut StageTimer, commands: &mut Commands);
    /// Appends poses or palettes of neighbouring instances, those that were posed.
    ///
    /// # Errors
    /// The device failed, or nothing is posed because palettes are baked.
    fn read_poses(&mut self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()>;
}

/// Bytes of a crowd's poses on the device.
#[derive(Debug, Clone, Copy)]
pub struct PoseBytes {
    /// Bytes of local poses that a frame writes: the channels that some clip moves.
    pub sampled: u64,
    /// Bytes of local poses that `local_to_model` reads.
    pub local: u64,
    /// Model poses.
    pub model: u64,
}
