//! Fewer poses than one per instance and tick: poses of some instances are computed only every few ticks. By how much this
//! differs from the plain crowd, `harness::fidelity` in the crate above measures.

use super::update_rate::UpdateRate;
use super::{BLOCK, Crowd, CrowdError};
use crate::error::ensure;
use crate::model::Rows;

impl Crowd {
    /// The crowd with instances posed less often: `every` returns the ticks between poses for a placement. Instances of
    /// a group change their order, so that those of one rate are neighbours.
    ///
    /// # Errors
    /// A rate of 0, or a crowd that reuses poses already.
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
