//! One frame's input and the values that are read back after it.

use super::arena::Arena;
use crate::crowd::Crowd;

/// One frame's input.
pub struct FrameInput<'a> {
    /// The crowd given to `prepare`.
    pub crowd: &'a Crowd,
    /// Simulation time in ticks.
    pub tick: u32,
    /// Where skinned vertices go.
    pub arena: &'a mut Arena,
}

/// Values copied out of a backend, instance by instance.
#[derive(Debug, Default)]
pub struct ReadBack {
    /// `[instance][joint][10]` for `sample` (rotation x y z w, translation, scale), `[instance][joint][12]` for
    /// `local_to_model`, `[instance][entry][12]` for `palette`, `[instance][vertex][word]` for `skin`: floats, or the bits
    /// of packed words.
    pub values: Vec<f32>,
}
