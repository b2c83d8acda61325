//! `gpu-vertex:uniform`: 4x4 palettes of 96 entries in a uniform block, character by character: the DirectX 12 book's way.

use super::{GpuVertex, Strategy};
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::{MeshForm, PaletteForm};

const STRATEGY: Strategy = Strategy::posed("uniform", MeshForm::Plain, PaletteForm::Uniform);

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, STRATEGY, None)
}
