//! Counts of the memory that is allocated on the device, and of the work that frames give to it.

use super::Gpu;
use crate::frame::{Bytes, FrameWork, Purpose};

/// Size of a buffer of at least `size` bytes: a multiple of the alignment of copies and bindings.
pub(crate) fn room_bytes(size: u64) -> u64 {
    size.max(16).next_multiple_of(16)
}

/// Size of a buffer with contents of `length` bytes. A binding cannot be empty.
pub(super) fn filled_bytes(length: usize) -> u64 {
    if length == 0 { 64 } else { (length as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT) }
}

/// As [`filled_bytes`], for `count` items of a type.
pub(super) fn items_bytes<T>(count: usize) -> u64 {
    filled_bytes(count * size_of::<T>())
}

impl Gpu {
    /// Adds a new buffer or texture.
    pub(super) fn count(&self, purpose: Purpose, bytes: u64) {
        self.created.set(self.created.get() + Bytes::of(purpose, bytes));
    }

    /// The result of `create`, and the bytes of the buffers and textures that it created.
    pub fn counted<T>(&self, create: impl FnOnce() -> T) -> (T, Bytes) {
        let before = self.created.get();
        let created = create();
        (created, self.created.get() - before)
    }

    /// Adds to the work of the current frame.
    pub(super) fn add_work(&self, more: FrameWork) {
        let work = self.work.get();
        self.work.set(FrameWork {
            uploaded: work.uploaded + more.uploaded,
            draws: work.draws + more.draws,
            dispatches: work.dispatches + more.dispatches,
        });
    }

    /// Adds a dispatch to the work of the current frame.
    pub(super) fn add_dispatch(&self) {
        self.add_work(FrameWork { dispatches: 1, ..FrameWork::default() });
    }

    /// Work recorded since the last call.
    pub fn take_work(&self) -> FrameWork {
        self.work.take()
    }
}
