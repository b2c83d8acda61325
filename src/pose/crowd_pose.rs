//! A crowd's pose stages, on one thread or on all: part by part, so that poses stay in the cache from stage to stage.

use super::kept_poses::KeptPoses;
use super::merge::{Merge, merge};
use super::recipe::steady_merge;
use super::shared_palettes::SharedPalettes;
use super::{Affine, BlockSampler, Local, blend_between, blend_layers, local_to_model, palette_lanes, palette_rows};
use crate::backend::{Paces, Stage, StageTimer};
use crate::blocks::{Block, Blocks};
use crate::crowd::{Crowd, Group, UpdateRate};
use crate::model::Rows;
use crate::simd::{Aligned, Isa};
use crate::threads::Threads;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of poses and palettes that stay in a core's second-level cache from stage to stage.
const PART_BYTES: usize = 512 << 10;
/// Parts that each thread gets at least, so that none waits long for another.
const PARTS_A_THREAD: usize = 4;
/// The stages, in their order, with and without layers.
const BLENDED: [Stage; 4] = [Stage::Sample, Stage::Blend, Stage::LocalToModel, Stage::Palette];
const PLAIN: [Stage; 3] = [Stage::Sample, Stage::LocalToModel, Stage::Palette];

/// Poses a crowd in blocks of `N` instances. Buffers are allocated once.
pub struct CrowdPose<const N: usize> {
    /// Of the poses, which instances may share.
    posed: Blocks,
    /// Of the instances.
    blocks: Blocks,
    shared: Option<SharedPalettes>,
    kept: KeptPoses,
    /// A block each, of those whose layers merge the same way at every tick.
    steady: Vec<Option<Merge<N>>>,
    isa: Isa,
    sampler: BlockSampler,
    /// Blocks that go through all stages before the next ones.
    part: usize,
    /// Room for the whole crowd, or for a part for each thread.
    rooms: Vec<Mutex<Poses<N>>>,
    whole: bool,
    parallel: bool,
    /// Whether any instance plays more than one whole clip, or shows what is between two poses.
    blends: bool,
    /// Of the poses that there are, or would be if their room were not in use again.
    tick: u32,
}

/// Local and model poses of neighbouring blocks.
struct Poses<const N: usize> {
    local: Aligned<Local<N>>,
    model: Aligned<Affine<N>>,
}

/// Where a crowd's palettes go.
pub enum PaletteOut<'a, const N: usize> {
    /// For CPU crowd kernels: `[block][entry][12][N]`.
    Lanes(&'a mut [Affine<N>]),
    /// For GPU kernels: `[instance][entry][12]`, group after group.
    Rows(&'a mut [Rows]),
}

/// How a crowd's blocks share room.
struct Plan {
    part: usize,
    rooms: usize,
    /// Most local poses and model poses of a room.
    local: usize,
    model: usize,
    whole: bool,
}

impl Plan {
    /// Poses that outlive a frame, or that instances share, have room for all; others for a part a thread.
    fn new<const N: usize>(crowd: &Crowd, blocks: &Blocks, threads: Option<usize>) -> Self {
        let joints = |b: &Block| joints(crowd, b);
        let bytes = |b: &Block| joints(b) * (b.slots * size_of::<Local<N>>() + 2 * size_of::<Affine<N>>());
        let largest = blocks.all().iter().map(bytes).max().unwrap_or(0).max(1);
        let count = blocks.all().len();
        let fits = (PART_BYTES / largest).max(1);
        let lasting = crowd.has_update_rates();
        let (part, rooms, whole) = match threads {
            Some(1) => (fits, 1, lasting),
            Some(threads) if !lasting => (fits.min(count.div_ceil(threads * PARTS_A_THREAD)).max(1), threads, false),
            _ => (count.max(1), 1, true),
        };
        let most = |count: &dyn Fn(&Block) -> usize| {
            let room = if whole { blocks.all().len().max(1) } else { part };
            blocks.all().chunks(room).map(|part| part.iter().map(count).sum::<usize>()).max().unwrap_or(0)
        };
        Self { part, rooms, local: most(&|b| b.slots * joints(b)), model: most(&joints), whole }
    }
}

impl<const N: usize> CrowdPose<N> {
    /// Bytes that [`CrowdPose::in_parts`] will allocate for a crowd.
    pub fn bytes(crowd: &Crowd, threads: usize) -> u64 {
        let shared = SharedPalettes::bytes(crowd);
        let posed = crowd.posed();
        let blocks = Blocks::new(posed, N, false);
        let plan = Plan::new::<N>(posed, &blocks, room_for(crowd, threads));
        let steady = (blocks.all().len() * size_of::<Option<Merge<N>>>()) as u64;
        let poses = Aligned::<Local<N>>::bytes(plan.local) + Aligned::<Affine<N>>::bytes(plan.model);
        plan.rooms as u64 * poses + BlockSampler::bytes::<N>(posed) + steady + shared
    }

    /// Palette entries of all blocks: the length of [`PaletteOut::Lanes`].
    pub fn block_entries(crowd: &Crowd) -> u64 {
        let entries = |b: &Block| crowd.groups()[b.group].model.palette_joints().len() as u64;
        Blocks::new(crowd, N, false).all().iter().map(entries).sum()
    }

    /// Room for all poses of a crowd, so that each stage can run over all of them; on rayon's current pool if `parallel`.
    pub fn new(crowd: &Crowd, isa: Isa, parallel: bool) -> Self {
        Self::with_room(crowd, isa, parallel, None)
    }

    /// Room for as much as [`CrowdPose::pose`] needs on so many threads.
    pub fn in_parts(crowd: &Crowd, isa: Isa, threads: &Threads) -> Self {
        let parallel = !matches!(threads, Threads::One);
        Self::with_room(crowd, isa, parallel, room_for(crowd, threads.count()))
    }

    fn with_room(crowd: &Crowd, isa: Isa, parallel: bool, threads: Option<usize>) -> Self {
        let blocks = Blocks::new(crowd, N, parallel);
        let shared = SharedPalettes::new(crowd);
        let crowd = crowd.posed();
        let posed = Blocks::new(crowd, N, parallel);
        let Plan { part, rooms, local, model, whole } = Plan::new::<N>(crowd, &posed, threads);
        // Lanes that a last block leaves empty keep zeros or another block's poses, whose results nobody reads.
        let room = |_| Mutex::new(Poses { local: Aligned::zeroed(local), model: Aligned::zeroed(model) });
        let (kept, sampler) = (KeptPoses::new(&posed), BlockSampler::new::<N>(crowd, isa));
        let rooms = (0..rooms).map(room).collect();
        let steady = posed.all().iter().map(|b| steady_merge(b, &crowd.groups()[b.group], crowd.layers())).collect();
        let blends = posed.all().iter().any(|b| !b.plain || b.rate != UpdateRate::PLAIN);
        Self { posed, blocks, shared, kept, steady, isa, sampler, part, rooms, whole, parallel, blends, tick: 0 }
    }

    /// The blocks of instances, for kernels that run over the same ones.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// All stages at a tick, part by part. The time that they take together is shared out to them as the threads spent
    /// theirs: every thread goes from stage to stage by itself.
    pub fn pose(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        threads: &Threads,
        timer: &mut StageTimer,
        palettes: PaletteOut<'_, N>,
    ) {
        self.tick = tick;
        let mut shared = self.shared.take();
        let (this, stages) = (&*self, if self.blends { &BLENDED[..] } else { &PLAIN });
        timer.paced(stages, |paces| {
            threads.install(|| match (palettes, &mut shared) {
                (PaletteOut::Lanes(out), None) => this.in_turn(crowd, paces, out, |b| b.first_entry, to_lanes),
                (PaletteOut::Rows(out), None) => this.in_turn(crowd, paces, out, |b| b.first_row, to_rows),
                (palettes, Some(shared)) => {
                    this.in_turn(crowd.posed(), paces, shared.rows_mut(), |b| b.first_row, to_rows);
                    paces.on(Stage::Palette, || shared.hand_out(&this.blocks, crowd, palettes));
                }
            });
        });
        self.shared = shared;
    }

    /// Every part through all stages, and its palettes to its share of `out`; `first` says where a block's begins.
    fn in_turn<T: Send>(
        &self,
        crowd: &Crowd,
        paces: &Paces,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync + Copy,
        palette: impl Fn(Isa, &Group, &[Affine<N>], &mut [T]) + Sync + Copy,
    ) {
        let work = |part: Range<usize>, out: &mut [T]| {
            let mut poses = self.room();
            let tick = self.tick;
            paces.on(Stage::Sample, || self.sample_part(crowd, tick, part.clone(), &mut poses));
            if self.blends {
                paces.on(Stage::Blend, || self.blend_part(crowd, tick, part.clone(), &mut poses));
            }
            paces.on(Stage::LocalToModel, || self.local_to_model_part(crowd, part.clone(), &mut poses));
            paces.on(Stage::Palette, || self.palette_part(crowd, part, &poses, out, first, palette));
        };
        self.halve(0..self.posed.all().len(), out, &first, &work);
    }

    /// Halves blocks until a part is left.
    fn halve<T: Send>(
        &self,
        blocks: Range<usize>,
        out: &mut [T],
        first: &(impl Fn(&Block) -> usize + Sync),
        work: &(impl Fn(Range<usize>, &mut [T]) + Sync),
    ) {
        if blocks.is_empty() {
            return;
        }
        if blocks.len() <= self.part {
            return work(blocks, out);
        }
        let middle = blocks.start + blocks.len().div_ceil(self.part) / 2 * self.part;
        let all = self.posed.all();
        let (left, right) = out.split_at_mut(first(&all[middle]) - first(&all[blocks.start]));
        let (before, after) = (blocks.start..middle, middle..blocks.end);
        // Room for all is one thread's at a time.
        if self.parallel && !self.whole {
            rayon::join(|| self.halve(before, left, first, work), || self.halve(after, right, first, work));
        } else {
            self.halve(before, left, first, work);
            self.halve(after, right, first, work);
        }
    }

    /// The thread's own room.
    fn room(&self) -> MutexGuard<'_, Poses<N>> {
        let index = rayon::current_thread_index().unwrap_or(0) % self.rooms.len();
        self.rooms[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All blocks.
    fn all(&self) -> Range<usize> {
        0..self.posed.all().len()
    }

    /// Where neighbouring blocks have their share of a buffer of a room, which holds `count` items of a block from
    /// `first` on.
    fn share(
        &self,
        part: &Range<usize>,
        first: impl Fn(&Block) -> usize,
        count: impl Fn(&Block) -> usize,
    ) -> Range<usize> {
        let blocks = &self.posed.all()[part.clone()];
        let origin = if self.whole { 0 } else { blocks.first().map_or(0, &first) };
        let end = blocks.last().map_or(0, |b| first(b) + count(b));
        blocks.first().map_or(0, &first) - origin..end - origin
    }

    fn local_share(&self, crowd: &Crowd, part: &Range<usize>) -> Range<usize> {
        self.share(part, |b| b.first_slot, |b| b.slots * joints(crowd, b))
    }

    fn model_share(&self, crowd: &Crowd, part: &Range<usize>) -> Range<usize> {
        self.share(part, |b| b.first_joint, |b| joints(crowd, b))
    }

    /// Stage `sample` of the whole crowd: the clips of every instance's layers at a tick, those that count for something
    /// then. Poses that are kept for several ticks are blended here already.
    pub fn sample(&mut self, crowd: &Crowd, tick: u32) {
        self.tick = tick;
        self.sample_part(crowd.posed(), tick, self.all(), &mut self.room());
    }

    fn sample_part(&self, crowd: &Crowd, tick: u32, part: Range<usize>, poses: &mut Poses<N>) {
        let (sampler, kept, isa, layers) = (&self.sampler, &self.kept, self.isa, crowd.layers());
        let local = &mut poses.local[self.local_share(crowd, &part)];
        self.posed.each_of(
            part,
            self.parallel && self.whole,
            crowd,
            local,
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

    /// Stage `blend` of the whole crowd: the layers of every instance, or the poses before and after, become one local
    /// pose.
    pub fn blend(&mut self, crowd: &Crowd, tick: u32) {
        self.blend_part(crowd.posed(), tick, self.all(), &mut self.room());
    }

    fn blend_part(&self, crowd: &Crowd, tick: u32, part: Range<usize>, poses: &mut Poses<N>) {
        let (isa, layers, steady) = (self.isa, crowd.layers(), &self.steady);
        let local = &mut poses.local[self.local_share(crowd, &part)];
        self.posed.each_of(
            part,
            self.parallel && self.whole,
            crowd,
            local,
            |b| b.first_slot,
            |block, group, slots| {
                if let Some(between) = block.rate.between(tick) {
                    blend_between(isa, group, block.kept_slots(between), between.part(), slots);
                } else if let Some(steady) = &steady[block.index] {
                    merge(isa, steady, group.model.skeleton().len(), slots);
                } else if !block.plain {
                    blend_layers(isa, block, group, layers, tick, slots);
                }
            },
        );
    }

    /// Stage `local_to_model` of the whole crowd.
    pub fn local_to_model(&mut self, crowd: &Crowd) {
        self.local_to_model_part(crowd.posed(), self.all(), &mut self.room());
    }

    fn local_to_model_part(&self, crowd: &Crowd, part: Range<usize>, poses: &mut Poses<N>) {
        let isa = self.isa;
        let Poses { local, model } = poses;
        let (local, model) = (&local[self.local_share(crowd, &part)], &mut model[self.model_share(crowd, &part)]);
        let first = self.posed.all()[part.clone()].first().map_or(0, |b| b.first_slot);
        self.posed.each_of(
            part,
            self.parallel && self.whole,
            crowd,
            model,
            |b| b.first_joint,
            |block, group, pose| {
                local_to_model(isa, group.model.skeleton(), &local[block.first_slot - first..][..pose.len()], pose);
            },
        );
    }

    /// Stage `palette` of the whole crowd.
    pub fn palette(&mut self, crowd: &Crowd, palettes: PaletteOut<'_, N>) {
        let mut shared = self.shared.take();
        let poses = self.room();
        match (palettes, &mut shared) {
            (PaletteOut::Lanes(out), None) => {
                self.palette_part(crowd, self.all(), &poses, out, |b| b.first_entry, to_lanes);
            }
            (PaletteOut::Rows(out), None) => {
                self.palette_part(crowd, self.all(), &poses, out, |b| b.first_row, to_rows);
            }
            (palettes, Some(shared)) => {
                self.palette_part(crowd.posed(), self.all(), &poses, shared.rows_mut(), |b| b.first_row, to_rows);
                shared.hand_out(&self.blocks, crowd, palettes);
            }
        }
        drop(poses);
        self.shared = shared;
    }

    fn palette_part<T: Send>(
        &self,
        crowd: &Crowd,
        part: Range<usize>,
        poses: &Poses<N>,
        out: &mut [T],
        first: impl Fn(&Block) -> usize + Sync,
        palette: impl Fn(Isa, &Group, &[Affine<N>], &mut [T]) + Sync,
    ) {
        let model = &poses.model[self.model_share(crowd, &part)];
        let first_joint = self.posed.all()[part.clone()].first().map_or(0, |b| b.first_joint);
        self.posed.each_of(part, self.parallel && self.whole, crowd, out, first, |block, group, out| {
            palette(self.isa, group, &model[block.first_joint - first_joint..], out);
        });
    }

    /// Appends blended local poses of neighbouring instances, `[instance][joint][10]`, for read-back.
    pub fn read_local(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        self.read(crowd, instances, false, out);
    }

    /// Appends model poses of neighbouring instances, `[instance][joint][12]`, for read-back.
    pub fn read_model(&self, crowd: &Crowd, instances: Range<u32>, out: &mut Vec<f32>) {
        self.read(crowd, instances, true, out);
    }

    /// Poses whose room is in use again are computed again, by the same code.
    fn read(&self, crowd: &Crowd, instances: Range<u32>, of_model: bool, out: &mut Vec<f32>) {
        let mut poses = self.room();
        for instances in poses_of(crowd, instances) {
            let crowd = crowd.posed();
            for block in self.posed.all() {
                let own = block.instances.start.max(instances.start)..block.instances.end.min(instances.end);
                if own.is_empty() {
                    continue;
                }
                let part = block.index..block.index + 1;
                if !self.whole {
                    self.sample_part(crowd, self.tick, part.clone(), &mut poses);
                    self.blend_part(crowd, self.tick, part.clone(), &mut poses);
                    self.local_to_model_part(crowd, part.clone(), &mut poses);
                }
                for lane in own.map(|instance| (instance - block.instances.start) as usize) {
                    if of_model {
                        lane_of(&poses.model[self.model_share(crowd, &part)], lane, out);
                    } else {
                        let local = &poses.local[self.local_share(crowd, &part)];
                        lane_of(&local[..joints(crowd, block)], lane, out);
                    }
                }
            }
        }
    }
}

/// Threads that a crowd's parts are for; none if all its poses have room.
fn room_for(crowd: &Crowd, threads: usize) -> Option<usize> {
    crowd.poses().is_none().then_some(threads)
}

fn joints(crowd: &Crowd, block: &Block) -> usize {
    crowd.groups()[block.group].model.skeleton().len()
}

fn to_lanes<const N: usize>(isa: Isa, group: &Group, model: &[Affine<N>], out: &mut [Affine<N>]) {
    palette_lanes(isa, group.model.palette_joints(), group.model.inverse_binds(), model, out);
}

fn to_rows<const N: usize>(isa: Isa, group: &Group, model: &[Affine<N>], out: &mut [Rows]) {
    palette_rows(isa, group.model.palette_joints(), group.model.inverse_binds(), model, out);
}

/// Appends an instance's share of items.
pub fn lane_of<const N: usize, const R: usize>(items: &[[[f32; N]; R]], lane: usize, out: &mut Vec<f32>) {
    items.iter().for_each(|item| out.extend(item.iter().map(|row| row[lane])));
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
                lane_of(&items[of(block)], lane, out);
            }
        }
    }
}
