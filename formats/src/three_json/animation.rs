//! Conversion of animations: keys per bone, or every bone's pose in every frame.

use super::document::{Animation, Geometry, Key, Pose};
use crate::budget::Budget;
use crate::fault::{Fault, OffUnit, ensure};
use skinbench_kernels::model::{Channel, Clip, Keys, RotationBlend};

/// Frame rate of files that count frames and state none.
const FRAMES_PER_SECOND: f32 = 25.0;

/// Memory for a clip beyond its keys, because "{}," is a clip.
const BYTES_PER_CLIP: u64 = 768;

/// Converts animations to clips.
pub(super) struct ClipReader<'a> {
    /// The joint of each bone.
    pub joint_of: &'a [u16],
    pub off_unit: OffUnit,
}

impl ClipReader<'_> {
    /// Converts every animation of a geometry to a clip.
    pub fn clips(&mut self, geometry: &Geometry, path: &str, budget: &Budget) -> Result<Vec<Clip>, Fault> {
        let count = geometry.animations.len() as u64;
        budget.charge(count.saturating_mul(BYTES_PER_CLIP), || format!("{path}animations"))?;
        let mut clips = Vec::new();
        if let Some(animation) = &geometry.animation {
            clips.push(self.clip(animation, &format!("{path}animation"))?);
        }
        for (index, animation) in geometry.animations.iter().enumerate() {
            clips.push(self.clip(animation, &format!("{path}animations[{index}]"))?);
        }
        if !geometry.keyframes.is_empty() {
            clips.push(self.frames(&geometry.keyframes, geometry.fps, "", path)?);
        }
        Ok(clips)
    }

    fn clip(&mut self, animation: &Animation, place: &str) -> Result<Clip, Fault> {
        if !animation.keyframes.is_empty() {
            return self.frames(&animation.keyframes, animation.fps, &animation.name, &format!("{place}."));
        }
        let (tracks, bones) = (animation.hierarchy.len(), self.joint_of.len());
        ensure(tracks <= bones, || {
            Fault::new(format!("{place}.hierarchy"), format!("{tracks} tracks; expected one per bone, at most {bones}"))
        })?;
        let rate = rate(animation.fps, &format!("{place}.fps"))?;
        let length = animation.length.filter(|l| *l > 0.0);
        let last = animation.hierarchy.iter().flat_map(|t| &t.keys).map(|k| k.time).fold(0.0, f32::max);
        // Some exporters count a key's time in frames, but the length always in seconds.
        let unit = match length {
            Some(length) if last > length + 1.5 / rate => f64::from(rate).recip(),
            _ => 1.0,
        };
        let mut keys = Vec::new();
        for (index, (track, &joint)) in animation.hierarchy.iter().zip(self.joint_of).enumerate() {
            let place = |key: usize, field: &str| format!("{place}.hierarchy[{index}].keys[{key}].{field}");
            let mut channels = Channels::new(joint);
            let mut previous = f32::NEG_INFINITY;
            for (at, key) in track.keys.iter().enumerate() {
                ensure(key.time.is_finite() && key.time >= 0.0 && key.time > previous, || {
                    let problem = format!("{}; expected a time of 0 or more, after the one before", key.time);
                    Fault::new(place(at, "time"), problem)
                })?;
                previous = key.time;
                let checked = key.rot.map_or(Ok(()), |rotation| self.off_unit.check(&rotation));
                checked.map_err(|problem| Fault::new(place(at, "rot"), problem))?;
                channels.push((f64::from(key.time) * unit) as f32, key);
            }
            keys.extend(channels.into_keys());
        }
        let clip = Clip::new(&animation.name, length, RotationBlend::Slerp, keys);
        clip.map_err(|error| error.within(place))
    }

    /// Converts the tutorial's variant; the first frame follows the last one.
    fn frames(&mut self, frames: &[Vec<Pose>], fps: Option<f32>, name: &str, path: &str) -> Result<Clip, Fault> {
        let rate = f64::from(rate(fps, &format!("{path}fps"))?);
        for (index, poses) in frames.iter().enumerate() {
            let place = format!("{path}keyframes[{index}]");
            ensure(poses.len() == self.joint_of.len(), || {
                let problem = format!("{} poses; expected one for each of {} bones", poses.len(), self.joint_of.len());
                Fault::new(&place, problem)
            })?;
            for (bone, pose) in poses.iter().enumerate() {
                let checked = self.off_unit.check(&pose.rot);
                checked.map_err(|problem| Fault::new(format!("{place}[{bone}].rot"), problem))?;
            }
        }
        let time = |frame: usize| (frame as f64 / rate) as f32;
        let turn = || frames.iter().chain(frames.first()).enumerate();
        let mut keys = Vec::new();
        for (bone, &joint) in self.joint_of.iter().enumerate() {
            let mut channels = Channels::new(joint);
            for (index, pose) in turn().filter_map(|(index, poses)| Some((index, poses.get(bone)?))) {
                channels.push(time(index), &Key { time: 0.0, pos: Some(pose.pos), rot: Some(pose.rot), scl: None });
            }
            keys.extend(channels.into_keys());
        }
        let clip = Clip::new(name, Some(time(frames.len())), RotationBlend::Slerp, keys);
        clip.map_err(|error| error.within(format!("{path}keyframes")))
    }
}

fn rate(fps: Option<f32>, place: &str) -> Result<f32, Fault> {
    let rate = fps.unwrap_or(FRAMES_PER_SECOND);
    let problem = || Fault::new(place, format!("{rate}; expected frames per second, more than 0"));
    ensure(rate.is_finite() && rate > 0.0, problem).map(|()| rate)
}

/// A bone's tracks. A key without a value for a channel does not count for that channel, and a channel without keys
/// keeps the rest pose.
struct Channels([Keys; 3]);

impl Channels {
    fn new(joint: u16) -> Self {
        let channels = [Channel::Translation, Channel::Rotation, Channel::Scale];
        Self(channels.map(|channel| Keys::linear(joint, channel, Vec::new(), Vec::new())))
    }

    fn push(&mut self, time: f32, key: &Key) {
        let parts: [Option<&[f32]>; 3] =
            [key.pos.as_ref().map(|p| &p[..]), key.rot.as_ref().map(|r| &r[..]), key.scl.as_ref().map(|s| &s[..])];
        for (keys, values) in self.0.iter_mut().zip(parts) {
            if let Some(values) = values {
                keys.times.push(time);
                keys.values.extend_from_slice(values);
            }
        }
    }

    fn into_keys(self) -> impl Iterator<Item = Keys> {
        self.0.into_iter().filter(|keys| !keys.times.is_empty())
    }
}
