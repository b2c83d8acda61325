//! Values of tracks in f64: what kernels are compared with, and what exporters resample.

use super::{Channel, Interpolation, RawKeys, RotationBlend, Track, WeightKeys};
use glam::DVec4;

impl RawKeys {
    /// The value of a track at a time in seconds, which is clamped to its keys; `blend` is that of the clip. Rotations
    /// are unit quaternions x y z w, other channels end in a zero.
    pub fn exact(&self, track: &Track, blend: RotationBlend, time: f64) -> DVec4 {
        let rotation = (track.channel == Channel::Rotation).then_some(blend);
        interpolated(
            self.times_of(track),
            track.interpolation,
            rotation,
            |key, part| self.value(track, key, part),
            time,
        )
    }

    /// One of the [`Interpolation::values_per_key`] values of a track's key. Vectors end in a zero.
    ///
    /// # Panics
    /// There is no such key or value.
    pub fn value(&self, track: &Track, key: usize, part: usize) -> DVec4 {
        let width = track.channel.width();
        let at = (key * track.interpolation.values_per_key() + part) * width;
        let mut value = DVec4::ZERO;
        for (c, v) in self.values_of(track)[at..][..width].iter().enumerate() {
            value[c] = f64::from(*v);
        }
        value
    }
}

impl WeightKeys {
    /// The weight of one of its targets at a time in seconds, which is clamped to the keys. `target` counts from the
    /// track's first.
    pub(crate) fn exact(&self, target: usize, time: f64) -> f64 {
        interpolated(
            &self.times,
            self.interpolation,
            None,
            |key, part| DVec4::splat(self.key(key, part)[target].into()),
            time,
        )
        .x
    }
}

/// The value of a track at a time. `part` returns one of a key's values, in the order of [`super::Keys::values`].
/// `rotation` is how rotations are interpolated; `None` for other values.
fn interpolated(
    times: &[f32],
    interpolation: Interpolation,
    rotation: Option<RotationBlend>,
    part: impl Fn(usize, usize) -> DVec4,
    time: f64,
) -> DVec4 {
    let unit = |v: DVec4| {
        if rotation.is_some() {
            v.normalize_or(DVec4::W)
        } else {
            v
        }
    };
    let after = times.partition_point(|&other| f64::from(other) <= time);
    if after == 0 || after == times.len() {
        return unit(part(after.saturating_sub(1), interpolation.value_of_key()));
    }
    let k = after - 1;
    let start = f64::from(times[k]);
    let interval = f64::from(times[after]) - start;
    let t = (time - start) / interval;
    match (interpolation, rotation) {
        (Interpolation::Step, _) => part(k, 0),
        (Interpolation::Linear, Some(blend)) => arc(part(k, 0), part(after, 0), t, blend),
        (Interpolation::Linear, None) => part(k, 0).lerp(part(after, 0), t),
        (Interpolation::Squad, _) => {
            let keys = sphere(part(k, 0), part(after, 0), t);
            let controls = sphere(part(k, 1), part(after, 1), t);
            sphere(keys, controls, 2.0 * t * (1.0 - t))
        }
        (Interpolation::CubicSpline, _) => {
            let t2 = t * t;
            let t3 = t * t * t;
            unit(
                part(k, 1) * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + part(k, 2) * (interval * (t3 - 2.0 * t2 + t))
                    + part(after, 1) * (3.0 * t2 - 2.0 * t3)
                    + part(after, 0) * (interval * (t3 - t2)),
            )
        }
    }
}

/// The rotation at a fraction `t` of the way from `a` to `b`: on the chord between them, or on the arc.
fn arc(a: DVec4, mut b: DVec4, t: f64, blend: RotationBlend) -> DVec4 {
    let mut cos = a.dot(b);
    if cos < 0.0 && blend != RotationBlend::AuthoredPath {
        b = -b;
        cos = -cos;
    }
    let takes_chord = match blend {
        RotationBlend::Nlerp => true,
        RotationBlend::AuthoredPath => cos.abs() >= 0.95,
        // Closer than this the sine loses digits, and the chord equals the arc to 1e-12.
        RotationBlend::Slerp => cos > 1.0 - 1e-12,
    };
    if takes_chord {
        return a.lerp(b, t).normalize();
    }
    let angle = cos.clamp(-1.0, 1.0).acos();
    (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) / angle.sin()
}

/// Interpolates along the great circle from one unit quaternion to another, without changing signs.
pub fn sphere(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    let angle = 2.0 * (a - b).length().atan2((a + b).length());
    if angle < 1e-9 {
        return (a * (1.0 - t) + b * t).normalize();
    }
    let weight_a = ((1.0 - t) * angle).sin() / angle.sin();
    let weight_b = (t * angle).sin() / angle.sin();
    (a * weight_a + b * weight_b).normalize()
}
