//! Keys in the forms that glTF has: linear rotations are slerp, and a clip ends at its last key.

use glam::{DVec4, Vec4};
use skinbench_kernels::model::{Channel, Clip, Interpolation, RawKeys, RotationBlend, Track};

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
        self.values.push(curve.at(time.into()).as_vec4().to_array());
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

    fn at(&self, time: f64) -> DVec4 {
        let interpolation = self.track.interpolation;
        let stored = |index: usize| Vec4::from(self.stored(index)).as_dvec4();
        let key = |index: usize| stored(interpolation.values_per_key() * index + interpolation.value_of_key());
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
                RotationBlend::AuthoredPath if a.dot(b).abs() >= 0.95 => normalised(lerp(a, b, t)),
                RotationBlend::AuthoredPath => slerp(a, b, t),
            },
            Interpolation::Squad => {
                let controls = slerp(stored(2 * from + 1), stored(2 * to + 1), t);
                slerp(slerp(a, b, t), controls, 2.0 * t * (1.0 - t))
            }
            Interpolation::CubicSpline => {
                let (leaving, arriving) = (stored(3 * from + 2), stored(3 * to));
                let (t2, t3) = (t * t, t * t * t);
                let values = (2.0 * t3 - 3.0 * t2 + 1.0) * a + (3.0 * t2 - 2.0 * t3) * b;
                self.finished(values + (t3 - 2.0 * t2 + t) * span * leaving + (t3 - t2) * span * arriving)
            }
        }
    }

    fn finished(&self, value: DVec4) -> DVec4 {
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
                let made = slerp(a, nearer(a, b), t);
                2.0 * made.distance(nearer(made, exact))
            } else {
                lerp(a, b, t).distance(exact) / (1.0 + exact.length())
            }
        };
        if [0.25, 0.5, 0.75].into_iter().any(|t| off(t) > TOLERANCE) {
            self.subdivide(from, middle, depth - 1, keys);
            keys.push(self, middle);
            self.subdivide(middle, to, depth - 1, keys);
        }
    }
}

/// `b` or `-b` (the same rotation), whichever is closer to `a`.
fn nearer(a: DVec4, b: DVec4) -> DVec4 {
    if a.dot(b) < 0.0 { -b } else { b }
}

fn lerp(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    a + t * (b - a)
}

/// Spherical interpolation along the arc as it is, without a flip.
fn slerp(a: DVec4, b: DVec4, t: f64) -> DVec4 {
    let angle = 2.0 * a.distance(b).atan2((a + b).length());
    if angle < 1e-9 {
        return normalised(lerp(a, b, t));
    }
    let (wa, wb) = (((1.0 - t) * angle).sin() / angle.sin(), (t * angle).sin() / angle.sin());
    normalised(wa * a + wb * b)
}

/// Normalises; the identity if the length is zero.
fn normalised(q: DVec4) -> DVec4 {
    q.normalize_or(DVec4::W)
}
