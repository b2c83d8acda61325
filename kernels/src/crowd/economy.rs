//! Two ways to compute fewer poses than one per instance and tick: instances share poses, or poses are computed only
//! every few ticks. Both differ from the plain crowd; `harness::fidelity` in the crate above measures by how much.

use super::update_rate::UpdateRate;
use super::{BLOCK, Crowd, CrowdError, Group, Layer, SharedPoses};
use crate::error::ensure;
use crate::model::{IDENTITY_ROWS, Rows};
use fnv::FnvHashMap;

impl Crowd {
    /// The crowd with shared poses. Instances of a group that play the same clips in the same way, except for phase,
    /// pace and the moments of fades, show one of `buckets` poses, chosen by the phase of their first layer. A bucket
    /// takes its pace and fades from its first instance; its phase is the middle of the bucket.
    ///
    /// # Errors
    /// No bucket, or a crowd that [is reduced](Crowd::is_reduced) already.
    pub fn with_phase_buckets(mut self, buckets: u32) -> Result<Self, CrowdError> {
        ensure!(buckets > 0, "0 phase buckets; expected 1 or more");
        self.require_full_posing()?;
        let mut poses = Self::with_format(self.format);
        let mut pose_indices = Vec::with_capacity(self.instance_count());
        for group in &self.groups {
            let first = poses.instance_count() as u32;
            let mut known: FnvHashMap<(u64, Vec<u8>), u32> = FnvHashMap::default();
            for layers in self.layers.range(group.instances.clone()) {
                let bucket = (u64::from(layers[0].phase) * u64::from(buckets)) >> 32;
                let pose = *known.entry((bucket, clip_set(layers))).or_insert_with(|| {
                    poses.placements.push(IDENTITY_ROWS);
                    poses.layers.push(in_bucket(layers, bucket, buckets));
                    poses.placements.len() as u32 - 1
                });
                pose_indices.push(pose);
            }
            poses.groups.push(Group {
                instances: first..poses.instance_count() as u32,
                ..group.clone()
            });
        }
        let shared_layers = poses.layers.reordered(&pose_indices);
        let own_layers = std::mem::replace(&mut self.layers, shared_layers);
        self.shared = Some(Box::new(SharedPoses {
            poses,
            pose_indices,
            own_layers,
        }));
        Ok(self)
    }

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

    /// Brings layers, expressions and placements into another order of instances.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.layers = self.layers.reordered(order);
        self.placements = reordered(&self.placements, order);
        if !self.alone.is_empty() {
            self.pinned = self.pinned.reordered(order);
            self.alone = reordered(&self.alone, order);
        }
    }
}

fn reordered<T: Copy>(items: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&item| items[item as usize]).collect()
}

/// A key of everything that instances must have in common to share poses: all of their layers but phase, step, pace and
/// the schedule's offset.
fn clip_set(layers: &[Layer]) -> Vec<u8> {
    Layer::key(layers, |layer| {
        layer.phase = 0;
        layer.step = 0;
        layer.pace = 0;
        layer.schedule.offset = 0;
    })
}

/// An instance's layers with phases shifted so that the first layer is in the middle of its bucket.
fn in_bucket(layers: &[Layer], bucket: u64, buckets: u32) -> Vec<Layer> {
    let first = layers[0];
    let middle = (((2 * bucket + 1) << 31) / u64::from(buckets)) as u32;
    let shift = middle.wrapping_sub(first.phase);
    let mut shifted = layers.to_vec();
    for (index, layer) in shifted.iter_mut().enumerate() {
        if index == 0 || (layer.in_step != 0 && first.in_step != 0) {
            layer.phase = layer.phase.wrapping_add(shift);
        }
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests;
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
    fn buckets_hold_what_is_nearest_in_phase_and_nothing_else() {
        let model = fixture_tests::chain();
        let layer = |i: u32| {
            let speed = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            let layer = Layer::looping(&model, 0, i.wrapping_mul(0x9e37_79b9), speed);
            Layer {
                frame_rate: if i.is_multiple_of(3) { 25.0 } else { 0.0 },
                ..layer
            }
        };
        let crowd = crowd((0..200).map(layer)).with_phase_buckets(8).unwrap();
        assert_eq!(
            crowd.posed().instance_count(),
            16,
            "8 buckets for each of two ways to play"
        );
        assert_eq!(crowd.posed().groups().len(), 1);
        let poses = crowd.poses().unwrap();
        for (instance, &pose) in poses.iter().enumerate() {
            let plain = crowd.own_layers().of(instance)[0];
            let shown = crowd.layers().of(instance)[0];
            assert_eq!(shown, crowd.posed().layers().of(pose as usize)[0]);
            assert!(
                plain.phase.abs_diff(shown.phase) <= 1 << 28,
                "half of an eighth of a cycle"
            );
            assert_eq!(plain.frame_rate, shown.frame_rate);
        }
        let error = crowd.clone().with_phase_buckets(2).unwrap_err().to_string();
        assert!(error.contains("expected one of them"), "{error}");
        assert!(crowd.with_update_rates(|_| 2).is_err());
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
