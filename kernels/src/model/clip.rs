//! Animations: tracks of keys, structure-of-arrays, with the times that tracks share stored once.

pub mod compact;
mod derived;

use super::ModelError;
use compact::{ClipError, Compact};

/// Which part of a joint's transform a track drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Unit quaternion x y z w.
    Rotation,
    /// Metres (or the file's unit), in the parent's axes.
    Translation,
    /// Along the joint's own axes.
    Scale,
}

impl Channel {
    /// Numbers in a value.
    pub fn width(self) -> usize {
        match self {
            Self::Rotation => 4,
            Self::Translation | Self::Scale => 3,
        }
    }
}

/// What happens between two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The earlier key holds.
    Step,
    /// Straight line; rotations as the clip's [`RotationBlend`] says.
    Linear,
    /// Hermite spline with an in- and an out-tangent a key, as glTF 2.0 appendix C has it.
    CubicSpline,
    /// Shoemake's spherical cubic between rotations, with a control point a key: [`Clip::smoothed`] makes them.
    Squad,
}

impl Interpolation {
    /// Values that a key has.
    pub fn values_per_key(self) -> usize {
        match self {
            Self::Step | Self::Linear => 1,
            Self::CubicSpline => 3,
            Self::Squad => 2,
        }
    }

    /// Which of a key's values is the one that the curve passes through.
    pub fn value_of_key(self) -> usize {
        usize::from(self == Self::CubicSpline)
    }

    /// Angles that an interval of a rotation track has in [`Clip::angles`].
    pub fn angles_per_interval(self) -> usize {
        match self {
            Self::Step | Self::CubicSpline => 0,
            Self::Linear => 1,
            Self::Squad => 2,
        }
    }
}

/// How linear rotation tracks go from key to key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RotationBlend {
    /// Spherical, along the shorter arc.
    Slerp,
    /// Component-wise along the shorter arc, then normalised.
    Nlerp,
    /// Spherical along the arc as authored (no flip), falling to [`RotationBlend::Nlerp`]'s formula where |cos| >= 0.95.
    AuthoredPath,
}

/// A track as an importer found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// [`Channel::width`] numbers a value, [`Interpolation::values_per_key`] values a key: for cubic splines in-tangent,
    /// value, out-tangent, for squad value and control point.
    pub values: Vec<f32>,
}

/// Key times shared by tracks: a range of [`Clip::times`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timeline {
    /// First key time.
    pub first: u32,
    /// Number of keys, at least one.
    pub count: u32,
}

/// One joint's channel in a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Index into [`Clip::timelines`].
    pub timeline: u32,
    /// Index of the first number in [`Clip::values`].
    pub first_value: u32,
    /// Index of the first interval's angle in [`Clip::angles`]; meaningful for linear and squad rotations.
    pub first_angle: u32,
}

/// An animation of a skeleton's joints over `[0, duration)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    name: String,
    duration: f32,
    rotation_blend: RotationBlend,
    timelines: Vec<Timeline>,
    times: Vec<f32>,
    tracks: Vec<Track>,
    values: Vec<f32>,
    angles: Vec<f32>,
    additive: bool,
    compact: Option<Compact>,
}

impl Clip {
    /// Checks the tracks, normalises rotation keys, turns neighbouring ones to the shorter arc where the blend asks
    /// for it, and stores equal key times once.
    ///
    /// `duration` is the loop's period in seconds; `None` takes the last key's time.
    ///
    /// # Errors
    /// Times that do not rise, counts that disagree, numbers that are not finite, a rotation of zero length, a
    /// negative duration, or two tracks for one channel of a joint.
    pub fn new(
        name: impl Into<String>,
        duration: Option<f32>,
        rotation_blend: RotationBlend,
        mut keys: Vec<Keys>,
    ) -> Result<Self, ModelError> {
        let name = name.into();
        let last_key = keys.iter().filter_map(|k| k.times.last()).fold(0.0f32, |a, &b| a.max(b));
        let duration = duration.unwrap_or(last_key);
        if !(duration.is_finite() && duration >= 0.0) {
            return Err(ModelError::new(
                format!("clip {name:?}"),
                format!("a duration of {duration} s; expected 0 or more"),
            ));
        }
        let mut clip = Self {
            name,
            duration,
            rotation_blend,
            timelines: Vec::new(),
            times: Vec::new(),
            tracks: Vec::with_capacity(keys.len()),
            values: Vec::new(),
            angles: Vec::new(),
            additive: false,
            compact: None,
        };
        keys.sort_by_key(|k| (k.joint, k.channel));
        let mut known_timelines = std::collections::HashMap::new();
        for (index, track) in keys.into_iter().enumerate() {
            let place = format!("clip {:?}, track {index} ({:?} of joint {})", clip.name, track.channel, track.joint);
            check_keys(&track).map_err(|problem| ModelError::new(&place, problem))?;
            if clip.tracks.last().is_some_and(|t: &Track| (t.joint, t.channel) == (track.joint, track.channel)) {
                return Err(ModelError::new(place, "a second track for the same channel; expected one"));
            }
            let bits: Vec<u32> = track.times.iter().map(|t| t.to_bits()).collect();
            let timeline = *known_timelines.entry(bits).or_insert_with(|| {
                clip.timelines.push(Timeline { first: clip.times.len() as u32, count: track.times.len() as u32 });
                clip.times.extend_from_slice(&track.times);
                clip.timelines.len() as u32 - 1
            });
            clip.tracks.push(Track {
                joint: track.joint,
                channel: track.channel,
                interpolation: track.interpolation,
                timeline,
                first_value: clip.values.len() as u32,
                first_angle: clip.angles.len() as u32,
            });
            clip.values.extend_from_slice(&track.values);
            if track.channel == Channel::Rotation {
                let angles = track.times.len() * track.interpolation.angles_per_interval();
                clip.angles.resize(clip.angles.len() + angles, 0.0);
            }
        }
        for track in 0..clip.tracks.len() {
            clip.normalise_rotations(track)
                .map_err(|problem| ModelError::new(format!("clip {:?}, track {track}", clip.name), problem))?;
        }
        clip.set_rotation_blend(rotation_blend);
        Ok(clip)
    }

    /// Name in the file, possibly empty.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The loop's period in seconds; zero for a single pose.
    pub fn duration(&self) -> f32 {
        self.duration
    }
    /// How linear rotation tracks blend.
    pub fn rotation_blend(&self) -> RotationBlend {
        self.rotation_blend
    }
    /// Distinct sets of key times.
    pub fn timelines(&self) -> &[Timeline] {
        &self.timelines
    }
    /// Key times in seconds, addressed by [`Timeline`].
    pub fn times(&self) -> &[f32] {
        &self.times
    }
    /// Tracks by joint, then channel.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }
    /// Key values, addressed by [`Track::first_value`].
    pub fn values(&self) -> &[f32] {
        &self.values
    }
    /// Angle in radians between the quaternions of key k and k + 1, then for squad that between their control points,
    /// addressed by [`Track::first_angle`].
    pub fn angles(&self) -> &[f32] {
        &self.angles
    }
    /// Whether values are differences from the first frame, of [`Clip::additive`].
    pub fn is_additive(&self) -> bool {
        self.additive
    }
    /// The keys, if they are compact; then there are no tracks.
    pub fn compact(&self) -> Option<&Compact> {
        self.compact.as_ref()
    }
    /// Bytes of the store.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.times[..])
            + size_of_val(&self.values[..])
            + size_of_val(&self.angles[..])
            + size_of_val(&self.tracks[..])
            + size_of_val(&self.timelines[..])
            + self.compact.as_ref().map_or(0, Compact::bytes)
    }
    /// The clip with compact keys in place of its tracks.
    pub fn with_compact(self, compact: Compact) -> Self {
        Self {
            timelines: Vec::new(),
            times: Vec::new(),
            tracks: Vec::new(),
            values: Vec::new(),
            angles: Vec::new(),
            compact: Some(compact),
            ..self
        }
    }
    /// The compact clip with what it was found to be off by.
    pub fn with_error(mut self, error: ClipError) -> Self {
        if let Some(compact) = &mut self.compact {
            compact.error = error;
        }
        self
    }
    /// A track's key times.
    pub fn times_of(&self, track: &Track) -> &[f32] {
        let line = self.timelines[track.timeline as usize];
        &self.times[line.first as usize..(line.first + line.count) as usize]
    }

    fn normalise_rotations(&mut self, track: usize) -> Result<(), String> {
        let track = self.tracks[track];
        if track.channel != Channel::Rotation {
            return Ok(());
        }
        let count = self.times_of(&track).len();
        // A cubic key is in-tangent, value, out-tangent; scaling the value alone would bend the curve, and glTF
        // normalises after interpolation, so only linear and step keys are touched.
        if track.interpolation == Interpolation::CubicSpline {
            return Ok(());
        }
        for key in 0..count * track.interpolation.values_per_key() {
            let at = track.first_value as usize + 4 * key;
            let q: [f64; 4] = std::array::from_fn(|c| f64::from(self.values[at + c]));
            let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length < 1e-6 {
                return Err(format!("key {key} is a rotation of zero length; expected a unit quaternion"));
            }
            for (value, q) in self.values[at..at + 4].iter_mut().zip(q) {
                *value = (q / length) as f32;
            }
        }
        Ok(())
    }

    /// Changes how linear rotation tracks blend.
    pub(super) fn set_rotation_blend(&mut self, blend: RotationBlend) {
        self.rotation_blend = blend;
        for track in &self.tracks {
            if track.channel != Channel::Rotation {
                continue;
            }
            let line = self.timelines[track.timeline as usize];
            // Linear keys turn to the shorter arc; squad's did before their control points were made.
            let turns = track.interpolation == Interpolation::Linear && blend != RotationBlend::AuthoredPath;
            let stride = 4 * track.interpolation.values_per_key();
            let angles = track.interpolation.angles_per_interval();
            for (key, part) in (0..line.count.saturating_sub(1) as usize).flat_map(|k| (0..angles).map(move |p| (k, p)))
            {
                let at = track.first_value as usize + stride * key + 4 * part;
                let quaternion = |at: usize| std::array::from_fn(|c| f64::from(self.values[at + c]));
                let (a, mut b): ([f64; 4], [f64; 4]) = (quaternion(at), quaternion(at + stride));
                if turns && a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
                    self.values[at + stride..at + stride + 4].iter_mut().for_each(|v| *v = -*v);
                    b = b.map(|v| -v);
                }
                self.angles[track.first_angle as usize + angles * key + part] = angle_of(a, b);
            }
        }
    }
}

/// The angle between two unit quaternions, accurate where the cosine is near one.
fn angle_of(a: [f64; 4], b: [f64; 4]) -> f32 {
    let length = |sign: f64| a.iter().zip(b).map(|(a, b)| (a + sign * b).powi(2)).sum::<f64>().sqrt();
    (2.0 * libm::atan2(length(-1.0), length(1.0))) as f32
}

fn check_keys(track: &Keys) -> Result<(), String> {
    let count = track.times.len();
    if count == 0 {
        return Err("no key; expected at least one".into());
    }
    for (key, time) in track.times.iter().enumerate() {
        if !time.is_finite() || *time < 0.0 {
            return Err(format!("key {key} has the time {time}; expected seconds, 0 or more"));
        }
        if key > 0 && *time <= track.times[key - 1] {
            return Err(format!(
                "key {key} at {time} s does not come after key {} at {} s",
                key - 1,
                track.times[key - 1]
            ));
        }
    }
    if track.interpolation == Interpolation::Squad && track.channel != Channel::Rotation {
        return Err(format!("squad for {:?}; expected a rotation", track.channel));
    }
    let per_key = track.channel.width() * track.interpolation.values_per_key();
    if track.values.len() != count * per_key {
        return Err(format!("{} numbers for {count} keys; expected {per_key} a key", track.values.len()));
    }
    match track.values.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(format!("key {} holds a number that is not finite", at / per_key)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(times: &[f32], values: &[f32]) -> Keys {
        Keys {
            joint: 0,
            channel: Channel::Rotation,
            interpolation: Interpolation::Linear,
            times: times.into(),
            values: values.into(),
        }
    }

    #[test]
    fn neighbouring_rotations_take_the_shorter_arc_unless_authored() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let keys = || vec![rotation(&[0.0, 1.0], &[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -half, -half])];
        let clip = Clip::new("c", None, RotationBlend::Slerp, keys()).unwrap();
        assert_eq!(clip.values(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]);
        assert!((clip.angles()[0] - std::f32::consts::FRAC_PI_4).abs() < 1e-6);
        let authored = Clip::new("c", None, RotationBlend::AuthoredPath, keys()).unwrap();
        assert!((authored.angles()[0] - 3.0 * std::f32::consts::FRAC_PI_4).abs() < 1e-6);
    }

    #[test]
    fn equal_times_are_stored_once() {
        let mut other = rotation(&[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        other.joint = 1;
        let clip =
            Clip::new("c", None, RotationBlend::Slerp, vec![other.clone(), rotation(&[0.0, 1.0], &other.values)])
                .unwrap();
        assert_eq!(clip.timelines().len(), 1);
        assert_eq!(clip.tracks()[0].joint, 0);
    }

    #[test]
    fn bad_keys_are_refused() {
        let unit = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let refused = |keys: Vec<Keys>| Clip::new("c", None, RotationBlend::Slerp, keys).unwrap_err().problem;
        assert!(refused(vec![rotation(&[], &[])]).contains("no key"));
        assert!(refused(vec![rotation(&[1.0, 1.0], &unit)]).contains("does not come after"));
        assert!(refused(vec![rotation(&[f32::NAN, 1.0], &unit)]).contains("time NaN"));
        assert!(refused(vec![rotation(&[0.0], &unit)]).contains("8 numbers"));
        assert!(refused(vec![rotation(&[0.0, 1.0], &[0.0; 8])]).contains("zero length"));
        assert!(refused(vec![rotation(&[0.0, 1.0], &unit), rotation(&[0.0, 1.0], &unit)]).contains("second track"));
        assert!(Clip::new("c", Some(-1.0), RotationBlend::Slerp, vec![]).is_err());
    }
}
