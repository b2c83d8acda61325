//! `gpu-vertex:texture`: 3x4 palettes in a float texture: the way of many web engines.

use super::{GpuVertex, Strategy};
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::{MeshForm, PaletteForm};

const STRATEGY: Strategy = Strategy::posed("texture", MeshForm::Plain, PaletteForm::Texture);

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, STRATEGY, None)
}
