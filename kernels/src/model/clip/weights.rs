//! Keys of morph weights: one track for neighbouring targets, whose weights a key holds together.

use super::keys::{Interpolation, check_keys, close};
use std::ops::Range;

/// Weights of neighbouring targets over time.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightKeys {
    /// Targets of the model that the track sets.
    pub targets: Range<u32>,
    /// Interpolation between keys; not [`Interpolation::Squad`].
    pub interpolation: Interpolation,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// `[key][value][target]`: in-tangents, values and out-tangents for cubic splines, otherwise values alone.
    pub values: Vec<f32>,
}

impl WeightKeys {
    /// Numbers of a key.
    fn per_key(&self) -> usize {
        self.targets.len() * self.interpolation.values_per_key()
    }

    /// Bytes that the keys take in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.times[..]) + size_of_val(&self.values[..])
    }

    /// Value `part` of a key, one number per target.
    pub fn key(&self, key: usize, part: usize) -> &[f32] {
        &self.values[key * self.per_key() + part * self.targets.len()..][..self.targets.len()]
    }

    /// Calls `set(target, weight)` for each target at a time in seconds, which is clamped to the keys.
    pub fn sample(&self, time: f32, mut set: impl FnMut(usize, f32)) {
        let value_part = self.interpolation.value_of_key();
        // NaN compares false with everything and so selects the first key.
        let after = self.times.partition_point(|&t| t <= time);
        let before = after.saturating_sub(1);
        let targets = self.targets.start as usize..self.targets.end as usize;
        if after == 0 || after == self.times.len() || self.interpolation == Interpolation::Step {
            return targets
                .zip(self.key(before, value_part))
                .for_each(|(target, &weight)| set(target, weight));
        }
        let interval = self.times[after] - self.times[before];
        let t = (time - self.times[before]) / interval;
        let a = self.key(before, value_part);
        let b = self.key(after, value_part);
        if self.interpolation == Interpolation::Linear {
            for (target, (a, b)) in targets.zip(a.iter().zip(b)) {
                set(target, a + t * (b - a));
            }
            return;
        }
        // glTF 2.0, appendix C.4.
        let t2 = t * t;
        let t3 = t * t * t;
        let h00 = 2.0 * t3 - 3.0 * t2 + 1.0;
        let h10 = (t3 - 2.0 * t2 + t) * interval;
        let h01 = -2.0 * t3 + 3.0 * t2;
        let h11 = (t3 - t2) * interval;
        let tangents = self.key(before, 2).iter().zip(self.key(after, 0));
        for (target, ((a, b), (out, arriving))) in targets.zip(a.iter().zip(b).zip(tangents)) {
            set(target, h00 * a + h10 * out + h01 * b + h11 * arriving);
        }
    }

    /// Describes the first fault.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.interpolation == Interpolation::Squad {
            return Err("squad for weights; expected step, linear or a cubic spline".into());
        }
        if self.targets.is_empty() {
            return Err("no target; expected at least one".into());
        }
        check_keys(&self.times, &self.values, self.per_key())
    }

    /// The track as differences from its first key.
    pub(super) fn additive(&self) -> Self {
        let first = self.key(0, self.interpolation.value_of_key()).to_vec();
        let mut additive = self.clone();
        let per_key = self.per_key();
        for key in 0..self.times.len() {
            let at = key * per_key + self.interpolation.value_of_key() * first.len();
            for (v, first) in additive.values[at..].iter_mut().zip(&first) {
                *v -= first;
            }
        }
        additive
    }

    /// The track with its first key again at `end`, unless it has one key or goes on until then.
    pub(super) fn closed(&self, end: f32) -> Self {
        let mut closed = self.clone();
        close(&mut closed.times, &mut closed.values, end);
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(interpolation: Interpolation, values: &[f32]) -> WeightKeys {
        WeightKeys {
            targets: 1..3,
            interpolation,
            times: vec![1.0, 3.0],
            values: values.into(),
        }
    }

    fn at(track: &WeightKeys, time: f32) -> Vec<(usize, f32)> {
        let mut found = Vec::new();
        track.sample(time, |target, weight| found.push((target, weight)));
        found
    }

    #[test]
    fn weights_interpolate_and_hold_beyond_their_keys() {
        let linear = track(Interpolation::Linear, &[0.0, -1.0, 2.0, 1.0]);
        assert_eq!(at(&linear, 2.0), [(1, 1.0), (2, 0.0)]);
        assert_eq!(at(&linear, 0.0), [(1, 0.0), (2, -1.0)]);
        assert_eq!(at(&linear, 9.0), [(1, 2.0), (2, 1.0)]);
        assert_eq!(at(&linear, f32::NAN), [(1, 0.0), (2, -1.0)]);
        let step = track(Interpolation::Step, &[0.0, -1.0, 2.0, 1.0]);
        assert_eq!(at(&step, 2.9), [(1, 0.0), (2, -1.0)]);
        assert_eq!(at(&step, 3.0), [(1, 2.0), (2, 1.0)]);
        // In-tangents, values, out-tangents: a curve from 0 with speed 1 to 1 with speed 0, and a constant.
        let values = [0.0, 0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0, 1.0, 5.0, 0.0, 0.0];
        let cubic = track(Interpolation::CubicSpline, &values);
        assert_eq!(at(&cubic, 2.0), [(1, 0.5 + 0.125 * 2.0), (2, 5.0)]);
        assert_eq!(at(&cubic, 3.0), [(1, 1.0), (2, 5.0)]);
    }

    #[test]
    fn derived_tracks_start_at_nothing_or_return_to_their_start() {
        let linear = track(Interpolation::Linear, &[0.5, -1.0, 2.0, 1.0]);
        assert_eq!(linear.additive().values, [0.0, 0.0, 1.5, 2.0]);
        let closed = linear.closed(4.0);
        assert_eq!(
            (closed.times, &closed.values[4..]),
            (vec![1.0, 3.0, 4.0], &[0.5, -1.0][..])
        );
        assert_eq!(linear.closed(3.0), linear);
    }

    #[test]
    fn bad_keys_are_refused() {
        let fault = |track: WeightKeys| track.check().unwrap_err();
        assert!(
            fault(track(Interpolation::Linear, &[0.0; 3]))
                .contains("3 numbers for 2 keys; expected 2 per key")
        );
        assert!(fault(track(Interpolation::Squad, &[0.0; 8])).contains("squad for weights"));
        assert!(
            fault(track(Interpolation::Linear, &[0.0, 0.0, f32::NAN, 0.0])).contains("key 1 holds")
        );
        let falling = WeightKeys {
            times: vec![1.0, 1.0],
            ..track(Interpolation::Linear, &[0.0; 4])
        };
        assert!(fault(falling).contains("key 1 at 1 s does not come after key 0 at 1 s"));
        assert_eq!(
            track(Interpolation::CubicSpline, &[0.0; 12]).check(),
            Ok(())
        );
    }
}
