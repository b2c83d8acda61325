//! The interface between a GPU backend and its kind of skinning.

use super::Skinned;
use crate::crowd::Crowd;
use crate::frame::{FrameInput, OutputBuffers, Result};
use crate::gpu::device::objects::Named;
use crate::gpu::skin::compute::SkinKernel;
use crate::gpu::skin::morph::Morphs;
use crate::gpu::{Chunk, Commands, Gpu, PaletteSource};
use std::ops::Range;
use std::rc::Rc;

/// A crowd on the device, up to its palettes.
pub(super) struct Posed {
    pub gpu: Rc<Gpu>,
    pub chunks: Vec<Chunk>,
    /// The chunks that are skinned together: each by itself, or the spans of a merged kernel.
    pub parts: Vec<Vec<Chunk>>,
    pub palettes: PaletteSource,
    /// Morph targets, if any model of the crowd has some.
    pub morphs: Option<Morphs>,
    /// Resources that shaders bind for each part besides its mesh.
    pub inputs: Vec<Vec<Named>>,
}

/// A way to skin posed chunks.
pub(super) trait GpuSkinner {
    /// Short description of the chosen kernel for tables, if there is a choice.
    fn label(&self) -> Option<String> {
        None
    }

    /// The kernel, if skinning has a stage of its own.
    fn kernel(&self) -> Option<&'static SkinKernel> {
        None
    }

    /// Records the skinning of a frame after its posing; if vertices of frozen instances are `kept`, that of the
    /// others.
    fn record(
        &mut self,
        _posed: &Posed,
        _frame: &FrameInput,
        _kept: bool,
        _commands: &mut Commands,
    ) {
    }

    /// Allocates what [`GpuSkinner::read`] needs, if it is not there.
    fn prepare_read(&mut self, _posed: &Posed, _crowd: &Crowd) -> Result<()> {
        Ok(())
    }

    /// The place where vertices are.
    fn skinned(&self, posed: &Posed) -> Skinned;

    /// Appends the vertices of some instances of one group.
    fn read(
        &mut self,
        posed: &mut Posed,
        crowd: &Crowd,
        output: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()>;
}
