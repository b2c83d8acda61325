//! `cpu-simd:lanes`, `cpu-simd:fused` and `cpu-simd:lanes-interleaved`: 16 instances of a crowd side by side.

use super::super::Skinned;
use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::blocks::{Block, Blocks};
use crate::crowd::Crowd;
use crate::frame::{Ability, Arena, Lack, Result};
use crate::simd::Isa;
use crate::skin::{skin_interleaved, skin_lanes};
use std::ops::Range;

/// Writes one contiguous output per instance. If `FUSED`, a block is skinned while its palette is in the cache.
pub struct LanesSkinner<const FUSED: bool>;

/// Writes `[block][vertex][word][instance of the block]`.
pub struct InterleavedSkinner;

impl<const FUSED: bool> Skinner for LanesSkinner<FUSED> {
    const LAYOUT: PaletteLayout = if FUSED { PaletteLayout::Fused } else { PaletteLayout::Lanes };
    const LACKS: &'static [Lack] =
        if FUSED { &[Lack { ability: Ability::Gameplay, reason: "keeps no palettes" }] } else { &[] };

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        job.in_lanes(|morphed| skin_lanes(job.isa, mesh, morphed, job.lanes, format, job.store, out));
    }
}

impl Skinner for InterleavedSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Lanes;
    const SKINNED: Skinned = Skinned::HostInBlocks;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        job.in_lanes(|morphed| skin_interleaved(job.isa, mesh, morphed, job.lanes, format, job.store, out));
    }

    fn read(crowd: &Crowd, blocks: &Blocks, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) {
        for instance in instances {
            let Block { instances: block, .. } = blocks.of(instance);
            let words = arena.host_vertices(crowd, block.clone());
            out.extend(words.iter().skip((instance - block.start) as usize).step_by(block.len()));
        }
    }
}
