//! Sampling of a clip's keys at a time.

use super::compact;
use super::local_pose::{LocalPose, sphere};
use crate::model::{Channel, Clip, ClipKeys, Interpolation, RawKeys, RotationBlend, Track};
use glam::{DQuat, DVec4};

/// Overwrites the channels of a pose that a clip moves.
pub(super) fn sample(clip: &Clip, time: f64, local: &mut [LocalPose]) {
    let raw = match clip.keys() {
        ClipKeys::Raw(raw) => raw,
        ClipKeys::Compact(compact) => return compact::sample(compact, time, local),
    };
    for track in raw.tracks() {
        let joint = &mut local[usize::from(track.joint)];
        let value = value(raw, clip.rotation_blend(), track, time);
        match track.channel {
            Channel::Rotation => joint.rotation = DQuat::from_vec4(value),
            Channel::Translation => joint.translation = value.truncate(),
            Channel::Scale => joint.scale = value.truncate(),
        }
    }
}

fn value(raw: &RawKeys, blend: RotationBlend, track: &Track, time: f64) -> DVec4 {
    let times: Vec<f64> = raw.times_of(track).iter().map(|&t| f64::from(t)).collect();
    let width = track.channel.width();
    // Value `part` of key `k`: 0 the value; for cubic splines 0 the in-tangent, 1 the value, 2 the out-tangent; for
    // squad 0 the value, 1 the control point.
    let part = |k: usize, part: usize| {
        let index = match track.interpolation {
            Interpolation::CubicSpline => 3 * k + part,
            Interpolation::Squad => 2 * k + part,
            Interpolation::Step | Interpolation::Linear => k,
        };
        let at = track.first_value as usize + index * width;
        let mut v = DVec4::ZERO;
        for c in 0..width {
            v[c] = f64::from(raw.values()[at + c]);
        }
        v
    };
    let rotation = track.channel == Channel::Rotation;
    let unit = |v: DVec4| if rotation { v.normalize() } else { v };
    let last = times.len() - 1;
    let own = usize::from(track.interpolation == Interpolation::CubicSpline);
    if time <= times[0] {
        return unit(part(0, own));
    }
    if time >= times[last] {
        return unit(part(last, own));
    }
    let k = (0..last).find(|&k| time < times[k + 1]).unwrap_or(last - 1);
    let interval = times[k + 1] - times[k];
    let t = (time - times[k]) / interval;
    match track.interpolation {
        Interpolation::Step => part(k, 0),
        Interpolation::Linear if rotation => arc(part(k, 0), part(k + 1, 0), t, blend),
        Interpolation::Linear => part(k, 0).lerp(part(k + 1, 0), t),
        Interpolation::Squad => {
            let (keys, controls) = (sphere(part(k, 0), part(k + 1, 0), t), sphere(part(k, 1), part(k + 1, 1), t));
            sphere(keys, controls, 2.0 * t * (1.0 - t))
        }
        Interpolation::CubicSpline => {
            let (t2, t3) = (t * t, t * t * t);
            unit(
                part(k, 1) * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + part(k, 2) * (interval * (t3 - 2.0 * t2 + t))
                    + part(k + 1, 1) * (3.0 * t2 - 2.0 * t3)
                    + part(k + 1, 0) * (interval * (t3 - t2)),
            )
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
