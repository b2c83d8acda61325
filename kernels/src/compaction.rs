//! Conversion of a model's clips to compact ones: finds for each clip the lowest uniform rate that keeps a stated
//! error, holds channels constant where the error allows it, and rounds the others as coarsely as it allows.

use crate::crowd::BLOCK;
use crate::error::DataError;
use crate::model::compact::{ClipError, Compact, Samples};
use crate::model::{Channel, Clip, ClipKeys, Model, RawKeys, Skeleton, Transform};
use crate::pose::{Affine, ErrorPoints, KeySpan, Local, block, first_row, one};
use crate::simd::Isa;
#[cfg(feature = "rayon")]
use rayon::prelude::*;
use std::ops::Range;

/// Default of the allowed error: largest distance at a joint's end over the skeleton's size ([`ErrorPoints`]).
pub const ERROR: f64 = 1e-4;
/// Fraction of the allowed error that the search may use up, because it samples many times, not every one.
const MARGIN: f64 = 0.9;
/// Fraction of that by which the first, coarsest rounding may move the ends beneath a joint.
const COARSEST: f64 = 0.5;
/// Factor from one rounding to the next finer one.
const FINER: f64 = 0.9;
/// Roundings that are tried before values keep all their bits.
const ATTEMPTS: i32 = 64;
/// Most attempts to hold channels of one clip: each compares all joints, of which a file may have thousands.
const MOST_HOLDS: usize = 64;

/// Poses of a joint that the search may compute for each number of a clip, and in addition for all clips of a model
/// together: a file may have as many joints as clips, and every trial poses all joints.
const POSES_PER_NUMBER: u64 = 10_000;
const MORE_POSES: u64 = 30_000_000;

/// The model with every clip compact at `error` (over the skeleton's size) or better. A clip stays raw if no rate keeps
/// that error in fewer bytes, or if none is found with work in proportion to the clip.
///
/// # Errors
/// Poses that are not finite.
pub fn compacted(model: Model, error: f64) -> Result<Model, DataError> {
    let clips = clips(&model, error)?;
    Ok(model.with_clips(clips))
}

/// A model's clips, each compact or raw as in [`compacted`].
///
/// # Errors
/// Poses that are not finite.
pub fn clips(model: &Model, error: f64) -> Result<Vec<Clip>, DataError> {
    let points = ErrorPoints::of(model);
    #[cfg(feature = "rayon")]
    let clips = model.clips().par_iter();
    #[cfg(not(feature = "rayon"))]
    let clips = model.clips().iter();
    clips
        .map(|clip| {
            let mut poses_left = poses_for(model, clip);
            compact(model.skeleton(), &points, clip, error, &mut poses_left)
        })
        .collect()
}

/// Poses of a joint that may be computed to compact one of a model's clips.
fn poses_for(model: &Model, clip: &Clip) -> u64 {
    let numbers = clip.keys().raw().map_or(0, |raw| raw.values().len());
    POSES_PER_NUMBER * numbers as u64 + MORE_POSES / model.clips().len() as u64
}

/// The compact form of a clip, or the clip itself. A compact clip stays as it is. Without `poses_left`, the search ends
/// with what it has found.
fn compact(
    skeleton: &Skeleton,
    points: &ErrorPoints,
    clip: &Clip,
    error: f64,
    poses_left: &mut u64,
) -> Result<Clip, DataError> {
    let ClipKeys::Raw(raw) = clip.keys() else {
        return Ok(clip.clone());
    };
    let keys = KeySpan::of(clip);
    let enough = MARGIN * error;
    for frames in keys.candidates(2) {
        let resampling = (skeleton.len() * frames) as u64;
        let Some(left) = poses_left.checked_sub(resampling).filter(|left| *left > 0) else {
            break;
        };
        *poses_left = left;
        let mut interval = 0.0;
        let mut times = vec![keys.start];
        if frames > 1 {
            interval = (keys.end - keys.start) / (frames - 1) as f32;
            times.extend((1..frames - 1).map(|frame| keys.start + frame as f32 * interval));
            times.push(keys.end);
        }
        let mut trial = Trial {
            skeleton,
            points,
            clip,
            enough,
            start: keys.start,
            interval,
            compared: keys.times(clip.duration(), frames).collect(),
            channels: resampled(skeleton, clip, raw, &times),
            poses_left: &mut *poses_left,
        };
        let moving = trial.encoded()?;
        if moving.bytes() >= clip.bytes() {
            break;
        }
        let Some(mut best) = trial.within_error(moving) else {
            continue;
        };
        let calm = calm(&trial.channels, points, enough);
        hold_in_spans(calm.len(), |span| {
            let mut moving = Vec::with_capacity(span.len());
            for held in &calm[span.clone()] {
                let values = &mut trial.channels[held.channel].values;
                moving.push(std::mem::replace(values, vec![held.middle; frames]));
            }
            if let Some(compact) = trial.within_error(trial.encoded()?) {
                best = compact;
                return Ok(true);
            }
            for (held, moving) in calm[span].iter().zip(moving) {
                trial.channels[held.channel].values = moving;
            }
            Ok(false)
        })?;
        for attempt in 0..ATTEMPTS {
            // Rounding may move the ends beneath every joint about as far.
            let allowed = COARSEST * FINER.powi(attempt) * enough;
            for samples in &mut trial.channels {
                let span = points.span(samples.joint.into(), samples.channel);
                samples.precision = (allowed / span) as f32;
            }
            if let Some(compact) = trial.within_error(trial.encoded()?) {
                return Ok(compact);
            }
        }
        return Ok(best);
    }
    Ok(clip.clone())
}

/// An attempt to compact a clip at one rate.
struct Trial<'a> {
    skeleton: &'a Skeleton,
    points: &'a ErrorPoints,
    clip: &'a Clip,
    /// Largest allowed error.
    enough: f64,
    /// Seconds of the first frame, and from one frame to the next.
    start: f32,
    interval: f32,
    /// Times at which the error is measured.
    compared: Vec<f32>,
    /// Values of each channel at every frame, and the precision that they keep.
    channels: Vec<Samples>,
    /// Poses of a joint that may still be computed for the clip; without any, no attempt is within the error.
    poses_left: &'a mut u64,
}

impl Trial<'_> {
    fn encoded(&self) -> Result<Compact, DataError> {
        Compact::encode(
            self.start,
            self.interval,
            &self.channels,
            |joint, channel| {
                let rest = if self.clip.is_additive() {
                    Transform::IDENTITY
                } else {
                    self.skeleton.rest()[usize::from(joint)]
                };
                value_of(&rest.components(), channel)
            },
        )
    }

    /// The compact clip; `None` beyond the allowed error.
    fn within_error(&mut self, encoded: Compact) -> Option<Clip> {
        let Measured { error, poses } = largest_error(
            self.points,
            self.skeleton,
            self.clip,
            &self.clip.with_compact(encoded.clone()),
            &self.compared,
            self.enough,
            *self.poses_left,
        );
        *self.poses_left = self.poses_left.saturating_sub(poses);
        (error.distance <= self.enough)
            .then(|| self.clip.with_compact(Compact { error, ..encoded }))
    }
}

/// Holds as many of `count` channels as possible, the first ones first. `hold` tries a span of them in addition to those
/// that are held, and returns whether they all stay.
///
/// Most channels of a file with many hardly move, so spans are tried as a whole, and in halves where that goes too far.
/// The result is that of trying one channel after the other, as long as there are attempts.
fn hold_in_spans(
    count: usize,
    mut hold: impl FnMut(Range<usize>) -> Result<bool, DataError>,
) -> Result<(), DataError> {
    let mut spans: Vec<Range<usize>> = std::iter::once(0..count).collect();
    for _ in 0..MOST_HOLDS {
        let Some(span) = spans.pop() else { break };
        if span.is_empty() || hold(span.clone())? || span.len() == 1 {
            continue;
        }
        let middle = span.start.midpoint(span.end);
        spans.push(middle..span.end);
        spans.push(span.start..middle);
    }
    Ok(())
}

/// The poses of a clip's channels at some times.
fn resampled(skeleton: &Skeleton, clip: &Clip, raw: &RawKeys, times: &[f32]) -> Vec<Samples> {
    let mut channels: Vec<Samples> = Vec::with_capacity(raw.tracks().len());
    for track in raw.tracks() {
        channels.push(Samples {
            joint: track.joint,
            channel: track.channel,
            values: Vec::with_capacity(times.len()),
            precision: 0.0,
        });
    }
    let mut pose: Vec<Local<1>> = vec![[[0.0; 1]; 10]; skeleton.len()];
    for &time in times {
        one::sample(skeleton, Some(clip), time, &mut pose);
        for samples in &mut channels {
            let pose = pose[usize::from(samples.joint)].as_flattened();
            samples.values.push(value_of(pose, samples.channel));
        }
    }
    channels
}

/// A channel that changes so little that it may be held.
struct CalmChannel {
    /// Index among the channels.
    channel: usize,
    /// Middle of its range.
    middle: [f32; 4],
    /// Distance that holding it there moves the ends by.
    swing: f64,
}

/// Channels that the error may allow holding at the middle of their range; the smallest change first.
fn calm(channels: &[Samples], points: &ErrorPoints, enough: f64) -> Vec<CalmChannel> {
    let mut calm = Vec::new();
    for (channel, samples) in channels.iter().enumerate() {
        let (middle, swing) = samples.middle();
        let swing = f64::from(swing) * points.reach(samples.joint.into(), samples.channel);
        if swing > 0.0 && swing <= enough {
            calm.push(CalmChannel {
                channel,
                middle,
                swing,
            });
        }
    }
    calm.sort_by(|a, b| a.swing.total_cmp(&b.swing));
    calm
}

/// The value of a channel in a local pose of ten rows. Vectors end in a zero.
fn value_of(pose: &[f32], channel: Channel) -> [f32; 4] {
    let mut value = [0.0; 4];
    let width = channel.width();
    value[..width].copy_from_slice(&pose[first_row(channel)..][..width]);
    value
}

/// An error, and the number of joints' poses that were computed to find it.
struct Measured {
    error: ClipError,
    poses: u64,
}

/// The largest error over some times. Stops at the first error beyond `enough`, and where it would compute more than `most`
/// poses: then the error is infinite.
fn largest_error(
    points: &ErrorPoints,
    skeleton: &Skeleton,
    raw: &Clip,
    compact: &Clip,
    times: &[f32],
    enough: f64,
    most: u64,
) -> Measured {
    let at_once = (2 * BLOCK * skeleton.len()) as u64;
    let mut poses_computed = 0;
    let mut worst = ClipError::default();
    let unknown = ClipError {
        distance: f64::INFINITY,
        ..worst
    };
    if at_once > most {
        return Measured {
            error: unknown,
            poses: most,
        };
    }
    let mut local: Vec<Local<BLOCK>> = vec![[[0.0; BLOCK]; 10]; skeleton.len()];
    let mut poses: [Vec<Affine<BLOCK>>; 2] =
        [0, 1].map(|_| vec![[[0.0; BLOCK]; 12]; skeleton.len()]);
    for times in times.chunks(BLOCK) {
        if poses_computed + at_once > most {
            worst = unknown;
            break;
        }
        for (clip, pose) in [raw, compact].into_iter().zip(&mut poses) {
            for (lane, &time) in times.iter().enumerate() {
                block::sample(skeleton, Some(clip), time, lane, &mut local);
            }
            block::local_to_model(Isa::Scalar, skeleton, &local, pose);
        }
        poses_computed += at_once;
        let [raw, compact] = &poses;
        for joint in 0..skeleton.len() {
            for lane in 0..times.len() {
                let off = std::array::from_fn(|i| {
                    f64::from(raw[joint][i][lane]) - f64::from(compact[joint][i][lane])
                });
                let distance = points.distance(joint, &off);
                if distance > worst.distance {
                    worst = ClipError {
                        distance,
                        joint: joint as u16,
                    };
                }
            }
        }
        if worst.distance > enough {
            break;
        }
    }
    Measured {
        error: worst,
        poses: poses_computed,
    }
}

/// Largest error of a compact clip against the raw one, at the given times in seconds and the ends of a skeleton.
pub fn error(
    points: &ErrorPoints,
    skeleton: &Skeleton,
    raw: &Clip,
    compact: &Clip,
    times: &[f32],
) -> ClipError {
    largest_error(
        points,
        skeleton,
        raw,
        compact,
        times,
        f64::INFINITY,
        u64::MAX,
    )
    .error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Interpolation, Joint, JointTransform as Rest, Keys, ModelParts, PrimitiveData,
        RotationBlend, SkinData,
    };
    use glam::{Quat, Vec3};

    fn one_joint(
        times: &[f32],
        rotations: &[Quat],
        interpolation: Interpolation,
    ) -> (Skeleton, Clip) {
        let rest = Rest::Transform(Transform::IDENTITY);
        let (skeleton, _) = Skeleton::new(vec![Joint {
            name: "joint".into(),
            parent: None,
            rest,
        }])
        .unwrap();
        let keys = Keys {
            joint: 0,
            channel: Channel::Rotation,
            interpolation,
            times: times.into(),
            values: rotations.iter().flat_map(|q| q.to_array()).collect(),
        };
        (
            skeleton,
            Clip::new("c", None, RotationBlend::Slerp, vec![keys]).unwrap(),
        )
    }

    fn unlimited(skeleton: &Skeleton, points: &ErrorPoints, clip: &Clip) -> Clip {
        let mut poses_left = u64::MAX;
        compact(skeleton, points, clip, ERROR, &mut poses_left).unwrap()
    }

    /// A model of as many joints as clips, each of which moves the first joint.
    fn star(joints: usize) -> Model {
        let joint = |index: usize| {
            let parent = (index > 0).then_some(0);
            Joint::new(format!("joint {index}"), parent, Transform::IDENTITY)
        };
        let (skeleton, _) = Skeleton::new((0..joints).map(joint).collect()).unwrap();
        let skin = SkinData::at_rest(&skeleton, (0..joints as u16).collect()).unwrap();
        let primitive = PrimitiveData {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 1.0]],
            influences: (0..3).map(|joint| [(joint, 1.0)]).collect(),
            indices: vec![0, 1, 2],
            dumped_vertices: 3,
            ..PrimitiveData::default()
        };
        let keys = Keys::linear(
            1,
            Channel::Translation,
            vec![0.0, 1.0],
            vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        );
        let clip = Clip::new("c", None, RotationBlend::Slerp, vec![keys]).unwrap();
        let parts = ModelParts::new("star", skeleton, skin, vec![primitive]);
        Model::new(ModelParts {
            clips: vec![clip; joints],
            ..parts
        })
        .unwrap()
    }

    #[test]
    fn work_grows_with_the_file_and_no_faster() {
        let counts = [50, 100, 200].map(|joints| {
            let model = star(joints);
            let points = ErrorPoints::of(&model);
            let mut poses = 0;
            for clip in model.clips() {
                let allowed = poses_for(&model, clip);
                let mut left = allowed;
                compact(model.skeleton(), &points, clip, ERROR, &mut left).unwrap();
                poses += allowed - left;
            }
            poses as f64
        });
        let [one, two, four] = counts;
        assert!(
            four <= two + 2.6 * (two - one).max(0.0) + 0.1 * one,
            "{counts:?}"
        );
    }

    #[test]
    fn whole_turns_leave_out_whichever_component_is_largest() {
        let turn = |i: u32| Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), i as f32 * 0.2);
        let times: Vec<f32> = (0..64).map(|i| i as f32 * 0.1).collect();
        let (skeleton, clip) = one_joint(
            &times,
            &(0..64).map(turn).collect::<Vec<_>>(),
            Interpolation::Linear,
        );
        let stored = unlimited(&skeleton, &ErrorPoints::new(&skeleton), &clip);
        assert_eq!(
            stored.keys().compact().unwrap().tracks[0].dropped,
            crate::model::compact::ANY
        );
        assert!(
            error(
                &ErrorPoints::new(&skeleton),
                &skeleton,
                &clip,
                &stored,
                &[0.05, 1.234, 3.3, 6.25]
            )
            .distance
                < ERROR
        );
    }

    #[test]
    fn what_is_made_from_raw_keys_refuses_compact_ones() {
        let (skeleton, still) = one_joint(
            &[0.0, 1.0],
            &[Quat::from_rotation_x(0.5); 2],
            Interpolation::Linear,
        );
        let points = ErrorPoints::new(&skeleton);
        let stored = unlimited(&skeleton, &points, &still);
        assert_eq!(unlimited(&skeleton, &points, &stored), stored);
        assert_eq!(stored.smoothed().unwrap(), stored);
        for error in [stored.additive().unwrap_err(), stored.closed().unwrap_err()] {
            assert_eq!(
                error.to_string(),
                "clip \"c\": compact keys; expected raw ones"
            );
        }
        assert_eq!(
            stored.keys().joints().collect::<Vec<_>>(),
            [0],
            "still joints too"
        );
    }

    #[test]
    fn jumps_that_no_rate_can_follow_stay_raw() {
        let [a, b] = [0.0, 1.0].map(Quat::from_rotation_x);
        let (skeleton, clip) = one_joint(&[0.0, 0.013, 1.0], &[a, b, a], Interpolation::Step);
        assert_eq!(
            unlimited(&skeleton, &ErrorPoints::new(&skeleton), &clip),
            clip
        );
    }

    /// A chain of four joints at rest 1 apart, each of which nods by the given angle. Its size is 3.
    fn nodding_chain(swings: [f32; 4]) -> (Skeleton, Clip) {
        let link = |parent: Option<usize>| {
            let rest = Transform {
                translation: Vec3::X * f32::from(parent.is_some() as u8),
                ..Transform::IDENTITY
            };
            Joint {
                name: "joint".into(),
                parent,
                rest: Rest::Transform(rest),
            }
        };
        let (skeleton, _) =
            Skeleton::new([None, Some(0), Some(1), Some(2)].map(link).into()).unwrap();
        let keys = (0..4u16).zip(swings).map(|(joint, swing)| Keys {
            joint,
            channel: Channel::Rotation,
            interpolation: Interpolation::Linear,
            times: (0..16).map(|i| i as f32 * 0.1).collect(),
            values: (0..16)
                .flat_map(|i| Quat::from_rotation_z([-swing, swing][i % 2]).to_array())
                .collect(),
        });
        let clip = Clip::new("nods", None, RotationBlend::Slerp, keys.collect()).unwrap();
        (skeleton, clip)
    }

    #[test]
    fn what_hardly_moves_stands_still() {
        let moving = |swings: [f32; 4]| -> Vec<u16> {
            let (skeleton, clip) = nodding_chain(swings);
            let stored = unlimited(&skeleton, &ErrorPoints::new(&skeleton), &clip);
            let times: Vec<f32> = (0..500).map(|i| i as f32 * 0.003).collect();
            let found = error(
                &ErrorPoints::new(&skeleton),
                &skeleton,
                &clip,
                &stored,
                &times,
            );
            assert!(found.distance <= ERROR, "{swings:?}: {found:?}");
            stored
                .keys()
                .compact()
                .unwrap()
                .tracks
                .iter()
                .map(|track| track.joint)
                .collect()
        };
        assert_eq!(moving([0.1, 1e-5, 0.1, 1e-5]), [0, 2]);
        // The chain's end would move too far by the motion of joint 1, and by those of joints 2 and 3 together.
        assert_eq!(moving([0.1, 1e-4, 1.1e-4, 1.2e-4]), [0, 1, 3]);
    }

    #[test]
    fn the_attempts_to_hold_channels_do_not_grow_with_their_number() {
        for count in [0, 1, 7, 100, 10_000] {
            // Channels have sizes 1, 2, 3 and so on; those that are held may have so much together.
            for room in [0, 10, usize::MAX] {
                let mut held = Vec::new();
                let mut attempts = 0;
                let hold = |span: Range<usize>| {
                    attempts += 1;
                    let size = |channels: &[usize]| channels.iter().map(|c| c + 1).sum::<usize>();
                    let added: Vec<usize> = span.collect();
                    let fits = size(&held) + size(&added) <= room;
                    if fits {
                        held.extend(added);
                    }
                    Ok(fits)
                };
                hold_in_spans(count, hold).unwrap();
                let one_by_one = match room {
                    0 => 0,
                    10 => count.min(4),
                    _ => count,
                };
                assert_eq!(held, (0..one_by_one).collect::<Vec<_>>());
                assert!(attempts <= MOST_HOLDS, "{attempts} for {count}");
                assert!(room < usize::MAX || attempts <= 1, "{attempts} for {count}");
            }
        }
    }

    #[test]
    fn what_does_not_change_is_dropped_or_stored_once() {
        let (skeleton, still) = one_joint(
            &[0.0, 1.0],
            &[Quat::from_rotation_x(0.5); 2],
            Interpolation::Linear,
        );
        let stored = unlimited(&skeleton, &ErrorPoints::new(&skeleton), &still);
        let kept = stored.keys().compact().unwrap();
        assert_eq!((kept.tracks.len(), kept.still.len()), (0, 1));
        let (skeleton, resting) =
            one_joint(&[0.0, 1.0], &[Quat::IDENTITY; 2], Interpolation::Linear);
        let stored = unlimited(&skeleton, &ErrorPoints::new(&skeleton), &resting);
        assert_eq!(stored.keys().compact().unwrap().bytes(), 0);
    }
}
