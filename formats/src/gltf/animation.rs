//! Conversion of animations to clips.

use super::accessor::AccessorReader;
use super::document::{self, Sampler};
use super::names;
use super::scenes::{NodeScenes, quoted};
use super::targets::NodeTargets;
use crate::check::{item, note_length};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Channel, Clip, Interpolation, Keys, Notes, RotationBlend, WeightKeys,
};
use std::ops::Range;

/// The target of a channel: a component of a joint's pose, or weights of morph targets.
enum Moved {
    Joint { joint: u16, channel: Channel },
    Targets(Range<u32>),
}

/// Converts animations to clips, in the file's order. Channels that move no joint and set no weight only count towards the
/// duration. Animations that move nothing but nodes of other scenes, or of lower levels of detail, are left out with a
/// note.
pub fn clips(
    reader: &AccessorReader,
    joint_of: &[Option<u16>],
    targets: &NodeTargets,
    scenes: &NodeScenes,
    notes: &mut Notes,
) -> Result<Vec<Clip>> {
    let mut clips = Vec::new();
    for (index, animation) in reader.document.animations.iter().enumerate() {
        let mut keys = Vec::new();
        let mut weights = Vec::new();
        let mut duration = 0.0f32;
        let mut moves_others = false;
        for (at, channel) in animation.channels.iter().enumerate() {
            // Without a node, an extension defines the target, which is no joint.
            let Some(node) = channel.target.node else {
                continue;
            };
            let place = format!("animations[{index}].channels[{at}]");
            let sampler = item(&animation.samplers, channel.sampler, "", || {
                format!("{place}.sampler")
            })?;
            let sampler_place = format!("animations[{index}].samplers[{}]", channel.sampler);
            let times = reader.floats::<1>(sampler.input, &format!("{sampler_place}.input"))?;
            let times = times.into_flattened();
            duration = times.iter().fold(duration, |a, &b| a.max(b));
            let Some(moved) = moved(&channel.target, node as usize, joint_of, targets, &place)?
            else {
                moves_others |= scenes.is_elsewhere(node as usize);
                continue;
            };
            let has_matrix = reader.document.nodes[node as usize].matrix.is_some();
            ensure!(
                !has_matrix || matches!(moved, Moved::Targets(_)),
                format!("{place}.target.node"),
                "nodes[{node}] has a matrix; expected translation, rotation and scale where a clip moves it"
            );
            let interpolation = interpolation(sampler, &sampler_place)?;
            let user = format!("{sampler_place}.output");
            let values = values(reader, sampler, &moved, interpolation, times.len(), user)?;
            match moved {
                Moved::Joint { joint, channel } => {
                    if channel == Channel::Rotation && interpolation.values_per_key() == 1 {
                        for key in values.as_chunks().0 {
                            note_length(key, notes);
                        }
                    }
                    let mut track = Keys {
                        joint,
                        channel,
                        interpolation,
                        times,
                        values,
                    };
                    notes.add(
                        "negated the later of the keys of # curves between opposite quaternions",
                        track.part_opposite_keys(),
                    );
                    keys.push(track);
                }
                Moved::Targets(targets) => weights.push(WeightKeys {
                    targets,
                    interpolation,
                    times,
                    values,
                }),
            }
        }
        if moves_others && keys.is_empty() && weights.is_empty() {
            let kind = "left out clips that move only other scenes or lower levels of detail";
            notes.add_name(kind, quoted(&animation.name));
            continue;
        }
        let clip = Clip::new(&animation.name, Some(duration), RotationBlend::Slerp, keys);
        let clip = clip.and_then(|clip| clip.with_weights(weights));
        clips.push(clip.map_err(|error| error.within(format!("animations[{index}]")))?);
    }
    Ok(clips)
}

/// Resolves the target of the channel at a place; `None` if the model does not have it.
fn moved(
    target: &document::Target,
    node: usize,
    joint_of: &[Option<u16>],
    targets: &NodeTargets,
    place: &str,
) -> Result<Option<Moved>> {
    let channel = match target.path.as_str() {
        "translation" => Channel::Translation,
        "rotation" => Channel::Rotation,
        "scale" => Channel::Scale,
        "weights" => return Ok(targets.of_node.get(&node).cloned().map(Moved::Targets)),
        path => bail!(
            format!("{place}.target.path"),
            "{path:?}; expected \"translation\", \"rotation\", \"scale\" or \"weights\""
        ),
    };
    let joint = joint_of.get(node).copied().flatten();
    Ok(joint.map(|joint| Moved::Joint { joint, channel }))
}

fn interpolation(sampler: &Sampler, place: &str) -> Result<Interpolation> {
    let name = sampler.interpolation.as_deref().unwrap_or("LINEAR");
    for known in [
        Interpolation::Linear,
        Interpolation::Step,
        Interpolation::CubicSpline,
    ] {
        if names::interpolation(known) == name {
            return Ok(known);
        }
    }
    bail!(
        format!("{place}.interpolation"),
        "{name:?}; expected \"LINEAR\", \"STEP\" or \"CUBICSPLINE\""
    )
}

/// The values of a sampler with so many keys.
fn values(
    reader: &AccessorReader,
    sampler: &Sampler,
    moved: &Moved,
    interpolation: Interpolation,
    keys: usize,
    user: String,
) -> Result<Vec<f32>> {
    let mut width = 1;
    let mut per_key = interpolation.values_per_key();
    let mut each = String::new();
    match moved {
        Moved::Joint { channel, .. } => width = channel.width(),
        Moved::Targets(targets) => {
            per_key *= targets.len();
            each = format!(", for {} morph targets", targets.len());
        }
    }
    let values = match width {
        1 => reader.floats::<1>(sampler.output, &user)?.into_flattened(),
        3 => reader.floats::<3>(sampler.output, &user)?.into_flattened(),
        _ => reader.floats::<4>(sampler.output, &user)?.into_flattened(),
    };
    let elements = values.len() / width;
    ensure!(
        elements == per_key * keys,
        user,
        "{elements} elements for {keys} keys; expected {per_key} per key{each}"
    );
    Ok(values)
}
