//! The clock of the processor, measured by a chain of dependent additions and multiplications before each block of frames:
//! it falls on hot laptops, and where other virtual machines use the same processor.

use super::outcome::RelativeClock;
use super::pacing::relative;
use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Links of the chain, which takes some 20 µs: less than 1 % of a block.
const LINKS: u32 = 1 << 14;

/// The clock of the processor that runs the calling thread, and the best time of the chain so far.
pub(super) struct ProcessorClock {
    best: Cell<Duration>,
}

impl Default for ProcessorClock {
    fn default() -> Self {
        Self {
            best: Cell::new(Duration::MAX),
        }
    }
}

impl ProcessorClock {
    /// Time of the chain.
    pub fn measure(&self) -> Duration {
        let start = Instant::now();
        black_box(chain(black_box(1), LINKS));
        let time = start.elapsed();
        self.best.set(self.best.get().min(time));
        time
    }

    /// The clock at which the chain took these times.
    pub fn relative(&self, times: &[Duration]) -> Option<RelativeClock> {
        relative(self.best.get(), times)
    }
}

/// A chain of so many links, each of which needs the result of the one before.
fn chain(start: u32, links: u32) -> u32 {
    let mut value = start;
    for _ in 0..links {
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    value
}
