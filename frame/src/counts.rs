//! Counts of the processor's events, and their source.

use std::ops::Add;
use strum::Display;

/// Kind of an event that is counted. It is shown by its name in messages.
#[derive(Debug, Clone, Copy, Display, PartialEq, Eq)]
#[strum(serialize_all = "lowercase")]
pub enum Event {
    /// Cycles of the processor, whatever its frequency.
    Cycles,
    /// Instructions that were completed.
    Instructions,
    /// Accesses that the last-level cache could not serve.
    #[strum(to_string = "last-level misses")]
    CacheMisses,
    /// Switches from one thread to another.
    #[strum(to_string = "context switches")]
    ContextSwitches,
}

impl Event {
    /// All kinds, in the order of [`Counts`].
    pub const ALL: [Self; 4] = [
        Self::Cycles,
        Self::Instructions,
        Self::CacheMisses,
        Self::ContextSwitches,
    ];
}

/// A number of each kind of event; `None` for kinds that cannot be counted.
pub type Counts = [Option<u64>; Event::ALL.len()];

/// Reads the numbers of events since some moment.
pub type CountSource = Box<dyn FnMut() -> Counts + Send>;

/// The numbers of each kind of event, computed from two; `None` for kinds that one of them lacks.
pub(super) fn combined(a: Counts, b: Counts, combine: fn(u64, u64) -> u64) -> Counts {
    std::array::from_fn(|event| Some(combine(a[event]?, b[event]?)))
}

/// Events of several frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountSum {
    sum: Counts,
    frames: u64,
}

impl CountSum {
    /// Adds a frame.
    pub fn add(&mut self, counts: Counts) {
        self.sum = if self.frames == 0 {
            counts
        } else {
            combined(self.sum, counts, u64::add)
        };
        self.frames += 1;
    }

    /// Events of one kind per frame; `None` if there are no counts of it.
    pub fn mean(&self, event: Event) -> Option<f64> {
        Some(self.sum[event as usize]? as f64 / self.frames as f64)
    }
}
