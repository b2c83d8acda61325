//! Importer of `.raa`: rotations of joints at whole frames.

use crate::fault::{Fault, OffUnit};
use crate::tokenizer::{Scanner, Syntax};
use crate::{ImportError, matrices};
use glam::DQuat;
use skinbench_kernels::model::{Channel, Clip, Keys, Repair, RotationBlend, Skeleton};
use std::path::Path;

/// Frame rate, which the file does not state.
const FRAMES_PER_SECOND: f64 = 25.0;

/// Reads a clip for joints with these orientations; `joint_of` maps the model file's order to the skeleton's.
pub(super) fn import(
    file: &Path,
    orientations: &[DQuat],
    joint_of: &[u16],
    skeleton: &Skeleton,
) -> Result<(Clip, Vec<Repair>), ImportError> {
    let text = crate::read_file::read_text(file)?;
    let mut reader = Reader {
        scanner: Scanner::new(&text, Syntax::WORDS),
        off_unit: OffUnit::default(),
        orientations,
        joint_of,
        skeleton,
    };
    let clip = reader.read(crate::read_file::stem(file)).map_err(|fault| fault.in_file(file))?;
    let mut repairs = Vec::new();
    reader.off_unit.describe("rotation keys", &mut repairs);
    Ok((clip, repairs))
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    off_unit: OffUnit,
    orientations: &'a [DQuat],
    joint_of: &'a [u16],
    skeleton: &'a Skeleton,
}

/// A joint's frames and the rotations at them.
struct JointFrames {
    joint: usize,
    frames: Vec<u32>,
    rotations: Vec<DQuat>,
}

impl Reader<'_> {
    fn read(&mut self, name: String) -> Result<Clip, Fault> {
        let frames: Option<u32> =
            if self.scanner.accept("frames") { Some(self.scanner.integer("a number of frames")?) } else { None };
        let mut tracks = Vec::new();
        while let Some(token) = self.scanner.peek() {
            let track = self.track(tracks.len(), frames)?;
            if tracks.iter().any(|t: &JointFrames| t.joint == track.joint) {
                let problem = format!("a second track for joint {}; expected one", track.joint);
                return Err(self.scanner.fault(token, problem));
            }
            tracks.push(track);
        }
        let last = tracks.iter().filter_map(|t| t.frames.last()).max();
        let period = frames.or(last.map(|&l| l + 1)).unwrap_or(0);
        let keys = tracks.into_iter().filter(|t| !t.frames.is_empty()).map(|t| self.keys(t, period)).collect();
        let duration = seconds(period.into());
        Ok(Clip::new(name, Some(duration), RotationBlend::AuthoredPath, keys)?)
    }

    fn track(&mut self, index: usize, frames: Option<u32>) -> Result<JointFrames, Fault> {
        self.scanner.expect("track")?;
        self.scanner.exactly(index as u32, "the ID")?;
        let joint = self.scanner.index("joint", self.joint_of.len())? as usize;
        let known = &self.skeleton.names()[usize::from(self.joint_of[joint])];
        let expected = format!("{known:?}, as the model names joint {joint}");
        self.scanner.accepted(&expected, Scanner::string, |name| name == known)?;
        let mut track = JointFrames { joint, frames: Vec::new(), rotations: Vec::new() };
        while self.scanner.at_number() {
            self.scanner.exactly(track.frames.len() as u32, "the ID")?;
            track.frames.push(self.frame(track.frames.last().copied(), frames)?);
            let rotation = matrices::quaternion(self.scanner.quaternion("a rotation", &mut self.off_unit)?);
            track.rotations.push(match track.rotations.last() {
                Some(&last) => apart(last, rotation),
                None => rotation,
            });
        }
        Ok(track)
    }

    fn frame(&mut self, previous: Option<u32>, frames: Option<u32>) -> Result<u32, Fault> {
        // Far beyond this, neighbouring frames would have the same time in f32 seconds.
        let first = previous.map_or(0, |p| p + 1);
        let end = frames.unwrap_or(u32::MAX).min(1 << 20);
        let expected = format!("a frame from {first} to before {end}");
        self.scanner.accepted(&expected, Scanner::integer, |frame| (first..end).contains(frame))
    }

    /// Converts to keys in seconds. In the remaining frames of the period, the track interpolates from its last key to
    /// its first, across the period's end.
    fn keys(&self, track: JointFrames, period: u32) -> Keys {
        let JointFrames { joint, frames, mut rotations } = track;
        let mut times: Vec<f64> = frames.iter().map(|&f| f64::from(f)).collect();
        if let ([first, .., last], [early, .., late]) = (&frames[..], &rotations[..]) {
            let [first, last, period] = [*first, *last, period].map(f64::from);
            // The same path twice: each copy has the signs of the keys next to it.
            let into = Wrap { from: apart(*early, *late), to: *early, start: last - period, end: first };
            let out = Wrap { from: *late, to: apart(*late, *early), start: last, end: period + first };
            if first == 0.0 {
                times.push(out.end);
                rotations.push(out.to);
            } else {
                let mut keys = vec![(0.0, into.at(0.0))];
                into.follow(0.0, first, Wrap::DEPTH, &mut keys);
                keys.extend(times.into_iter().zip(rotations));
                out.follow(last, period, Wrap::DEPTH, &mut keys);
                keys.push((period, out.at(period)));
                (times, rotations) = keys.into_iter().unzip();
            }
        }
        let orientation = self.orientations[joint];
        let values = rotations.iter().flat_map(|&r| (orientation * r).as_quat().to_array()).collect();
        Keys::linear(self.joint_of[joint], Channel::Rotation, times.into_iter().map(seconds).collect(), values)
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
        authored(self.from, self.to, (frame - self.start) / (self.end - self.start))
    }

    /// Adds keys between two frames, as many as necessary: a part of an arc can be short enough to be followed by
    /// normalised linear interpolation when the whole arc is not, and a part of a normalised line is another such line.
    fn follow(&self, first: f64, end: f64, depth: u32, keys: &mut Vec<(f64, DQuat)>) {
        let (a, b, middle) = (self.at(first), self.at(end), first.midpoint(end));
        let off = |t: f64| 2.0 * (authored(a, b, t) - self.at(first + t * (end - first))).length();
        let follows = [0.25, 0.5, 0.75].into_iter().all(|t| off(t) <= Self::TOLERANCE);
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
    if last.dot(next) < OPPOSITE { -next } else { next }
}
