//! A crowd's pose stages, on one thread or on several: part by part, so that poses stay in the cache from stage to
//! stage.

use super::blend::{Merge, merge};
use super::block_poses::{BlockPoses, Form};
use super::block_sampler::BlockSampler;
use super::clock::{NoClock, PoseClock, PoseStage};
use super::joint_strip::STRIP;
use super::lanes::items;
use super::local_to_model::LocalToModel;
use super::one;
use super::palettes::is_sparse;
use super::pose_cache::{CachedTicks, due};
use super::recipe::{blend_between, blend_layers, steady_merge};
use super::side_by_side::{Affine, Local, run_lanes};
use super::strips_to_model::{JointLevels, strips_to_model};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group, JointOverride, Layers, UpdateRate};
use crate::model::Rows;
use crate::simd::{Aligned, Isa};
use crate::threads::{Threads, lock, of_thread};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Bytes of poses and palettes that stay in a core's second-level cache from stage to stage.
const PART_BYTES: usize = 512 << 10;
/// About the time that one thread takes per joint.
const JOINT_NS: u64 = 5;
/// Fewest parts per thread, so that no thread waits long for another.
const PARTS_PER_THREAD: usize = 4;

/// Most instances of a block that are posed one by one, with joints in lanes. With one more, instances in lanes take as
/// long, by vectors of 4, 8 and 16 lanes alike.
const FEW: usize = 5;

/// Number of instances that are posed side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// One, in scalar code: the stages of [`one`], instance after instance.
    One,
    /// [`BLOCK`], one in each lane. The instances of a block that has few of them are posed one by one, with
    /// neighbouring joints in lanes.
    Block,
}

/// What becomes of a crowd's poses: memory of which each block has a share, and a function that takes block after block
/// while its poses are in the cache.
pub struct PoseOut<'a> {
    /// Shares of all blocks, in their order; may be empty.
    pub out: &'a mut [f32],
    /// Offset of a block's share.
    pub first: &'a (dyn Fn(&Block) -> usize + Sync),
    /// Called on any thread for every block that is not [idle](CrowdPose::is_idle), with its share.
    pub take: &'a (dyn Fn(&BlockPoses, &mut [f32]) + Sync),
}

impl<'a> PoseOut<'a> {
    /// Palettes for kernels that read one instance at a time: `[instance][entry][12]`, group after group, of
    /// [`Crowd::palette_entries`] items.
    pub fn rows(palettes: &'a mut [Rows]) -> Self {
        Self {
            out: palettes.as_flattened_mut(),
            first: &|block| size_of::<Rows>() / size_of::<f32>() * block.first_row,
            take: &|poses, out| poses.to_rows(bytemuck::cast_slice_mut(out)),
        }
    }

    /// Palettes for CPU crowd kernels: `[block][entry][12][BLOCK]`, of [`CrowdPose::block_entries`] items.
    pub fn lanes(palettes: &'a mut [Affine<BLOCK>]) -> Self {
        Self {
            out: palettes.as_flattened_mut().as_flattened_mut(),
            first: &|block| size_of::<Affine<BLOCK>>() / size_of::<f32>() * block.first_entry,
            take: &|poses, out| poses.to_lanes(bytemuck::cast_slice_mut(out)),
        }
    }

    /// As [`PoseOut::lanes`], but the share of a block that [is sparse](is_sparse) begins with `[instance][entry][12]`,
    /// which [`Palettes::of`](super::Palettes::of) reads.
    pub fn mixed(palettes: &'a mut [Affine<BLOCK>]) -> Self {
        Self {
            take: &|poses, out| {
                if is_sparse(poses.block) {
                    let floats = out.len() / BLOCK * poses.block.instances.len();
                    poses.to_rows(bytemuck::cast_slice_mut(&mut out[..floats]));
                } else {
                    poses.to_lanes(bytemuck::cast_slice_mut(out));
                }
            },
            ..Self::lanes(palettes)
        }
    }
}

/// A result of posing that [`CrowdPose::read`] copies out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoseData {
    /// Blended local poses: `[instance][joint][10]`.
    Local,
    /// Model poses: `[instance][joint][12]`.
    Model,
    /// Palettes: `[instance][entry][12]`.
    Palette,
}

/// Bytes of a [`CrowdPose`] by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoseMemory {
    /// Clips with joints side by side.
    pub clips: u64,
    /// Local and model poses, and lists of blocks.
    pub poses: u64,
}

/// Poses a crowd. Buffers are allocated once, on construction.
pub struct CrowdPose {
    blocks: Blocks,
    /// The layers of the last tick, if instances are replaced.
    layers: Option<Layers>,
    /// For each block whether it keeps its palettes; empty if no instance is frozen.
    idle: Vec<bool>,
    /// Tick of `layers` and `idle`.
    updated: Option<u32>,
    /// For each block with instances in lanes the merge of its layers, if that is all there is to blend at any tick.
    steady: Vec<Option<Merge<BLOCK>>>,
    isa: Isa,
    width: Width,
    sampler: BlockSampler,
    /// For each group; empty in scalar code.
    levels: Vec<JointLevels>,
    plan: PartPlan,
    buffers: Vec<Mutex<Poses>>,
    /// Memory of each thread for a block's palettes.
    palettes: Vec<Mutex<Aligned<Affine<BLOCK>>>>,
    /// `true` if any instance plays more than one whole clip, or interpolates between two cached poses.
    blends: bool,
    /// Tick of the last frame.
    tick: u32,
}

/// What is done to local poses.
#[derive(Clone, Copy)]
enum Step<'a> {
    /// Samples the clips of all layers that have any effect at the tick. Of blocks that are not posed at every tick, the
    /// poses of these ticks, if any are due, which are blended and kept in these slots.
    Sample(Option<&'a [(u32, usize)]>),
    /// Combines the layers, or the poses before and after the tick, in the first slot.
    Blend,
}

/// Local and model poses of neighbouring blocks.
struct Poses {
    local: Aligned<Local<BLOCK>>,
    model: Aligned<Affine<BLOCK>>,
    /// One item per block.
    ticks: Vec<CachedTicks>,
}

/// Division of a crowd into parts, and the sizes of the buffers that parts use.
#[derive(Clone, Copy)]
struct PartPlan {
    /// Blocks of a part.
    part: usize,
    threads: usize,
    buffers: usize,
    /// `true` if every part has a buffer of its own, because poses outlive the frame. Otherwise every thread has one.
    lasting: bool,
    /// Largest number of local poses and of model poses in a part.
    local: usize,
    model: usize,
    /// Largest number of palette entries in a block.
    palette: usize,
}

impl PartPlan {
    fn new(crowd: &Crowd, blocks: &Blocks, threads: usize) -> Self {
        let mut largest = 1;
        let mut palette = 0;
        for block in blocks.all() {
            let item = block.slots * size_of::<Local<BLOCK>>() + 2 * size_of::<Affine<BLOCK>>();
            largest = largest.max(block.joints * item);
            palette = palette.max(block.entries);
        }
        let count = blocks.all().len();
        let fits = (PART_BYTES / largest).clamp(1, count.max(1));
        let part = if threads == 1 {
            fits
        } else {
            fits.min(count.div_ceil(threads * PARTS_PER_THREAD)).max(1)
        };
        let lasting = crowd.has_update_rates();
        let buffers = if lasting {
            count.div_ceil(part)
        } else {
            threads
        };
        let mut most_local = 0;
        let mut most_model = 0;
        for part in blocks.all().chunks(part) {
            let mut local = 0;
            let mut model = 0;
            for block in part {
                local += block.slots * block.joints;
                model += block.joints;
            }
            most_local = most_local.max(local);
            most_model = most_model.max(model);
        }
        Self {
            part,
            threads,
            buffers,
            lasting,
            local: most_local,
            model: most_model,
            palette,
        }
    }

    fn bytes(&self) -> u64 {
        let ticks = (self.part * size_of::<CachedTicks>()) as u64;
        let buffer = Aligned::<Local<BLOCK>>::bytes(self.local)
            + Aligned::<Affine<BLOCK>>::bytes(self.model)
            + ticks;
        self.buffers as u64 * buffer
            + self.threads as u64 * Aligned::<Affine<BLOCK>>::bytes(self.palette)
    }
}

impl CrowdPose {
    /// About the time that one thread takes to pose a crowd, to tell when it is too small to share.
    pub fn estimate(crowd: &Crowd) -> Duration {
        Duration::from_nanos(JOINT_NS * crowd.joint_count())
    }

    /// Palette entries of all blocks: the length of palettes in lanes.
    pub fn block_entries(crowd: &Crowd) -> u64 {
        let mut sum = 0;
        for block in Blocks::new(crowd, false).all() {
            sum += block.entries as u64;
        }
        sum
    }

    /// Bytes that [`CrowdPose::new`] will allocate.
    pub fn bytes(crowd: &Crowd, width: Width, threads: usize) -> PoseMemory {
        let blocks = Blocks::new(crowd, false);
        let count = blocks.all().len();
        let mut lists = size_of_val(blocks.all()) + count * size_of::<Option<Merge<BLOCK>>>();
        if crowd.has_frozen() {
            lists += count;
        }
        if crowd.turnover().is_some() {
            lists += crowd.layers().bytes();
        }
        let mut poses = PartPlan::new(crowd, &blocks, threads).bytes() + lists as u64;
        let mut clips = 0;
        if width == Width::Block {
            clips = BlockSampler::new(crowd, Isa::Scalar).bytes();
            for group in crowd.groups() {
                poses +=
                    size_of::<JointLevels>() as u64 + JointLevels::bytes(group.model.skeleton());
            }
        }
        PoseMemory { clips, poses }
    }

    /// Allocates memory for a crowd's poses: one part per thread, or every part if poses outlive a frame. It poses crowds with
    /// the same models and numbers of layers: this one, or a live one after changes.
    pub fn new(crowd: &Crowd, width: Width, isa: Isa, threads: &Threads) -> Self {
        let blocks = Blocks::new(crowd, !matches!(threads, Threads::One));
        let plan = PartPlan::new(crowd, &blocks, threads.count());
        // Lanes that a last block leaves empty keep zeros or another block's poses; their results are not read.
        let mut buffers = Vec::with_capacity(plan.buffers);
        for _ in 0..plan.buffers {
            buffers.push(Mutex::new(Poses {
                local: Aligned::zeroed(plan.local),
                model: Aligned::zeroed(plan.model),
                ticks: vec![[None; 2]; plan.part],
            }));
        }
        let mut palettes = Vec::with_capacity(plan.threads);
        for _ in 0..plan.threads {
            palettes.push(Mutex::new(Aligned::zeroed(plan.palette)));
        }
        let mut steady = Vec::with_capacity(blocks.all().len());
        let mut blends = false;
        for block in blocks.all() {
            let group = &crowd.groups()[block.group];
            steady.push(match width {
                Width::Block => steady_merge(block, group, crowd.layers()),
                Width::One => None,
            });
            blends |= !block.plain || block.rate != UpdateRate::PLAIN;
        }
        let mut sampler = BlockSampler::scalar();
        let mut levels = Vec::new();
        if width == Width::Block {
            sampler = BlockSampler::new(crowd, isa);
            levels.reserve_exact(crowd.groups().len());
            for group in crowd.groups() {
                levels.push(JointLevels::new(group.model.skeleton()));
            }
        }
        let mut idle = Vec::new();
        if crowd.has_frozen() {
            idle = vec![false; blocks.all().len()];
        }
        Self {
            layers: crowd.turnover().map(|_| crowd.layers().clone()),
            idle,
            updated: None,
            steady,
            isa,
            width,
            sampler,
            levels,
            plan,
            buffers,
            palettes,
            blends,
            tick: 0,
            blocks,
        }
    }

    /// The blocks of instances, for kernels that loop over the same blocks.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The stages that [`CrowdPose::pose`] goes through, in order.
    pub fn stages(&self) -> &'static [PoseStage] {
        if self.blends {
            &[
                PoseStage::Sample,
                PoseStage::Blend,
                PoseStage::LocalToModel,
                PoseStage::Palette,
            ]
        } else {
            &[
                PoseStage::Sample,
                PoseStage::LocalToModel,
                PoseStage::Palette,
            ]
        }
    }

    /// Brings what it holds of a crowd that changes to a tick; to be called before each [`CrowdPose::pose`] of such a
    /// crowd. Palettes of frozen instances that it posed before stay as they are; where they were lost, `anew` poses them
    /// again.
    pub fn update(&mut self, crowd: &Crowd, tick: u32, anew: bool) {
        let before = self.updated.replace(tick);
        let kept = !anew && before.is_some();
        for (idle, block) in self.idle.iter_mut().zip(self.blocks.all()) {
            *idle = kept && block.frozen;
        }
        let (Some(turnover), Some(layers)) = (crowd.turnover(), &mut self.layers) else {
            return;
        };
        for instance in turnover.changed(before.unwrap_or(0), tick) {
            layers.replace(instance as usize, &crowd.layers_at(instance, tick));
            if !self.idle.is_empty() {
                self.idle[self.blocks.of(instance).index] = false;
            }
        }
    }

    /// Returns whether a block keeps the palettes that it had before the last [`CrowdPose::update`].
    pub fn is_idle(&self, block: &Block) -> bool {
        self.idle.get(block.index) == Some(&true)
    }

    /// Poses the crowd at a tick of 1/60 s, part by part through all stages, on `threads`. That of a
    /// [`LiveCrowd`](crate::crowd::LiveCrowd) is posed at its own time in seconds, whatever the tick.
    ///
    /// # Panics
    /// The memory of `out` is shorter than the shares of all blocks.
    pub fn pose(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        threads: &Threads,
        clock: &dyn PoseClock,
        PoseOut { out, first, take }: PoseOut,
    ) {
        self.tick = crowd.tick_shown(tick);
        let posing = &*self;
        let pose_part = |part: &[Block], out: &mut [f32]| {
            let mut poses = posing.buffer(part[0].index / posing.plan.part);
            posing.pose_part(crowd, part, &mut poses, clock, &posing.idle);
            clock.run(PoseStage::Palette, &mut || {
                let mut rest = &mut *out;
                for (index, block) in part.iter().enumerate() {
                    let share = match part.get(index + 1) {
                        Some(next) => first(next) - first(block),
                        None => rest.len(),
                    };
                    let own;
                    (own, rest) = std::mem::take(&mut rest).split_at_mut(share);
                    if !posing.is_idle(block) {
                        let first_joint = block.first_joint - part[0].first_joint;
                        let model = &poses.model[first_joint..];
                        take(&posing.block_poses(crowd, block, model), own);
                    }
                }
            });
        };
        threads.install(|| {
            let blocks = &posing.blocks;
            let first = |block: &Block| first(block);
            blocks.in_parts(blocks.all(), posing.plan.part, out, &first, &pose_part);
        });
    }

    /// The buffer of a part: its own, or the thread's.
    fn buffer(&self, part: usize) -> MutexGuard<'_, Poses> {
        if self.plan.lasting {
            lock(&self.buffers[part])
        } else {
            of_thread(&self.buffers)
        }
    }

    /// Runs all stages but `palette` for neighbouring blocks, except those that are `idle`.
    fn pose_part(
        &self,
        crowd: &Crowd,
        part: &[Block],
        poses: &mut Poses,
        clock: &dyn PoseClock,
        idle: &[bool],
    ) {
        let first = &part[0];
        let posed = || {
            part.iter()
                .filter(|block| idle.get(block.index) != Some(&true))
        };
        let slots = |block: &Block| {
            let begin = block.first_slot - first.first_slot;
            begin..begin + block.slots * block.joints
        };
        clock.run(PoseStage::Sample, &mut || {
            for block in posed() {
                let cached = &mut poses.ticks[block.index - first.index];
                let between = block.rate.between(self.tick);
                let due = between.map(|between| due(cached, block, between));
                let step = Step::Sample(due.as_deref());
                self.step_block(crowd, block, step, &mut poses.local[slots(block)]);
            }
        });
        if self.blends {
            clock.run(PoseStage::Blend, &mut || {
                for block in posed() {
                    let slots = &mut poses.local[slots(block)];
                    match &self.steady[block.index] {
                        Some(steady) => merge(self.isa, steady, block.joints, slots),
                        None => self.step_block(crowd, block, Step::Blend, slots),
                    }
                    if crowd.is_live() {
                        self.override_joints(crowd, block, slots);
                    }
                }
            });
        }
        clock.run(PoseStage::LocalToModel, &mut || {
            for block in posed() {
                let model = &mut poses.model[block.first_joint - first.first_joint..];
                let model = &mut model[..block.joints];
                self.block_to_model(crowd, block, &mut poses.local[slots(block)], model);
            }
        });
    }

    /// How a block's instances are posed. Strips of joints must fit the memory that the block has for instances in lanes.
    fn form(&self, block: &Block) -> Form {
        let joints = block.joints;
        let instances = block.instances.len();
        if self.width == Width::One {
            Form::Scalar
        } else if instances <= FEW && instances * joints.div_ceil(STRIP) <= joints {
            Form::Strips
        } else {
            Form::Lanes
        }
    }

    /// Takes a block's local poses through a step.
    fn step_block(&self, crowd: &Crowd, block: &Block, step: Step, slots: &mut [Local<BLOCK>]) {
        let group = &crowd.groups()[block.group];
        match self.form(block) {
            Form::Lanes => self.step::<BLOCK, BLOCK>(crowd, block, group, step, slots),
            Form::Strips => {
                for (one, slots) in one_by_one(block, slots) {
                    self.step::<1, STRIP>(crowd, &one, group, step, slots);
                }
            }
            Form::Scalar => {
                for (one, slots) in one_by_one(block, slots) {
                    self.step::<1, 1>(crowd, &one, group, step, slots);
                }
            }
        }
    }

    /// Replaces local poses in a block's first slot by those that are given.
    fn override_joints(&self, crowd: &Crowd, block: &Block, slots: &mut [Local<BLOCK>]) {
        let form = self.form(block);
        let numbers = slots.as_flattened_mut().as_flattened_mut();
        for (place, instance) in block.instances.clone().enumerate() {
            for JointOverride { joint, local, .. } in crowd.joint_overrides(instance) {
                let indices = local_indices(form, block, place, usize::from(joint));
                for (index, number) in indices.zip(local.components()) {
                    numbers[index] = number;
                }
            }
        }
    }

    /// Turns the local poses of a block's first slot into model poses.
    fn block_to_model(
        &self,
        crowd: &Crowd,
        block: &Block,
        slots: &mut [Local<BLOCK>],
        model: &mut [Affine<BLOCK>],
    ) {
        let skeleton = crowd.groups()[block.group].model.skeleton();
        let form = self.form(block);
        if form == Form::Lanes {
            let kernel = LocalToModel {
                skeleton,
                lanes: block.instances.len(),
                local: slots,
                model,
            };
            return run_lanes::<BLOCK, _>(self.isa, kernel);
        }
        let models = bytemuck::cast_slice_mut::<_, Rows>(model).chunks_exact_mut(block.joints);
        if form == Form::Strips {
            let levels = &self.levels[block.group];
            for ((_, local), model) in one_by_one(block, slots).zip(models) {
                strips_to_model(self.isa, skeleton, levels, local, model);
            }
        } else {
            for ((_, local), model) in one_by_one(block, slots).zip(models) {
                one::local_to_model(skeleton, local, bytemuck::cast_slice_mut(model));
            }
        }
    }

    /// Input of stage `palette` for a block, whose model poses begin `model`.
    fn block_poses<'a>(
        &'a self,
        crowd: &'a Crowd,
        block: &'a Block,
        model: &'a [Affine<BLOCK>],
    ) -> BlockPoses<'a> {
        BlockPoses {
            block,
            form: self.form(block),
            isa: self.isa,
            model: &crowd.groups()[block.group].model,
            poses: &model[..block.joints],
            memory: &self.palettes,
        }
    }

    /// Takes the local poses of a block's `P` instances, in `L` lanes, through a step.
    fn step<const P: usize, const L: usize>(
        &self,
        crowd: &Crowd,
        block: &Block,
        group: &Group,
        step: Step,
        slots: &mut [Local<L>],
    ) {
        let sampler = &self.sampler;
        let isa = self.isa;
        let tick = self.tick;
        let layers = self.layers.as_ref().unwrap_or(crowd.layers());
        match step {
            Step::Sample(None) => sampler.sample::<P, L>(block, group, layers, tick, slots),
            Step::Sample(Some(due)) => {
                let items = items::<P, L>(block.joints);
                for &(tick, slot) in due {
                    if block.plain {
                        let slot = &mut slots[slot * items..][..items];
                        sampler.sample::<P, L>(block, group, layers, tick, slot);
                    } else {
                        sampler.sample::<P, L>(block, group, layers, tick, slots);
                        blend_layers::<P, L>(isa, block, group, layers, tick, slots);
                        slots.copy_within(..items, slot * items);
                    }
                }
            }
            Step::Blend => {
                if let Some(between) = block.rate.between(tick) {
                    let cached = block.cached_slots(between);
                    blend_between::<P, L>(isa, group, cached, between.fraction(), slots);
                } else if !block.plain {
                    blend_layers::<P, L>(isa, block, group, layers, tick, slots);
                }
            }
        }
    }

    /// Appends poses or palettes of neighbouring instances as the last [`CrowdPose::pose`] computed them. Poses whose
    /// memory has been reused since then are computed again, by the same code.
    pub fn read(&self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) {
        let mut palettes: Vec<Rows> = Vec::new();
        let mut ready = None;
        for instance in instances {
            let block = self.blocks.of(instance);
            let part = block.index / self.plan.part;
            let mut poses = self.buffer(part);
            let mut first = block;
            if self.plan.lasting {
                first = &self.blocks.all()[part * self.plan.part];
            } else if ready != Some(block.index) {
                let alone = std::slice::from_ref(block);
                self.pose_part(crowd, alone, &mut poses, &NoClock, &[]);
                ready = Some(block.index);
            }
            let place = (instance - block.instances.start) as usize;
            let local = &poses.local[block.first_slot - first.first_slot..];
            let model = &poses.model[block.first_joint - first.first_joint..];
            let block_poses = self.block_poses(crowd, block, model);
            match what {
                PoseData::Local => {
                    let numbers = local.as_flattened().as_flattened();
                    for joint in 0..block.joints {
                        let indices = local_indices(block_poses.form, block, place, joint);
                        out.extend(indices.map(|index| numbers[index]));
                    }
                }
                PoseData::Model if block_poses.are_lanes() => {
                    for matrix in block_poses.poses {
                        out.extend(matrix.map(|number| number[place]));
                    }
                }
                PoseData::Model => {
                    let mut posed = block_poses.instances().skip(place);
                    out.extend(posed.next().into_iter().flatten().flatten());
                }
                PoseData::Palette => {
                    let entries = block.entries;
                    palettes.resize(block.instances.len() * entries, [0.0; 12]);
                    block_poses.to_rows(&mut palettes);
                    out.extend_from_slice(palettes[place * entries..][..entries].as_flattened());
                }
            }
        }
    }
}

/// The instances of a block, each as a block of one, and their shares of the block's slots: `[slot][joint or strip]`.
fn one_by_one<'a, const L: usize>(
    block: &Block,
    slots: &'a mut [Local<BLOCK>],
) -> impl Iterator<Item = (Block, &'a mut [Local<L>])> {
    let items = items::<1, L>(block.joints);
    let slots = bytemuck::cast_slice_mut(slots).chunks_exact_mut(block.slots * items);
    block.instances.clone().zip(slots).map(|(instance, slots)| {
        let one = Block {
            instances: instance..instance + 1,
            ..block.clone()
        };
        (one, slots)
    })
}

/// Indices of the numbers of a joint's local pose in a block's first slot, of the instance at a place of the block.
fn local_indices(
    form: Form,
    block: &Block,
    place: usize,
    joint: usize,
) -> impl Iterator<Item = usize> {
    let (item, lane, lanes) = match form {
        Form::Lanes => (joint, place, BLOCK),
        Form::Strips => {
            let first = place * block.slots * items::<1, STRIP>(block.joints);
            (first + joint / STRIP, joint % STRIP, STRIP)
        }
        Form::Scalar => (place * block.slots * block.joints + joint, 0, 1),
    };
    (0..10).map(move |row| (10 * item + row) * lanes + lane)
}
