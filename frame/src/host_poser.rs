//! Poses of a crowd on the host: its palettes in a layout, and the bounds and sockets that gameplay reads of them.

use super::{Bytes, Job, Purpose, Stage, StageTimer};
use skinbench_kernels::crowd::{BLOCK, Crowd};
use skinbench_kernels::gameplay::{Gameplay, GameplayData};
use skinbench_kernels::model::Rows;
use skinbench_kernels::pose::{CrowdPose, Palettes, PoseData, PoseOut, Width};
use skinbench_kernels::simd::{Aligned, Isa};
use skinbench_kernels::threads::Threads;
use std::ops::Range;
use std::sync::Arc;

/// Layout of palettes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteLayout {
    /// `[instance][entry][12]`.
    Rows,
    /// `[block][entry][12][BLOCK]`.
    Lanes,
    /// As [`PaletteLayout::Lanes`], but `[instance][entry][12]` for blocks that [are sparse](skinbench_kernels::pose::is_sparse).
    Mixed,
    /// That of one block at a time, which is skinned or handed on while its palette is in the cache.
    Fused,
}

impl PaletteLayout {
    /// Length of the palettes of a crowd, counted in rows.
    fn rows(self, crowd: &Crowd) -> usize {
        match self {
            Self::Rows => crowd.palette_entries() as usize,
            Self::Lanes | Self::Mixed => BLOCK * CrowdPose::block_entries(crowd) as usize,
            Self::Fused => 0,
        }
    }
}

/// Poses of a crowd, and what is read of them.
pub struct HostPoser {
    /// Instruction set that computes them.
    pub isa: Isa,
    /// The poses.
    pub crowd_pose: CrowdPose,
    layout: PaletteLayout,
    /// Palettes of the last frame in their layout; empty for [`PaletteLayout::Fused`].
    pub rows: Aligned<Rows>,
    gameplay: Option<(Arc<Gameplay>, GameplayData)>,
}

impl HostPoser {
    /// Bytes that [`HostPoser::new`] will allocate.
    pub fn bytes(
        crowd: &Crowd,
        job: &Job,
        layout: PaletteLayout,
        width: Width,
        threads: usize,
    ) -> Bytes {
        let gameplay = job
            .gameplay
            .as_ref()
            .map_or(0, |gameplay| gameplay.bytes(crowd.instance_count()));
        Bytes::from(CrowdPose::bytes(crowd, width, threads))
            + Bytes::of(
                Purpose::Palettes,
                Aligned::<Rows>::bytes(layout.rows(crowd)),
            )
            + Bytes::of(Purpose::Scratch, gameplay)
    }

    /// Room for the poses of a crowd, `width` of them side by side, and for what the job asks for.
    pub fn new(
        crowd: &Crowd,
        job: &Job,
        layout: PaletteLayout,
        width: Width,
        isa: Isa,
        threads: &Threads,
    ) -> Self {
        let gameplay = job.gameplay.clone().map(|gameplay| {
            let data = GameplayData::new(crowd, &gameplay);
            (gameplay, data)
        });
        Self {
            isa,
            crowd_pose: CrowdPose::new(crowd, width, isa, threads),
            layout,
            rows: Aligned::zeroed(layout.rows(crowd)),
            gameplay,
        }
    }

    /// Computes the palettes of a tick, then bounds and sockets, each as a stage of its own. Palettes that are
    /// [`PaletteLayout::Fused`] are computed by [`HostPoser::crowd_pose`] instead, which hands on block after block.
    pub fn pose(&mut self, crowd: &Crowd, tick: u32, threads: &Threads, timer: &mut StageTimer) {
        let out = match self.layout {
            PaletteLayout::Rows => PoseOut::rows(&mut self.rows),
            PaletteLayout::Lanes | PaletteLayout::Fused => {
                PoseOut::lanes(bytemuck::cast_slice_mut(&mut self.rows))
            }
            PaletteLayout::Mixed => PoseOut::mixed(bytemuck::cast_slice_mut(&mut self.rows)),
        };
        timer.pose(&mut self.crowd_pose, crowd, tick, threads, out);
        let Some((gameplay, mut data)) = self.gameplay.take() else {
            return;
        };
        let blocks = self.crowd_pose.blocks();
        let palettes = self.palettes();
        if gameplay.bounds {
            timer.wall(Stage::Bounds, || {
                threads.install(|| data.read_bounds(self.isa, crowd, &gameplay, blocks, palettes));
            });
        }
        if gameplay.sockets > 0 {
            timer.wall(Stage::Sockets, || {
                threads.install(|| data.read_sockets(crowd, &gameplay, blocks, palettes));
            });
        }
        self.gameplay = Some((gameplay, data));
    }

    /// The palettes of the last frame.
    pub fn palettes(&self) -> Palettes<'_> {
        match self.layout {
            PaletteLayout::Rows => Palettes::Rows(&self.rows),
            PaletteLayout::Lanes | PaletteLayout::Fused => {
                Palettes::Lanes(bytemuck::cast_slice(&self.rows))
            }
            PaletteLayout::Mixed => Palettes::Mixed(bytemuck::cast_slice(&self.rows)),
        }
    }

    /// Bounds and sockets of the last frame; `None` if the job asks for none.
    pub fn gameplay(&self) -> Option<&GameplayData> {
        Some(&self.gameplay.as_ref()?.1)
    }

    /// Appends poses or palettes of neighbouring instances of the last frame.
    pub fn read(&self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) {
        if what == PoseData::Palette && self.layout != PaletteLayout::Fused {
            self.palettes()
                .read(self.crowd_pose.blocks(), instances, out);
        } else {
            self.crowd_pose.read(crowd, what, instances, out);
        }
    }
}
