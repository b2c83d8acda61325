//! Fewest bytes that each stage must move: the lower bound that its time is compared with.

use super::timer::{Clock, Stage};

/// Memory whose bandwidth bounds a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Main memory and its caches.
    Host {
        /// Threads that run the stage.
        threads: usize,
    },
    /// The device's memory.
    Device,
    /// Transfers from staging memory to the device's.
    Upload,
}

/// Bytes that a stage of one frame must move, each counted once however often a kernel accesses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The stage.
    pub stage: Stage,
    /// The clock that times it.
    pub clock: Clock,
    /// Bytes that the stage must read.
    pub read: u64,
    /// Bytes that it must write.
    pub written: u64,
    /// Memory that holds the bytes.
    pub memory: Memory,
}

impl Traffic {
    /// Bytes read plus bytes written.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }
}
