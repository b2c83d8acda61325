//! Rates at which instances are posed, and the poses around a tick.

/// The ticks at which an instance is posed: those whose sum with `offset` is a multiple of `every`. In between, its
/// local pose is interpolated linearly from one pose to the next, as two merge layers would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateRate {
    /// Ticks from one pose to the next, 1 or more.
    pub every: u32,
    /// Choice of the ticks, less than `every`. It differs between neighbours, so that the work is spread over the
    /// ticks.
    pub offset: u32,
}

/// A tick between two poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// Tick of the pose before it, or the tick itself.
    pub start: u32,
    /// Tick of the pose after it.
    pub end: u32,
    /// Ticks since `start`.
    pub elapsed: u32,
    /// The place, 0 or 1, that holds the pose before; the other one holds the pose after. The pose after keeps its
    /// place when it becomes the pose before.
    pub place: usize,
}

impl UpdateRate {
    /// Every tick.
    pub const PLAIN: Self = Self {
        every: 1,
        offset: 0,
    };

    /// The poses around a tick; `None` if every tick has its own.
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
    /// The fraction of the way to the pose after, 0 to 1.
    pub fn fraction(self) -> f32 {
        self.elapsed as f32 / (self.end - self.start).max(1) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_lie_around_every_tick_and_stay_where_they_are() {
        for (every, offset) in [(2, 0), (2, 1), (4, 0), (4, 3), (7, 5)] {
            let rate = UpdateRate { every, offset };
            let mut held = [None; 2];
            let mut posed = 0;
            for tick in 0..100 {
                let between = rate.between(tick).unwrap();
                assert!(
                    between.start <= tick
                        && tick < between.end
                        && between.end - between.start <= every
                );
                assert_eq!(between.elapsed, tick - between.start);
                for (place, tick) in [
                    (between.place, between.start),
                    (1 - between.place, between.end),
                ] {
                    posed += u32::from(held[place] != Some(tick));
                    held[place] = Some(tick);
                }
            }
            assert_eq!(
                posed,
                2 + (99 + offset) / every,
                "{rate:?}: the first two, then one per period"
            );
        }
        assert_eq!(UpdateRate::PLAIN.between(5), None);
        assert!(
            UpdateRate {
                every: 4,
                offset: 0
            }
            .between(u32::MAX)
            .is_some()
        );
    }
}
