//! What a run asks of every backend, and what a backend asks of memory.

use crate::frustum::Frustum;

/// Options that a run passes to every backend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Job {
    /// Number of times that `draw` renders the crowd; 0 draws nothing.
    pub passes: u32,
    /// Which vertices stay on the device.
    pub keep: Retention,
    /// The visible part of the world: backends may leave out instances that are outside of it.
    pub frustum: Frustum,
}

/// Which skinned vertices stay on the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retention {
    /// All of the frame's.
    #[default]
    Frame,
    /// The last chunks': all take turns in a ring of buffers, so that a crowd may be larger than memory. Nothing can be
    /// drawn then.
    Ring,
    /// The frame's and those of the frame before: two outputs that swap, for motion vectors.
    TwoFrames,
}

/// Bytes that a backend will allocate for a crowd, besides the shared [`Arena`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Footprint {
    /// In main memory.
    pub host: u64,
    /// In device memory.
    pub device: u64,
    /// Whether vertices go to the arena's host side.
    pub host_output: bool,
    /// Whether vertices go to the arena's device side.
    pub device_output: bool,
}
