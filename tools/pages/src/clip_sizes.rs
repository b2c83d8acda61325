//! Sizes and errors of a model's clips on the terms of the Animation Compression Library (ACL).

use glam::{DAffine3, DVec3};
use serde::Serialize;
use skinbench::compaction;
use skinbench::crowd::{Crowd, Layer};
use skinbench::model::{IDENTITY_ROWS, Model};
use skinbench::reference::ReferencePose;
use skinbench::report::inspection::playing_bytes;
use std::sync::Arc;

/// Samples per second of the raw size.
const RATE: f32 = 30.0;
/// Bytes of a joint in a raw sample: rotation, translation and scale as ten floats.
const RAW_BYTES: usize = 10 * size_of::<f32>();
/// Distance of the shell from a joint: 3 cm, if a unit is a metre.
const SHELL: f64 = 0.03;

/// A clip's size and error in its compact form, or as it is if that is smaller.
#[derive(Debug, Serialize)]
pub struct ClipSize {
    /// Name in the file.
    name: String,
    /// Samples of the raw size: [`RATE`] per second, both ends included.
    samples: usize,
    /// Bytes of the raw samples, with ten floats per joint.
    raw_bytes: usize,
    /// Bytes of the keys as authored.
    key_bytes: usize,
    /// Bytes of the stored form.
    bytes: usize,
    /// `true` if that form is compact.
    is_compact: bool,
    /// Bytes of the stored form per joint and sample.
    bytes_per_joint_sample: f64,
    /// Largest error at the shell, in units of the model.
    error: f64,
    /// Error at the shell that 99 % of all joints and samples do not exceed.
    error_99: f64,
}

/// Sizes and errors of all clips of a model.
#[derive(Debug, Serialize)]
pub struct ClipSizes {
    /// Joints of the skeleton.
    joints: usize,
    /// Distance of the shell from each joint, in units of the model.
    shell: f64,
    /// As [`playing_bytes`] of the stored forms.
    playing_bytes: u64,
    /// One item per clip.
    clips: Vec<ClipSize>,
}

impl ClipSizes {
    /// Makes the clips of a model compact and measures them.
    ///
    /// # Errors
    /// Poses that are not finite, or a clip that does not play by itself.
    pub fn new(model: Model) -> Result<Self, String> {
        let stored = compaction::compacted(model.clone(), compaction::ERROR)
            .map_err(|error| error.to_string())?;
        let model = Arc::new(model);
        let stored = Arc::new(stored);
        let joints = model.skeleton().len();
        let mut clips = Vec::new();
        for (index, clip) in model.clips().iter().enumerate() {
            let times = times(clip.duration());
            let mut errors = shell_errors(&model, &stored, index as u32, &times)?;
            errors.sort_unstable_by(f64::total_cmp);
            let kept = &stored.clips()[index];
            clips.push(ClipSize {
                name: clip.name().to_owned(),
                samples: times.len(),
                raw_bytes: joints * times.len() * RAW_BYTES,
                key_bytes: clip.bytes(),
                bytes: kept.bytes(),
                is_compact: kept.keys().compact().is_some(),
                bytes_per_joint_sample: kept.bytes() as f64 / (joints * times.len()).max(1) as f64,
                error: quantile(&errors, 1.0),
                error_99: quantile(&errors, 0.99),
            });
        }
        Ok(Self {
            joints,
            shell: SHELL,
            playing_bytes: playing_bytes(&stored).map_err(|error| error.to_string())?,
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

/// The smallest of sorted values that a fraction of them does not exceed; 0 without values.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (fraction * last as f64).ceil() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

/// Errors of a clip's stored form as ACL measures them: for every time and joint the largest distance, in model space,
/// that the form moves the three points at [`SHELL`] along the joint's axes. `model` has the clip as authored, `stored`
/// the same clips in their stored form.
///
/// # Errors
/// The clip does not play by itself, as an additive one.
fn shell_errors(
    model: &Arc<Model>,
    stored: &Arc<Model>,
    clip: u32,
    times: &[f32],
) -> Result<Vec<f64>, String> {
    let authored = holding(model, clip, times)?;
    let stored = holding(stored, clip, times)?;
    let mut errors = Vec::new();
    for instance in 0..times.len() as u32 {
        let authored = ReferencePose::new(&authored, instance, 0).model;
        let stored = ReferencePose::new(&stored, instance, 0).model;
        for (a, b) in authored.iter().zip(&stored) {
            errors.push(shell_error(a, b));
        }
    }
    Ok(errors)
}

/// A crowd in which an instance holds the clip at each of the times.
fn holding(model: &Arc<Model>, clip: u32, times: &[f32]) -> Result<Crowd, String> {
    let instances = times
        .iter()
        .map(|&time| (IDENTITY_ROWS, [Layer::held(clip, time)]));
    let mut crowd = Crowd::new();
    crowd
        .push_group(Arc::clone(model), instances)
        .map_err(|error| error.to_string())?;
    Ok(crowd)
}

/// Largest distance between the points of a joint's shell in two poses.
fn shell_error(a: &DAffine3, b: &DAffine3) -> f64 {
    DVec3::AXES
        .map(|axis| axis * SHELL)
        .map(|point| {
            a.transform_point3(point)
                .distance(b.transform_point3(point))
        })
        .into_iter()
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec3};
    use skinbench::characters::{self, walker};
    use skinbench::model::{Channel, Clip, Interpolation, Keys, RotationBlend};

    #[test]
    fn sizes_are_counted_and_errors_are_those_of_the_compact_form() {
        let model = walker(500).unwrap();
        let sizes = ClipSizes::new(model.clone()).unwrap();
        assert_eq!(
            (sizes.joints, sizes.clips.len()),
            (model.skeleton().len(), 4)
        );
        assert!(sizes.playing_bytes <= 62_000, "{}", sizes.playing_bytes);
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
    }

    /// A root that is turned by a known angle and one that is moved by a known distance.
    #[test]
    fn the_error_is_that_of_the_farthest_point_of_the_shell() {
        let plain = characters::star_64().unwrap();
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
