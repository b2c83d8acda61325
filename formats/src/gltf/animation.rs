//! Conversion of animations to clips.

use super::accessor::Reader;
use super::names;
use super::scenes::{Listed, Places, quoted};
use super::targets::NodeTargets;
use crate::fault::{Fault, OffUnit, ensure, item};
use skinbench_kernels::model::{
    Channel, Clip, Interpolation, Keys, Repair, RotationBlend, WeightKeys,
};

/// Converts animations to clips, in the file's order. Channels that move no joint and set no weight only count towards the
/// duration. Animations that move nothing but nodes of other scenes, or of lower levels of detail, are left out with a
/// note.
pub(super) fn clips(
    reader: &Reader,
    joint_of: &[Option<u16>],
    targets: &NodeTargets,
    places: &Places,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Clip>, Fault> {
    let mut off_unit = OffUnit::default();
    let mut of_others = Listed::default();
    let mut clips = Vec::with_capacity(reader.document.animations.len());
    for (index, animation) in reader.document.animations.iter().enumerate() {
        let (mut keys, mut weights) = (Vec::new(), Vec::new());
        let mut duration = 0.0f32;
        let mut moves_others = false;
        for (at, channel) in animation.channels.iter().enumerate() {
            // Without a node, an extension defines the target, which is no joint.
            let Some(node) = channel.target.node else {
                continue;
            };
            let place = |field: &str| format!("animations[{index}].channels[{at}].{field}");
            let sampler = item(&animation.samplers, channel.sampler, "", || {
                place("sampler")
            })?;
            let sampler_place =
                |field: &str| format!("animations[{index}].samplers[{}].{field}", channel.sampler);
            let times = reader
                .floats::<1>(sampler.input, &sampler_place("input"))?
                .into_flattened();
            duration = times.iter().fold(duration, |a, &b| a.max(b));
            let path = channel.target.path.as_str();
            let channels = [Channel::Translation, Channel::Rotation, Channel::Scale];
            let moved = channels.into_iter().find(|moved| moved.name() == path);
            ensure(moved.is_some() || path == "weights", || {
                let problem = format!(
                    "{path:?}; expected \"translation\", \"rotation\", \"scale\" or \"weights\""
                );
                Fault::new(place("target.path"), problem)
            })?;
            let (joint, targets) = match moved {
                None => (None, targets.of.get(&(node as usize)).cloned()),
                Some(_) => (joint_of.get(node as usize).copied().flatten(), None),
            };
            if joint.is_none() && targets.is_none() {
                moves_others |= places.is_elsewhere(node as usize);
                continue;
            }
            ensure(
                joint.is_none() || reader.document.nodes[node as usize].matrix.is_none(),
                || {
                    let expected = "expected translation, rotation and scale where a clip moves it";
                    Fault::new(
                        place("target.node"),
                        format!("nodes[{node}] has a matrix; {expected}"),
                    )
                },
            )?;
            let named = sampler.interpolation.as_deref().unwrap_or("LINEAR");
            let known = [
                Interpolation::Linear,
                Interpolation::Step,
                Interpolation::CubicSpline,
            ];
            let known = known
                .into_iter()
                .find(|known| names::interpolation(*known) == named);
            let interpolation = known.ok_or_else(|| {
                let problem =
                    format!("{named:?}; expected \"LINEAR\", \"STEP\" or \"CUBICSPLINE\"");
                Fault::new(sampler_place("interpolation"), problem)
            })?;
            let user = sampler_place("output");
            let (values, width) = match moved {
                None => (
                    reader.floats::<1>(sampler.output, &user)?.into_flattened(),
                    1,
                ),
                Some(Channel::Rotation) => (
                    reader.floats::<4>(sampler.output, &user)?.into_flattened(),
                    4,
                ),
                Some(_) => (
                    reader.floats::<3>(sampler.output, &user)?.into_flattened(),
                    3,
                ),
            };
            let per_key =
                interpolation.values_per_key() * targets.as_ref().map_or(1, ExactSizeIterator::len);
            let elements = values.len() / width;
            ensure(elements == per_key * times.len(), || {
                let problem = format!(
                    "{elements} elements for {} keys; expected {per_key} per key",
                    times.len()
                );
                let all = targets
                    .as_ref()
                    .map(|targets| format!(", for {} morph targets", targets.len()));
                Fault::new(user, problem + &all.unwrap_or_default())
            })?;
            if let Some(targets) = targets {
                weights.push(WeightKeys {
                    targets,
                    interpolation,
                    times,
                    values,
                });
            } else if let (Some(joint), Some(channel)) = (joint, moved) {
                if channel == Channel::Rotation && per_key == 1 {
                    for key in values.as_chunks().0 {
                        off_unit.count(key);
                    }
                }
                keys.push(Keys {
                    joint,
                    channel,
                    interpolation,
                    times,
                    values,
                });
            }
        }
        if moves_others && keys.is_empty() && weights.is_empty() {
            of_others.add(|| quoted(&animation.name));
            continue;
        }
        let clip = Clip::new(&animation.name, Some(duration), RotationBlend::Slerp, keys);
        let clip = clip.and_then(|clip| clip.with_weights(weights));
        clips.push(clip.map_err(|error| error.within(format!("animations[{index}]")))?);
    }
    repairs.extend(off_unit.describe("rotation keys"));
    let note = "left out clips that move only other scenes or lower levels of detail";
    repairs.extend(of_others.describe(note));
    Ok(clips)
}
