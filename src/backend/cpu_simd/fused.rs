//! `cpu-simd:fused`: 16 instances side by side; a block is skinned while its palette is in the cache.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::Result;
use crate::simd::Isa;
use crate::skin::skin_lanes;

/// As [`super::LanesSkinner`], block by block.
pub struct FusedSkinner;

impl Skinner for FusedSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Fused;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        skin_lanes(job.isa, job.group.model.mesh(), job.lanes, job.group.format, job.store, out);
    }
}
