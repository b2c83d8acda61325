//! Counts of the memory that is allocated on the device, and of the work that frames give to it.

use crate::frame::{Bytes, FrameWork, Purpose};
use std::cell::Cell;

/// Counts of a device.
#[derive(Default)]
pub(in crate::gpu) struct Counts {
    /// Bytes of all buffers and textures created so far.
    pub created: Cell<Bytes>,
    /// Work of the frame that is being recorded.
    pub work: Cell<FrameWork>,
}

impl Counts {
    /// Adds a new buffer or texture.
    pub fn add(&self, purpose: Purpose, bytes: u64) {
        self.created.set(self.created.get() + Bytes::of(purpose, bytes));
    }

    /// Adds to the work of the current frame.
    pub fn add_work(&self, more: FrameWork) {
        let work = self.work.get();
        self.work.set(FrameWork {
            uploaded: work.uploaded + more.uploaded,
            draws: work.draws + more.draws,
            dispatches: work.dispatches + more.dispatches,
        });
    }

    /// Adds a draw to the work of the current frame.
    pub fn add_draw(&self) {
        self.add_work(FrameWork { draws: 1, ..FrameWork::default() });
    }

    /// Adds a dispatch to the work of the current frame.
    pub fn add_dispatch(&self) {
        self.add_work(FrameWork { dispatches: 1, ..FrameWork::default() });
    }
}
