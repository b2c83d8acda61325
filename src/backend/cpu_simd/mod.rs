//! `cpu-simd` and its variants: SIMD on one thread, one file per variant. The plain one chooses among them.

#[cfg(target_arch = "x86_64")]
mod cluster;
mod columns;
mod dual_quaternion;
mod fused;
mod lanes;

#[cfg(target_arch = "x86_64")]
pub use cluster::ClusterSkinner;
pub use columns::ColumnsSkinner;
pub use dual_quaternion::DualQuaternionSkinner;
pub use fused::FusedSkinner;
pub use lanes::{InterleavedSkinner, LanesSkinner};

use super::cpu::Cpu;
use super::{Backend, Context, Prepared, Traits};
use crate::blocks::Blocks;
use crate::crowd::{BLOCK, Crowd};
use crate::frame::{Footprint, Job, Result};
use crate::simd::Isa;

/// Fraction of lanes that must hold an instance for `lanes` to pay: empty lanes cost as much as full ones, and the
/// variants that work vertex by vertex take approximately three times as long as full lanes.
const FILLED: f64 = 0.4;

/// Delegates to the variant that suits the crowd.
struct CpuSimd {
    isa: Isa,
}

/// Creates the plain `cpu-simd`.
pub fn create(context: &Context) -> Box<dyn Backend> {
    Box::new(CpuSimd { isa: context.isa })
}

impl CpuSimd {
    /// The variant for a crowd: lanes if instances fill them, otherwise vertices side by side.
    fn choose(&self, crowd: &Crowd) -> Box<dyn Backend> {
        let blocks = Blocks::new(crowd, BLOCK, false).all().len();
        let filled = crowd.instance_count() as f64 >= FILLED * (blocks * BLOCK) as f64;
        match self.isa {
            isa if filled => Cpu::<LanesSkinner>::chosen("lanes", isa),
            #[cfg(target_arch = "x86_64")]
            isa @ Isa::Avx512 => Cpu::<ClusterSkinner>::chosen("cluster", isa),
            isa => Cpu::<ColumnsSkinner>::chosen("columns", isa),
        }
    }
}

impl Backend for CpuSimd {
    fn traits(&self) -> Traits {
        // Every variant that is chosen leaves its vertices in the same layout.
        Cpu::<LanesSkinner>::chosen("lanes", self.isa).traits()
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        self.choose(crowd).footprint(crowd, job)
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        self.choose(crowd).prepare(crowd, job)
    }
}
