//! `gpu-compute:per-character`: a dispatch for each character, 4x4 palettes, full precision: what naive ports do.

use super::GpuCompute;
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::compute::{Strategy, Threads};
use crate::gpu::{MeshForm, PaletteForm};

pub(super) const STRATEGY: Strategy = Strategy {
    name: "per-character",
    wgsl: include_str!("../../../shaders/gpu_compute_per_character.wgsl"),
    mesh: MeshForm::Plain,
    palette: PaletteForm::Columns,
    threads: Threads::Character,
};

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, STRATEGY.name, &[&STRATEGY], None)
}
