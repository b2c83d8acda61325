//! Values of raw tracks in f64: what kernels are compared with, and what exporters resample.

use super::{Channel, Interpolation, RawKeys, RotationBlend, Track};
use glam::DVec4;

impl RawKeys {
    /// The value of a track at a time in seconds, which is clamped to its keys; `blend` is that of the clip. Rotations
    /// are unit quaternions x y z w, other channels end in a zero.
    pub fn exact(&self, track: &Track, blend: RotationBlend, time: f64) -> DVec4 {
        let (times, values, width) = (self.times_of(track), self.values_of(track), track.channel.width());
        let seconds = |key: usize| f64::from(times[key]);
        // Value `part` of key `key`, in the order of [`super::Keys::values`].
        let part = |key: usize, part: usize| {
            let at = (key * track.interpolation.values_per_key() + part) * width;
            let mut v = DVec4::ZERO;
            (0..width).for_each(|c| v[c] = f64::from(values[at + c]));
            v
        };
        let rotation = track.channel == Channel::Rotation;
        let unit = |v: DVec4| if rotation { v.normalize_or(DVec4::W) } else { v };
        let own = track.interpolation.value_of_key();
        let after = times.partition_point(|&other| f64::from(other) <= time);
        if after == 0 || after == times.len() {
            return unit(part(after.saturating_sub(1), own));
        }
        let k = after - 1;
        let interval = seconds(after) - seconds(k);
        let t = (time - seconds(k)) / interval;
        match track.interpolation {
            Interpolation::Step => part(k, 0),
            Interpolation::Linear if rotation => arc(part(k, 0), part(after, 0), t, blend),
            Interpolation::Linear => part(k, 0).lerp(part(after, 0), t),
            Interpolation::Squad => {
                let (keys, controls) = (sphere(part(k, 0), part(after, 0), t), sphere(part(k, 1), part(after, 1), t));
                sphere(keys, controls, 2.0 * t * (1.0 - t))
            }
            Interpolation::CubicSpline => {
                let (t2, t3) = (t * t, t * t * t);
                unit(
                    part(k, 1) * (2.0 * t3 - 3.0 * t2 + 1.0)
                        + part(k, 2) * (interval * (t3 - 2.0 * t2 + t))
                        + part(after, 1) * (3.0 * t2 - 2.0 * t3)
                        + part(after, 0) * (interval * (t3 - t2)),
                )
            }
        }
    }
}

fn arc(a: DVec4, b: DVec4, t: f64, blend: RotationBlend) -> DVec4 {
    let mut cos = a.dot(b);
    let mut b = b;
    if cos < 0.0 && blend != RotationBlend::AuthoredPath {
        b = -b;
        cos = -cos;
    }
    let line = match blend {
        RotationBlend::Nlerp => true,
        RotationBlend::AuthoredPath => cos.abs() >= 0.95,
        // Closer than this the sine loses digits, and the chord equals the arc to 1e-12.
        RotationBlend::Slerp => cos > 1.0 - 1e-12,
    };
    if line {
        return a.lerp(b, t).normalize();
    }
    let angle = cos.clamp(-1.0, 1.0).acos();
    (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) / angle.sin()
}

/// Interpolates along the great circle from one unit quaternion to another, without changing signs.
pub fn sphere(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    let angle = 2.0 * (a - b).length().atan2((a + b).length());
    let share = |part: f64| if angle < 1e-9 { part } else { (part * angle).sin() / angle.sin() };
    (a * share(1.0 - t) + b * share(t)).normalize()
}
