//! Rates at which instances are posed, and the poses around a tick.

/// The ticks at which an instance is posed anew: those whose sum with `offset` is a multiple of `every`. In between, its local
/// pose goes straight from one to the next, as two merge layers would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateRate {
    /// Ticks from one pose to the next, 1 or more.
    pub every: u32,
    /// Choice of the ticks, less than `every`: neighbours take turns, so that no tick has all the work.
    pub offset: u32,
}

/// A tick between two poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// Tick of the pose before, or of this very tick.
    pub start: u32,
    /// Tick of the pose after.
    pub end: u32,
    /// Ticks since `start`.
    pub elapsed: u32,
    /// Which of two places holds the pose before, 0 or 1; the other one holds the pose after. The latter stays where it
    /// is when its turn comes.
    pub place: usize,
}

impl UpdateRate {
    /// Every tick.
    pub const PLAIN: Self = Self { every: 1, offset: 0 };

    /// The poses around a tick; none if every tick has its own.
    pub fn between(self, tick: u32) -> Option<Between> {
        if self.every == 1 {
            return None;
        }
        let count = u64::from(tick) + u64::from(self.offset);
        let past = (count % u64::from(self.every)) as u32;
        // Time begins at tick 0.
        let elapsed = past.min(tick);
        Some(Between {
            start: tick - elapsed,
            end: tick.saturating_add(self.every - past),
            elapsed,
            place: (count / u64::from(self.every)) as usize % 2,
        })
    }
}

impl Between {
    /// The part of the way to the pose after, 0 to 1.
    pub fn part(self) -> f32 {
        self.elapsed as f32 / (self.end - self.start).max(1) as f32
    }
}
