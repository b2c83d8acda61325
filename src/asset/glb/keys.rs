//! Keys in the forms that glTF has: linear rotations are slerp, and a clip ends at its last key.

use crate::model::{Channel, Clip, Interpolation, RawKeys, RotationBlend, Track};

/// Largest error of resampled curves: radians for rotations, relative for other values.
const TOLERANCE: f64 = 1e-6;
/// Most halvings of one interval.
const DEPTH: u32 = 10;

/// Input and output of a sampler.
pub(super) struct SamplerKeys {
    pub(super) interpolation: Interpolation,
    pub(super) times: Vec<f32>,
    /// One value per key, three for cubic splines.
    pub(super) values: Vec<[f32; 4]>,
}

impl SamplerKeys {
    /// A track of a clip's raw keys from its first key to the clip's end.
    pub(super) fn new(clip: &Clip, raw: &RawKeys, track: &Track) -> Self {
        let curve = TrackCurve { raw, blend: clip.rotation_blend(), track, times: raw.times_of(track) };
        let end = clip.duration();
        let ends_in_time = curve.times.last().is_some_and(|&last| last <= end);
        let curved = matches!(track.interpolation, Interpolation::Linear | Interpolation::Squad) && !curve.is_slerp();
        if ends_in_time && !curved {
            return curve.verbatim();
        }
        let mut keys = Self {
            interpolation: match track.interpolation {
                Interpolation::Step => Interpolation::Step,
                Interpolation::Linear | Interpolation::CubicSpline | Interpolation::Squad => Interpolation::Linear,
            },
            times: Vec::new(),
            values: Vec::new(),
        };
        let within = curve.times.iter().copied().filter(|&t| t < end);
        let cut = curve.times.last().filter(|&&last| last >= end).map(|_| end);
        for time in within.chain(cut) {
            if let Some(&last) = keys.times.last()
                && !(curve.is_slerp() || track.interpolation == Interpolation::Step)
            {
                curve.subdivide(last, time, DEPTH, &mut keys);
            }
            keys.push(&curve, time);
        }
        keys
    }

    /// Holds the last value until `time`.
    pub(super) fn hold_until(&mut self, time: f32) {
        let Some(&last) = self.times.last() else { return };
        if last >= time {
            return;
        }
        self.times.push(time);
        if self.interpolation == Interpolation::CubicSpline {
            if let [.., value, out_tangent] = &mut self.values[..] {
                *out_tangent = [0.0; 4];
                let value = *value;
                self.values.extend([[0.0; 4], value, [0.0; 4]]);
            }
        } else {
            self.values.extend(self.values.last().copied());
        }
    }

    fn push(&mut self, curve: &TrackCurve, time: f32) {
        self.times.push(time);
        self.values.push(curve.at(time.into()).map(|v| v as f32));
    }
}

/// A track as a function of time, in f64.
struct TrackCurve<'a> {
    raw: &'a RawKeys,
    blend: RotationBlend,
    track: &'a Track,
    times: &'a [f32],
}

impl TrackCurve<'_> {
    fn is_rotation(&self) -> bool {
        self.track.channel == Channel::Rotation
    }

    /// Returns whether glTF's linear interpolation gives the same values between keys.
    fn is_slerp(&self) -> bool {
        self.track.interpolation == Interpolation::Linear && (!self.is_rotation() || self.blend == RotationBlend::Slerp)
    }

    fn stored(&self, index: usize) -> [f32; 4] {
        let width = self.track.channel.width();
        let first = self.track.first_value as usize + index * width;
        std::array::from_fn(|c| if c < width { self.raw.values()[first + c] } else { 0.0 })
    }

    fn verbatim(&self) -> SamplerKeys {
        let count = self.times.len() * self.track.interpolation.values_per_key();
        SamplerKeys {
            interpolation: self.track.interpolation,
            times: self.times.into(),
            values: (0..count).map(|index| self.stored(index)).collect(),
        }
    }

    fn at(&self, time: f64) -> [f64; 4] {
        let interpolation = self.track.interpolation;
        let key = |index: usize| {
            self.stored(interpolation.values_per_key() * index + interpolation.value_of_key()).map(f64::from)
        };
        let after = self.times.partition_point(|&t| f64::from(t) <= time);
        if after == 0 || after == self.times.len() {
            return self.finished(key(after.saturating_sub(1)));
        }
        let (from, to) = (after - 1, after);
        let span = f64::from(self.times[to]) - f64::from(self.times[from]);
        let t = (time - f64::from(self.times[from])) / span;
        let (a, b) = (key(from), key(to));
        match self.track.interpolation {
            Interpolation::Step => a,
            Interpolation::Linear if !self.is_rotation() => lerp(a, b, t),
            Interpolation::Linear => match self.blend {
                RotationBlend::Slerp => slerp(a, b, t),
                RotationBlend::Nlerp => normalised(lerp(a, b, t)),
                RotationBlend::AuthoredPath if dot(a, b).abs() >= 0.95 => normalised(lerp(a, b, t)),
                RotationBlend::AuthoredPath => slerp(a, b, t),
            },
            Interpolation::Squad => {
                let control = |index: usize| self.stored(2 * index + 1).map(f64::from);
                slerp(slerp(a, b, t), slerp(control(from), control(to), t), 2.0 * t * (1.0 - t))
            }
            Interpolation::CubicSpline => {
                let tangent = |index| self.stored(index).map(f64::from);
                let (leaving, arriving) = (tangent(3 * from + 2), tangent(3 * to));
                let (t2, t3) = (t * t, t * t * t);
                self.finished(std::array::from_fn(|c| {
                    (2.0 * t3 - 3.0 * t2 + 1.0) * a[c]
                        + (t3 - 2.0 * t2 + t) * span * leaving[c]
                        + (3.0 * t2 - 2.0 * t3) * b[c]
                        + (t3 - t2) * span * arriving[c]
                }))
            }
        }
    }

    fn finished(&self, value: [f64; 4]) -> [f64; 4] {
        if self.is_rotation() { normalised(value) } else { value }
    }

    /// Adds keys between two times, as many as glTF's interpolation needs to follow the curve.
    fn subdivide(&self, from: f32, to: f32, depth: u32, keys: &mut SamplerKeys) {
        let middle = from + (to - from) / 2.0;
        if depth == 0 || !(from < middle && middle < to) {
            return;
        }
        let (a, b) = (self.at(from.into()), self.at(to.into()));
        let off = |t: f64| {
            let exact = self.at(f64::from(from) + t * (f64::from(to) - f64::from(from)));
            if self.is_rotation() {
                2.0 * distance(slerp(a, nearer(a, b), t), nearer(slerp(a, nearer(a, b), t), exact))
            } else {
                distance(lerp(a, b, t), exact) / (1.0 + dot(exact, exact).sqrt())
            }
        };
        if [0.25, 0.5, 0.75].into_iter().any(|t| off(t) > TOLERANCE) {
            self.subdivide(from, middle, depth - 1, keys);
            keys.push(self, middle);
            self.subdivide(middle, to, depth - 1, keys);
        }
    }
}

fn dot(a: [f64; 4], b: [f64; 4]) -> f64 {
    (0..4).map(|c| a[c] * b[c]).sum()
}

fn distance(a: [f64; 4], b: [f64; 4]) -> f64 {
    let difference: [f64; 4] = std::array::from_fn(|c| a[c] - b[c]);
    dot(difference, difference).sqrt()
}

/// `b` or `-b` (the same rotation), whichever is closer to `a`.
fn nearer(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    if dot(a, b) < 0.0 { b.map(|v| -v) } else { b }
}

fn lerp(a: [f64; 4], b: [f64; 4], t: f64) -> [f64; 4] {
    std::array::from_fn(|c| a[c] + t * (b[c] - a[c]))
}

/// Spherical interpolation along the arc as it is, without a flip.
fn slerp(a: [f64; 4], b: [f64; 4], t: f64) -> [f64; 4] {
    let sum = lerp(a, b, 0.5).map(|v| 2.0 * v);
    let angle = 2.0 * distance(a, b).atan2(dot(sum, sum).sqrt());
    if angle < 1e-9 {
        return normalised(lerp(a, b, t));
    }
    let (wa, wb) = (((1.0 - t) * angle).sin() / angle.sin(), (t * angle).sin() / angle.sin());
    normalised(std::array::from_fn(|c| wa * a[c] + wb * b[c]))
}

/// Normalises; the identity if the length is zero.
fn normalised(q: [f64; 4]) -> [f64; 4] {
    let length = dot(q, q).sqrt();
    if length > 0.0 { q.map(|v| v / length) } else { [0.0, 0.0, 0.0, 1.0] }
}
