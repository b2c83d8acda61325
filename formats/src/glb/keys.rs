//! Keys in the forms that glTF has: linear rotations are slerp, and a clip ends at its last key.

use crate::subdivide::subdivide;
use glam::DVec4;
use skinbench_kernels::model::{
    Channel, Clip, Interpolation, Keys, RawKeys, RotationBlend, Track, sphere,
};

/// Largest error of resampled curves: radians for rotations, relative for other values.
const TOLERANCE: f64 = 1e-6;
/// Most halvings of one interval.
const DEPTH: u32 = 10;

/// A track of a clip's raw keys, from its first key to the clip's end, with glTF's interpolations alone.
pub fn resampled(clip: &Clip, raw: &RawKeys, track: &Track) -> Keys {
    let curve = TrackCurve {
        raw,
        blend: clip.rotation_blend(),
        track,
    };
    let times = raw.times_of(track);
    let end = clip.duration();
    let ends_in_time = times.last().is_some_and(|&last| last <= end);
    let mut keys = Keys {
        joint: track.joint,
        channel: track.channel,
        interpolation: track.interpolation,
        times: Vec::new(),
        values: Vec::new(),
    };
    let is_curved = match track.interpolation {
        Interpolation::Linear => !curve.is_slerp(),
        Interpolation::Squad => true,
        Interpolation::Step | Interpolation::CubicSpline => false,
    };
    if ends_in_time && !is_curved {
        keys.times = times.to_vec();
        keys.values = raw.values_of(track).to_vec();
        return keys;
    }
    let is_stepped = track.interpolation == Interpolation::Step;
    if !is_stepped {
        keys.interpolation = Interpolation::Linear;
    }
    let mut shown: Vec<f32> = times.iter().copied().filter(|&time| time < end).collect();
    if times.last().is_some_and(|&last| last >= end) {
        shown.push(end);
    }
    for time in shown {
        if let Some(&last) = keys.times.last()
            && !curve.is_slerp()
            && !is_stepped
        {
            for between in subdivide(last, time, DEPTH, &|from, to| curve.is_off(from, to)) {
                curve.push(between, &mut keys);
            }
        }
        curve.push(time, &mut keys);
    }
    keys
}

/// Makes a track hold its last value until `time`, which is after its last key.
pub fn hold_until(keys: &mut Keys, time: f32) {
    keys.times.push(time);
    let width = keys.channel.width();
    let count = keys.values.len();
    if keys.interpolation == Interpolation::CubicSpline {
        // Level from the last key to the new one, and after it.
        keys.values[count - width..].fill(0.0);
        keys.values.extend_from_within(count - width..);
        keys.values.extend_from_within(count - 2 * width..count);
    } else {
        keys.values.extend_from_within(count - width..);
    }
}

/// A track as a function of time, in f64.
struct TrackCurve<'a> {
    raw: &'a RawKeys,
    blend: RotationBlend,
    track: &'a Track,
}

impl TrackCurve<'_> {
    fn is_rotation(&self) -> bool {
        self.track.channel == Channel::Rotation
    }

    /// Returns whether glTF's linear interpolation gives the same values between keys.
    fn is_slerp(&self) -> bool {
        self.track.interpolation == Interpolation::Linear
            && (!self.is_rotation() || self.blend == RotationBlend::Slerp)
    }

    fn at(&self, time: f64) -> DVec4 {
        self.raw.exact(self.track, self.blend, time)
    }

    fn push(&self, time: f32, keys: &mut Keys) {
        keys.times.push(time);
        let value = self.at(time.into()).as_vec4().to_array();
        keys.values.extend(&value[..keys.channel.width()]);
    }

    /// Returns whether glTF's interpolation between two times leaves the curve.
    fn is_off(&self, from: f32, to: f32) -> bool {
        let start = f64::from(from);
        let length = f64::from(to) - start;
        let a = self.at(start);
        let b = self.at(to.into());
        [0.25, 0.5, 0.75].into_iter().any(|t| {
            let exact = self.at(start + t * length);
            let error = if self.is_rotation() {
                let shown = sphere(a, nearer(a, b), t);
                2.0 * shown.distance(nearer(shown, exact))
            } else {
                a.lerp(b, t).distance(exact) / (1.0 + exact.length())
            };
            error > TOLERANCE
        })
    }
}

/// `b` or `-b` (the same rotation), whichever is closer to `a`.
fn nearer(a: DVec4, b: DVec4) -> DVec4 {
    if a.dot(b) < 0.0 { -b } else { b }
}
