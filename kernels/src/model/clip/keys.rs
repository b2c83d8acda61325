//! Keys of a track: channel, interpolation, times and values.

use crate::error::{first_too_large, written};

/// Latest time of a key and longest clip, in seconds: there, f32 numbers still tell times 1/128 s apart.
pub const LATEST_KEY: f32 = 100_000.0;
/// Shortest time between two keys of a track, in seconds: f64 numbers still hold the fraction of such a cycle that a tick
/// plays, and no slope of a curve overflows.
const SHORTEST_INTERVAL: f32 = 1e-9;

/// A part of a joint's transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Unit quaternion x y z w.
    Rotation,
    /// Metres (or the unit of the file), in the parent's axes.
    Translation,
    /// Along the joint's own axes.
    Scale,
}

impl Channel {
    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rotation => "rotation",
            Self::Translation => "translation",
            Self::Scale => "scale",
        }
    }

    /// Numbers per value.
    pub fn width(self) -> usize {
        match self {
            Self::Rotation => 4,
            Self::Translation | Self::Scale => 3,
        }
    }
}

/// The curve between two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The earlier key holds.
    Step,
    /// Linear; for rotations the clip's [`RotationBlend`].
    Linear,
    /// Hermite spline with an in-tangent and an out-tangent per key, as in glTF 2.0 appendix C.
    CubicSpline,
    /// Shoemake's spherical cubic between rotations, with one control point per key; made by [`super::Clip::smoothed`].
    Squad,
}

impl Interpolation {
    /// Values per key.
    pub fn values_per_key(self) -> usize {
        match self {
            Self::Step | Self::Linear => 1,
            Self::CubicSpline => 3,
            Self::Squad => 2,
        }
    }

    /// Index among a key's values of the one that the curve passes through.
    pub fn value_of_key(self) -> usize {
        usize::from(self == Self::CubicSpline)
    }

    /// Angles per interval of a rotation track in [`super::RawKeys::angles`].
    pub fn angles_per_interval(self) -> usize {
        match self {
            Self::Step | Self::CubicSpline => 0,
            Self::Linear => 1,
            Self::Squad => 2,
        }
    }
}

/// The path of a rotation between two linear keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum RotationBlend {
    /// Spherical, along the shorter arc.
    Slerp,
    /// Component-wise along the shorter arc, then normalised.
    Nlerp,
    /// Spherical along the arc as authored (no flip); [`RotationBlend::Nlerp`]'s formula if |cos| >= 0.95.
    #[cfg_attr(feature = "serde", serde(skip))]
    AuthoredPath,
}

/// A track as an importer found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Seconds, rising.
    pub times: Vec<f32>,
    /// [`Channel::width`] numbers per value, [`Interpolation::values_per_key`] values per key: in-tangent, value and
    /// out-tangent for cubic splines, value and control point for squad.
    pub values: Vec<f32>,
}

impl Keys {
    /// A track with straight lines between keys.
    pub fn linear(joint: u16, channel: Channel, times: Vec<f32>, values: Vec<f32>) -> Self {
        Self {
            joint,
            channel,
            interpolation: Interpolation::Linear,
            times,
            values,
        }
    }
}

/// Describes the first fault among the times of keys and their numbers, of which each key has `per_key`.
pub(super) fn check_keys(times: &[f32], values: &[f32], per_key: usize) -> Result<(), String> {
    let count = times.len();
    if count == 0 {
        return Err("no key; expected at least one".into());
    }
    if let Some((key, time)) = times
        .iter()
        .enumerate()
        .find(|(_, time)| !(0.0..=LATEST_KEY).contains(*time))
    {
        return Err(format!(
            "key {key} has the time {}; expected seconds, 0 to {LATEST_KEY}",
            written(*time)
        ));
    }
    let mut pairs = times.iter().zip(times.iter().skip(1)).enumerate();
    if let Some((key, (before, time))) = pairs.find(|(_, (a, b))| *b - *a < SHORTEST_INTERVAL) {
        return Err(format!(
            "key {} at {} s does not come after key {key} at {} s; expected {SHORTEST_INTERVAL:e} s at least between them",
            key + 1,
            written(*time),
            written(*before)
        ));
    }
    if values.len() != count * per_key {
        return Err(format!(
            "{} numbers for {count} keys; expected {per_key} per key",
            values.len()
        ));
    }
    match first_too_large(values.as_chunks::<1>().0) {
        Some(found) => Err(format!("key {} holds {found}", found.item / per_key)),
        None => Ok(()),
    }
}

/// Repeats the first key at `end`, unless there is no other or the last one is there already.
pub(super) fn close(times: &mut Vec<f32>, values: &mut Vec<f32>, end: f32) {
    if times.len() > 1 && times.last().is_some_and(|&last| last < end) {
        let per_key = values.len() / times.len();
        times.push(end);
        values.extend_from_within(..per_key);
    }
}
