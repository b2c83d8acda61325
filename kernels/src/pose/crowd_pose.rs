//! A crowd's pose stages, on one thread or on several: part by part, so that poses stay in the cache from stage to
//! stage.

use super::block_sampler::BlockSampler;
use super::block_source::{BlockSource, Source};
use super::clock::{NoClock, PoseClock, PoseStage};
use super::joint_strip::STRIP;
use super::lanes::items;
use super::local_to_model::LocalToModel;
use super::merge::{Merge, merge};
use super::palettes::{BlockPalettes, is_sparse};
use super::pose_cache::{CachedTicks, due};
use super::recipe::{blend_between, blend_layers, steady_merge};
use super::strips_to_model::{Levels, strips_to_model};
use super::{Affine, Local, run_lanes};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group, Layers, UpdateRate};
use crate::model::Rows;
use crate::simd::{Aligned, Isa};
use crate::threads::{Threads, lock, of_thread};
use arrayvec::ArrayVec;
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
    /// One, in scalar code.
    One,
    /// [`BLOCK`], one in each lane. The instances of a block that has few of them are posed one by one, with
    /// neighbouring joints in lanes.
    Block,
}

/// Takes a block of the crowd, its palette `[entry][12][BLOCK]` and its share of the output.
pub type SkinBlock<'a> = dyn Fn(&Block, &[Affine<BLOCK>], &mut [f32]) + Sync + 'a;

/// Takes a block of the crowd and its palettes.
pub type TakeBlock<'a> = dyn Fn(&Block, BlockPalettes) + Sync + 'a;

/// Destination of a crowd's palettes.
pub enum PaletteOut<'a> {
    /// For CPU crowd kernels: `[block][entry][12][BLOCK]`, of [`CrowdPose::block_entries`] items. Only for
    /// [`Width::Block`].
    Lanes(&'a mut [Affine<BLOCK>]),
    /// As [`PaletteOut::Lanes`], but the share of a block that [is sparse](is_sparse) begins with
    /// `[instance][entry][12]`, which [`Palettes::of`](super::Palettes::of) reads. Only for [`Width::Block`].
    Mixed(&'a mut [Affine<BLOCK>]),
    /// For kernels that read one instance at a time: `[instance][entry][12]`, group after group, of
    /// [`Crowd::palette_entries`] items.
    Rows(&'a mut [Rows]),
    /// To a function that has a place for them, block by block while they are in the cache.
    Blocks {
        /// `true` if all palettes come in rows. Otherwise they come in lanes where instances are posed side by side.
        rows: bool,
        /// Called on any thread for every block that is not [idle](CrowdPose::is_idle).
        take: &'a TakeBlock<'a>,
    },
    /// To a function, block by block while the palette is in the cache. Only for [`Width::Block`].
    Each {
        /// `[instance][vertex][word]`, group after group, of [`Crowd::output_words`] items.
        out: &'a mut [f32],
        /// Called on any thread for every block that is not [idle](CrowdPose::is_idle).
        skin: &'a SkinBlock<'a>,
    },
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
pub struct CrowdPose(Box<dyn Poser>);

/// A [`BlockPoser`] of any number of instances side by side, with the methods of [`CrowdPose`].
trait Poser: Send + Sync {
    fn blocks(&self) -> &Blocks;
    fn blends(&self) -> bool;
    fn update(&mut self, crowd: &Crowd, tick: u32, anew: bool);
    fn is_idle(&self, block: &Block) -> bool;
    fn pose(&mut self, crowd: &Crowd, tick: u32, clock: &dyn PoseClock, out: PaletteOut);
    fn read(&self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>);
}

impl CrowdPose {
    /// About the time that one thread takes to pose a crowd, to tell when it is too small to share.
    pub fn estimate(crowd: &Crowd) -> Duration {
        Duration::from_nanos(JOINT_NS * crowd.joint_count())
    }

    /// Bytes that [`CrowdPose::new`] will allocate.
    pub fn bytes(crowd: &Crowd, width: Width, threads: usize) -> PoseMemory {
        match width {
            Width::One => BlockPoser::<1>::bytes(crowd, threads),
            Width::Block => BlockPoser::<BLOCK>::bytes(crowd, threads),
        }
    }

    /// Palette entries of all blocks: the length of [`PaletteOut::Lanes`].
    pub fn block_entries(crowd: &Crowd) -> u64 {
        let mut sum = 0;
        for block in Blocks::new(crowd, BLOCK, false).all() {
            sum += entries(crowd, block) as u64;
        }
        sum
    }

    /// Allocates memory for a crowd's poses: one part per thread, or every part if poses outlive a frame.
    pub fn new(crowd: &Crowd, width: Width, isa: Isa, threads: &Threads) -> Self {
        Self(match width {
            Width::One => Box::new(BlockPoser::<1>::new(crowd, isa, threads)),
            Width::Block => Box::new(BlockPoser::<BLOCK>::new(crowd, isa, threads)),
        })
    }

    /// The blocks of instances, for kernels that loop over the same blocks.
    pub fn blocks(&self) -> &Blocks {
        self.0.blocks()
    }

    /// The stages that [`CrowdPose::pose`] goes through, in order.
    pub fn stages(&self) -> &'static [PoseStage] {
        if self.0.blends() {
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
        self.0.update(crowd, tick, anew);
    }

    /// Returns whether a block keeps the palettes that it had before the last [`CrowdPose::update`].
    pub fn is_idle(&self, block: &Block) -> bool {
        self.0.is_idle(block)
    }

    /// Poses the crowd at a tick, part by part through all stages, on `threads`.
    ///
    /// # Panics
    /// Palettes are requested in lanes but instances are posed one at a time, or `out` is too short.
    pub fn pose(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        threads: &Threads,
        clock: &dyn PoseClock,
        out: PaletteOut,
    ) {
        threads.install(|| self.0.pose(crowd, tick, clock, out));
    }

    /// Appends poses or palettes of neighbouring instances as the last [`CrowdPose::pose`] computed them. Poses whose
    /// memory has been reused since then are computed again, by the same code.
    pub fn read(&self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) {
        self.0.read(crowd, what, instances, out);
    }
}

/// Poses a crowd in blocks of `N` instances.
struct BlockPoser<const N: usize> {
    blocks: Blocks,
    /// The layers of the last tick, if instances are replaced.
    layers: Option<Layers>,
    /// For each block whether it keeps its palettes; empty if no instance is frozen.
    idle: Vec<bool>,
    /// Tick of `layers` and `idle`.
    updated: Option<u32>,
    /// For each block with instances in lanes the merge of its layers, if it is the same at every tick.
    steady: Vec<Option<Merge<N>>>,
    isa: Isa,
    /// Most instances of a block that are posed with joints in lanes; 0 in scalar code.
    few: usize,
    sampler: BlockSampler,
    /// For each group; empty in scalar code.
    levels: Vec<Levels>,
    plan: PartPlan,
    buffers: Vec<Mutex<Poses<N>>>,
    /// One block's palette for each thread, for [`PaletteOut::Each`] and [`PaletteOut::Blocks`].
    palettes: Vec<Mutex<Aligned<Affine<N>>>>,
    /// `true` if any instance plays more than one whole clip, or interpolates between two cached poses.
    blends: bool,
    /// Tick of the last frame.
    tick: u32,
}

/// Local and model poses of neighbouring blocks.
struct Poses<const N: usize> {
    local: Aligned<Local<N>>,
    model: Aligned<Affine<N>>,
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
    fn new<const N: usize>(crowd: &Crowd, blocks: &Blocks, threads: usize) -> Self {
        let mut largest = 1;
        let mut palette = 0;
        for block in blocks.all() {
            let item = block.slots * size_of::<Local<N>>() + 2 * size_of::<Affine<N>>();
            largest = largest.max(joints(crowd, block) * item);
            palette = palette.max(entries(crowd, block));
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
                local += block.slots * joints(crowd, block);
                model += joints(crowd, block);
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

    fn bytes<const N: usize>(&self) -> u64 {
        let ticks = (self.part * size_of::<CachedTicks>()) as u64;
        let buffer = Aligned::<Local<N>>::bytes(self.local)
            + Aligned::<Affine<N>>::bytes(self.model)
            + ticks;
        self.buffers as u64 * buffer
            + self.threads as u64 * Aligned::<Affine<N>>::bytes(self.palette)
    }
}

impl<const N: usize> BlockPoser<N> {
    fn bytes(crowd: &Crowd, threads: usize) -> PoseMemory {
        let blocks = Blocks::new(crowd, N, false);
        let steady = blocks.all().len() * size_of::<Option<Merge<N>>>();
        let lists = size_of_val(blocks.all()) + steady;
        let plan = PartPlan::new::<N>(crowd, &blocks, threads);
        let mut levels = 0;
        for group in crowd.groups().iter().filter(|_| N == BLOCK) {
            levels += size_of::<Levels>() as u64 + Levels::bytes(group.model.skeleton());
        }
        let layers = crowd.turnover().map(|_| crowd.layers().bytes());
        let lists = lists
            + layers.unwrap_or(0)
            + if crowd.has_frozen() {
                blocks.all().len()
            } else {
                0
            };
        PoseMemory {
            clips: BlockSampler::bytes(crowd, N),
            poses: plan.bytes::<N>() + levels + lists as u64,
        }
    }

    fn new(crowd: &Crowd, isa: Isa, threads: &Threads) -> Self {
        let parallel = !matches!(threads, Threads::One);
        let blocks = Blocks::new(crowd, N, parallel);
        let plan = PartPlan::new::<N>(crowd, &blocks, threads.count());
        // Lanes that a last block leaves empty keep zeros or another block's poses; their results are not read.
        let mut buffers = Vec::with_capacity(plan.buffers);
        for _ in 0..plan.buffers {
            buffers.push(Mutex::new(Poses {
                local: Aligned::zeroed(plan.local),
                model: Aligned::zeroed(plan.model),
                ticks: vec![[None; 2]; plan.part],
            }));
        }
        let mut steady = Vec::with_capacity(blocks.all().len());
        for block in blocks.all() {
            let group = &crowd.groups()[block.group];
            steady.push(steady_merge(block, group, crowd.layers()));
        }
        Self {
            layers: crowd.turnover().map(|_| crowd.layers().clone()),
            idle: if crowd.has_frozen() {
                vec![false; blocks.all().len()]
            } else {
                Vec::new()
            },
            updated: None,
            steady,
            isa,
            few: if N == BLOCK { FEW } else { 0 },
            sampler: BlockSampler::new(crowd, N, isa),
            levels: crowd
                .groups()
                .iter()
                .filter(|_| N == BLOCK)
                .map(|group| Levels::new(group.model.skeleton()))
                .collect(),
            plan,
            buffers,
            palettes: (0..plan.threads)
                .map(|_| Mutex::new(Aligned::zeroed(plan.palette)))
                .collect(),
            blends: blocks
                .all()
                .iter()
                .any(|b| !b.plain || b.rate != UpdateRate::PLAIN),
            tick: 0,
            blocks,
        }
    }

    /// The layers of the last tick.
    fn layers<'a>(&'a self, crowd: &'a Crowd) -> &'a Layers {
        self.layers.as_ref().unwrap_or(crowd.layers())
    }

    /// Poses the crowd at a tick. `write` writes a block's palettes to its share of `out`; `first` returns the offset of
    /// that share.
    fn write<T: Send>(
        &mut self,
        crowd: &Crowd,
        clock: &dyn PoseClock,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync + Copy,
        write: impl Fn(&Self, BlockSource<N>, &mut [T]) + Sync,
    ) {
        let posing = &*self;
        posing.in_parts(crowd, clock, out, first, |from, out| {
            write(posing, from, out)
        });
    }

    /// Takes every part through all stages. `write` and `first` are as in [`BlockPoser::write`].
    fn in_parts<T: Send>(
        &self,
        crowd: &Crowd,
        clock: &dyn PoseClock,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync + Copy,
        write: impl Fn(BlockSource<N>, &mut [T]) + Sync,
    ) {
        self.blocks.in_parts(
            self.blocks.all(),
            self.plan.part,
            out,
            &first,
            &|part: &[Block], out: &mut [T]| {
                let mut poses = self.buffer(part[0].index / self.plan.part);
                self.pose_part(crowd, part, &mut poses, clock, &self.idle);
                clock.run(PoseStage::Palette, &mut || {
                    let mut out = &mut *out;
                    for (index, block) in part.iter().enumerate() {
                        let share = part
                            .get(index + 1)
                            .map_or(out.len(), |next| first(next) - first(block));
                        let own;
                        (own, out) = std::mem::take(&mut out).split_at_mut(share);
                        if self.is_idle(block) {
                            continue;
                        }
                        let first_joint = block.first_joint - part[0].first_joint;
                        let model = &poses.model[first_joint..][..joints(crowd, block)];
                        write(self.source(crowd, block, model), own);
                    }
                });
            },
        );
    }

    /// The buffer of a part: its own, or the thread's.
    fn buffer(&self, part: usize) -> MutexGuard<'_, Poses<N>> {
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
        poses: &mut Poses<N>,
        clock: &dyn PoseClock,
        idle: &[bool],
    ) {
        let Block {
            index,
            first_slot,
            first_joint,
            ..
        } = &part[0];
        let all = || {
            part.iter()
                .filter(|block| idle.get(block.index) != Some(&true))
        };
        let Poses {
            local,
            model,
            ticks,
        } = poses;
        let slots = |b: &Block| {
            b.first_slot - first_slot..b.first_slot - first_slot + b.slots * joints(crowd, b)
        };
        let of = |b: &Block| &crowd.groups()[b.group];
        clock.run(PoseStage::Sample, &mut || {
            for b in all() {
                let between = b.rate.between(self.tick);
                let poses = between.map(|between| {
                    due(&mut ticks[b.index - index], b, between).collect::<ArrayVec<_, 2>>()
                });
                let poses = poses.as_deref();
                if self.is_one_by_one(crowd, b) {
                    for (one, slots) in one_by_one(b, of(b), &mut local[slots(b)]) {
                        self.sample::<1, STRIP>(crowd, &one, of(b), poses, slots);
                    }
                } else {
                    self.sample::<N, N>(crowd, b, of(b), poses, &mut local[slots(b)]);
                }
            }
        });
        if self.blends {
            clock.run(PoseStage::Blend, &mut || {
                for b in all() {
                    if self.is_one_by_one(crowd, b) {
                        for (one, slots) in one_by_one(b, of(b), &mut local[slots(b)]) {
                            self.blend::<1, STRIP>(crowd, &one, of(b), None, slots);
                        }
                    } else {
                        let steady = self.steady[b.index].as_ref();
                        self.blend::<N, N>(crowd, b, of(b), steady, &mut local[slots(b)]);
                    }
                }
            });
        }
        clock.run(PoseStage::LocalToModel, &mut || {
            for b in all() {
                let skeleton = of(b).model.skeleton();
                let model = &mut model[b.first_joint - first_joint..][..skeleton.len()];
                let local = &mut local[slots(b)];
                if self.is_one_by_one(crowd, b) {
                    let models = bytemuck::cast_slice_mut::<_, Rows>(model);
                    let models = models.chunks_exact_mut(skeleton.len());
                    let levels = &self.levels[b.group];
                    for ((_, slots), model) in one_by_one(b, of(b), local).zip(models) {
                        strips_to_model(self.isa, skeleton, levels, slots, model);
                    }
                } else {
                    let kernel = LocalToModel {
                        skeleton,
                        lanes: b.instances.len(),
                        local,
                        model,
                    };
                    run_lanes::<N, _>(self.isa, kernel);
                }
            }
        });
    }

    /// Returns whether a block's instances are posed one by one, with joints in lanes. Their strips of joints fit the
    /// memory that the block has for instances in lanes.
    fn is_one_by_one(&self, crowd: &Crowd, block: &Block) -> bool {
        let joints = joints(crowd, block);
        let instances = block.instances.len();
        instances <= self.few && instances * joints.div_ceil(STRIP) <= joints
    }

    /// Input of stage `palette` for a block; `model` holds its model poses.
    fn source<'a>(
        &self,
        crowd: &'a Crowd,
        block: &'a Block,
        model: &'a [Affine<N>],
    ) -> BlockSource<'a, N> {
        let palettes = if self.is_one_by_one(crowd, block) {
            let poses = block.instances.len() * model.len();
            Source::OneByOne(&bytemuck::cast_slice(model)[..poses])
        } else {
            Source::Posed(model)
        };
        BlockSource {
            isa: self.isa,
            crowd,
            block,
            palettes,
        }
    }

    /// Samples the clips of the layers of a block's `P` instances that have any effect at the tick. Poses that are cached
    /// for several ticks are also blended here: those of these ticks and slots, if `cached` has any.
    fn sample<const P: usize, const L: usize>(
        &self,
        crowd: &Crowd,
        block: &Block,
        group: &Group,
        cached: Option<&[(u32, usize)]>,
        slots: &mut [Local<L>],
    ) {
        let sampler = &self.sampler;
        let layers = self.layers(crowd);
        let Some(cached) = cached else {
            return sampler.sample::<P, L>(block, group, layers, self.tick, slots);
        };
        let items = items::<P, L>(group.model.skeleton().len());
        for &(tick, slot) in cached {
            if block.plain {
                let slot = &mut slots[slot * items..][..items];
                sampler.sample::<P, L>(block, group, layers, tick, slot);
            } else {
                sampler.sample::<P, L>(block, group, layers, tick, slots);
                blend_layers::<P, L>(self.isa, block, group, layers, tick, slots);
                slots.copy_within(..items, slot * items);
            }
        }
    }

    /// Combines the layers of a block's `P` instances, or the poses before and after the tick, in the first slot.
    /// `steady` is the merge of the layers if it is known.
    fn blend<const P: usize, const L: usize>(
        &self,
        crowd: &Crowd,
        block: &Block,
        group: &Group,
        steady: Option<&Merge<P>>,
        slots: &mut [Local<L>],
    ) {
        let isa = self.isa;
        if let Some(between) = block.rate.between(self.tick) {
            let cached = block.cached_slots(between);
            blend_between::<P, L>(isa, group, cached, between.fraction(), slots);
        } else if let Some(steady) = steady {
            merge(
                isa,
                steady,
                items::<P, L>(group.model.skeleton().len()),
                slots,
            );
        } else if !block.plain {
            let layers = self.layers(crowd);
            blend_layers::<P, L>(isa, block, group, layers, self.tick, slots);
        }
    }
}

impl<const N: usize> Poser for BlockPoser<N> {
    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    fn blends(&self) -> bool {
        self.blends
    }

    fn update(&mut self, crowd: &Crowd, tick: u32, anew: bool) {
        let Self {
            blocks,
            layers,
            idle,
            updated,
            ..
        } = self;
        let before = updated.replace(tick);
        let kept = !anew && before.is_some();
        for (idle, block) in idle.iter_mut().zip(blocks.all()) {
            *idle = kept && block.frozen;
        }
        let (Some(turnover), Some(layers)) = (crowd.turnover(), layers) else {
            return;
        };
        for instance in turnover.changed(before.unwrap_or(0), tick) {
            layers.replace(instance as usize, &crowd.layers_at(instance, tick));
            if !idle.is_empty() {
                idle[blocks.of(instance).index] = false;
            }
        }
    }

    fn is_idle(&self, block: &Block) -> bool {
        self.idle.get(block.index) == Some(&true)
    }

    fn pose(&mut self, crowd: &Crowd, tick: u32, clock: &dyn PoseClock, out: PaletteOut) {
        assert!(
            N == BLOCK || matches!(out, PaletteOut::Rows(_) | PaletteOut::Blocks { .. }),
            "palettes in lanes need poses in lanes"
        );
        self.tick = tick;
        match out {
            PaletteOut::Rows(out) => self.write(
                crowd,
                clock,
                out,
                |b| b.first_row,
                |_, from, out| from.to_rows(out),
            ),
            PaletteOut::Lanes(out) => {
                let out: &mut [Affine<N>] = bytemuck::cast_slice_mut(out);
                self.write(
                    crowd,
                    clock,
                    out,
                    |b| b.first_entry,
                    |_, from, out| from.to_lanes(out),
                );
            }
            PaletteOut::Mixed(out) => {
                let out: &mut [Affine<N>] = bytemuck::cast_slice_mut(out);
                self.write(
                    crowd,
                    clock,
                    out,
                    |b| b.first_entry,
                    |_, from, out| {
                        if is_sparse(from.block) {
                            let rows = from.block.instances.len() * out.len();
                            from.to_rows(&mut bytemuck::cast_slice_mut(out)[..rows]);
                        } else {
                            from.to_lanes(out);
                        }
                    },
                );
            }
            PaletteOut::Blocks { rows, take } => {
                // `take` knows the place of a block, so blocks share nothing out.
                let no_share: &mut [()] = &mut [];
                self.write(
                    crowd,
                    clock,
                    no_share,
                    |_| 0,
                    |posing, from, _| {
                        let entries = entries(crowd, from.block);
                        let mut palettes = of_thread(&posing.palettes);
                        let in_lanes = N == BLOCK && matches!(from.palettes, Source::Posed(_));
                        let palettes = if in_lanes && !rows {
                            let lanes = &mut palettes[..entries];
                            from.to_lanes(lanes);
                            BlockPalettes::Lanes(bytemuck::cast_slice(lanes))
                        } else {
                            let rows = bytemuck::cast_slice_mut(&mut palettes);
                            let rows = &mut rows[..from.block.instances.len() * entries];
                            from.to_rows(rows);
                            BlockPalettes::Rows(rows)
                        };
                        take(from.block, palettes);
                    },
                );
            }
            PaletteOut::Each { out, skin } => {
                self.write(
                    crowd,
                    clock,
                    out,
                    |b| b.first_word,
                    |posing, from, out| {
                        let palette =
                            &mut of_thread(&posing.palettes)[..entries(crowd, from.block)];
                        from.to_lanes(palette);
                        skin(from.block, bytemuck::cast_slice(palette), out);
                    },
                );
            }
        }
    }

    fn read(&self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) {
        let mut palette: Vec<Affine<N>> = Vec::new();
        let mut ready = None;
        for instance in instances {
            let block = self.blocks.of(instance);
            let part = block.index / self.plan.part;
            let mut poses = self.buffer(part);
            let first = if self.plan.lasting {
                &self.blocks.all()[part * self.plan.part]
            } else {
                block
            };
            if !self.plan.lasting && ready != Some(block.index) {
                self.pose_part(
                    crowd,
                    std::slice::from_ref(block),
                    &mut poses,
                    &NoClock,
                    &[],
                );
                ready = Some(block.index);
            }
            let Poses { local, model, .. } = &*poses;
            let joints = joints(crowd, block);
            let lane = (instance - block.instances.start) as usize;
            let local = &local[block.first_slot - first.first_slot..];
            let model = &model[block.first_joint - first.first_joint..][..joints];
            match what {
                PoseData::Local if self.is_one_by_one(crowd, block) => {
                    let strips = block.slots * joints.div_ceil(STRIP);
                    let local: &[Local<STRIP>] = bytemuck::cast_slice(local);
                    let local = &local[lane * strips..];
                    for joint in 0..joints {
                        lane_of(&local[joint / STRIP..][..1], joint % STRIP, out);
                    }
                }
                PoseData::Model if self.is_one_by_one(crowd, block) => {
                    let models: &[Rows] = bytemuck::cast_slice(model);
                    out.extend_from_slice(models[lane * joints..][..joints].as_flattened());
                }
                PoseData::Local => lane_of(&local[..joints], lane, out),
                PoseData::Model => lane_of(model, lane, out),
                PoseData::Palette => {
                    palette.resize(entries(crowd, block), [[0.0; N]; 12]);
                    self.source(crowd, block, model).to_lanes(&mut palette);
                    lane_of(&palette, lane, out);
                }
            }
        }
    }
}

/// The instances of a block, each as a block of one, and their shares of the block's slots: `[slot][strip]`.
fn one_by_one<'a, const N: usize>(
    block: &Block,
    group: &Group,
    slots: &'a mut [Local<N>],
) -> impl Iterator<Item = (Block, &'a mut [Local<STRIP>])> {
    let strips = items::<1, STRIP>(group.model.skeleton().len());
    let slots = bytemuck::cast_slice_mut(slots).chunks_exact_mut(block.slots * strips);
    block.instances.clone().zip(slots).map(|(instance, slots)| {
        let one = Block {
            instances: instance..instance + 1,
            ..block.clone()
        };
        (one, slots)
    })
}

fn joints(crowd: &Crowd, block: &Block) -> usize {
    crowd.groups()[block.group].model.skeleton().len()
}

fn entries(crowd: &Crowd, block: &Block) -> usize {
    crowd.groups()[block.group].model.palette_joints().len()
}

/// Appends an instance's share of items.
fn lane_of<const N: usize, const R: usize>(
    items: &[[[f32; N]; R]],
    lane: usize,
    out: &mut Vec<f32>,
) {
    items
        .iter()
        .for_each(|item| out.extend(item.iter().map(|row| row[lane])));
}
