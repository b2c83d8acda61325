//! What CPU backends share: poses, palettes in the layout that the kernel reads, stages timed apart. A backend adds a
//! [`Skinner`].

use super::{Backend, BackendInfo, Context, Skinned, Ticket, traffic};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group};
use crate::frame::{
    Arena, BackendError, Blending, Footprint, FrameInput, Job, ReadBack, Result, Stage, StageTimer, Traffic,
};
use crate::model::Rows;
use crate::pose::{Affine, CrowdPose, NoClock, PaletteOut, PoseData, Width};
use crate::simd::{Aligned, Isa};
use crate::skin::Store;
use crate::threads::Threads;
use std::ops::Range;

/// How palettes lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[instance][entry][12]`.
    Rows,
    /// `[block][entry][12][BLOCK]`.
    Lanes,
    /// As [`Layout::Lanes`], for one block at a time: it is skinned while its palette is in the cache.
    Fused,
}

/// A block to skin.
pub(super) struct BlockJob<'a> {
    pub isa: Isa,
    pub block: &'a Block,
    /// The block's group.
    pub group: &'a Group,
    /// `[instance][entry]` of the block's instances, for [`Layout::Rows`].
    pub rows: &'a [Rows],
    /// `[entry][12][BLOCK]`, for the other layouts.
    pub lanes: &'a [Affine<BLOCK>],
    pub store: Store,
}

/// A way to skin blocks of instances.
pub(super) trait Skinner: Sized + Sync {
    /// What the kernel reads.
    const LAYOUT: Layout;
    /// How many instances are posed side by side.
    const WIDTH: Width = Width::Block;
    /// How vertices follow their joints.
    const BLENDING: Blending = Blending::Linear;
    /// Where vertices are: [`Skinned::Host`], unless the arena holds anything but `[instance][vertex][word]`.
    const SKINNED: Skinned = Skinned::Host;

    /// What does not change from frame to frame.
    ///
    /// # Errors
    /// The crowd or the instruction set cannot be served.
    fn new(crowd: &Crowd, isa: Isa) -> Result<Self>;

    /// Bytes that [`Skinner::new`] allocates.
    fn bytes(_: &Crowd) -> u64 {
        0
    }

    /// Refuses what [`Skinner::new`] would, without allocating.
    ///
    /// # Errors
    /// As there.
    fn check(_: &Crowd, _: Isa) -> Result<()> {
        Ok(())
    }

    /// Skins a block into its share of the arena.
    fn skin(&self, job: &BlockJob, out: &mut [f32]);

    /// Appends the words of neighbouring instances of one group.
    fn read(crowd: &Crowd, _: &Blocks, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) {
        out.extend(arena.host_vertices(crowd, instances));
    }
}

/// A CPU backend.
pub(super) struct Cpu<S> {
    name: &'static str,
    variant: &'static str,
    isa: Isa,
    threads: Threads,
    state: Option<State<S>>,
}

struct State<S> {
    pose: CrowdPose,
    rows: Aligned<Rows>,
    lanes: Aligned<Affine<BLOCK>>,
    skinner: S,
}

/// Lengths of the palettes in rows and in lanes.
fn palettes(crowd: &Crowd, layout: Layout) -> (usize, usize) {
    match layout {
        Layout::Rows => (crowd.palette_entries() as usize, 0),
        Layout::Lanes => (0, CrowdPose::block_entries(crowd) as usize),
        Layout::Fused => (0, 0),
    }
}

impl<S: Skinner + 'static> Cpu<S> {
    /// The backend of that registry name on these threads.
    pub fn create(name: &'static str, context: &Context, threads: Threads) -> Box<dyn Backend> {
        let (name, variant) = name.split_once(':').unwrap_or((name, ""));
        Box::new(Self { name, variant, isa: context.isa, threads, state: None })
    }
}

impl<S: Skinner> Backend for Cpu<S> {
    fn info(&self) -> BackendInfo {
        let threads = self.threads.count();
        let threads = format!("{threads} {}", if threads == 1 { "thread" } else { "threads" });
        BackendInfo { name: self.name, variant: self.variant, device: format!("{}, {threads}", self.isa) }
    }

    fn blending(&self) -> Blending {
        S::BLENDING
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        S::check(crowd, self.isa)?;
        let (rows, lanes) = palettes(crowd, S::LAYOUT);
        let palettes = Aligned::<Rows>::bytes(rows) + Aligned::<Affine<BLOCK>>::bytes(lanes);
        let host = CrowdPose::bytes(crowd, S::WIDTH, self.threads.count()) + palettes + S::bytes(crowd);
        Ok(Footprint { host, device: 0, host_output: true, device_output: false })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        let (rows, lanes) = palettes(crowd, S::LAYOUT);
        self.state = Some(State {
            pose: CrowdPose::new(crowd, S::WIDTH, self.isa, &self.threads),
            rows: Aligned::zeroed(rows),
            lanes: Aligned::zeroed(lanes),
            skinner: S::new(crowd, self.isa)?,
        });
        Ok(())
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        match S::LAYOUT {
            Layout::Fused => traffic::fused(crowd, self.threads.count()),
            Layout::Rows | Layout::Lanes => traffic::host(crowd, self.threads.count()),
        }
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let Self { isa, threads, state, .. } = self;
        let State { pose, rows, lanes, skinner } = state.as_mut().ok_or_else(BackendError::unprepared)?;
        let (isa, crowd, tick) = (*isa, frame.crowd, frame.tick);
        let out = &mut frame.arena.host[..];
        let store = Store::for_bytes(size_of_val(out) as u64);
        match S::LAYOUT {
            Layout::Rows => timer.pose(pose, crowd, tick, threads, PaletteOut::Rows(rows)),
            Layout::Lanes => timer.pose(pose, crowd, tick, threads, PaletteOut::Lanes(lanes)),
            Layout::Fused => {
                let skin = |block: &Block, lanes: &[Affine<BLOCK>], out: &mut [f32]| {
                    let group = &crowd.groups()[block.group];
                    skinner.skin(&BlockJob { isa, block, group, rows: &[], lanes, store }, out);
                };
                let out = PaletteOut::Each { out, skin: &skin };
                timer.wall(Stage::PoseSkin, || pose.pose(crowd, tick, threads, &NoClock, out));
                return Ok(Ticket::default());
            }
        }
        timer.wall(Stage::Skin, || {
            threads.install(|| {
                pose.blocks().each(
                    crowd,
                    out,
                    |b| b.first_word,
                    |block, group, out| {
                        let entries = group.model.palette_joints().len();
                        let (rows, lanes) = match S::LAYOUT {
                            Layout::Rows => (&rows[block.first_row..][..block.instances.len() * entries], &[][..]),
                            _ => (&[][..], &lanes[block.first_entry..][..entries]),
                        };
                        skinner.skin(&BlockJob { isa, block, group, rows, lanes, store }, out);
                    },
                );
            });
        });
        Ok(Ticket::default())
    }

    fn skinned(&self) -> Skinned {
        S::SKINNED
    }

    fn read_back(
        &mut self,
        crowd: &Crowd,
        arena: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()> {
        let State { pose, rows, lanes, .. } = self.state.as_ref().ok_or_else(BackendError::unprepared)?;
        let values = &mut out.values;
        match (what, S::LAYOUT) {
            (Stage::Sample, _) => pose.read(crowd, PoseData::Local, instances, values),
            (Stage::LocalToModel, _) => pose.read(crowd, PoseData::Model, instances, values),
            (Stage::Palette, Layout::Rows) => values.extend(crowd.rows_of(rows, instances).as_flattened()),
            (Stage::Palette, Layout::Lanes) => pose.read_lanes(crowd, lanes, instances, values),
            (Stage::Palette, Layout::Fused) => pose.read(crowd, PoseData::Palette, instances, values),
            _ => S::read(crowd, pose.blocks(), arena, instances, values),
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::extremes;
    use crate::crowd::Layer;
    use crate::model::IDENTITY_ROWS;
    use crate::pose::Local;
    use crate::registry::REGISTRY;
    use std::sync::Arc;

    /// 20 blocks and one block have the same clips. Palettes of 0.94 MiB take one huge page, those of one block their
    /// 48 KiB; poses have room for three blocks, which the next ones reuse.
    #[test]
    fn footprints_count_whole_pages_and_the_poses_of_a_part() {
        let host = |blocks: usize| {
            let mut crowd = Crowd::new();
            let instances = (0..blocks * BLOCK).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd.push_group(Arc::new(extremes::chain_64().unwrap()), instances).unwrap();
            let entry = REGISTRY.iter().find(|entry| entry.name == "cpu-simd:lanes").unwrap();
            (entry.create)(&Context::default()).unwrap().footprint(&crowd, &Job::default()).unwrap().host
        };
        let poses = 2 * 64 * (size_of::<Local<BLOCK>>() + size_of::<Affine<BLOCK>>());
        let palettes = (2 << 20) - 64 * size_of::<Affine<BLOCK>>();
        let beside = (host(20) - host(1)) as usize - poses - palettes;
        assert!(beside < 32 << 10, "{beside} bytes beside poses and palettes");
    }
}
