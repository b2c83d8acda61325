//! `gpu-vertex:mat4`: 4x4 palettes in a storage buffer, full precision: Bevy's way.

use super::{GpuVertex, Strategy};
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::{MeshForm, PaletteForm};

const STRATEGY: Strategy = Strategy::posed("mat4", MeshForm::Plain, PaletteForm::Columns);

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, STRATEGY, None)
}
