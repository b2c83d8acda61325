//! Sizes and errors of a model's clips on the terms of the Animation Compression Library (ACL), for
//! `skinbench inspect --clips`.

use crate::compaction;
use crate::harness::fidelity::{SHELL, shell_errors};
use crate::model::{Clip, Model};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Samples per second of the raw size.
pub const RATE: f32 = 30.0;
/// Bytes of a joint in a raw sample: rotation, translation and scale as ten floats.
const RAW_BYTES: usize = 10 * size_of::<f32>();

/// A clip's size and error in its compact form, or as it is if that is smaller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipSize {
    /// Name in the file.
    pub name: String,
    /// Samples of the raw size: [`RATE`] per second, both ends included.
    pub samples: usize,
    /// Bytes of the raw samples, with ten floats per joint.
    pub raw_bytes: usize,
    /// Bytes of the keys as authored.
    pub key_bytes: usize,
    /// Bytes of the stored form.
    pub bytes: usize,
    /// `true` if that form is compact.
    pub is_compact: bool,
    /// Bytes of the stored form per joint and sample.
    pub bytes_per_joint_sample: f64,
    /// Largest error at the shell, in units of the model.
    pub error: f64,
    /// Error at the shell that 99 % of all joints and samples do not exceed.
    pub error_99: f64,
}

/// Sizes and errors of all clips of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipSizes {
    /// Joints of the skeleton.
    pub joints: usize,
    /// Distance of the shell from each joint, in units of the model.
    pub shell: f64,
    /// One item per clip.
    pub clips: Vec<ClipSize>,
}

impl ClipSizes {
    /// Makes the clips of a model compact and measures them.
    ///
    /// # Errors
    /// Poses that are not finite, or a clip that does not play by itself.
    pub fn new(model: &Model) -> Result<Self, String> {
        let stored = compaction::compacted(model.clone(), compaction::ERROR)
            .map_err(|error| error.to_string())?;
        let stored = Arc::new(stored);
        let model = Arc::new(model.clone());
        let joints = model.skeleton().len();
        let of_clip = |(index, clip): (usize, &Clip)| {
            let times = times(clip.duration());
            let mut errors = shell_errors(&model, &stored, index as u32, &times)
                .map_err(|error| error.to_string())?;
            errors.sort_unstable_by(f64::total_cmp);
            let most = errors.len().saturating_sub(1);
            let at = |part: f64| {
                errors
                    .get((part * most as f64).ceil() as usize)
                    .copied()
                    .unwrap_or(0.0)
            };
            let own = &stored.clips()[index];
            Ok(ClipSize {
                name: clip.name().to_owned(),
                samples: times.len(),
                raw_bytes: joints * times.len() * RAW_BYTES,
                key_bytes: clip.bytes(),
                bytes: own.bytes(),
                is_compact: own.keys().compact().is_some(),
                bytes_per_joint_sample: own.bytes() as f64 / (joints * times.len()).max(1) as f64,
                error: at(1.0),
                error_99: at(0.99),
            })
        };
        let clips = model
            .clips()
            .iter()
            .enumerate()
            .map(of_clip)
            .collect::<Result<_, String>>()?;
        Ok(Self {
            joints,
            shell: SHELL,
            clips,
        })
    }
}

/// Times of the raw samples of a clip: evenly spaced, with both ends.
fn times(duration: f32) -> Vec<f32> {
    let intervals = (duration * RATE).round().max(0.0) as u32;
    (0..=intervals)
        .map(|sample| duration * sample as f32 / intervals.max(1) as f32)
        .collect()
}

impl fmt::Display for ClipSizes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let centimetres = |units: f64| 100.0 * units;
        let (joints, shell) = (self.joints, centimetres(self.shell));
        write!(
            f,
            "clip sizes  of {joints} joints; raw: {RATE} samples a second, 10 floats a joint; "
        )?;
        writeln!(f, "errors at {shell} cm from joints, if a unit is a metre")?;
        let line = |f: &mut fmt::Formatter, name: &str, clips: &[&ClipSize]| {
            let sum =
                |bytes: fn(&ClipSize) -> usize| clips.iter().map(|clip| bytes(clip)).sum::<usize>();
            let most = |error: fn(&ClipSize) -> f64| {
                clips.iter().map(|clip| error(clip)).fold(0.0, f64::max)
            };
            let (raw, bytes, samples) =
                (sum(|c| c.raw_bytes), sum(|c| c.bytes), sum(|c| c.samples));
            let form = if clips.iter().any(|clip| clip.is_compact) {
                "compact"
            } else {
                "keys"
            };
            let (ratio, each) = (
                raw as f64 / bytes.max(1) as f64,
                bytes as f64 / (joints * samples).max(1) as f64,
            );
            let (error, error_99) = (
                centimetres(most(|c| c.error)),
                centimetres(most(|c| c.error_99)),
            );
            write!(
                f,
                "    {name}: raw {raw} bytes, {form} {bytes} bytes ({ratio:.1} : 1), "
            )?;
            writeln!(
                f,
                "{each:.2} bytes a joint and sample, off by at most {error:.4} cm, 99 % within {error_99:.4} cm"
            )
        };
        for clip in &self.clips {
            line(f, &format!("{:?}", clip.name), &[clip])?;
        }
        match &self.clips[..] {
            [] => writeln!(f, "    no clips"),
            [_] => Ok(()),
            all => line(f, "all", &all.iter().collect::<Vec<_>>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{extremes, walker::walker};
    use crate::model::{Channel, Interpolation, Keys, RotationBlend};
    use glam::{Quat, Vec3};

    #[test]
    fn sizes_are_counted_and_errors_are_those_of_the_compact_form() {
        let model = walker(500).unwrap();
        let sizes = ClipSizes::new(&model).unwrap();
        assert_eq!(
            (sizes.joints, sizes.clips.len()),
            (model.skeleton().len(), 4)
        );
        for (size, clip) in sizes.clips.iter().zip(model.clips()) {
            assert_eq!(size.samples, (clip.duration() * 30.0).round() as usize + 1);
            assert_eq!(
                (size.raw_bytes, size.key_bytes),
                (40 * sizes.joints * size.samples, clip.bytes())
            );
            assert!(
                size.is_compact && size.bytes < size.key_bytes && size.bytes < size.raw_bytes,
                "{size:?}"
            );
            // A skeleton of two metres within 1e-4 of its size: less than a millimetre, but not exact.
            assert!(
                0.0 < size.error_99 && size.error_99 < size.error && size.error < 1e-3,
                "{size:?}"
            );
        }
        let text = sizes.to_string();
        assert!(
            text.contains("errors at 3 cm") && text.contains("\n    all: raw "),
            "{text}"
        );
    }

    /// A root that is turned by a known angle and one that is moved by a known distance.
    #[test]
    fn the_error_is_that_of_the_farthest_point_of_the_shell() {
        let plain = extremes::star_64().unwrap();
        let rest = plain.skeleton().rest()[0];
        let of_root = |channel, values| {
            let keys = Keys {
                joint: 0,
                channel,
                interpolation: Interpolation::Linear,
                times: vec![0.0],
                values,
            };
            let clip = Clip::new("root", None, RotationBlend::Slerp, vec![keys]).unwrap();
            Arc::new(plain.clone().with_clips(vec![clip]))
        };
        let turned = |angle: f32| {
            of_root(
                Channel::Rotation,
                Quat::from_rotation_x(angle).to_array().to_vec(),
            )
        };
        let moved = |by: f32| {
            of_root(
                Channel::Translation,
                (rest.translation + Vec3::Y * by).to_array().to_vec(),
            )
        };
        let errors = |a, b| shell_errors(&a, &b, 0, &[0.0]).unwrap();
        assert_eq!(errors(turned(0.3), turned(0.3)), vec![0.0; 64]);
        let (angle, expected) = (
            0.3f64,
            2.0 * SHELL * (0.3f64 / 2.0).sin() * f64::from(rest.scale.y),
        );
        let found = errors(turned(0.1), turned(0.4))[0];
        assert!((found - expected).abs() < 1e-7, "{found} for {angle} rad");
        assert!(
            errors(moved(0.0), moved(0.5))
                .iter()
                .all(|error| (error - 0.5).abs() < 1e-6)
        );
    }
}
