//! Rates at which instances are posed, and the poses around a tick: fewer poses than one per instance and tick. By how
//! much this differs from the plain crowd, `harness::fidelity` in the crate above measures.

use super::{BLOCK, Crowd, CrowdError};
use crate::model::{Rows, ensure};

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

impl Crowd {
    /// The crowd with instances posed less often: `every` returns the ticks between poses for a placement. Instances of
    /// a group change their order, so that those of one rate are neighbours.
    ///
    /// # Errors
    /// A rate of 0, or a crowd that [is reduced](Crowd::is_reduced) already.
    pub fn with_update_rates(mut self, every: impl Fn(&Rows) -> u32) -> Result<Self, CrowdError> {
        self.require_full_posing()?;
        let intervals: Vec<u32> = self.placements.iter().map(every).collect();
        ensure!(
            !intervals.contains(&0),
            "an instance posed every 0 ticks; expected 1 or more"
        );
        let mut order: Vec<u32> = (0..intervals.len() as u32).collect();
        order.sort_by_key(|&instance| (self.group_of(instance), intervals[instance as usize]));
        for group in &self.groups {
            let order = &order[group.indices()];
            for alike in order.chunk_by(|&a, &b| intervals[a as usize] == intervals[b as usize]) {
                let every = intervals[alike[0] as usize];
                for place in 0..alike.len() {
                    let offset = (place / BLOCK) as u32 % every;
                    self.rates.push(UpdateRate { every, offset });
                }
            }
        }
        self.reorder(&order);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Layer;
    use crate::fixture_tests;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

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

    fn crowd(layers: impl IntoIterator<Item = Layer>) -> Crowd {
        let model = Arc::new(fixture_tests::chain());
        let mut crowd = Crowd::new();
        let each = layers.into_iter().enumerate().map(|(i, layer)| {
            let mut placement = IDENTITY_ROWS;
            placement[3] = (i * 7 % 100) as f32;
            (placement, layer)
        });
        crowd.push_group(model, each).unwrap();
        crowd
    }

    #[test]
    fn instances_of_one_rate_are_neighbours_and_take_turns() {
        let model = fixture_tests::chain();
        let crowd = crowd((0..100).map(|i| Layer::looping(&model, 0, i, 1.0)));
        let rated = crowd
            .clone()
            .with_update_rates(|placement| if placement[3] < 30.0 { 1 } else { 4 })
            .unwrap();
        let rates: Vec<_> = (0..100).map(|i| rated.update_rate(i)).collect();
        assert!(rates[..30].iter().all(|rate| *rate == UpdateRate::PLAIN));
        for (index, rate) in rates[30..].iter().enumerate() {
            assert_eq!((rate.every, rate.offset), (4, (index / BLOCK) as u32 % 4));
        }
        for instance in 0..100 {
            let placement = rated.placements()[instance];
            let before = crowd
                .placements()
                .iter()
                .position(|other| *other == placement)
                .unwrap();
            assert_eq!(rated.layers().of(instance), crowd.layers().of(before));
        }
        assert!(crowd.with_update_rates(|_| 0).is_err());
    }
}
