//! `gpu-compute`: whichever kernel a short trial finds fastest on the adapter at hand.

use super::{GpuCompute, instances, naive, shared};
use crate::backend::{Backend, Context};
use crate::frame::Result;
use crate::gpu::compute::Strategy;
use crate::gpu::skinning::Edit;

/// What the trial chooses from; all read palettes as rows in a storage buffer.
pub(crate) const CANDIDATES: &[&Strategy] =
    &[&instances::STRATEGY, &instances::FOUR, &naive::STRATEGY, &shared::STRATEGY];

pub(crate) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, "", CANDIDATES, None)
}

/// `gpu-compute:instances` with its shader changed: tests break it and see parity fail.
pub fn with_edit(context: &Context, edit: Edit) -> Result<Box<dyn Backend>> {
    GpuCompute::create(context, "", &[&instances::STRATEGY], Some(edit))
}
