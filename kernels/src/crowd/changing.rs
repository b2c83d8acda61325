//! Crowds that change: instances are replaced, or keep their pose.

use super::schedule::{LONGEST, Schedule};
use super::turnover::{Turnover, drawn};
use super::{Crowd, CrowdError, Layer, MAX_LAYERS, Playback, time};
use crate::error::ensure;
use crate::model::Rows;
use arrayvec::ArrayVec;

/// The layers of one instance.
pub type InstanceLayers = ArrayVec<Layer, MAX_LAYERS>;

impl Crowd {
    /// The crowd with a share of each group's instances, 0 to 1, that keep the pose of tick 0. They become the last of
    /// their group. A crossfade stays where it is at tick 0; an inertial fade is over.
    ///
    /// # Errors
    /// A crowd with update rates, or that changes already.
    pub fn with_frozen(mut self, share: f64, seed: u64) -> Result<Self, CrowdError> {
        self.require_full_posing()?;
        let mut order: Vec<u32> = (0..self.instance_count() as u32).collect();
        for group in &mut self.groups {
            let instances = &mut order[group.indices()];
            let frozen = (share * instances.len() as f64).round() as usize;
            instances.sort_by_key(|&instance| drawn(seed, instance, 1));
            let (moving, still) = instances.split_at_mut(instances.len() - frozen);
            moving.sort_unstable();
            still.sort_unstable();
            group.frozen = frozen as u32;
        }
        self.reorder(&order);
        for group in &self.groups {
            for instance in group.moving().end..group.instances.end {
                let held = held(self.layers.of(instance as usize));
                self.layers.replace(instance as usize, &held);
            }
        }
        Ok(self)
    }

    /// The crowd with a share of its instances, above 0 and up to 1, replaced in every tick: one of a whole number of
    /// shifts. A newcomer plays what another instance of its kind plays at another time.
    ///
    /// # Errors
    /// A crowd with update rates, or that has a turnover already.
    pub fn with_turnover(mut self, share: f64, seed: u64) -> Result<Self, CrowdError> {
        ensure!(
            self.rates.is_empty() && self.turnover.is_none() && !self.is_live(),
            "a crowd of which poses are updated less often or instances replaced already; expected neither"
        );
        let kinds = (0..self.instance_count() as u32).map(|instance| {
            let group = self.group_of(instance);
            let is_frozen = self.groups[group].is_frozen(instance);
            (group, is_frozen, shape(self.layers.of(instance as usize)))
        });
        self.turnover = Some(Box::new(Turnover::new(kinds, share, seed)));
        Ok(self)
    }

    /// The replacement of instances, if there is any.
    pub fn turnover(&self) -> Option<&Turnover> {
        self.turnover.as_deref()
    }

    /// Returns whether some instances keep their pose.
    pub fn has_frozen(&self) -> bool {
        self.groups.iter().any(|group| group.frozen > 0)
    }

    /// Returns whether instances are replaced or keep their pose, so that frames differ in what has to be done.
    pub fn changes(&self) -> bool {
        self.turnover.is_some() || self.has_frozen()
    }

    /// The layers of an instance at a tick. There are as many at every tick, and they need as many slots.
    pub fn layers_at(&self, instance: u32, tick: u32) -> InstanceLayers {
        let mut original = instance;
        let mut ahead = 0;
        if let Some(turnover) = &self.turnover {
            (original, ahead) = turnover.original(instance, tick);
        }
        let mut layers: InstanceLayers =
            self.layers.of(original as usize).iter().copied().collect();
        for layer in &mut layers {
            if layer.playback != Playback::Once {
                layer.phase = layer.phase.wrapping_add(layer.step.wrapping_mul(ahead));
            }
            layer.schedule.offset = layer.schedule.offset.wrapping_add(ahead);
        }
        layers
    }

    /// Model to world, of an instance at a tick.
    pub fn placement_at(&self, instance: u32, tick: u32) -> &Rows {
        let place = match &self.turnover {
            Some(turnover) => turnover.place(instance, tick),
            None => instance,
        };
        &self.placements[place as usize]
    }
}

/// A key of layers that is equal for two instances if each may take the other's: everything but clips and times.
fn shape(layers: &[Layer]) -> Vec<u8> {
    let mut layers = layers.to_vec();
    for layer in &mut layers {
        layer.clip = 0;
        layer.phase = 0;
        layer.step = 0;
        layer.pace = 0;
        layer.time_base = 0.0;
        layer.time_scale = 0.0;
        layer.frame_rate = 0.0;
        layer.schedule.offset = 0;
    }
    bytemuck::cast_slice(&layers).to_vec()
}

/// Layers that show what these show at tick 0.
fn held(layers: &[Layer]) -> InstanceLayers {
    let mut held = InstanceLayers::new();
    for (index, layer) in layers.iter().enumerate() {
        let mut schedule = Schedule::ALWAYS;
        if layer.schedule.length > 0 {
            // What may be absent stays a layer that needs blending.
            schedule.length = LONGEST;
        }
        held.push(Layer {
            kind: layer.kind,
            weight: layer.crossfaded_weight(0),
            mask: layer.mask,
            schedule,
            ..Layer::held(layer.clip, time(layers, index, 0))
        });
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::LayerKind;
    use crate::fixture_tests;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    fn crowd(count: u32) -> Crowd {
        let model = Arc::new(fixture_tests::chain());
        let mut crowd = Crowd::new();
        let schedule = Schedule {
            period: 90,
            offset: 7,
            length: 50,
            fade_in: 10,
            fade_out: 10,
        };
        for first in [0, count / 2] {
            let instances = (first..count / 2 + first).map(|i| {
                let mut placement = IDENTITY_ROWS;
                placement[3] = i as f32;
                let base = Layer::looping(&model, 0, i.wrapping_mul(0x9e37_79b9), 1.0);
                let over = Layer {
                    kind: LayerKind::Override,
                    schedule,
                    ..base
                };
                (placement, [base, over])
            });
            crowd.push_group(Arc::clone(&model), instances).unwrap();
        }
        crowd
    }

    #[test]
    fn a_share_is_replaced_in_every_tick_and_nobody_else() {
        let crowd = crowd(200).with_turnover(0.05, 3).unwrap();
        let turnover = crowd.turnover().unwrap();
        let places = |tick| (0..200).map(move |instance| turnover.place(instance, tick));
        for tick in 0..60 {
            let mut changed: Vec<u32> = turnover.changed(tick, tick + 1).collect();
            assert_eq!(changed.len(), 10, "5 % of 200");
            assert!(
                changed
                    .iter()
                    .all(|&i| crowd.layers_at(i, tick) != crowd.layers_at(i, tick + 1))
            );
            changed.sort_unstable();
            for instance in (0..200).filter(|i| changed.binary_search(i).is_err()) {
                assert_eq!(
                    crowd.layers_at(instance, tick),
                    crowd.layers_at(instance, tick + 1)
                );
                assert_eq!(
                    crowd.placement_at(instance, tick),
                    crowd.placement_at(instance, tick + 1)
                );
            }
            let mut all: Vec<u32> = places(tick).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..200), "everyone has a place");
        }
        assert_eq!(
            turnover.changed(70, 30).count(),
            200,
            "a lifetime or more later"
        );
        assert_eq!(turnover.changed(33, 31).count(), 20);
        assert!(
            places(20)
                .zip(0..)
                .any(|(place, i)| (place < 100) != (i < 100)),
            "models change places"
        );
        assert!(places(0).eq(0..200) && crowd.layers_at(7, 0)[..] == *crowd.layers().of(7));
        assert!(places(u32::MAX).all(|place| place < 200));
    }

    /// A small crowd and a small share: some shifts are empty.
    #[test]
    fn few_instances_are_replaced_in_some_ticks() {
        let crowd = crowd(6).with_turnover(0.01, 3).unwrap();
        let counts: Vec<usize> = (0..100)
            .map(|tick| crowd.turnover().unwrap().changed(tick, tick + 1).count())
            .collect();
        assert!(counts.iter().sum::<usize>() == 6 && counts.iter().all(|&count| count < 2));
        assert!((0..6).all(|instance| crowd.placement_at(instance, 1_000)
            == &crowd.placements()[instance as usize]));
    }

    #[test]
    fn frozen_instances_are_the_last_and_show_tick_0() {
        let plain = crowd(100);
        let frozen = plain.clone().with_frozen(0.8, 5).unwrap();
        assert!(
            frozen
                .groups()
                .iter()
                .all(|group| group.frozen == 40 && group.len() == 50)
        );
        for instance in 0..100 {
            let before = frozen.placements()[instance as usize][3] as usize;
            let moving = plain.layers().of(before);
            let shown = frozen.layers().of(instance as usize);
            if !frozen.groups()[instance as usize / 50].is_frozen(instance) {
                assert_eq!(moving, shown);
                continue;
            }
            for (index, layer) in shown.iter().enumerate() {
                assert!(
                    [0, 77]
                        .iter()
                        .all(|&tick| time(shown, index, tick) == time(moving, index, 0))
                );
                assert!(
                    [0, 77]
                        .iter()
                        .all(|&tick| layer.weight_at(tick) == moving[index].weight_at(0))
                );
            }
        }
        let both = frozen.with_turnover(0.1, 5).unwrap();
        assert!(
            (0..100).all(|i| shape(&both.layers_at(i, 500)) == shape(both.layers().of(i as usize)))
        );
        assert!(both.with_frozen(0.5, 5).is_err());
    }
}
