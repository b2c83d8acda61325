//! Conversion of animations: keys per bone, or every bone's pose in every frame.

use super::document::{Animation, Geometry, Pose};
use crate::budget::Budget;
use crate::check::check_rotation;
use crate::tracks::Tracks;
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{Clip, Notes, RotationBlend};

/// Frame rate of files that count frames and state none.
const FRAMES_PER_SECOND: f32 = 25.0;

/// Memory for a clip beyond its keys, because "{}," is a clip.
const BYTES_PER_CLIP: u64 = 768;

/// Converts animations to clips.
pub struct ClipReader<'a> {
    /// The joint of each bone.
    pub joint_of: &'a [u16],
    pub notes: &'a mut Notes,
}

impl ClipReader<'_> {
    /// Converts every animation of a geometry to a clip.
    pub fn clips(&mut self, geometry: &Geometry, budget: &Budget) -> Result<Vec<Clip>> {
        let count = geometry.animations.len() as u64;
        budget.charge(count.saturating_mul(BYTES_PER_CLIP), || "animations".into())?;
        let mut clips = Vec::new();
        if let Some(animation) = &geometry.animation {
            clips.push(self.clip(animation, "animation")?);
        }
        for (index, animation) in geometry.animations.iter().enumerate() {
            clips.push(self.clip(animation, &format!("animations[{index}]"))?);
        }
        if !geometry.keyframes.is_empty() {
            clips.push(self.frames(&geometry.keyframes, geometry.fps, "", "")?);
        }
        Ok(clips)
    }

    fn clip(&mut self, animation: &Animation, place: &str) -> Result<Clip> {
        if !animation.keyframes.is_empty() {
            return self.frames(
                &animation.keyframes,
                animation.fps,
                &animation.name,
                &format!("{place}."),
            );
        }
        let tracks = animation.hierarchy.len();
        let bones = self.joint_of.len();
        ensure!(
            tracks <= bones,
            format!("{place}.hierarchy"),
            "{tracks} tracks; expected one per bone, at most {bones}"
        );
        let rate = rate(animation.fps, &format!("{place}.fps"))?;
        let length = animation.length.filter(|length| *length > 0.0);
        let times = animation.hierarchy.iter().flat_map(|track| &track.keys);
        let last = times.map(|key| key.time).fold(0.0, f32::max);
        // Some exporters count a key's time in frames, but the length always in seconds.
        let unit = match length {
            Some(length) if last > length + 1.5 / rate => f64::from(rate).recip(),
            _ => 1.0,
        };
        let mut keys = Vec::new();
        for (index, (track, &joint)) in animation.hierarchy.iter().zip(self.joint_of).enumerate() {
            let mut tracks = Tracks::new(joint);
            let mut previous = f32::NEG_INFINITY;
            for (at, key) in track.keys.iter().enumerate() {
                let time = key.time;
                let place = format!("{place}.hierarchy[{index}].keys[{at}]");
                ensure!(
                    time.is_finite() && time >= 0.0 && time > previous,
                    place + ".time",
                    "{time}; expected a time of 0 or more, after the one before"
                );
                previous = time;
                if let Some(rotation) = key.rot {
                    self.check(&rotation, &place)?;
                }
                let time = (f64::from(time) * unit) as f32;
                tracks.push(time, key.pos, key.rot, key.scl);
            }
            keys.extend(tracks.into_keys());
        }
        let clip = Clip::new(&animation.name, length, RotationBlend::Slerp, keys);
        clip.map_err(|error| error.within(place))
    }

    /// Converts the tutorial's variant; the first frame follows the last one.
    fn frames(
        &mut self,
        frames: &[Vec<Pose>],
        fps: Option<f32>,
        name: &str,
        path: &str,
    ) -> Result<Clip> {
        let rate = f64::from(rate(fps, &format!("{path}fps"))?);
        let bones = self.joint_of.len();
        let mut tracks: Vec<Tracks> = self.joint_of.iter().copied().map(Tracks::new).collect();
        for (index, poses) in frames.iter().enumerate() {
            let place = format!("{path}keyframes[{index}]");
            ensure!(
                poses.len() == bones,
                place,
                "{} poses; expected one for each of {bones} bones",
                poses.len()
            );
            for (bone, pose) in poses.iter().enumerate() {
                self.check(&pose.rot, &format!("{place}[{bone}]"))?;
            }
        }
        for (index, poses) in frames.iter().chain(frames.first()).enumerate() {
            let time = (index as f64 / rate) as f32;
            for (pose, tracks) in poses.iter().zip(&mut tracks) {
                tracks.push(time, Some(pose.pos), Some(pose.rot), None);
            }
        }
        let keys = tracks.into_iter().flat_map(Tracks::into_keys).collect();
        let duration = (frames.len() as f64 / rate) as f32;
        let clip = Clip::new(name, Some(duration), RotationBlend::Slerp, keys);
        clip.map_err(|error| error.within(format!("{path}keyframes")))
    }

    /// Counts the rotation of an object at a place.
    fn check(&mut self, rotation: &[f32; 4], place: &str) -> Result<()> {
        let checked = check_rotation(rotation, self.notes);
        checked.map_err(|problem| DataError::new(format!("{place}.rot"), problem))
    }
}

fn rate(fps: Option<f32>, place: &str) -> Result<f32> {
    let rate = fps.unwrap_or(FRAMES_PER_SECOND);
    ensure!(
        rate.is_finite() && rate > 0.0,
        place,
        "{rate}; expected frames per second, more than 0"
    );
    Ok(rate)
}
