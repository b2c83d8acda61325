//! Importer of `.skeleton.xml`: bones, and animations relative to the bind pose.

use super::animation::{self, Animation, Keyframe, gives};
use super::bones::Bones;
use super::pose::Pose;
use super::scale::ScaleRule;
use super::xml::Element;
use crate::budget::Budget;
use crate::tracks::Tracks;
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{
    Channel, Clip, ModelParts, Notes, RotationBlend, Skeleton, SkinData,
};
use std::collections::HashMap;

/// Reads the whole file, as parts of a model without primitives; and the palette entry of each bone's ID.
pub fn read(
    root: Element,
    name: &str,
    budget: &Budget,
    notes: &mut Notes,
) -> Result<(ModelParts, HashMap<u32, u16>)> {
    let mut bones = Bones::read(root)?;
    let (mut skeleton, mut joint_of) = build(&bones, root)?;
    let mut order: Vec<usize> = (0..bones.joints.len()).collect();
    order.sort_unstable_by_key(|&bone| joint_of[bone]);
    let animations = animation::read(root, &bones, notes)?;
    let rule = ScaleRule::new(&bones, &order, &animations);
    rule.change(&mut bones, &order, notes)?;
    if bones.joints.len() > order.len() {
        (skeleton, joint_of) = build(&bones, root)?;
    }
    let mut clips = Vec::new();
    for animation in &animations {
        clips.push(clip(animation, &bones, &joint_of, &rule, budget, notes)?);
    }
    // The joints that vertices follow.
    let mut entries = joint_of[..order.len()].to_vec();
    for (bone, entry) in entries.iter_mut().enumerate() {
        if let Some(place) = rule.place_of(bone) {
            *entry = joint_of[order.len() + place];
        }
    }
    let skin = SkinData::at_rest(&skeleton, entries)?;
    let mut parts = ModelParts::new(name, skeleton, skin, Vec::new());
    parts.clips = clips;
    for link in root.items("animationlinks", "animationlink") {
        let kind = "left out the animations that animationlinks name";
        notes.add_name(kind, format!("{:?}", link.required("skeletonName")?));
    }
    Ok((parts, bones.by_id))
}

/// The skeleton, and the joint of each bone.
fn build(bones: &Bones, root: Element) -> Result<(Skeleton, Vec<u16>)> {
    Skeleton::new(bones.joints.clone())
        .map_err(|error| DataError::new(root.at(), error.to_string()))
}

fn clip(
    animation: &Animation,
    bones: &Bones,
    joint_of: &[u16],
    rule: &ScaleRule,
    budget: &Budget,
    notes: &mut Notes,
) -> Result<Clip> {
    let mut keys = rule.keys(&bones.binds, joint_of, &animation.tracks, budget, notes)?;
    for (&bone, keyframes) in &animation.tracks {
        let mut found = tracks(joint_of[bone], &bones.binds[bone], keyframes).into_keys();
        if rule.place_of(bone).is_some() {
            // The rule has the others.
            found.retain(|keys| keys.channel == Channel::Rotation);
        }
        keys.extend(found);
    }
    let length = Some(animation.length);
    Clip::new(&animation.name, length, RotationBlend::Nlerp, keys)
        .map_err(|error| DataError::new(animation.element.at(), error.to_string()))
}

/// Tracks of the channels that any key sets, relative to the parent.
fn tracks(joint: u16, bind: &Pose, keyframes: &[Keyframe]) -> Tracks {
    let [moves, turns, scales] = [0, 1, 2].map(|channel| gives(keyframes, channel));
    let mut tracks = Tracks::new(joint);
    for Keyframe { time, pose } in keyframes {
        let translation = (bind.translation + pose.translation).as_vec3().to_array();
        let rotation = (bind.rotation * pose.rotation).as_quat().to_array();
        let scale = (bind.scale * pose.scale).as_vec3().to_array();
        tracks.push(
            *time,
            moves.then_some(translation),
            turns.then_some(rotation),
            scales.then_some(scale),
        );
    }
    tracks
}
