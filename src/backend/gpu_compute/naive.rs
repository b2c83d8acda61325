//! `gpu-compute:naive`: a thread for each vertex of each instance, 3x4 palettes, full precision.

use super::GpuCompute;
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::compute::{Strategy, Threads};
use crate::gpu::{MeshForm, PaletteForm};

pub(super) const STRATEGY: Strategy = Strategy {
    name: "naive",
    wgsl: include_str!("../../../shaders/gpu_compute_naive.wgsl"),
    mesh: MeshForm::Plain,
    palette: PaletteForm::Rows,
    threads: Threads::Pair,
};

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, STRATEGY.name, &[&STRATEGY], None)
}
