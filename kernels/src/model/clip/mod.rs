//! Animations: tracks of keys, structure-of-arrays, with the times that tracks share stored once.

pub mod compact;
mod curve;
mod derived;
mod exact;
mod keys;
mod raw;
mod weights;

pub use exact::sphere;
pub use keys::{Channel, Interpolation, Keys, LATEST_KEY, RotationBlend};
pub use raw::{RawKeys, Track};
pub use weights::WeightKeys;

use crate::error::{DataError, written};
use compact::Compact;
use fieldwork::Fieldwork;

/// An animation of a skeleton's joints over `[0, duration)`.
#[derive(Debug, Clone, PartialEq, Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Clip {
    /// Name in the file, possibly empty.
    name: String,
    /// The loop's period in seconds; zero for a single pose.
    duration: f32,
    /// Interpolation of linear rotation tracks. Compact keys always blend spherically; their clip keeps the setting of
    /// the raw one.
    #[field(get(copy))]
    rotation_blend: RotationBlend,
    /// Returns whether values are differences from the first frame, of [`Clip::additive`].
    #[field(get(name = is_additive))]
    additive: bool,
    /// The keys, in the form that they are stored in.
    keys: ClipKeys,
    /// Tracks of morph weights, by target. Compact clips keep them as they are.
    weights: Vec<WeightKeys>,
}

/// The form that a clip's keys are stored in.
#[derive(Debug, Clone, PartialEq)]
pub enum ClipKeys {
    /// Tracks of keys, as a file has them.
    Raw(RawKeys),
    /// Frames of numbers with as many bits as their error needs.
    Compact(Compact),
}

impl ClipKeys {
    /// Tracks of keys, or `None` if they are compact.
    pub fn raw(&self) -> Option<&RawKeys> {
        match self {
            Self::Raw(raw) => Some(raw),
            Self::Compact(_) => None,
        }
    }

    /// Frames, or `None` if the keys are raw.
    pub fn compact(&self) -> Option<&Compact> {
        match self {
            Self::Raw(_) => None,
            Self::Compact(compact) => Some(compact),
        }
    }

    /// Joints of the skeleton that the keys set, one entry per channel.
    pub fn joints(&self) -> impl Iterator<Item = u16> {
        let raw = self
            .raw()
            .into_iter()
            .flat_map(|raw| raw.tracks())
            .map(|track| track.joint);
        let compact = self.compact().into_iter().flat_map(|compact| {
            let moving = compact.tracks.iter().map(|track| track.joint);
            moving.chain(compact.still.iter().map(|still| still.joint))
        });
        raw.chain(compact)
    }
}

impl Clip {
    /// Checks the tracks, normalises rotation keys, flips neighbouring ones to the shorter arc if the blend asks for
    /// it, and stores equal key times once.
    ///
    /// `duration` is the loop's period in seconds; `None` takes the last key's time.
    ///
    /// # Errors
    /// Times or a duration outside 0 to [`LATEST_KEY`], times that do not rise by a nanosecond at least, counts that disagree,
    /// numbers that are not finite, a rotation of zero length or one whose cubic curve is shorter than 1/256 of its keys
    /// ([`Keys::part_opposite_keys`] may help), or two tracks for one channel of a joint.
    pub fn new(
        name: impl Into<String>,
        duration: Option<f32>,
        rotation_blend: RotationBlend,
        keys: Vec<Keys>,
    ) -> Result<Self, DataError> {
        let name = name.into();
        let last_key = keys
            .iter()
            .filter_map(|k| k.times.last())
            .fold(0.0f32, |a, &b| a.max(b));
        let keys = ClipKeys::Raw(RawKeys::new(&name, rotation_blend, keys)?);
        let duration = duration.unwrap_or(last_key);
        if !(0.0..=LATEST_KEY).contains(&duration) {
            let duration = written(duration);
            let problem = format!("a duration of {duration} s; expected 0 to {LATEST_KEY}");
            return Err(DataError::new(format!("clip {name:?}"), problem));
        }
        Ok(Self {
            name,
            duration,
            rotation_blend,
            additive: false,
            keys,
            weights: Vec::new(),
        })
    }

    /// The clip with tracks of morph weights. They do not change its duration.
    ///
    /// # Errors
    /// Times as [`Clip::new`] refuses them, counts that disagree, numbers that are not finite, squad interpolation, or two
    /// tracks of one target.
    pub fn with_weights(self, mut weights: Vec<WeightKeys>) -> Result<Self, DataError> {
        weights.sort_by_key(|track| track.targets.start);
        let place = |index: usize| format!("clip {:?}, weight track {index}", self.name);
        for (index, track) in weights.iter().enumerate() {
            track
                .check()
                .map_err(|problem| DataError::new(place(index), problem))?;
        }
        if let Some(index) = weights
            .windows(2)
            .position(|pair| pair[0].targets.end > pair[1].targets.start)
        {
            return Err(DataError::new(
                place(index + 1),
                "a second track of the same target; expected one",
            ));
        }
        Ok(Self { weights, ..self })
    }

    /// Bytes that the keys take in memory.
    pub fn bytes(&self) -> usize {
        let weights: usize = self.weights.iter().map(WeightKeys::bytes).sum();
        weights
            + match &self.keys {
                ClipKeys::Raw(raw) => raw.bytes(),
                ClipKeys::Compact(compact) => compact.bytes(),
            }
    }
    /// The clip with compact keys in place of its own.
    pub fn with_compact(&self, compact: Compact) -> Self {
        Self {
            keys: ClipKeys::Compact(compact),
            ..self.clone()
        }
    }
    /// Changes the interpolation of linear rotation tracks.
    pub(super) fn set_rotation_blend(&mut self, blend: RotationBlend) {
        self.rotation_blend = blend;
        if let ClipKeys::Raw(raw) = &mut self.keys {
            raw.set_rotation_blend(blend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(clip: &Clip) -> &RawKeys {
        clip.keys().raw().unwrap()
    }

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
        let keys = || {
            vec![rotation(
                &[0.0, 1.0],
                &[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -half, -half],
            )]
        };
        let clip = Clip::new("c", None, RotationBlend::Slerp, keys()).unwrap();
        assert_eq!(
            raw(&clip).values(),
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]
        );
        assert!((raw(&clip).angles()[0] - std::f32::consts::FRAC_PI_4).abs() < 1e-6);
        let authored = Clip::new("c", None, RotationBlend::AuthoredPath, keys()).unwrap();
        assert!((raw(&authored).angles()[0] - 3.0 * std::f32::consts::FRAC_PI_4).abs() < 1e-6);
    }

    #[test]
    fn equal_times_are_stored_once() {
        let mut other = rotation(&[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        other.joint = 1;
        let clip = Clip::new(
            "c",
            None,
            RotationBlend::Slerp,
            vec![other.clone(), rotation(&[0.0, 1.0], &other.values)],
        )
        .unwrap();
        assert_eq!(raw(&clip).timelines().len(), 1);
        assert_eq!(raw(&clip).tracks()[0].joint, 0);
    }

    #[test]
    fn bad_keys_are_refused() {
        let unit = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let refused = |keys: Vec<Keys>| {
            Clip::new("c", None, RotationBlend::Slerp, keys)
                .unwrap_err()
                .problem
        };
        assert!(refused(vec![rotation(&[], &[])]).contains("no key"));
        assert!(refused(vec![rotation(&[1.0, 1.0], &unit)]).contains("does not come after"));
        assert!(refused(vec![rotation(&[f32::NAN, 1.0], &unit)]).contains("time NaN"));
        assert!(refused(vec![rotation(&[0.0], &unit)]).contains("8 numbers"));
        assert!(refused(vec![rotation(&[0.0, 1.0], &[0.0; 8])]).contains("zero length"));
        assert!(
            refused(vec![
                rotation(&[0.0, 1.0], &unit),
                rotation(&[0.0, 1.0], &unit)
            ])
            .contains("second track")
        );
    }

    #[test]
    fn times_that_f32_cannot_tell_apart_are_refused() {
        let fault = |times: &[f32]| {
            let unit = [0.0, 0.0, 0.0, 1.0].repeat(times.len());
            let clip = Clip::new(
                "c",
                None,
                RotationBlend::Slerp,
                vec![rotation(times, &unit)],
            );
            clip.err().map_or(String::new(), |error| error.problem)
        };
        for (times, problem) in [
            (
                &[0.0, f32::NAN][..],
                "key 1 has the time NaN; expected seconds, 0 to 100000",
            ),
            (
                &[0.0, f32::INFINITY],
                "key 1 has the time inf; expected seconds, 0 to 100000",
            ),
            (
                &[-0.5, 1.0],
                "key 0 has the time -0.5; expected seconds, 0 to 100000",
            ),
            (
                &[0.0, 1e30],
                "key 1 has the time 1e30; expected seconds, 0 to 100000",
            ),
            // 1,000,000.001 s is the same f32 number.
            (
                &[1e6, 1_000_000.0],
                "key 0 has the time 1000000; expected seconds, 0 to 100000",
            ),
            (
                &[1.0, 1.0],
                "key 1 at 1 s does not come after key 0 at 1 s; expected 1e-9 s at least between them",
            ),
            (
                &[0.0, 2.0, 1.0],
                "key 2 at 1 s does not come after key 1 at 2 s; expected 1e-9 s at least between them",
            ),
            (
                &[0.0, 1e-30],
                "key 1 at 1e-30 s does not come after key 0 at 0 s; expected 1e-9 s at least between them",
            ),
            // A jump, a first key with the rounding of a frame's number, and the last times that are told apart.
            (&[0.0, 0.999_999_9, 1.0], ""),
            (&[5e-17, 0.1], ""),
            (&[0.0, 99_999.99, 100_000.0], ""),
        ] {
            assert_eq!(fault(times), problem, "{times:?}");
        }
        let of_length = |duration| Clip::new("c", Some(duration), RotationBlend::Slerp, vec![]);
        for (duration, written) in [(-1.0, "-1"), (f32::NAN, "NaN"), (1e30, "1e30")] {
            let problem = format!("a duration of {written} s; expected 0 to 100000");
            assert_eq!(of_length(duration).unwrap_err().problem, problem);
        }
        assert!(of_length(1e-40).is_ok() && of_length(LATEST_KEY).is_ok());
    }
}
