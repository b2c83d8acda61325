//! `cpu-rayon`: the kernels of `cpu-simd:lanes` on all threads.

use super::cpu::Cpu;
use super::cpu_simd::Lanes;
use super::{Backend, Context};
use crate::frame::Result;

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    Ok(Cpu::<Lanes>::create("cpu-rayon", context, context.threads.clone()))
}
