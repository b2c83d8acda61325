//! `gpu-compute:instances`: a thread holds one vertex in registers and skins it for sixteen instances.

use super::GpuCompute;
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::compute::{Strategy, Threads};
use crate::gpu::{MeshForm, PaletteForm};

pub(in crate::backend) const fn strategy(name: &'static str, instances: u32, palette: PaletteForm) -> Strategy {
    Strategy {
        name,
        wgsl: include_str!("../../../shaders/gpu_compute_instances.wgsl"),
        mesh: MeshForm::Packed,
        palette,
        threads: Threads::Vertex(instances),
    }
}

pub(super) const STRATEGY: Strategy = strategy("instances", 16, PaletteForm::Rows);
/// For adapters and crowds that have more threads to keep busy than sixteen instances leave.
pub(super) const FOUR: Strategy = strategy("instances, 4 at a time", 4, PaletteForm::Rows);

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, STRATEGY.name, &[&STRATEGY], None)
}
