//! `gpu-compute:dual-quaternion`: as `instances`, blending rigid motions instead of matrices.

use super::GpuCompute;
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::compute::{Strategy, Threads};
use crate::gpu::{MeshForm, PaletteForm};

pub(super) const STRATEGY: Strategy = Strategy {
    name: "dual-quaternion",
    wgsl: include_str!("../../../shaders/gpu_compute_instances.wgsl"),
    mesh: MeshForm::Packed,
    palette: PaletteForm::DualQuaternions,
    threads: Threads::Vertex(16),
};

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, STRATEGY.name, &[&STRATEGY], None)
}
