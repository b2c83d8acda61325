//! One frame's input.

use super::arena::Arena;
use crate::crowd::Crowd;

/// One frame's input.
pub struct FrameInput<'a> {
    /// The crowd given to `prepare`.
    pub crowd: &'a Crowd,
    /// Simulation time in ticks.
    pub tick: u32,
    /// Destination of skinned vertices.
    pub arena: &'a mut Arena,
}
