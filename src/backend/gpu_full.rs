//! `gpu-full`: clips, layers and hierarchy live on the device; a frame sends its tick, WGSL kernels pose the crowd, and it is skinned
//! as by `gpu-compute` or, `gpu-full:vertex`, as by `gpu-vertex`.

use super::gpu_compute::{CANDIDATES, Edits, GpuCompute, Recipe};
use super::gpu_vertex::{GpuVertex, Strategy};
use super::{Backend, Context, Result};
use crate::gpu::skinning::Edit;
use crate::gpu::{MeshForm, PaletteForm, Posing};

const NAME: &str = "gpu-full";
const COMPUTE: Recipe = Recipe { name: NAME, variant: "", posing: Posing::Device, candidates: CANDIDATES };
const VERTEX: Strategy = Strategy {
    name: NAME,
    variant: "vertex",
    posing: Posing::Device,
    mesh: MeshForm::Packed,
    palette: PaletteForm::Rows,
};

pub(super) fn compute(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::of(context, COMPUTE, Edits::default())
}

pub(super) fn vertex(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, VERTEX, None)
}

/// `gpu-full` with the kernels that pose changed: tests break them and see parity fail.
pub fn with_edit(context: &Context, edit: Edit) -> Result<Box<dyn Backend>> {
    GpuCompute::of(context, COMPUTE, Edits { pose: Some(edit), ..Edits::default() })
}
