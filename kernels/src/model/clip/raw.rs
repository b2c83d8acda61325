//! Tracks of keys, structure-of-arrays, with the times that tracks share stored once.

use super::curve::{SHORTEST_CURVE, shortest_lengths};
use super::keys::{Channel, Interpolation, Keys, RotationBlend, check_keys};
use crate::error::DataError;
use crate::model::Lists;
use fieldwork::Fieldwork;
use glam::{DVec4, Vec4};

/// One joint's channel in a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// Joint of the skeleton.
    pub joint: u16,
    /// Driven channel.
    pub channel: Channel,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Index into [`RawKeys::timelines`].
    pub timeline: u32,
    /// Index of the first number in [`RawKeys::values`].
    pub first_value: u32,
    /// Index of the first interval's angle in [`RawKeys::angles`]; meaningful for linear and squad rotations.
    pub first_angle: u32,
}

/// The keys of a clip, track by track.
#[derive(Debug, Clone, Default, PartialEq, Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct RawKeys {
    /// Distinct sets of key times in seconds, each of at least one.
    timelines: Lists<f32>,
    /// Tracks by joint, then channel.
    tracks: Vec<Track>,
    /// Key values, addressed by [`Track::first_value`].
    pub(super) values: Vec<f32>,
    /// Angle in radians between the quaternions of keys k and k + 1; for squad tracks also the angle between their
    /// control points. Addressed by [`Track::first_angle`].
    angles: Vec<f32>,
}

impl RawKeys {
    /// The tracks of [`super::Clip::new`], with its errors; `name` is the name of the clip.
    pub(super) fn new(
        name: &str,
        rotation_blend: RotationBlend,
        mut keys: Vec<Keys>,
    ) -> Result<Self, DataError> {
        let mut raw = Self {
            tracks: Vec::with_capacity(keys.len()),
            ..Self::default()
        };
        keys.sort_by_key(|k| (k.joint, k.channel));
        let mut known_timelines = std::collections::HashMap::new();
        for (index, mut track) in keys.into_iter().enumerate() {
            let place = format!(
                "clip {name:?}, track {index} ({:?} of joint {})",
                track.channel, track.joint
            );
            normalise(&mut track).map_err(|problem| DataError::new(&place, problem))?;
            if raw
                .tracks
                .last()
                .is_some_and(|t: &Track| (t.joint, t.channel) == (track.joint, track.channel))
            {
                return Err(DataError::new(
                    place,
                    "a second track for the same channel; expected one",
                ));
            }
            let bits: Vec<u32> = track.times.iter().map(|t| t.to_bits()).collect();
            let timeline = *known_timelines.entry(bits).or_insert_with(|| {
                raw.timelines.push(track.times.iter().copied());
                raw.timelines.len() as u32 - 1
            });
            raw.tracks.push(Track {
                joint: track.joint,
                channel: track.channel,
                interpolation: track.interpolation,
                timeline,
                first_value: raw.values.len() as u32,
                first_angle: raw.angles.len() as u32,
            });
            raw.values.extend_from_slice(&track.values);
            if track.channel == Channel::Rotation {
                let angles = track.times.len() * track.interpolation.angles_per_interval();
                raw.angles.resize(raw.angles.len() + angles, 0.0);
            }
        }
        raw.set_rotation_blend(rotation_blend);
        Ok(raw)
    }

    /// A track's key times.
    pub fn times_of(&self, track: &Track) -> &[f32] {
        self.timelines.of(track.timeline as usize)
    }
    /// A track's values, [`Interpolation::values_per_key`] per key.
    pub fn values_of(&self, track: &Track) -> &[f32] {
        let numbers = self.times_of(track).len()
            * track.interpolation.values_per_key()
            * track.channel.width();
        &self.values[track.first_value as usize..][..numbers]
    }
    /// The shortest quaternion on any cubic curve of a rotation, over the longest control point of its curve; at most a
    /// lower bound of 1/4 where no curve is short.
    pub fn shortest_curve(&self) -> f64 {
        let mut shortest = 1.0f64;
        for track in &self.tracks {
            if track.channel == Channel::Rotation
                && track.interpolation == Interpolation::CubicSpline
            {
                let lengths = shortest_lengths(self.times_of(track), self.values_of(track));
                shortest = lengths.fold(shortest, f64::min);
            }
        }
        shortest
    }
    /// Bytes that the keys take in memory.
    pub fn bytes(&self) -> usize {
        let numbers = size_of_val(&self.values[..]) + size_of_val(&self.angles[..]);
        self.timelines.bytes() + numbers + size_of_val(&self.tracks[..])
    }

    /// Flips neighbouring rotation keys to the shorter arc if the blend asks for it, and computes their angles.
    pub(super) fn set_rotation_blend(&mut self, blend: RotationBlend) {
        for track in &self.tracks {
            if track.channel != Channel::Rotation {
                continue;
            }
            let keys = self.timelines.of(track.timeline as usize).len();
            // Linear keys are flipped to the shorter arc; squad keys were flipped before their control points were
            // computed.
            let flips = track.interpolation == Interpolation::Linear
                && blend != RotationBlend::AuthoredPath;
            let stride = 4 * track.interpolation.values_per_key();
            let angles = track.interpolation.angles_per_interval();
            for index in 0..keys.saturating_sub(1) * angles {
                let (key, part) = (index / angles, index % angles);
                let at = track.first_value as usize + stride * key + 4 * part;
                let a = Vec4::from_slice(&self.values[at..]).as_dvec4();
                let mut b = Vec4::from_slice(&self.values[at + stride..]).as_dvec4();
                if flips && a.dot(b) < 0.0 {
                    for v in &mut self.values[at + stride..][..4] {
                        *v = -*v;
                    }
                    b = -b;
                }
                self.angles[track.first_angle as usize + index] = angle_of(a, b);
            }
        }
    }
}

/// The angle between two unit quaternions, accurate where the cosine is near one.
fn angle_of(a: DVec4, b: DVec4) -> f32 {
    (2.0 * libm::atan2((a - b).length(), (a + b).length())) as f32
}

/// Checks a track and normalises its rotations.
fn normalise(track: &mut Keys) -> Result<(), String> {
    if track.interpolation == Interpolation::Squad && track.channel != Channel::Rotation {
        return Err(format!(
            "squad for {:?}; expected a rotation",
            track.channel
        ));
    }
    check_keys(
        &track.times,
        &track.values,
        track.channel.width() * track.interpolation.values_per_key(),
    )?;
    if track.channel != Channel::Rotation {
        return Ok(());
    }
    let is_cubic = track.interpolation == Interpolation::CubicSpline;
    let parts = track.interpolation.values_per_key();
    for (index, value) in track.values.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        if is_cubic && index % parts != track.interpolation.value_of_key() {
            continue;
        }
        let q = value.map(f64::from);
        let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length < 1e-6 {
            return Err(format!(
                "key {} is a rotation of zero length; expected a unit quaternion",
                index / parts
            ));
        }
        // Scaling the value of a cubic key alone would bend the curve, and glTF normalises after interpolation.
        if !is_cubic {
            *value = q.map(|v| (v / length) as f32);
        }
    }
    if !is_cubic {
        return Ok(());
    }
    match shortest_lengths(&track.times, &track.values).position(|length| length < SHORTEST_CURVE) {
        Some(key) => Err(format!(
            "between keys {key} and {} its rotation shrinks to less than 1/256 of its control points; expected a curve \
             that stays away from zero",
            key + 1
        )),
        None => Ok(()),
    }
}
