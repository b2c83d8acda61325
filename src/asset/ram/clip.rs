//! `.raa`: rotations of joints by whole frames.

use super::SYNTAX;
use crate::asset::text::Scanner;
use crate::asset::{Fault, ImportError, OffUnit, affine};
use crate::model::{Channel, Clip, Interpolation, Keys, Repair, RotationBlend, Skeleton};
use glam::DQuat;
use std::path::Path;

/// The file counts frames and states no rate.
const FRAMES_PER_SECOND: f64 = 25.0;

/// Reads a clip for joints of these orientations; `joint_of` maps the model file's order to the skeleton's.
pub(super) fn import(
    file: &Path,
    orientations: &[DQuat],
    joint_of: &[u16],
    skeleton: &Skeleton,
) -> Result<(Clip, Vec<Repair>), ImportError> {
    let text = crate::asset::read_text(file)?;
    let mut reader =
        Reader { scanner: Scanner::new(&text, SYNTAX), off_unit: OffUnit::default(), orientations, joint_of, skeleton };
    let clip = reader.read(crate::asset::stem(file)).map_err(|fault| fault.in_file(file))?;
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

/// One joint's frames and the rotations at them.
struct Track {
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
            if tracks.iter().any(|t: &Track| t.joint == track.joint) {
                let problem = format!("a second track for joint {}; expected one", track.joint);
                return Err(self.scanner.fault(token, problem));
            }
            tracks.push(track);
        }
        let last = tracks.iter().filter_map(|t| t.frames.last()).max();
        let period = frames.or(last.map(|&l| l + 1)).unwrap_or(0);
        let keys = tracks.into_iter().filter(|t| !t.frames.is_empty()).map(|t| self.keys(t, period)).collect();
        let duration = (f64::from(period) / FRAMES_PER_SECOND) as f32;
        Ok(Clip::new(name, Some(duration), RotationBlend::AuthoredPath, keys)?)
    }

    fn track(&mut self, index: usize, frames: Option<u32>) -> Result<Track, Fault> {
        self.scanner.expect("track")?;
        let token = self.scanner.peek();
        let id: usize = self.scanner.integer(&format!("the ID {index}"))?;
        if let Some(token) = token
            && id != index
        {
            return Err(self.scanner.unexpected(token, &format!("the ID {index}")));
        }
        let joint = self.scanner.index("joint", self.joint_of.len())? as usize;
        let known = &self.skeleton.names()[usize::from(self.joint_of[joint])];
        let token = self.scanner.peek();
        let name = self.scanner.string("the joint's name")?;
        if let Some(token) = token
            && name != known
        {
            return Err(self.scanner.unexpected(token, &format!("{known:?}, as the model names joint {joint}")));
        }
        let mut track = Track { joint, frames: Vec::new(), rotations: Vec::new() };
        while self.scanner.at_number() {
            let key = track.frames.len();
            let token = self.scanner.peek();
            let id: usize = self.scanner.integer(&format!("the ID {key}"))?;
            if let Some(token) = token
                && id != key
            {
                return Err(self.scanner.unexpected(token, &format!("the ID {key}")));
            }
            track.frames.push(self.frame(track.frames.last().copied(), frames)?);
            let rotation = affine::quaternion(self.scanner.quaternion("a rotation", &mut self.off_unit)?);
            track.rotations.push(match track.rotations.last() {
                Some(&last) => apart(last, rotation),
                None => rotation,
            });
        }
        Ok(track)
    }

    fn frame(&mut self, previous: Option<u32>, frames: Option<u32>) -> Result<u32, Fault> {
        // Far beyond, neighbouring frames would be the same f32 of seconds.
        let first = previous.map_or(0, |p| p + 1);
        let end = frames.unwrap_or(u32::MAX).min(1 << 20);
        let token = self.scanner.peek();
        let frame: u32 = self.scanner.integer("a frame")?;
        match token {
            Some(token) if !(first..end).contains(&frame) => {
                Err(self.scanner.unexpected(token, &format!("a frame from {first} to before {end}")))
            }
            _ => Ok(frame),
        }
    }

    /// Keys in seconds, with one more after the period that leads back to the first.
    fn keys(&self, mut track: Track, period: u32) -> Keys {
        if let ([first, _, ..], [rotation, .., last]) = (&track.frames[..], &track.rotations[..]) {
            let (frame, rotation) = (period.saturating_add(*first), apart(*last, *rotation));
            track.frames.push(frame);
            track.rotations.push(rotation);
        }
        let orientation = self.orientations[track.joint];
        Keys {
            joint: self.joint_of[track.joint],
            channel: Channel::Rotation,
            interpolation: Interpolation::Linear,
            times: track.frames.iter().map(|&f| (f64::from(f) / FRAMES_PER_SECOND) as f32).collect(),
            values: track.rotations.iter().flat_map(|&r| affine::rounded(orientation * r).to_array()).collect(),
        }
    }
}

/// The next key of a path. One that is the last one negated is the same rotation: the path would lead through zero.
fn apart(last: DQuat, next: DQuat) -> DQuat {
    const OPPOSITE: f64 = -1.0 + 1e-9;
    if last.dot(next) < OPPOSITE { -next } else { next }
}
