//! Importer of `.raa`: rotations of joints at whole frames.

use crate::fault::Fault;
use crate::tokenizer::{Scanner, Syntax};
use crate::{ImportError, matrices};
use glam::DQuat;
use skinbench_kernels::model::{Channel, Clip, Keys, ModelParts, Repair, RotationBlend};
use std::path::Path;

/// Frame rate, which the file does not state.
const FRAMES_PER_SECOND: f64 = 25.0;

/// Reads a clip for a model whose joints have these orientations, in the order of its file.
pub(super) fn import(
    file: &Path,
    parts: &ModelParts,
    orientations: &[DQuat],
) -> Result<(Clip, Option<Repair>), ImportError> {
    let joint_of = &parts.skins[0].joints;
    let names: Vec<&String> = joint_of
        .iter()
        .map(|&joint| &parts.skeleton.names()[usize::from(joint)])
        .collect();
    Scanner::read(file, Syntax::WORDS, |file, name| {
        let frames = if file.accept("frames") {
            Some(file.integer("a number of frames")?)
        } else {
            None
        };
        let mut tracks: Vec<JointFrames> = Vec::new();
        while let Some(token) = file.peek() {
            let track = JointFrames::read(file, tracks.len(), frames, &names)?;
            if tracks.iter().any(|other| other.joint == track.joint) {
                return Err(file.fault(
                    token.offset,
                    format!("a second track for joint {}; expected one", track.joint),
                ));
            }
            tracks.push(track);
        }
        let last = tracks
            .iter()
            .filter_map(|track| Some(track.rotations.last()?.0))
            .max();
        let period = frames.or(last.map(|last| last + 1)).unwrap_or(0);
        let shown = tracks
            .into_iter()
            .filter(|track| !track.rotations.is_empty());
        let keys = shown
            .map(|track| track.keys(period, orientations, joint_of))
            .collect();
        let clip = Clip::new(
            name,
            Some(seconds(period.into())),
            RotationBlend::AuthoredPath,
            keys,
        )?;
        Ok((clip, file.off_unit.describe("rotation keys")))
    })
}

/// A joint's rotations, each with its frame.
struct JointFrames {
    joint: usize,
    rotations: Vec<(u32, DQuat)>,
}

impl JointFrames {
    /// Reads the track with this index, in a clip of so many frames, of a joint with one of these names.
    fn read(
        file: &mut Scanner,
        index: usize,
        frames: Option<u32>,
        names: &[&String],
    ) -> Result<Self, Fault> {
        file.expect("track")?;
        file.exactly(index as u32, "the ID")?;
        let joint = file.index("joint", names.len())? as usize;
        let known = names[joint];
        let expected = format!("{known:?}, as the model names joint {joint}");
        file.accepted(&expected, Scanner::string, |name| name == known)?;
        let mut rotations: Vec<(u32, DQuat)> = Vec::new();
        while file.at_number() {
            file.exactly(rotations.len() as u32, "the ID")?;
            // Far beyond this, neighbouring frames would have the same time in f32 seconds.
            let end = frames.unwrap_or(u32::MAX).min(1 << 20);
            let previous = rotations.last().copied();
            let first = previous.map_or(0, |(previous, _)| previous + 1);
            let expected = format!("a frame from {first} to before {end}");
            let frame = file.accepted(&expected, Scanner::integer, |frame| {
                (first..end).contains(frame)
            })?;
            let rotation = matrices::quaternion(file.quaternion("a rotation")?);
            rotations.push((
                frame,
                previous.map_or(rotation, |(_, last)| apart(last, rotation)),
            ));
        }
        Ok(Self { joint, rotations })
    }

    /// Converts to keys in seconds. In the remaining frames of the period, the track interpolates from its last key to
    /// its first, across the period's end.
    fn keys(self, period: u32, orientations: &[DQuat], joint_of: &[u16]) -> Keys {
        let own = self
            .rotations
            .into_iter()
            .map(|(frame, rotation)| (f64::from(frame), rotation));
        let mut keys: Vec<(f64, DQuat)> = own.collect();
        if let [(first, early), .., (last, late)] = keys[..] {
            let period = f64::from(period);
            // The same path twice: each copy has the signs of the keys next to it.
            let into = Wrap {
                from: apart(early, late),
                to: early,
                start: last - period,
                end: first,
            };
            let out = Wrap {
                from: late,
                to: apart(late, early),
                start: last,
                end: period + first,
            };
            if first == 0.0 {
                keys.push((out.end, out.to));
            } else {
                let mut whole = vec![(0.0, into.at(0.0))];
                into.follow(0.0, first, Wrap::DEPTH, &mut whole);
                whole.append(&mut keys);
                out.follow(last, period, Wrap::DEPTH, &mut whole);
                whole.push((period, out.at(period)));
                keys = whole;
            }
        }
        let orientation = orientations[self.joint];
        let times = keys.iter().map(|(frame, _)| seconds(*frame)).collect();
        let values = keys
            .iter()
            .flat_map(|(_, rotation)| (orientation * *rotation).as_quat().to_array())
            .collect();
        Keys::linear(joint_of[self.joint], Channel::Rotation, times, values)
    }
}

/// The path from one key to another, cut at the beginning or end of the period.
struct Wrap {
    from: DQuat,
    to: DQuat,
    /// Frames; may be before 0 or after the period's end.
    start: f64,
    end: f64,
}

impl Wrap {
    /// Largest error of the path through the keys, in radians.
    const TOLERANCE: f64 = 1e-6;
    /// Most halvings of a part.
    const DEPTH: u32 = 6;

    fn at(&self, frame: f64) -> DQuat {
        authored(
            self.from,
            self.to,
            (frame - self.start) / (self.end - self.start),
        )
    }

    /// Adds keys between two frames, as many as necessary: a part of an arc can be short enough to be followed by
    /// normalised linear interpolation when the whole arc is not, and a part of a normalised line is another such line.
    fn follow(&self, first: f64, end: f64, depth: u32, keys: &mut Vec<(f64, DQuat)>) {
        let (a, b, middle) = (self.at(first), self.at(end), first.midpoint(end));
        let off = |t: f64| 2.0 * (authored(a, b, t) - self.at(first + t * (end - first))).length();
        let follows = [0.25, 0.5, 0.75]
            .into_iter()
            .all(|t| off(t) <= Self::TOLERANCE);
        let splits = seconds(first) < seconds(middle) && seconds(middle) < seconds(end);
        if depth > 0 && splits && !follows {
            self.follow(first, middle, depth - 1, keys);
            keys.push((middle, self.at(middle)));
            self.follow(middle, end, depth - 1, keys);
        }
    }
}

fn seconds(frame: f64) -> f32 {
    (frame / FRAMES_PER_SECOND) as f32
}

/// Interpolates between two rotations as [`RotationBlend::AuthoredPath`].
fn authored(a: DQuat, b: DQuat, t: f64) -> DQuat {
    const LINE: f64 = 0.95;
    if a.dot(b).abs() >= LINE {
        return (a * (1.0 - t) + b * t).normalize();
    }
    let angle = libm::acos(a.dot(b));
    (a * libm::sin((1.0 - t) * angle) + b * libm::sin(t * angle)) * libm::sin(angle).recip()
}

/// The next key of a path. A key that is the negated last one is the same rotation, so it is flipped: the path would
/// lead through zero.
fn apart(last: DQuat, next: DQuat) -> DQuat {
    const OPPOSITE: f64 = -1.0 + 1e-9;
    if last.dot(next) < OPPOSITE {
        -next
    } else {
        next
    }
}
