//! Which clock times the stages of a device, and what it measured.

use crate::frame::{DeviceClock, StageTime};
use crate::gpu::device::timestamps::CAPACITY;
use arrayvec::ArrayVec;
use std::cell::{Cell, RefCell};

/// State of the timing of stages.
pub(in crate::gpu) struct Timing {
    pub on: Cell<bool>,
    /// Clock of the stages.
    pub clock: Cell<DeviceClock>,
    /// The frame's stages that were timed by fences.
    pub fences: RefCell<ArrayVec<StageTime, { CAPACITY as usize }>>,
}

impl Default for Timing {
    fn default() -> Self {
        Self { on: Cell::new(true), clock: Cell::default(), fences: RefCell::default() }
    }
}

impl Timing {
    /// Returns whether stages are timed by timestamps.
    pub fn takes_timestamps(&self) -> bool {
        self.on.get() && self.clock.get() == DeviceClock::Timestamps
    }
}
