//! Stage `sample`: computes local poses from a clip and a time.

use super::arc::{angle_between, slerp};
use super::lanes::{Lanes, repeat_last, write};
use super::sample_compact::sample_compact;
use super::{Local, first_row};
use crate::model::{
    Channel, Clip, ClipKeys, Interpolation, RawKeys, RotationBlend, Skeleton, Track, Transform,
};

/// Cosine from which on [`RotationBlend::AuthoredPath`] interpolates linearly and normalises.
const AUTHORED_PATH_LINE: f32 = 0.95;

/// Writes every joint's local pose of one instance.
///
/// `time` is in seconds and is clamped to each track's keys. Joints (or channels) without a track keep the rest pose
/// (no difference in an additive clip), and so do all joints without a clip. `local` holds one entry per joint, or per
/// strip of joints. Every `time` costs the same: keys are found by bisection, once for all tracks that share key times.
pub(super) fn sample<const L: usize>(
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    time: f32,
    lanes: Lanes,
    local: &mut [Local<L>],
) {
    constants(skeleton, clip, lanes, local);
    match clip.map(|clip| (clip.keys(), clip.rotation_blend())) {
        None => {}
        Some((ClipKeys::Raw(raw), blend)) => sample_raw(raw, blend, time, lanes, local),
        Some((ClipKeys::Compact(compact), _)) => sample_compact(compact, time, lanes, local),
    }
    if let Lanes::Joints = lanes {
        repeat_last(skeleton.len(), local);
    }
}

/// Writes what no track changes: the rest pose, no difference in an additive clip, or a compact clip's own constants.
pub(super) fn constants<const L: usize>(
    skeleton: &Skeleton,
    clip: Option<&Clip>,
    lanes: Lanes,
    local: &mut [Local<L>],
) {
    let still = clip
        .is_some_and(Clip::is_additive)
        .then_some(&Transform::IDENTITY);
    for (joint, rest) in skeleton.rest().iter().enumerate() {
        write(local, joint, lanes, 0, &still.unwrap_or(rest).components());
    }
    for still in clip
        .and_then(|clip| clip.keys().compact())
        .iter()
        .flat_map(|compact| &compact.still)
    {
        let value = &still.value[..still.channel.width()];
        let row = first_row(still.channel);
        write(local, usize::from(still.joint), lanes, row, value);
    }
}

/// Overwrites the poses of one instance with the values of raw keys.
fn sample_raw<const L: usize>(
    raw: &RawKeys,
    blend: RotationBlend,
    time: f32,
    lanes: Lanes,
    local: &mut [Local<L>],
) {
    let mut timeline = u32::MAX;
    let mut cursor = Cursor {
        key: 0,
        step_key: 0,
        fraction: 0.0,
        interval: 0.0,
    };
    for track in raw.tracks() {
        if track.timeline != timeline {
            timeline = track.timeline;
            cursor = Cursor::seek(raw.times_of(track), time);
        }
        let joint = usize::from(track.joint);
        let row = first_row(track.channel);
        if track.channel == Channel::Rotation {
            write(
                local,
                joint,
                lanes,
                row,
                &rotation(raw, blend, track, &cursor),
            );
        } else {
            write(local, joint, lanes, row, &vector(raw, track, &cursor));
        }
    }
}

/// Position of a time among keys.
struct Cursor {
    /// The interval's first key; the only key if there is one.
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
        // NaN compares false with everything and so selects the first key.
        let after = times.partition_point(|&t| t <= time);
        let key = after.saturating_sub(1).min(times.len().saturating_sub(2));
        let step_key = after.saturating_sub(1);
        if times.len() < 2 {
            return Self {
                key,
                step_key,
                fraction: 0.0,
                interval: 0.0,
            };
        }
        let interval = times[key + 1] - times[key];
        let fraction = ((time - times[key]) / interval).clamp(0.0, 1.0);
        Self {
            key,
            step_key,
            fraction,
            interval,
        }
    }
}

fn key<const W: usize>(raw: &RawKeys, track: &Track, index: usize) -> [f32; W] {
    let at = track.first_value as usize + index * W;
    std::array::from_fn(|c| raw.values()[at + c])
}

fn vector(raw: &RawKeys, track: &Track, cursor: &Cursor) -> [f32; 3] {
    match track.interpolation {
        Interpolation::Step => key(raw, track, cursor.step_key),
        Interpolation::Linear if cursor.interval == 0.0 => key(raw, track, cursor.key),
        Interpolation::Linear => {
            let a = key::<3>(raw, track, cursor.key);
            let b = key::<3>(raw, track, cursor.key + 1);
            std::array::from_fn(|c| a[c] + cursor.fraction * (b[c] - a[c]))
        }
        Interpolation::CubicSpline | Interpolation::Squad => cubic(raw, track, cursor),
    }
}

fn rotation(raw: &RawKeys, blend: RotationBlend, track: &Track, cursor: &Cursor) -> [f32; 4] {
    match track.interpolation {
        Interpolation::Step => key(raw, track, cursor.step_key),
        Interpolation::Linear if cursor.interval == 0.0 => key(raw, track, cursor.key),
        Interpolation::Linear => {
            let a = key(raw, track, cursor.key);
            let b = key(raw, track, cursor.key + 1);
            let angle = raw.angles()[track.first_angle as usize + cursor.key];
            match blend {
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
        Interpolation::CubicSpline => normalised(cubic(raw, track, cursor)),
        Interpolation::Squad => squad(raw, track, cursor),
    }
}

/// Spherical and quadrangle interpolation (Shoemake 1987): slerp between keys blended with slerp between control
/// points.
fn squad(raw: &RawKeys, track: &Track, cursor: &Cursor) -> [f32; 4] {
    let value = |index: usize| key::<4>(raw, track, 2 * cursor.key + index);
    if cursor.interval == 0.0 {
        return value(0);
    }
    let angles = &raw.angles()[track.first_angle as usize + 2 * cursor.key..];
    let t = cursor.fraction;
    let keys = slerp(value(0), value(2), angles[0], t);
    let controls = slerp(value(1), value(3), angles[1], t);
    normalised(slerp(
        keys,
        controls,
        angle_between(keys, controls),
        2.0 * t * (1.0 - t),
    ))
}

/// Hermite spline with per-key tangents (glTF 2.0, appendix C.4); keys are in-tangent, value, out-tangent.
fn cubic<const W: usize>(raw: &RawKeys, track: &Track, cursor: &Cursor) -> [f32; W] {
    let value = key::<W>(raw, track, 3 * cursor.key + 1);
    if cursor.interval == 0.0 {
        return value;
    }
    let out_tangent = key::<W>(raw, track, 3 * cursor.key + 2);
    let in_tangent = key::<W>(raw, track, 3 * cursor.key + 3);
    let next = key::<W>(raw, track, 3 * cursor.key + 4);
    let t = cursor.fraction;
    let t2 = t * t;
    let t3 = t * t * t;
    let h00 = 2.0 * t3 - 3.0 * t2 + 1.0;
    let h10 = (t3 - 2.0 * t2 + t) * cursor.interval;
    let h01 = -2.0 * t3 + 3.0 * t2;
    let h11 = (t3 - t2) * cursor.interval;
    std::array::from_fn(|c| {
        h00 * value[c] + h10 * out_tangent[c] + h01 * next[c] + h11 * in_tangent[c]
    })
}

fn nlerp(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    normalised(std::array::from_fn(|c| a[c] + t * (b[c] - a[c])))
}

fn normalised(q: [f32; 4]) -> [f32; 4] {
    let length = q.iter().map(|v| v * v).sum::<f32>().sqrt();
    q.map(|v| v / length)
}
