//! A crowd's pose stages, block by block, on one thread or on all.

use super::{Affine, Local, local_to_model, palette_lanes, palette_rows, sample};
use crate::blocks::{Block, Blocks};
use crate::crowd::{Crowd, REST};
use crate::model::Rows;
use std::ops::Range;

/// Local and model poses of a whole crowd in blocks of `N` instances, kept between stages so that each stage can be
/// timed apart. Buffers are allocated once, in [`CrowdPose::new`].
pub struct CrowdPose<const N: usize> {
    blocks: Blocks,
    local: Vec<Local<N>>,
    model: Vec<Affine<N>>,
}

impl<const N: usize> CrowdPose<N> {
    /// Bytes that [`CrowdPose::new`] will allocate for a crowd.
    pub fn bytes(crowd: &Crowd) -> u64 {
        let joints = crowd.groups().iter().map(|g| g.len().div_ceil(N) as u64 * g.model.skeleton().len() as u64);
        joints.sum::<u64>() * (size_of::<Local<N>>() + size_of::<Affine<N>>()) as u64
    }

    /// Palette entries of all blocks: the length of [`CrowdPose::palette_lanes`]' output.
    pub fn block_entries(crowd: &Crowd) -> u64 {
        crowd.groups().iter().map(|g| g.len().div_ceil(N) as u64 * g.model.palette_joints().len() as u64).sum()
    }

    /// Buffers for a crowd; stages run on rayon's current pool if `parallel`.
    pub fn new(crowd: &Crowd, parallel: bool) -> Self {
        let blocks = Blocks::new(crowd, N, parallel);
        let joints = blocks.all().last().map_or(0, |b| b.first_joint + crowd.groups()[b.group].model.skeleton().len());
        // Lanes that a last block leaves empty keep zeros: poses of scale 0, whose results nobody reads.
        Self { blocks, local: vec![[[0.0; N]; 10]; joints], model: vec![[[0.0; N]; 12]; joints] }
    }

    /// The blocks, for kernels that run over the same ones.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Stage `sample`: every instance's clip at a tick.
    pub fn sample(&mut self, crowd: &Crowd, tick: u32) {
        let layers = crowd.layers();
        self.blocks.each(
            crowd,
            &mut self.local,
            |b| b.first_joint,
            |block, group, local| {
                for (lane, instance) in block.instances.clone().enumerate() {
                    for layer in layers.of(instance as usize) {
                        let clip = layers.clip(layer);
                        let clip = (clip != REST).then(|| &group.model.clips()[clip as usize]);
                        sample(group.model.skeleton(), clip, layers.time(layer, tick), lane, local);
                    }
                }
            },
        );
    }

    /// Stage `local_to_model`.
    pub fn local_to_model(&mut self, crowd: &Crowd) {
        let local = &self.local;
        self.blocks.each(
            crowd,
            &mut self.model,
            |b| b.first_joint,
            |block, group, pose| {
                local_to_model(group.model.skeleton(), &local[block.first_joint..][..pose.len()], pose);
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
                    group.model.palette_joints(),
                    group.model.inverse_binds(),
                    &self.model[block.first_joint..],
                    palette,
                );
            },
        );
    }

    /// Appends local poses of neighbouring instances, `[instance][joint][10]`, for read-back.
    pub fn read_local(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        self.read(crowd, &self.local, instances, out);
    }

    /// Appends model poses of neighbouring instances, `[instance][joint][12]`, for read-back.
    pub fn read_model(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        self.read(crowd, &self.model, instances, out);
    }

    fn read<const R: usize>(&self, crowd: &Crowd, poses: &[[[f32; N]; R]], instances: Range<u32>, out: &mut Vec<f32>) {
        let joints = |b: &Block| b.first_joint..b.first_joint + crowd.groups()[b.group].model.skeleton().len();
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
