//! A crowd's pose stages, block by block, on one thread or on all.

use super::{Affine, BlockSampler, Local, Recipe, blend, local_to_model, palette_lanes, palette_rows};
use crate::blocks::{Block, Blocks};
use crate::crowd::Crowd;
use crate::model::Rows;
use crate::simd::{Aligned, Isa};
use std::ops::Range;

/// Local and model poses of a whole crowd in blocks of `N` instances, kept between stages so that each stage can be
/// timed apart. Buffers are allocated once, in [`CrowdPose::new`].
pub struct CrowdPose<const N: usize> {
    blocks: Blocks,
    isa: Isa,
    sampler: BlockSampler,
    local: Aligned<Local<N>>,
    model: Aligned<Affine<N>>,
}

impl<const N: usize> CrowdPose<N> {
    /// Bytes that [`CrowdPose::new`] will allocate for a crowd.
    pub fn bytes(crowd: &Crowd) -> u64 {
        let (mut local, mut model) = (0, 0);
        for block in Blocks::new(crowd, N, false).all() {
            let joints = crowd.groups()[block.group].model.skeleton().len() as u64;
            local += joints * block.slots as u64;
            model += joints;
        }
        local * size_of::<Local<N>>() as u64 + model * size_of::<Affine<N>>() as u64 + BlockSampler::bytes::<N>(crowd)
    }

    /// Palette entries of all blocks: the length of [`CrowdPose::palette_lanes`]' output.
    pub fn block_entries(crowd: &Crowd) -> u64 {
        crowd.groups().iter().map(|g| g.len().div_ceil(N) as u64 * g.model.palette_joints().len() as u64).sum()
    }

    /// Buffers for a crowd; stages run on an instruction set, and on rayon's current pool if `parallel`.
    pub fn new(crowd: &Crowd, isa: Isa, parallel: bool) -> Self {
        let blocks = Blocks::new(crowd, N, parallel);
        let joints = |b: &Block| crowd.groups()[b.group].model.skeleton().len();
        let last = blocks.all().last();
        let local = last.map_or(0, |b| b.first_slot + b.slots * joints(b));
        let model = last.map_or(0, |b| b.first_joint + joints(b));
        // Lanes that a last block leaves empty keep zeros: poses of scale 0, whose results nobody reads.
        let sampler = BlockSampler::new::<N>(crowd, isa);
        Self { blocks, isa, sampler, local: Aligned::zeroed(local), model: Aligned::zeroed(model) }
    }

    /// The blocks, for kernels that run over the same ones.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Whether any instance plays more than one whole clip; without, stage `blend` has nothing to do.
    pub fn blends(&self) -> bool {
        self.blocks.all().iter().any(|b| !b.plain)
    }

    /// Stage `sample`: the clips of every instance's layers at a tick, those that count for something then.
    pub fn sample(&mut self, crowd: &Crowd, tick: u32) {
        let layers = crowd.layers();
        self.blocks.each(
            crowd,
            &mut self.local,
            |b| b.first_slot,
            |block, group, slots| {
                self.sampler.sample(block, group, layers, tick, slots);
            },
        );
    }

    /// Stage `blend`: the layers of every instance become one local pose.
    pub fn blend(&mut self, crowd: &Crowd, tick: u32) {
        let layers = crowd.layers();
        let isa = self.isa;
        self.blocks.each(
            crowd,
            &mut self.local,
            |b| b.first_slot,
            |block, group, slots| {
                if !block.plain {
                    let recipe = Recipe::<N>::new(block, group, layers, tick);
                    blend(isa, group.model.skeleton().rest(), &recipe, slots);
                }
            },
        );
    }

    /// Stage `local_to_model`.
    pub fn local_to_model(&mut self, crowd: &Crowd) {
        let (local, isa) = (&self.local, self.isa);
        self.blocks.each(
            crowd,
            &mut self.model,
            |b| b.first_joint,
            |block, group, pose| {
                local_to_model(isa, group.model.skeleton(), &local[block.first_slot..][..pose.len()], pose);
            },
        );
    }

    /// Stage `palette` for CPU crowd kernels: `[block][entry][12][N]`.
    pub fn palette_lanes(&self, crowd: &Crowd, palette: &mut [Affine<N>]) {
        self.blocks.each(
            crowd,
            palette,
            |b| b.first_entry,
            |block, group, palette| {
                palette_lanes(
                    self.isa,
                    group.model.palette_joints(),
                    group.model.inverse_binds(),
                    &self.model[block.first_joint..],
                    palette,
                );
            },
        );
    }

    /// Stage `palette` for GPU kernels: `[instance][entry][12]`, group after group.
    pub fn palette_rows(&self, crowd: &Crowd, palette: &mut [Rows]) {
        self.blocks.each(
            crowd,
            palette,
            |b| b.first_row,
            |block, group, palette| {
                palette_rows(
                    self.isa,
                    group.model.palette_joints(),
                    group.model.inverse_binds(),
                    &self.model[block.first_joint..],
                    palette,
                );
            },
        );
    }

    /// Appends blended local poses of neighbouring instances, `[instance][joint][10]`, for read-back.
    pub fn read_local(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        self.read(crowd, &self.local, |b| b.first_slot, instances, out);
    }

    /// Appends model poses of neighbouring instances, `[instance][joint][12]`, for read-back.
    pub fn read_model(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        self.read(crowd, &self.model, |b| b.first_joint, instances, out);
    }

    fn read<const R: usize>(
        &self,
        crowd: &Crowd,
        poses: &[[[f32; N]; R]],
        first: impl Fn(&Block) -> usize,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) {
        let joints = |b: &Block| first(b)..first(b) + crowd.groups()[b.group].model.skeleton().len();
        read_lanes(&self.blocks, poses, joints, instances, out);
    }
}

/// Appends the lanes of neighbouring instances, instance by instance; `items` says which items are a block's.
pub fn read_lanes<const N: usize, const R: usize>(
    blocks: &Blocks,
    items: &[[[f32; N]; R]],
    of: impl Fn(&Block) -> Range<usize>,
    instances: Range<u32>,
    out: &mut Vec<f32>,
) {
    for block in blocks.all() {
        for (lane, instance) in block.instances.clone().enumerate() {
            if instances.contains(&instance) {
                items[of(block)].iter().for_each(|item| out.extend(item.iter().map(|row| row[lane])));
            }
        }
    }
}
