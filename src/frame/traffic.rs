//! Bytes that a stage must move: the floor that its time is compared with.

use super::timer::{Clock, Stage};

/// Whose bandwidth bounds a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Main memory and its caches, by so many threads.
    Host {
        /// Threads that run the stage.
        threads: usize,
    },
    /// The device's memory.
    Device,
    /// From staging memory to the device's.
    Upload,
}

/// Bytes of one frame of a stage, each counted once however often a kernel touches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Which part of the frame.
    pub stage: Stage,
    /// The clock that times it.
    pub clock: Clock,
    /// Bytes that the stage must read.
    pub read: u64,
    /// Bytes that it must write.
    pub written: u64,
    /// Where they are.
    pub memory: Memory,
}

impl Traffic {
    /// Both together.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }
}
