//! `gpu-vertex`: 3x4 palettes in a storage buffer, 20 bytes a vertex.

use super::{GpuVertex, Strategy};
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::skinning::Edit;
use crate::gpu::{MeshForm, PaletteForm};

const STRATEGY: Strategy = Strategy::posed("", MeshForm::Packed, PaletteForm::Rows);

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, STRATEGY, None)
}

/// The backend with its shader changed: tests break it and see parity fail.
pub fn with_edit(context: &Context, edit: Edit) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, STRATEGY, Some(edit))
}
