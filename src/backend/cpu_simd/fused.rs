//! `cpu-simd:fused`: 16 instances side by side; a block is skinned while its palette is in the cache.

use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::{Ability, Lack, Result};
use crate::simd::Isa;
use crate::skin::skin_lanes;

/// As [`super::LanesSkinner`], block by block.
pub struct FusedSkinner;

impl Skinner for FusedSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Fused;
    const LACKS: &'static [Lack] = &[Lack { ability: Ability::Gameplay, reason: "keeps no palettes" }];

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        job.in_lanes(|morphed| skin_lanes(job.isa, mesh, morphed, job.lanes, format, job.store, out));
    }
}
