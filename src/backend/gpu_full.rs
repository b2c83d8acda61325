//! `gpu-full`: clips, layers and hierarchy live on the device; a frame sends its tick, WGSL kernels pose the crowd, and it is skinned
//! as by `gpu-compute` or, `gpu-full:vertex`, as by `gpu-vertex`. `gpu-full:culled` and `gpu-full:vertex-culled` do so for those in
//! view.

use super::gpu_compute::{CANDIDATES, Edits, GpuCompute, Recipe};
use super::gpu_vertex::{GpuVertex, Strategy};
use super::{Backend, Context};
use crate::frame::Result;
use crate::gpu::skinning::Edit;
use crate::gpu::{MeshForm, PaletteForm, Posing};

const NAME: &str = "gpu-full";
const COMPUTE: Recipe = Recipe { name: NAME, variant: "", posing: Posing::Device, candidates: CANDIDATES };
const CULLED: Recipe = Recipe { variant: "culled", posing: Posing::Visible, ..COMPUTE };
const VERTEX: Strategy = Strategy {
    name: NAME,
    variant: "vertex",
    posing: Posing::Device,
    mesh: MeshForm::Packed,
    palette: PaletteForm::Rows,
};
const VERTEX_CULLED: Strategy = Strategy { variant: "vertex-culled", posing: Posing::Visible, ..VERTEX };

pub(crate) fn compute(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::of(context, COMPUTE, Edits::default())
}

pub(crate) fn culled(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::of(context, CULLED, Edits::default())
}

pub(crate) fn vertex_culled(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, VERTEX_CULLED, None)
}

pub(crate) fn vertex(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, VERTEX, None)
}

/// `gpu-full`, or `gpu-full:culled`, with the kernels before skinning changed: tests break them and see parity fail.
pub fn with_edit(context: &Context, culled: bool, edit: Edit) -> Result<Box<dyn Backend>> {
    let recipe = if culled { CULLED } else { COMPUTE };
    GpuCompute::of(context, recipe, Edits { pose: Some(edit), ..Edits::default() })
}
