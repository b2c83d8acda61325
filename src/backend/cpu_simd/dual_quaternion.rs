//! `cpu-simd:dual-quaternion`: 16 instances side by side, joints blended as dual quaternions.

use super::super::abilities::DUAL_QUATERNIONS;
use super::super::cpu::{BlockJob, PaletteLayout, Skinner};
use crate::crowd::Crowd;
use crate::frame::{Bytes, Lack, Purpose, Result};
use crate::reference::Blending;
use crate::simd::{Aligned, Isa};
use crate::skin::{DualQuaternion, lane_dual_quaternions, skin_dual_quaternions};
use crate::threads::lock;
use std::sync::Mutex;

/// A block's palette as dual quaternions.
pub struct DualQuaternionSkinner {
    palette: Mutex<Aligned<DualQuaternion>>,
}

impl DualQuaternionSkinner {
    fn entries(crowd: &Crowd) -> usize {
        crowd.groups().iter().map(|g| g.model.palette_joints().len()).max().unwrap_or(0)
    }
}

impl Skinner for DualQuaternionSkinner {
    const LAYOUT: PaletteLayout = PaletteLayout::Lanes;
    const LACKS: &'static [Lack] = DUAL_QUATERNIONS;
    const BLENDING: Blending = Blending::DualQuaternion;

    fn new(crowd: &Crowd, _: Isa) -> Result<Self> {
        Ok(Self { palette: Mutex::new(Aligned::zeroed(Self::entries(crowd))) })
    }

    fn bytes(crowd: &Crowd, _: Isa) -> Bytes {
        Bytes::of(Purpose::Palettes, Aligned::<DualQuaternion>::bytes(Self::entries(crowd)))
    }

    fn skin(&self, job: &BlockJob, out: &mut [f32]) {
        // Only one thread uses it, so the lock is always free.
        let mut palette = lock(&self.palette);
        let palette = &mut palette[..job.lanes.len()];
        lane_dual_quaternions(job.lanes, palette);
        let (mesh, format) = (job.group.model.mesh(), job.group.format);
        job.in_lanes(|morphed| skin_dual_quaternions(job.isa, mesh, morphed, palette, format, job.store, out));
    }
}
