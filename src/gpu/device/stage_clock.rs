//! Which clock times the stages of a device, and what it measured.

use crate::frame::{DeviceClock, StageTime};
use crate::gpu::device::timestamps::CAPACITY;
use arrayvec::ArrayVec;
use std::cell::{Cell, RefCell};

/// State of the timing of stages.
#[derive(Default)]
pub(in crate::gpu) struct Timing {
    pub off: Cell<bool>,
    /// Clock of the stages.
    pub clock: Cell<DeviceClock>,
    /// The frame's stages that were timed by fences.
    pub fences: RefCell<ArrayVec<StageTime, { CAPACITY as usize }>>,
}

impl Timing {
    /// Returns whether stages are timed by timestamps.
    pub fn takes_timestamps(&self) -> bool {
        !self.off.get() && self.clock.get() == DeviceClock::Timestamps
    }
}
