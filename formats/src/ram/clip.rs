//! Importer of `.raa`: rotations of joints at whole frames.

use crate::matrices;
use crate::tokenizer::{Scanner, Syntax};
use glam::DQuat;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Channel, Clip, Keys, ModelParts, Notes, RotationBlend};
use std::path::Path;

/// Frame rate, which the file does not state.
const FRAMES_PER_SECOND: f64 = 25.0;

/// Reads a clip for a model whose joints have these orientations, in the order of its file.
pub fn import(
    file: &Path,
    parts: &ModelParts,
    orientations: &[DQuat],
    notes: &mut Notes,
) -> Result<Clip> {
    let joint_of = &parts.skins[0].joints;
    let joint_names = parts.skeleton.names();
    let names = joint_of
        .iter()
        .map(|&joint| &joint_names[usize::from(joint)]);
    let names: Vec<&String> = names.collect();
    Scanner::read(file, Syntax::WORDS, notes, |file, name| {
        let mut frames = None;
        if file.accept("frames") {
            frames = Some(file.integer("a number of frames")?);
        }
        let mut tracks: Vec<JointFrames> = Vec::new();
        let mut last = None;
        while let Some(token) = file.peek() {
            let track = JointFrames::read(file, tracks.len(), frames, &names)?;
            let joint = track.joint;
            let is_known = tracks.iter().any(|other| other.joint == joint);
            ensure!(
                !is_known,
                file.place(token.offset),
                "a second track for joint {joint}; expected one"
            );
            last = last.max(track.rotations.last().map(|last| last.frame));
            tracks.push(track);
        }
        let period = frames.or(last.map(|last| last + 1)).unwrap_or(0);
        tracks.retain(|track| !track.rotations.is_empty());
        let keys = tracks
            .into_iter()
            .map(|track| track.keys(period.into(), orientations, joint_of));
        let duration = seconds(period.into());
        let blend = RotationBlend::AuthoredPath;
        Clip::new(name, Some(duration), blend, keys.collect())
    })
}

/// A joint's rotations, each with its frame.
struct JointFrames {
    joint: usize,
    rotations: Vec<FrameKey>,
}

struct FrameKey {
    frame: u32,
    rotation: DQuat,
}

impl JointFrames {
    /// Reads the track with this index, in a clip of so many frames, of a joint with one of these names.
    fn read(
        file: &mut Scanner,
        index: usize,
        frames: Option<u32>,
        names: &[&String],
    ) -> Result<Self> {
        file.expect("track")?;
        file.exactly(index as u32, "the ID")?;
        let joint = file.index("joint", names.len())? as usize;
        let known = names[joint];
        let expected = format!("{known:?}, as the model names joint {joint}");
        file.accepted(&expected, Scanner::string, |name| name == known)?;
        let mut rotations: Vec<FrameKey> = Vec::new();
        while file.at_number() {
            file.exactly(rotations.len() as u32, "the ID")?;
            // Far beyond this, neighbouring frames would have the same time in f32 seconds.
            let end = frames.unwrap_or(u32::MAX).min(1 << 20);
            let first = rotations.last().map_or(0, |last| last.frame + 1);
            let expected = format!("a frame from {first} to before {end}");
            let frame = file.accepted(&expected, Scanner::integer, |frame| {
                (first..end).contains(frame)
            })?;
            let mut rotation = matrices::quaternion(file.quaternion("a rotation")?);
            if let Some(last) = rotations.last() {
                rotation = apart(last.rotation, rotation);
            }
            rotations.push(FrameKey { frame, rotation });
        }
        Ok(Self { joint, rotations })
    }

    /// Converts to keys in seconds. In the remaining frames of the period, the track interpolates from its last key to
    /// its first, across the period's end.
    fn keys(self, period: f64, orientations: &[DQuat], joint_of: &[u16]) -> Keys {
        let orientation = orientations[self.joint];
        let mut keys = RotationKeys {
            orientation,
            times: Vec::new(),
            values: Vec::new(),
        };
        let wrap = match &self.rotations[..] {
            [early, .., late] => Some((early, late)),
            _ => None,
        };
        if let Some((early, late)) = wrap
            && early.frame > 0
        {
            // The same path twice: each copy has the signs of the keys next to it.
            let first = f64::from(early.frame);
            let into = WrapPath {
                from: apart(early.rotation, late.rotation),
                to: early.rotation,
                start: f64::from(late.frame) - period,
                end: first,
            };
            keys.push(0.0, into.at(0.0));
            into.follow(0.0, first, WrapPath::DEPTH, &mut keys);
        }
        for key in &self.rotations {
            keys.push(key.frame.into(), key.rotation);
        }
        if let Some((early, late)) = wrap {
            let last = f64::from(late.frame);
            let out = WrapPath {
                from: late.rotation,
                to: apart(late.rotation, early.rotation),
                start: last,
                end: period + f64::from(early.frame),
            };
            if early.frame > 0 {
                out.follow(last, period, WrapPath::DEPTH, &mut keys);
                keys.push(period, out.at(period));
            } else {
                keys.push(out.end, out.to);
            }
        }
        let joint = joint_of[self.joint];
        Keys::linear(joint, Channel::Rotation, keys.times, keys.values)
    }
}

/// Keys of a joint with an orientation.
struct RotationKeys {
    orientation: DQuat,
    times: Vec<f32>,
    values: Vec<f32>,
}

impl RotationKeys {
    fn push(&mut self, frame: f64, rotation: DQuat) {
        self.times.push(seconds(frame));
        let rotation = (self.orientation * rotation).as_quat();
        self.values.extend(rotation.to_array());
    }
}

/// The path from one key to another, cut at the beginning or end of the period.
struct WrapPath {
    from: DQuat,
    to: DQuat,
    /// Frames; may be before 0 or after the period's end.
    start: f64,
    end: f64,
}

impl WrapPath {
    /// Largest error of the path through the keys, in radians.
    const TOLERANCE: f64 = 1e-6;
    /// Most halvings of a part.
    const DEPTH: u32 = 6;

    fn at(&self, frame: f64) -> DQuat {
        let t = (frame - self.start) / (self.end - self.start);
        authored(self.from, self.to, t)
    }

    /// Adds keys between two frames, as many as necessary: a part of an arc can be short enough to be followed by
    /// normalised linear interpolation when the whole arc is not, and a part of a normalised line is another such line.
    fn follow(&self, first: f64, end: f64, depth: u32, keys: &mut RotationKeys) {
        let middle = first.midpoint(end);
        let splits = seconds(first) < seconds(middle) && seconds(middle) < seconds(end);
        if depth > 0 && splits && self.is_off(first, end) {
            self.follow(first, middle, depth - 1, keys);
            keys.push(middle, self.at(middle));
            self.follow(middle, end, depth - 1, keys);
        }
    }

    /// Returns whether the path between keys at two frames leaves this one.
    fn is_off(&self, first: f64, end: f64) -> bool {
        let a = self.at(first);
        let b = self.at(end);
        [0.25, 0.5, 0.75].into_iter().any(|t| {
            let exact = self.at(first + t * (end - first));
            2.0 * (authored(a, b, t) - exact).length() > Self::TOLERANCE
        })
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
