//! `cpu-simd:lanes` and `cpu-simd:lanes-interleaved`: 16 instances of a crowd side by side.

use super::super::cpu::{BlockJob, Cpu, Layout, Skinner};
use super::super::{Backend, Context, Skinned};
use crate::blocks::{Block, Blocks};
use crate::crowd::Crowd;
use crate::frame::{Arena, Result};
use crate::simd::Isa;
use crate::skin::{skin_interleaved, skin_lanes};
use crate::threads::Threads;
use std::ops::Range;

/// One contiguous output an instance.
pub struct Lanes;

/// `[block][vertex][word][instance of the block]`.
pub struct Interleaved;

pub fn create(context: &Context) -> Result<Box<dyn Backend>> {
    Ok(Cpu::<Lanes>::create("cpu-simd:lanes", context, Threads::One))
}

pub fn create_interleaved(context: &Context) -> Result<Box<dyn Backend>> {
    Ok(Cpu::<Interleaved>::create("cpu-simd:lanes-interleaved", context, Threads::One))
}

impl Skinner for Lanes {
    const LAYOUT: Layout = Layout::Lanes;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        skin_lanes(job.isa, job.group.model.mesh(), job.lanes, job.group.format, job.store, out);
    }
}

impl Skinner for Interleaved {
    const LAYOUT: Layout = Layout::Lanes;
    const SKINNED: Skinned = Skinned::HostInBlocks;

    fn new(_: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self)
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        skin_interleaved(job.isa, job.group.model.mesh(), job.lanes, job.group.format, job.store, out);
    }

    fn read(crowd: &Crowd, blocks: &Blocks, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) {
        for instance in instances {
            let Block { instances: block, .. } = blocks.of(instance);
            let words = arena.host_vertices(crowd, block.clone());
            out.extend(words.iter().skip((instance - block.start) as usize).step_by(block.len()));
        }
    }
}
