//! Conversion of animations to clips.

use super::accessor::Reader;
use super::document::{Animation, Document};
use super::targets::NodeTargets;
use crate::fault::{Fault, OffUnit, item};
use skinbench_kernels::model::{Channel, Clip, Interpolation, Keys, Repair, RotationBlend, WeightKeys};

/// Converts every animation to a clip, so that a clip's index is the same as in the file. Channels that move no joint
/// and set no weight only count towards its duration.
pub(super) fn clips(
    reader: &Reader,
    joint_of: &[Option<u16>],
    targets: &NodeTargets,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Clip>, Fault> {
    let mut off_unit = OffUnit::default();
    let clips = reader
        .document
        .animations
        .iter()
        .enumerate()
        .map(|(index, animation)| clip(reader, index, animation, joint_of, targets, &mut off_unit))
        .collect();
    off_unit.describe("rotation keys", repairs);
    clips
}

fn clip(
    reader: &Reader,
    index: usize,
    animation: &Animation,
    joint_of: &[Option<u16>],
    targets: &NodeTargets,
    off_unit: &mut OffUnit,
) -> Result<Clip, Fault> {
    let (mut keys, mut weights) = (Vec::new(), Vec::new());
    let mut duration = 0.0f32;
    for (at, channel) in animation.channels.iter().enumerate() {
        // Without a node, an extension defines the target, which is no joint.
        let Some(node) = channel.target.node else { continue };
        let place = |field: &str| format!("animations[{index}].channels[{at}].{field}");
        let sampler = item(&animation.samplers, channel.sampler, "", || place("sampler"))?;
        let sampler_place = |field: &str| format!("animations[{index}].samplers[{}].{field}", channel.sampler);
        let times = reader.floats::<1>(sampler.input, &sampler_place("input"))?.into_flattened();
        duration = times.iter().fold(duration, |a, &b| a.max(b));
        let interpolation = || match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Ok(Interpolation::Linear),
            Some("STEP") => Ok(Interpolation::Step),
            Some("CUBICSPLINE") => Ok(Interpolation::CubicSpline),
            Some(other) => {
                let problem = format!("{other:?}; expected \"LINEAR\", \"STEP\" or \"CUBICSPLINE\"");
                Err(Fault::new(sampler_place("interpolation"), problem))
            }
        };
        let target = match channel.target.path.as_str() {
            "translation" => Channel::Translation,
            "rotation" => Channel::Rotation,
            "scale" => Channel::Scale,
            "weights" => {
                let Some(targets) = targets.of(node as usize) else { continue };
                let (interpolation, user) = (interpolation()?, sampler_place("output"));
                let values = reader.floats::<1>(sampler.output, &user)?.into_flattened();
                let per_key = targets.len() * interpolation.values_per_key();
                if values.len() != per_key * times.len() {
                    let problem =
                        format!("{} elements for {} keys; expected {per_key} per key", values.len(), times.len());
                    return Err(Fault::new(user, format!("{problem}, for {} morph targets", targets.len())));
                }
                weights.push(WeightKeys { targets, interpolation, times, values });
                continue;
            }
            path => {
                let problem = format!("{path:?}; expected \"translation\", \"rotation\", \"scale\" or \"weights\"");
                return Err(Fault::new(place("target.path"), problem));
            }
        };
        let Some(joint) = joint_of.get(node as usize).copied().flatten() else { continue };
        if has_matrix(reader.document, node) {
            let problem =
                format!("nodes[{node}] has a matrix; expected translation, rotation and scale where a clip moves it");
            return Err(Fault::new(place("target.node"), problem));
        }
        let interpolation = interpolation()?;
        let user = sampler_place("output");
        let values = match target {
            Channel::Rotation => reader.floats::<4>(sampler.output, &user)?.into_flattened(),
            Channel::Translation | Channel::Scale => reader.floats::<3>(sampler.output, &user)?.into_flattened(),
        };
        let per_key = interpolation.values_per_key();
        let elements = values.len() / target.width();
        if elements != per_key * times.len() {
            let problem = format!("{elements} elements for {} keys; expected {per_key} per key", times.len());
            return Err(Fault::new(user, problem));
        }
        if target == Channel::Rotation && per_key == 1 {
            for key in values.as_chunks().0 {
                off_unit.count(key);
            }
        }
        keys.push(Keys { joint, channel: target, interpolation, times, values });
    }
    Clip::new(&animation.name, Some(duration), RotationBlend::Slerp, keys)
        .and_then(|clip| clip.with_weights(weights))
        .map_err(|error| Fault::new(format!("animations[{index}], {}", error.place), error.problem))
}

fn has_matrix(document: &Document, node: u32) -> bool {
    document.nodes.get(node as usize).is_some_and(|n| n.matrix.is_some())
}
