//! `gpu-baked`: palettes are baked when a crowd is prepared; a frame sends its tick, and who skins blends two baked frames.
//! `gpu-baked` and `gpu-baked:matrices` skin in the vertex shader, `gpu-baked:compute` once for all passes.

use super::gpu_compute::{Edits, GpuCompute, Recipe, by_instances};
use super::gpu_vertex::{GpuVertex, Strategy};
use super::{Backend, Context};
use crate::bake::BakeFormat;
use crate::frame::Result;
use crate::gpu::skinning::Edit;
use crate::gpu::{MeshForm, PaletteForm, Posing};

const NAME: &str = "gpu-baked";
const MOTIONS: PaletteForm = PaletteForm::Baked(BakeFormat::Motions);
const COMPUTE: Recipe = Recipe {
    name: NAME,
    variant: "compute",
    posing: Posing::Device,
    candidates: &[&by_instances("instances", 16, MOTIONS), &by_instances("instances, 4 at a time", 4, MOTIONS)],
};

const fn strategy(variant: &'static str, keeping: BakeFormat) -> Strategy {
    Strategy {
        name: NAME,
        variant,
        posing: Posing::Device,
        mesh: MeshForm::Packed,
        palette: PaletteForm::Baked(keeping),
    }
}

pub(crate) fn motions(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, strategy("", BakeFormat::Motions), None)
}

pub(crate) fn matrices(context: &Context) -> Result<Box<dyn Backend>> {
    GpuVertex::create(context, strategy("matrices", BakeFormat::Matrices), None)
}

pub(crate) fn compute(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::of(context, COMPUTE, Edits::default())
}

/// `gpu-baked:compute` with its kernels changed: tests break them and see parity fail.
pub fn with_edit(context: &Context, edit: Edit) -> Result<Box<dyn Backend>> {
    GpuCompute::of(context, COMPUTE, Edits { pose: Some(edit.clone()), skin: Some(edit) })
}
