//! `cpu-simd`: SIMD on one thread, and its variants, a file each. The plain one chooses among them.

#[cfg(target_arch = "x86_64")]
mod cluster;
mod columns;
mod dual_quaternion;
mod fused;
mod lanes;

#[cfg(target_arch = "x86_64")]
pub use cluster::create as cluster;
pub use columns::create as columns;
pub use dual_quaternion::create as dual_quaternion;
#[cfg(feature = "gpu")]
pub(super) use dual_quaternion::scales_evenly;
pub use fused::create as fused;
pub(super) use lanes::Lanes;
pub use lanes::{create as lanes, create_interleaved as lanes_interleaved};

use super::{Backend, BackendInfo, Context, Skinned, Ticket};
use crate::blocks::Blocks;
use crate::crowd::{BLOCK, Crowd};
use crate::frame::{Arena, BackendError, Footprint, FrameInput, Job, ReadBack, Result, Stage, StageTimer, Traffic};
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;
use std::ops::Range;

/// Part of the lanes that must hold an instance for `lanes` to be worth its while: empty lanes cost as much as full
/// ones, and the vertex-wise variants take about three times as long as full lanes.
const FILLED: f64 = 0.4;

/// Hands everything to the variant that suits the crowd.
struct CpuSimd {
    context: Context,
    chosen: Option<(&'static str, Box<dyn Backend>)>,
}

pub fn create(context: &Context) -> Result<Box<dyn Backend>> {
    Ok(Box::new(CpuSimd { context: context.clone(), chosen: None }))
}

impl CpuSimd {
    /// The variant for a crowd: lanes where instances fill them, else vertices side by side.
    fn choose(&self, crowd: &Crowd) -> Result<(&'static str, Box<dyn Backend>)> {
        let blocks = Blocks::new(crowd, BLOCK, false).all().len();
        let filled = crowd.instance_count() as f64 >= FILLED * (blocks * BLOCK) as f64;
        let (name, create): (_, fn(&Context) -> _) = match self.context.isa {
            _ if filled => ("lanes", lanes),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => ("cluster", cluster),
            _ => ("columns", columns),
        };
        Ok((name, create(&self.context)?))
    }

    fn chosen(&mut self) -> Result<&mut dyn Backend> {
        let (_, backend) = self.chosen.as_mut().ok_or_else(BackendError::unprepared)?;
        Ok(&mut **backend)
    }
}

impl Backend for CpuSimd {
    fn info(&self) -> BackendInfo {
        let device = match &self.chosen {
            Some((name, backend)) => format!("{name}, {}", backend.info().device),
            None => format!("{}, 1 thread", self.context.isa),
        };
        BackendInfo { name: "cpu-simd", variant: "", device }
    }
    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        self.choose(crowd)?.1.footprint(crowd, job)
    }
    fn prepare(&mut self, crowd: &Crowd, job: &Job) -> Result<()> {
        self.chosen = Some(self.choose(crowd)?);
        self.chosen()?.prepare(crowd, job)
    }
    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        self.chosen.as_ref().map_or(Vec::new(), |(_, backend)| backend.traffic(crowd))
    }
    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        self.chosen()?.submit(frame, timer)
    }
    fn skinned(&self) -> Skinned {
        Skinned::Host
    }
    fn read_back(
        &mut self,
        crowd: &Crowd,
        arena: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()> {
        self.chosen()?.read_back(crowd, arena, what, instances, out)
    }
    fn release(&mut self) {
        if let Some((_, backend)) = &mut self.chosen {
            backend.release();
        }
    }
}
