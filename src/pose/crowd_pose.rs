//! A crowd's pose stages, block by block, on one thread or on all.

use super::kept_poses::KeptPoses;
use super::shared_palettes::SharedPalettes;
use super::{Affine, BlockSampler, Local, blend_between, blend_layers, local_to_model, palette_lanes, palette_rows};
use crate::blocks::{Block, Blocks};
use crate::crowd::{Crowd, UpdateRate};
use crate::model::Rows;
use crate::simd::{Aligned, Isa};
use std::ops::Range;

/// Bytes of poses that stay in a core's second-level cache from stage to stage.
const PART_BYTES: usize = 512 << 10;

/// Local and model poses of a whole crowd in blocks of `N` instances, kept between stages so that each stage can be
/// timed apart. Buffers are allocated once, in [`CrowdPose::new`].
pub struct CrowdPose<const N: usize> {
    // Of the poses, which instances may share.
    blocks: Blocks,
    shared: Option<SharedPalettes<N>>,
    kept: KeptPoses,
    isa: Isa,
    /// Blocks that go through all stages in turn.
    part: usize,
    sampler: BlockSampler,
    local: Aligned<Local<N>>,
    model: Aligned<Affine<N>>,
}

impl<const N: usize> CrowdPose<N> {
    /// Bytes that [`CrowdPose::new`] will allocate for a crowd.
    pub fn bytes(crowd: &Crowd) -> u64 {
        let shared = SharedPalettes::<N>::bytes(crowd);
        let crowd = crowd.posed();
        let (mut local, mut model) = (0, 0);
        for block in Blocks::new(crowd, N, false).all() {
            let joints = crowd.groups()[block.group].model.skeleton().len();
            local += joints * block.slots;
            model += joints;
        }
        let poses = Aligned::<Local<N>>::bytes(local) + Aligned::<Affine<N>>::bytes(model);
        poses + BlockSampler::bytes::<N>(crowd) + shared
    }

    /// Palette entries of all blocks: the length of [`CrowdPose::palette_lanes`]' output.
    pub fn block_entries(crowd: &Crowd) -> u64 {
        let entries = |b: &Block| crowd.groups()[b.group].model.palette_joints().len() as u64;
        Blocks::new(crowd, N, false).all().iter().map(entries).sum()
    }

    /// Buffers for a crowd; stages run on an instruction set, and on rayon's current pool if `parallel`.
    pub fn new(crowd: &Crowd, isa: Isa, parallel: bool) -> Self {
        let shared = SharedPalettes::new(crowd, parallel);
        let crowd = crowd.posed();
        let blocks = Blocks::new(crowd, N, parallel);
        let joints = |b: &Block| crowd.groups()[b.group].model.skeleton().len();
        let last = blocks.all().last();
        let local = last.map_or(0, |b| b.first_slot + b.slots * joints(b));
        let model = last.map_or(0, |b| b.first_joint + joints(b));
        // Lanes that a last block leaves empty keep zeros: poses of scale 0, whose results nobody reads.
        let sampler = BlockSampler::new::<N>(crowd, isa);
        let kept = KeptPoses::new(&blocks);
        let bytes = |b: &Block| joints(b) * (b.slots * size_of::<Local<N>>() + 2 * size_of::<Affine<N>>());
        let largest = blocks.all().iter().map(bytes).max().unwrap_or(0);
        // Threads share blocks out anew in every stage, and shared palettes need all poses.
        let part = if parallel || shared.is_some() { usize::MAX } else { PART_BYTES / largest.max(1) };
        let (local, model) = (Aligned::zeroed(local), Aligned::zeroed(model));
        Self { blocks, shared, kept, isa, part: part.max(1), sampler, local, model }
    }

    /// All blocks of poses, for stages that run over the whole crowd.
    pub fn all(&self) -> Range<usize> {
        0..self.blocks.all().len()
    }

    /// Blocks of poses that had best go through all stages before the next ones: their poses stay in the cache.
    pub fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<N> {
        let (count, part) = (self.blocks.all().len(), self.part);
        (0..count).step_by(part).map(move |first| first..count.min(first.saturating_add(part)))
    }

    /// The blocks of instances, for kernels that run over the same ones.
    pub fn blocks(&self) -> &Blocks {
        self.shared.as_ref().map_or(&self.blocks, SharedPalettes::blocks)
    }

    /// Whether any instance plays more than one whole clip, or shows what is between two poses; without, stage `blend`
    /// has nothing to do.
    pub fn blends(&self) -> bool {
        self.blocks.all().iter().any(|b| !b.plain || b.rate != UpdateRate::PLAIN)
    }

    /// Stage `sample`: the clips of every instance's layers at a tick, those that count for something then. Poses that
    /// are kept for several ticks are blended here already.
    pub fn sample(&mut self, crowd: &Crowd, tick: u32, part: Range<usize>) {
        let crowd = crowd.posed();
        let (sampler, kept, isa, layers) = (&self.sampler, &self.kept, self.isa, crowd.layers());
        self.blocks.each_of(
            part,
            crowd,
            &mut self.local,
            |b| b.first_slot,
            |block, group, slots| {
                let Some(between) = block.rate.between(tick) else {
                    return sampler.sample(block, group, layers, tick, slots);
                };
                let joints = group.model.skeleton().len();
                kept.update(block, between, |tick, slot| {
                    if block.plain {
                        return sampler.sample(block, group, layers, tick, &mut slots[slot * joints..][..joints]);
                    }
                    sampler.sample(block, group, layers, tick, slots);
                    blend_layers(isa, block, group, layers, tick, slots);
                    slots.copy_within(..joints, slot * joints);
                });
            },
        );
    }

    /// Stage `blend`: the layers of every instance, or the poses before and after, become one local pose.
    pub fn blend(&mut self, crowd: &Crowd, tick: u32, part: Range<usize>) {
        let crowd = crowd.posed();
        let (isa, layers) = (self.isa, crowd.layers());
        self.blocks.each_of(
            part,
            crowd,
            &mut self.local,
            |b| b.first_slot,
            |block, group, slots| {
                if let Some(between) = block.rate.between(tick) {
                    blend_between(isa, group, block.kept_slots(between), between.part(), slots);
                } else if !block.plain {
                    blend_layers(isa, block, group, layers, tick, slots);
                }
            },
        );
    }

    /// Stage `local_to_model`.
    pub fn local_to_model(&mut self, crowd: &Crowd, part: Range<usize>) {
        let crowd = crowd.posed();
        let (local, isa) = (&self.local, self.isa);
        self.blocks.each_of(
            part,
            crowd,
            &mut self.model,
            |b| b.first_joint,
            |block, group, pose| {
                local_to_model(isa, group.model.skeleton(), &local[block.first_slot..][..pose.len()], pose);
            },
        );
    }

    /// Stage `palette` for CPU crowd kernels: `[block][entry][12][N]`.
    pub fn palette_lanes(&mut self, crowd: &Crowd, part: Range<usize>, palette: &mut [Affine<N>]) {
        if let Some(mut shared) = self.shared.take() {
            self.rows_of_poses(crowd.posed(), part, shared.rows_mut());
            shared.lanes(crowd, palette);
            self.shared = Some(shared);
            return;
        }
        self.blocks.each_of(
            part,
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
    pub fn palette_rows(&mut self, crowd: &Crowd, part: Range<usize>, palette: &mut [Rows]) {
        if let Some(mut shared) = self.shared.take() {
            self.rows_of_poses(crowd.posed(), part, shared.rows_mut());
            shared.rows(crowd, palette);
            self.shared = Some(shared);
            return;
        }
        self.rows_of_poses(crowd, part, palette);
    }

    fn rows_of_poses(&self, crowd: &Crowd, part: Range<usize>, palette: &mut [Rows]) {
        self.blocks.each_of(
            part,
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
        for poses in poses_of(crowd, instances) {
            self.read(crowd.posed(), &self.local, |b| b.first_slot, poses, out);
        }
    }

    /// Appends model poses of neighbouring instances, `[instance][joint][12]`, for read-back.
    pub fn read_model(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        for poses in poses_of(crowd, instances) {
            self.read(crowd.posed(), &self.model, |b| b.first_joint, poses, out);
        }
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

/// Which poses neighbouring instances show, in their order.
fn poses_of(crowd: &Crowd, instances: Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let poses = crowd.poses().map(|poses| &poses[instances.start as usize..instances.end as usize]);
    let own = if poses.is_none() { Some(instances) } else { None };
    own.into_iter().chain(poses.into_iter().flatten().map(|&pose| pose..pose + 1))
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
