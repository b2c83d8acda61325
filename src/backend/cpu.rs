//! Shared part of all CPU backends: computes poses, then palettes in the layout that the kernel reads, and times the
//! stages. A backend adds a [`Skinner`].

use super::{Abilities, Backend, Context, Joints, LaterPasses, Prepared, Skinned, Ticket, stage_bytes};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group};
use crate::frame::{
    Arena, ArenaUser, Bytes, Footprint, FrameInput, HostGameplay, Job, Lack, Purpose, Result, Stage, StageTimer,
    ThreadTimes, Traffic, clips_in_place, meshes_in_place,
};
use crate::gameplay::{GameplayData, Palettes};
use crate::model::{Rows, Shape};
use crate::morph::{MorphScratch, MorphedLanes};
use crate::pose::{Affine, CrowdPose, NoClock, PaletteOut, PoseData, Width, is_sparse, sparse_rows};
use crate::reference::Blending;
use crate::simd::{Aligned, Isa};
use crate::skin::Store;
use crate::threads::{Threads, of_thread};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// About the time that one thread takes per vertex, to tell when a crowd is too small to share.
const VERTEX_NS: f64 = 1.25;

/// Layout of palettes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteLayout {
    /// `[instance][entry][12]`.
    Rows,
    /// `[block][entry][12][BLOCK]`.
    Lanes,
    /// As [`PaletteLayout::Lanes`], but `[instance][entry][12]` for blocks that [are sparse](crate::pose::is_sparse).
    Mixed,
    /// As [`PaletteLayout::Lanes`], for one block at a time: it is skinned while its palette is in the cache.
    Fused,
}

/// A block to skin.
pub struct BlockJob<'a> {
    /// Instruction set of the kernel.
    pub isa: Isa,
    /// The instances.
    pub block: &'a Block,
    /// The block's group.
    pub group: &'a Group,
    /// `[instance][entry]` of the block's instances, for [`PaletteLayout::Rows`] and sparse blocks of
    /// [`PaletteLayout::Mixed`]; empty for others.
    pub rows: &'a [Rows],
    /// `[entry][12][BLOCK]`, where `rows` is empty.
    pub lanes: &'a [Affine<BLOCK>],
    /// Kind of store that writes vertices.
    pub store: Store,
    morph: Option<BlockMorph<'a>>,
}

/// Means to morph the instances of a block.
struct BlockMorph<'a> {
    crowd: &'a Crowd,
    tick: u32,
    /// One item per thread.
    scratch: &'a [Mutex<MorphScratch>],
    times: Option<&'a ThreadTimes>,
}

impl BlockJob<'_> {
    /// Calls `skin(vertices before skinning, palette, words)` for each instance of the block, with palettes in rows.
    pub fn each_instance(&self, out: &mut [f32], skin: impl Fn(Shape, &[Rows], &mut [f32])) {
        let (entries, words) = (self.group.model.palette_joints().len(), self.group.instance_words());
        let palettes = self.rows.chunks_exact(entries).zip(out.chunks_exact_mut(words));
        for (instance, (palette, out)) in self.block.instances.clone().zip(palettes) {
            let Some(morph) = &self.morph else {
                skin(self.group.model.mesh().shape(), palette, out);
                continue;
            };
            let mut scratch = of_thread(morph.scratch);
            let start = Instant::now();
            let shape = scratch.instance(self.isa, morph.crowd, instance, morph.tick);
            let start = morph.spent(Stage::Morph, start);
            skin(shape, palette, out);
            morph.spent(Stage::Skin, start);
        }
    }

    /// Calls `skin` with the block's morphed vertices in lanes; `None` if its model has no targets.
    pub fn in_lanes(&self, skin: impl FnOnce(Option<MorphedLanes>)) {
        match &self.morph {
            None => skin(None),
            Some(morph) => {
                let mut scratch = of_thread(morph.scratch);
                let start = Instant::now();
                let morphed = scratch.block(self.isa, morph.crowd, self.block, morph.tick);
                let start = morph.spent(Stage::Morph, start);
                skin(Some(morphed));
                morph.spent(Stage::Skin, start);
            }
        }
    }
}

impl<'a> BlockMorph<'a> {
    /// The means for a block of a group; `None` if its model has no targets.
    fn of(
        group: &Group,
        crowd: &'a Crowd,
        tick: u32,
        scratch: &'a [Mutex<MorphScratch>],
        times: Option<&'a ThreadTimes>,
    ) -> Option<Self> {
        (!group.model.mesh().targets().is_empty()).then_some(Self { crowd, tick, scratch, times })
    }

    /// Adds the time since `start` to a stage, if stages are timed; returns the current time.
    fn spent(&self, stage: Stage, start: Instant) -> Instant {
        if let Some(times) = self.times {
            times.spent(stage, start);
        }
        Instant::now()
    }
}

/// A way to skin blocks of instances.
pub trait Skinner: Sized + Sync {
    /// Palettes that the kernel reads.
    const LAYOUT: PaletteLayout;
    /// Number of instances that are posed side by side.
    const WIDTH: Width = Width::Block;
    /// Instruction set, if not the one that the run uses.
    const ISA: Option<Isa> = None;
    /// What the kernel cannot do.
    const LACKS: &'static [Lack] = &[];
    /// Rule by which vertices follow several joints.
    const BLENDING: Blending = Blending::Linear;
    /// Place of the vertices: [`Skinned::Host`], unless the arena holds something other than
    /// `[instance][vertex][word]`.
    const SKINNED: Skinned = Skinned::Host;

    /// Builds everything that does not change from frame to frame.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if this instruction set lacks what the
    /// kernel needs.
    fn new(crowd: &Crowd, isa: Isa) -> Result<Self>;

    /// Bytes that [`Skinner::new`] will allocate.
    fn bytes(_: &Crowd, _: Isa) -> Bytes {
        Bytes::default()
    }

    /// Skins a block into its share of the arena.
    fn skin(&self, job: &BlockJob, out: &mut [f32]);

    /// Appends the words of neighbouring instances of one group.
    fn read(crowd: &Crowd, _: &Blocks, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) {
        out.extend(arena.host_vertices(crowd, instances));
    }
}

/// A CPU backend with the kernel `S`.
pub struct Cpu<S> {
    isa: Isa,
    threads: Threads,
    skinner: PhantomData<S>,
}

impl<S: Skinner + 'static> Cpu<S> {
    /// Creates the backend on the calling thread alone.
    pub fn one_thread(context: &Context) -> Box<dyn Backend> {
        Self::boxed(context.isa, Threads::One)
    }

    /// Creates the backend on all threads of the context.
    pub fn all_threads(context: &Context) -> Box<dyn Backend> {
        Self::boxed(context.isa, context.threads.clone())
    }

    fn boxed(isa: Isa, threads: Threads) -> Box<dyn Backend> {
        Box::new(Self { isa: S::ISA.unwrap_or(isa), threads, skinner: PhantomData })
    }

    /// The threads that a crowd is worth.
    fn threads(&self, crowd: &Crowd) -> Threads {
        let skin = Duration::from_nanos((VERTEX_NS * crowd.vertex_count() as f64) as u64);
        self.threads.worth_waking(CrowdPose::estimate(crowd) + skin)
    }
}

/// Numbers of instances that are morphed side by side for a kernel.
fn scratch_widths(layout: PaletteLayout) -> &'static [Width] {
    match layout {
        PaletteLayout::Rows => &[Width::One],
        PaletteLayout::Lanes | PaletteLayout::Fused => &[Width::Block],
        PaletteLayout::Mixed => &[Width::One, Width::Block],
    }
}

/// Lengths of the palettes in rows and in lanes.
fn palettes(crowd: &Crowd, layout: PaletteLayout) -> (usize, usize) {
    match layout {
        PaletteLayout::Rows => (crowd.palette_entries() as usize, 0),
        PaletteLayout::Lanes | PaletteLayout::Mixed => (0, CrowdPose::block_entries(crowd) as usize),
        PaletteLayout::Fused => (0, 0),
    }
}

impl<S: Skinner + 'static> Backend for Cpu<S> {
    fn abilities(&self) -> Abilities {
        let later_passes = match S::SKINNED {
            Skinned::HostInBlocks => LaterPasses::NotDrawn,
            _ => LaterPasses::Free,
        };
        Abilities { joints: Joints::Host, later_passes, lacks: S::LACKS.to_vec() }
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        self.abilities().check(crowd, job)?;
        let (rows, lanes) = palettes(crowd, S::LAYOUT);
        let palettes = Aligned::<Rows>::bytes(rows) + Aligned::<Affine<BLOCK>>::bytes(lanes);
        let threads = self.threads(crowd).count();
        let pose = CrowdPose::bytes(crowd, S::WIDTH, threads);
        let scratch = if crowd.has_targets() { MorphScratch::bytes(crowd, scratch_widths(S::LAYOUT)) } else { 0 };
        let scratch = Bytes::of(Purpose::Scratch, threads as u64 * scratch);
        let skinner = S::bytes(crowd, self.isa) + HostGameplay::bytes(crowd, job) + scratch;
        Ok(Footprint {
            host: Bytes::from(pose) + Bytes::of(Purpose::Palettes, palettes) + skinner,
            device: Bytes::default(),
            in_place: clips_in_place(crowd) + meshes_in_place(crowd),
            host_output: true,
            device_output: false,
        })
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        let (rows, lanes) = palettes(crowd, S::LAYOUT);
        let threads = self.threads(crowd);
        let scratches = if crowd.has_targets() { threads.count() } else { 0 };
        let scratch = (0..scratches).map(|_| Mutex::new(MorphScratch::new(crowd, scratch_widths(S::LAYOUT)))).collect();
        Ok(Box::new(PreparedCpu {
            footprint: self.footprint(crowd, job)?,
            isa: self.isa,
            pose: CrowdPose::new(crowd, S::WIDTH, self.isa, &threads),
            threads,
            rows: Aligned::zeroed(rows),
            lanes: Aligned::zeroed(lanes),
            skinner: S::new(crowd, self.isa)?,
            gameplay: HostGameplay::new(crowd, job),
            scratch,
            user: ArenaUser::default(),
        }))
    }
}

struct PreparedCpu<S> {
    footprint: Footprint,
    isa: Isa,
    threads: Threads,
    pose: CrowdPose,
    rows: Aligned<Rows>,
    lanes: Aligned<Affine<BLOCK>>,
    skinner: S,
    gameplay: Option<HostGameplay>,
    /// One item per thread; none if no model has targets.
    scratch: Vec<Mutex<MorphScratch>>,
    user: ArenaUser,
}

impl<S: Skinner> Prepared for PreparedCpu<S> {
    fn device(&self) -> String {
        let count = self.threads.count();
        format!("{}, {count} {}", self.isa, if count == 1 { "thread" } else { "threads" })
    }

    fn footprint(&self, _: &Crowd) -> Footprint {
        self.footprint
    }

    fn blending(&self) -> Blending {
        S::BLENDING
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        if crowd.has_frozen() {
            return Vec::new();
        }
        match S::LAYOUT {
            PaletteLayout::Fused => stage_bytes::fused(crowd, self.threads.count()),
            PaletteLayout::Rows | PaletteLayout::Lanes | PaletteLayout::Mixed => {
                stage_bytes::host(crowd, self.threads.count())
            }
        }
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let Self { isa, threads, pose, rows, lanes, skinner, scratch, gameplay, user, .. } = self;
        let (isa, crowd, tick) = (*isa, frame.crowd, frame.tick);
        let kept = frame.arena.hand_to(user);
        let out = &mut frame.arena.host[..];
        // Once for the whole frame, so that threads are woken once.
        threads.install(|| {
            let store = Store::for_bytes(size_of_val(out) as u64);
            let (skinner, scratch) = (&*skinner, &scratch[..]);
            timer.update(pose, crowd, tick, S::LAYOUT == PaletteLayout::Fused && !kept);
            match S::LAYOUT {
                PaletteLayout::Rows => timer.pose(pose, crowd, tick, threads, PaletteOut::Rows(rows)),
                PaletteLayout::Lanes => timer.pose(pose, crowd, tick, threads, PaletteOut::Lanes(lanes)),
                PaletteLayout::Mixed => timer.pose(pose, crowd, tick, threads, PaletteOut::Mixed(lanes)),
                PaletteLayout::Fused => {
                    let skin = |block: &Block, lanes: &[Affine<BLOCK>], out: &mut [f32]| {
                        let group = &crowd.groups()[block.group];
                        let morph = BlockMorph::of(group, crowd, tick, scratch, None);
                        skinner.skin(&BlockJob { isa, block, group, rows: &[], lanes, store, morph }, out);
                    };
                    let out = PaletteOut::Each { out, skin: &skin };
                    timer.wall(Stage::PoseSkin, || pose.pose(crowd, tick, threads, &NoClock, out));
                    return;
                }
            }
            if let Some(gameplay) = gameplay {
                let palettes = match S::LAYOUT {
                    PaletteLayout::Rows => Palettes::Rows(rows),
                    PaletteLayout::Mixed => Palettes::Mixed(lanes),
                    _ => Palettes::Lanes(lanes),
                };
                gameplay.read(isa, threads, crowd, pose.blocks(), palettes, timer);
            }
            let (rows, lanes, blocks) = (&rows[..], &lanes[..], pose.blocks());
            let mut skin_all = |times: Option<&ThreadTimes>| {
                blocks.each(
                    crowd,
                    out,
                    |b| b.first_word,
                    |block, group, out| {
                        if kept && pose.is_idle(block) {
                            return;
                        }
                        let entries = group.model.palette_joints().len();
                        let (rows, lanes) = match S::LAYOUT {
                            PaletteLayout::Rows => {
                                (&rows[block.first_row..][..block.instances.len() * entries], &[][..])
                            }
                            PaletteLayout::Mixed if is_sparse(crowd, block) => {
                                (sparse_rows(block, &lanes[block.first_entry..][..entries]), &[][..])
                            }
                            _ => (&[][..], &lanes[block.first_entry..][..entries]),
                        };
                        let morph = BlockMorph::of(group, crowd, tick, scratch, times);
                        let unmorphed = times.filter(|_| morph.is_none()).map(|times| (times, Instant::now()));
                        skinner.skin(&BlockJob { isa, block, group, rows, lanes, store, morph }, out);
                        if let Some((times, start)) = unmorphed {
                            times.spent(Stage::Skin, start);
                        }
                    },
                );
            };
            match crowd.has_targets() {
                false => timer.wall(Stage::Skin, || skin_all(None)),
                true => timer.shared_out([Stage::Morph, Stage::Skin].into_iter(), |times| skin_all(Some(times))),
            }
        });
        Ok(Ticket::default())
    }

    fn skinned(&self) -> Skinned {
        S::SKINNED
    }

    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        Ok(self.gameplay.as_ref().map(|gameplay| gameplay.data.clone()))
    }

    fn gameplay_delay(&self) -> Option<u32> {
        self.gameplay.as_ref().map(|_| 0)
    }

    fn read_poses(&mut self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        match (what, S::LAYOUT) {
            (PoseData::Palette, PaletteLayout::Rows) => out.extend(crowd.rows_of(&self.rows, instances).as_flattened()),
            (PoseData::Palette, PaletteLayout::Lanes | PaletteLayout::Mixed) => {
                let mixed = S::LAYOUT == PaletteLayout::Mixed;
                self.pose.read_lanes(crowd, &self.lanes, mixed, instances, out);
            }
            _ => self.pose.read(crowd, what, instances, out),
        }
        Ok(())
    }

    fn read_vertices(&mut self, crowd: &Crowd, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        S::read(crowd, self.pose.blocks(), arena, instances, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpu_simd::LanesSkinner;
    use super::*;
    use crate::asset::extremes;
    use crate::crowd::Layer;
    use crate::model::IDENTITY_ROWS;
    use crate::pose::Local;
    use std::sync::Arc;

    /// 20 blocks have the same clips as one block. Their palettes of 0.94 MiB take one huge page, those of one block 48
    /// KiB; poses have room for three blocks, which the next ones reuse.
    #[test]
    fn footprints_count_whole_pages_and_the_poses_of_a_part() {
        let host = |blocks: usize| {
            let mut crowd = Crowd::new();
            let instances = (0..blocks * BLOCK).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd.push_group(Arc::new(extremes::chain_64().unwrap()), instances).unwrap();
            let backend = Cpu::<LanesSkinner<false>>::one_thread(&Context::default());
            backend.footprint(&crowd, &Job::default()).unwrap().host.total()
        };
        let poses = 2 * 64 * (size_of::<Local<BLOCK>>() + size_of::<Affine<BLOCK>>());
        let palettes = (2 << 20) - 64 * size_of::<Affine<BLOCK>>();
        let beside = (host(20) - host(1)) as usize - poses - palettes;
        assert!(beside < 32 << 10, "{beside} bytes beside poses and palettes");
    }
}
