//! Conversion of animations: keys per bone, or every bone's pose in every frame.

use super::document::{Animation, Geometry, Pose};
use crate::budget::Budget;
use crate::fault::{Fault, OffUnit, ensure};
use crate::tracks::Tracks;
use skinbench_kernels::model::{Clip, RotationBlend};

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
    pub fn clips(&mut self, geometry: &Geometry, budget: &Budget) -> Result<Vec<Clip>, Fault> {
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

    fn clip(&mut self, animation: &Animation, place: &str) -> Result<Clip, Fault> {
        if !animation.keyframes.is_empty() {
            return self.frames(
                &animation.keyframes,
                animation.fps,
                &animation.name,
                &format!("{place}."),
            );
        }
        let (tracks, bones) = (animation.hierarchy.len(), self.joint_of.len());
        ensure(tracks <= bones, || {
            Fault::new(
                format!("{place}.hierarchy"),
                format!("{tracks} tracks; expected one per bone, at most {bones}"),
            )
        })?;
        let rate = rate(animation.fps, &format!("{place}.fps"))?;
        let length = animation.length.filter(|l| *l > 0.0);
        let last = animation
            .hierarchy
            .iter()
            .flat_map(|t| &t.keys)
            .map(|k| k.time)
            .fold(0.0, f32::max);
        // Some exporters count a key's time in frames, but the length always in seconds.
        let unit = match length {
            Some(length) if last > length + 1.5 / rate => f64::from(rate).recip(),
            _ => 1.0,
        };
        let mut keys = Vec::new();
        for (index, (track, &joint)) in animation.hierarchy.iter().zip(self.joint_of).enumerate() {
            let place =
                |key: usize, field: &str| format!("{place}.hierarchy[{index}].keys[{key}].{field}");
            let mut tracks = Tracks::new(joint);
            let mut previous = f32::NEG_INFINITY;
            for (at, key) in track.keys.iter().enumerate() {
                ensure(
                    key.time.is_finite() && key.time >= 0.0 && key.time > previous,
                    || {
                        let problem = format!(
                            "{}; expected a time of 0 or more, after the one before",
                            key.time
                        );
                        Fault::new(place(at, "time"), problem)
                    },
                )?;
                previous = key.time;
                let checked = key
                    .rot
                    .map_or(Ok(()), |rotation| self.off_unit.check(&rotation));
                checked.map_err(|problem| Fault::new(place(at, "rot"), problem))?;
                tracks.push(
                    (f64::from(key.time) * unit) as f32,
                    key.pos,
                    key.rot,
                    key.scl,
                );
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
    ) -> Result<Clip, Fault> {
        let rate = f64::from(rate(fps, &format!("{path}fps"))?);
        let time = |frame: usize| (frame as f64 / rate) as f32;
        let mut tracks: Vec<Tracks> = self.joint_of.iter().copied().map(Tracks::new).collect();
        for (index, poses) in frames.iter().enumerate() {
            let place = format!("{path}keyframes[{index}]");
            ensure(poses.len() == self.joint_of.len(), || {
                let problem = format!(
                    "{} poses; expected one for each of {} bones",
                    poses.len(),
                    self.joint_of.len()
                );
                Fault::new(&place, problem)
            })?;
            for (bone, (pose, tracks)) in poses.iter().zip(&mut tracks).enumerate() {
                let checked = self.off_unit.check(&pose.rot);
                checked.map_err(|problem| Fault::new(format!("{place}[{bone}].rot"), problem))?;
                tracks.push(time(index), Some(pose.pos), Some(pose.rot), None);
            }
        }
        for (pose, tracks) in frames.first().into_iter().flatten().zip(&mut tracks) {
            tracks.push(time(frames.len()), Some(pose.pos), Some(pose.rot), None);
        }
        let keys = tracks.into_iter().flat_map(Tracks::into_keys).collect();
        let clip = Clip::new(name, Some(time(frames.len())), RotationBlend::Slerp, keys);
        clip.map_err(|error| error.within(format!("{path}keyframes")))
    }
}

fn rate(fps: Option<f32>, place: &str) -> Result<f32, Fault> {
    let rate = fps.unwrap_or(FRAMES_PER_SECOND);
    let problem = || {
        Fault::new(
            place,
            format!("{rate}; expected frames per second, more than 0"),
        )
    };
    ensure(rate.is_finite() && rate > 0.0, problem).map(|()| rate)
}
