//! `gpu-compute:shared`: a workgroup holds one character's palette in its memory and skins 1,024 vertices with it.

use super::GpuCompute;
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::compute::{Strategy, Threads};
use crate::gpu::{MeshForm, PaletteForm};

pub(super) const STRATEGY: Strategy = Strategy {
    name: "shared",
    wgsl: include_str!("../../../shaders/gpu_compute_shared.wgsl"),
    mesh: MeshForm::Packed,
    palette: PaletteForm::Workgroup,
    threads: Threads::Instance(1024),
};

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, STRATEGY.name, &[&STRATEGY], None)
}
