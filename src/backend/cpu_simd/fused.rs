//! `cpu-simd:fused`: 16 instances side by side; a block is skinned while its palette is in the cache.

use super::super::cpu::{BlockJob, Layout, Skinner};
use crate::crowd::Crowd;
use crate::frame::Result;
use crate::simd::Isa;
use crate::skin::skin_lanes;

/// As [`super::Lanes`], block by block.
pub struct Fused;

impl Skinner for Fused {
    const LAYOUT: Layout = Layout::Fused;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        skin_lanes(job.isa, job.group.model.mesh(), job.lanes, job.group.format, job.store, out);
    }
}
