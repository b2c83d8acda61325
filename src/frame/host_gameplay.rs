//! Bounds and sockets on the host, in the frame that poses them.

use super::{Bytes, Job, Purpose, Stage, StageTimer};
use crate::blocks::Blocks;
use crate::crowd::Crowd;
use crate::gameplay::{Gameplay, GameplayData};
use crate::pose::Palettes;
use crate::simd::Isa;
use crate::threads::Threads;
use std::sync::Arc;

/// Bounds and sockets of a crowd that is posed on the host.
pub struct HostGameplay {
    gameplay: Arc<Gameplay>,
    /// Those of the last frame.
    pub data: GameplayData,
}

impl HostGameplay {
    /// Bytes that [`HostGameplay::new`] will allocate.
    pub fn bytes(crowd: &Crowd, job: &Job) -> Bytes {
        let bytes = job.gameplay.as_ref().map_or(0, |gameplay| gameplay.bytes(crowd.instance_count()));
        Bytes::of(Purpose::Scratch, bytes)
    }

    /// Room for what the job asks for; `None` if that is nothing.
    pub fn new(crowd: &Crowd, job: &Job) -> Option<Self> {
        let gameplay = Arc::clone(job.gameplay.as_ref()?);
        let data = GameplayData::new(crowd, &gameplay);
        Some(Self { gameplay, data })
    }

    /// Reads bounds and sockets, each as a stage of its own; `blocks` are those that made the palettes.
    pub fn read(
        &mut self,
        isa: Isa,
        threads: &Threads,
        crowd: &Crowd,
        blocks: &Blocks,
        palettes: Palettes,
        timer: &mut StageTimer,
    ) {
        let Self { gameplay, data } = self;
        if gameplay.bounds {
            timer.wall(Stage::Bounds, || data.read_bounds(isa, threads, (crowd, gameplay), blocks, palettes));
        }
        if gameplay.sockets > 0 {
            timer.wall(Stage::Sockets, || data.read_sockets(threads, (crowd, gameplay), blocks, palettes));
        }
    }
}
