//! Keys in the forms that glTF has: linear rotations are slerp, and a clip ends at its last key.

use glam::DVec4;
use skinbench_kernels::model::{
    Channel, Clip, Interpolation, Keys, RawKeys, RotationBlend, Track, sphere,
};

/// Largest error of resampled curves: radians for rotations, relative for other values.
const TOLERANCE: f64 = 1e-6;
/// Most halvings of one interval.
const DEPTH: u32 = 10;

/// A track of a clip's raw keys, from its first key to the clip's end, with glTF's interpolations alone.
pub(super) fn resampled(clip: &Clip, raw: &RawKeys, track: &Track) -> Keys {
    let Track {
        joint,
        channel,
        interpolation,
        ..
    } = *track;
    let curve = TrackCurve {
        raw,
        blend: clip.rotation_blend(),
        track,
    };
    let (times, end) = (raw.times_of(track), clip.duration());
    let ends_in_time = times.last().is_some_and(|&last| last <= end);
    let curved =
        matches!(interpolation, Interpolation::Linear | Interpolation::Squad) && !curve.is_slerp();
    if ends_in_time && !curved {
        return Keys {
            joint,
            channel,
            interpolation,
            times: times.to_vec(),
            values: raw.values_of(track).to_vec(),
        };
    }
    let stepped = interpolation == Interpolation::Step;
    let mut keys = Keys::linear(joint, channel, Vec::new(), Vec::new());
    keys.interpolation = if stepped {
        Interpolation::Step
    } else {
        Interpolation::Linear
    };
    let within = times.iter().copied().filter(|&t| t < end);
    let cut = times.last().filter(|&&last| last >= end).map(|_| end);
    for time in within.chain(cut) {
        if let Some(&last) = keys.times.last().filter(|_| !curve.is_slerp() && !stepped) {
            curve.subdivide(last, time, DEPTH, &mut keys);
        }
        curve.push(time, &mut keys);
    }
    keys
}

/// Makes a track hold its last value until `time`, which is after its last key.
pub(super) fn hold_until(keys: &mut Keys, time: f32) {
    keys.times.push(time);
    let (width, count) = (keys.channel.width(), keys.values.len());
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
        keys.values
            .extend(&self.at(time.into()).as_vec4().to_array()[..keys.channel.width()]);
    }

    /// Adds keys between two times, as many as glTF's interpolation needs to follow the curve.
    fn subdivide(&self, from: f32, to: f32, depth: u32, keys: &mut Keys) {
        let middle = from + (to - from) / 2.0;
        if depth == 0 || !(from < middle && middle < to) {
            return;
        }
        let (a, b) = (self.at(from.into()), self.at(to.into()));
        let off = |t: f64| {
            let exact = self.at(f64::from(from) + t * (f64::from(to) - f64::from(from)));
            if self.is_rotation() {
                let made = sphere(a, nearer(a, b), t);
                2.0 * made.distance(nearer(made, exact))
            } else {
                a.lerp(b, t).distance(exact) / (1.0 + exact.length())
            }
        };
        if [0.25, 0.5, 0.75].into_iter().any(|t| off(t) > TOLERANCE) {
            self.subdivide(from, middle, depth - 1, keys);
            self.push(middle, keys);
            self.subdivide(middle, to, depth - 1, keys);
        }
    }
}

/// `b` or `-b` (the same rotation), whichever is closer to `a`.
fn nearer(a: DVec4, b: DVec4) -> DVec4 {
    if a.dot(b) < 0.0 { -b } else { b }
}
