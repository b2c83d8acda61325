//! Stage `sample`: a clip at a time becomes local poses.

use super::sample_compact::sample_compact;
use super::{Local, ROTATION, SCALE, TRANSLATION};
use crate::model::{Channel, Clip, Interpolation, RotationBlend, Skeleton, Track, Transform};
use crate::simd::Simd;

/// Cosine above which [`RotationBlend::AuthoredPath`] falls to the normalised line.
const AUTHORED_PATH_LINE: f32 = 0.95;

/// Writes every joint's local pose of one instance into lane `lane` of a block.
///
/// `time` is in seconds and is clamped to each track's keys; joints (or channels) without a track keep the rest
/// pose (no difference in an additive clip), as do all with no clip. `local` holds one entry a joint. Any `time` costs the same: keys are found by
/// bisection, once for all tracks that share key times.
pub fn sample<const N: usize>(
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    time: f32,
    lane: usize,
    local: &mut [Local<N>],
) {
    let still = clip.is_some_and(Clip::is_additive).then_some(&Transform::IDENTITY);
    for (out, rest) in local.iter_mut().zip(skeleton.rest()) {
        let rest = still.unwrap_or(rest);
        write(out, lane, ROTATION, &rest.rotation.to_array());
        write(out, lane, TRANSLATION, &rest.translation.to_array());
        write(out, lane, SCALE, &rest.scale.to_array());
    }
    let Some(clip) = clip else { return };
    if let Some(compact) = clip.compact() {
        return sample_compact(compact, time, lane, local);
    }
    let mut timeline = u32::MAX;
    let mut cursor = Cursor { key: 0, step_key: 0, fraction: 0.0, interval: 0.0 };
    for track in clip.tracks() {
        if track.timeline != timeline {
            timeline = track.timeline;
            cursor = Cursor::seek(clip.times_of(track), time);
        }
        let out = &mut local[usize::from(track.joint)];
        match track.channel {
            Channel::Rotation => write(out, lane, ROTATION, &rotation(clip, track, &cursor)),
            Channel::Translation => write(out, lane, TRANSLATION, &vector(clip, track, &cursor)),
            Channel::Scale => write(out, lane, SCALE, &vector(clip, track, &cursor)),
        }
    }
}

/// Where a time falls among keys.
struct Cursor {
    /// The interval's first key; with a single key, that one.
    key: usize,
    /// The key that holds under step interpolation.
    step_key: usize,
    /// Position in the interval, 0 to 1.
    fraction: f32,
    /// Seconds between the interval's keys; 0 with a single key.
    interval: f32,
}

impl Cursor {
    fn seek(times: &[f32], time: f32) -> Self {
        // NaN compares false throughout and so lands on the first key.
        let after = times.partition_point(|&t| t <= time);
        let key = after.saturating_sub(1).min(times.len().saturating_sub(2));
        let step_key = after.saturating_sub(1);
        if times.len() < 2 {
            return Self { key, step_key, fraction: 0.0, interval: 0.0 };
        }
        let interval = times[key + 1] - times[key];
        let fraction = ((time - times[key]) / interval).clamp(0.0, 1.0);
        Self { key, step_key, fraction, interval }
    }
}

pub(super) fn write<const N: usize>(out: &mut Local<N>, lane: usize, row: usize, values: &[f32]) {
    for (offset, value) in values.iter().enumerate() {
        out[row + offset][lane] = *value;
    }
}

fn key<const W: usize>(clip: &Clip, track: &Track, index: usize) -> [f32; W] {
    let at = track.first_value as usize + index * W;
    std::array::from_fn(|c| clip.values()[at + c])
}

fn vector(clip: &Clip, track: &Track, cursor: &Cursor) -> [f32; 3] {
    match track.interpolation {
        Interpolation::Step => key(clip, track, cursor.step_key),
        Interpolation::Linear if cursor.interval == 0.0 => key(clip, track, cursor.key),
        Interpolation::Linear => {
            let (a, b) = (key::<3>(clip, track, cursor.key), key::<3>(clip, track, cursor.key + 1));
            std::array::from_fn(|c| a[c] + cursor.fraction * (b[c] - a[c]))
        }
        Interpolation::CubicSpline | Interpolation::Squad => cubic(clip, track, cursor),
    }
}

fn rotation(clip: &Clip, track: &Track, cursor: &Cursor) -> [f32; 4] {
    match track.interpolation {
        Interpolation::Step => key(clip, track, cursor.step_key),
        Interpolation::Linear if cursor.interval == 0.0 => key(clip, track, cursor.key),
        Interpolation::Linear => {
            let (a, b) = (key(clip, track, cursor.key), key(clip, track, cursor.key + 1));
            let angle = clip.angles()[track.first_angle as usize + cursor.key];
            match clip.rotation_blend() {
                RotationBlend::Slerp => slerp(a, b, angle, cursor.fraction),
                RotationBlend::Nlerp => nlerp(a, b, cursor.fraction),
                RotationBlend::AuthoredPath => {
                    let cos: f32 = (0..4).map(|c| a[c] * b[c]).sum();
                    if cos.abs() >= AUTHORED_PATH_LINE {
                        nlerp(a, b, cursor.fraction)
                    } else {
                        slerp(a, b, angle, cursor.fraction)
                    }
                }
            }
        }
        Interpolation::CubicSpline => normalised(cubic(clip, track, cursor)),
        Interpolation::Squad => squad(clip, track, cursor),
    }
}

/// Spherical and quadrangle interpolation (Shoemake 1987): slerp between keys towards slerp between control points.
fn squad(clip: &Clip, track: &Track, cursor: &Cursor) -> [f32; 4] {
    let value = |index: usize| key::<4>(clip, track, 2 * cursor.key + index);
    if cursor.interval == 0.0 {
        return value(0);
    }
    let angles = &clip.angles()[track.first_angle as usize + 2 * cursor.key..];
    let t = cursor.fraction;
    let keys = slerp(value(0), value(2), angles[0], t);
    let controls = slerp(value(1), value(3), angles[1], t);
    normalised(slerp(keys, controls, angle_between(keys, controls), 2.0 * t * (1.0 - t)))
}

/// Angle between two unit quaternions, 0 to pi, within 3e-7.
pub(super) fn angle_between(a: [f32; 4], b: [f32; 4]) -> f32 {
    let length = |sign: f32| a.iter().zip(b).map(|(a, b)| (a + sign * b) * (a + sign * b)).sum::<f32>().sqrt();
    let (chord, other) = (length(-1.0), length(1.0));
    if chord <= other {
        2.0 * arc_tangent(chord / other)
    } else {
        std::f32::consts::PI - 2.0 * arc_tangent(other / chord)
    }
}

/// Arc tangent of 0 to 1 within 1e-7: formula 4.4.49 of Abramowitz and Stegun, "Handbook of Mathematical Functions".
fn arc_tangent(x: f32) -> f32 {
    const C: [f32; 8] = [
        -0.333_331_45,
        0.199_935_51,
        -0.142_089,
        0.106_562_64,
        -0.075_289_64,
        0.042_909_61,
        -0.016_165_737,
        0.002_866_225_7,
    ];
    let u = x * x;
    x * (1.0 + u * C.iter().rev().fold(0.0, |sum, c| sum * u + c))
}

/// Hermite spline with per-key tangents (glTF 2.0, appendix C.4); keys are in-tangent, value, out-tangent.
fn cubic<const W: usize>(clip: &Clip, track: &Track, cursor: &Cursor) -> [f32; W] {
    let value = key::<W>(clip, track, 3 * cursor.key + 1);
    if cursor.interval == 0.0 {
        return value;
    }
    let out_tangent = key::<W>(clip, track, 3 * cursor.key + 2);
    let in_tangent = key::<W>(clip, track, 3 * cursor.key + 3);
    let next = key::<W>(clip, track, 3 * cursor.key + 4);
    let t = cursor.fraction;
    let (t2, t3) = (t * t, t * t * t);
    let (h00, h10) = (2.0 * t3 - 3.0 * t2 + 1.0, (t3 - 2.0 * t2 + t) * cursor.interval);
    let (h01, h11) = (-2.0 * t3 + 3.0 * t2, (t3 - t2) * cursor.interval);
    std::array::from_fn(|c| h00 * value[c] + h10 * out_tangent[c] + h01 * next[c] + h11 * in_tangent[c])
}

/// Spherical interpolation of unit quaternions `angle` radians apart (Shoemake 1985), written with sin(x)/x so that it
/// has no singularity at angle 0 and needs no trigonometry: the angle was computed when the clip was built.
pub(super) fn slerp(a: [f32; 4], b: [f32; 4], angle: f32, t: f32) -> [f32; 4] {
    let whole = sine_over_x(angle);
    let wa = (1.0 - t) * sine_over_x((1.0 - t) * angle) / whole;
    let wb = t * sine_over_x(t * angle) / whole;
    std::array::from_fn(|c| wa * a[c] + wb * b[c])
}

fn nlerp(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    normalised(std::array::from_fn(|c| a[c] + t * (b[c] - a[c])))
}

fn normalised(q: [f32; 4]) -> [f32; 4] {
    let length = q.iter().map(|v| v * v).sum::<f32>().sqrt();
    q.map(|v| v / length)
}

/// Coefficients of sin(x)/x in x², for x in 0..2.9 radians: a minimax polynomial (Lawson iteration, error 2.4e-8).
const SINE_OVER_X: [f32; 6] = [1.0, -0.166_666_46, 8.333_043e-3, -1.982_64e-4, 2.721_140_8e-6, -2.129_686_3e-8];

/// sin(x)/x for x in 0..2.9 radians, within 2e-7.
pub fn sine_over_x(x: f32) -> f32 {
    let u = x * x;
    SINE_OVER_X.iter().rev().fold(0.0, |sum, c| sum * u + c)
}

/// [`sine_over_x`] of `W` numbers.
#[inline(always)] // to take on the caller's instruction set
pub(super) fn sine_over_x_of<const W: usize, S: Simd<W>>(x: S::V) -> S::V {
    let u = S::mul(x, x);
    let mut sum = S::splat(SINE_OVER_X[5]);
    for c in [SINE_OVER_X[4], SINE_OVER_X[3], SINE_OVER_X[2], SINE_OVER_X[1], SINE_OVER_X[0]] {
        sum = S::mul_add(sum, u, S::splat(c));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_accurate() {
        for i in 0..=10_000 {
            let x = i as f32 * 1e-4;
            assert!((f64::from(arc_tangent(x)) - f64::from(x).atan()).abs() < 2e-7, "x = {x}");
            let angle = x * std::f32::consts::PI;
            let got = angle_between([1.0, 0.0, 0.0, 0.0], [angle.cos(), 0.0, angle.sin(), 0.0]);
            assert!((got - angle).abs() < 5e-7, "{got} instead of {angle}");
        }
    }

    #[test]
    fn sine_over_x_is_accurate() {
        for i in 1..=29_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).sin() / f64::from(x);
            assert!((f64::from(sine_over_x(x)) - exact).abs() < 2e-7, "x = {x}");
        }
        assert!((sine_over_x(0.0) - 1.0).abs() < 1e-7);
    }
}
