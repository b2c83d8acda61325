//! Importer of `.skeleton.xml`: bones, and animations relative to the bind pose.

use super::animation::{self, Animation, Keyframe, Meetings};
use super::bones::Bones;
use super::known::count_unread;
use super::pose::Pose;
use super::scale::{KeyCounts, ScaleRule};
use super::xml::Element;
use crate::budget::Budget;
use crate::fault::Fault;
use crate::tracks::Tracks;
use crate::unread::Unread;
use skinbench_kernels::model::{
    Clip, Joint, ModelParts, Repair, RotationBlend, Skeleton, SkinData,
};
use std::collections::HashMap;

/// Reads the whole file, as parts of a model without primitives; and the palette entry of each bone's ID.
pub fn read(
    root: Element,
    name: &str,
    budget: &Budget,
    unread: &mut Unread,
) -> Result<(ModelParts, HashMap<u32, u16>), Fault> {
    count_unread(root, unread);
    let mut bones = Bones::read(root)?;
    let (mut skeleton, mut joint_of) = build(&bones.joints, root)?;
    let mut order: Vec<usize> = (0..bones.joints.len()).collect();
    order.sort_unstable_by_key(|&bone| joint_of[bone]);
    let mut meetings = Meetings::default();
    let animations = animation::read(root, &bones, &mut meetings)?;
    let tracks = animations.iter().flat_map(|animation| &animation.tracks);
    let rule = ScaleRule::new(&bones.joints, &bones.binds, &order, tracks);
    rule.change(&mut bones.joints, &bones.binds, &order)?;
    if bones.joints.len() > order.len() {
        (skeleton, joint_of) = build(&bones.joints, root)?;
    }
    let mut clips = Vec::new();
    let mut counts = KeyCounts::default();
    for animation in &animations {
        let clip = clip(animation, &bones, &joint_of, &rule, budget, &mut counts)?;
        clips.push(clip);
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
    meetings.describe(&mut parts.repairs);
    rule.describe(&counts, &mut parts.repairs);
    parts.repairs.extend(links(root)?);
    Ok((parts, bones.by_id))
}

/// The skeleton, and the joint of each bone.
fn build(joints: &[Joint], root: Element) -> Result<(Skeleton, Vec<u16>), Fault> {
    Skeleton::new(joints.to_vec()).map_err(|error| Fault::new(root.place(), error.to_string()))
}

/// One note about the animations of other skeletons that this one refers to, if it does.
fn links(root: Element) -> Result<Option<Repair>, Fault> {
    let mut names = Vec::new();
    for link in root.inside("animationlinks") {
        names.push(format!("{:?}", link.required("skeletonName")?));
    }
    let note = format!(
        "left out the animations that animationlinks name: {}",
        names.join(", ")
    );
    Ok((!names.is_empty()).then(|| Repair::new(note)))
}

fn clip(
    animation: &Animation,
    bones: &Bones,
    joint_of: &[u16],
    rule: &ScaleRule,
    budget: &Budget,
    counts: &mut KeyCounts,
) -> Result<Clip, Fault> {
    let mut keys = Vec::new();
    let mut frames_of: HashMap<usize, &[Keyframe]> = HashMap::new();
    for track in &animation.tracks {
        if rule.place_of(track.bone).is_some() {
            let other = frames_of.insert(track.bone, &track.keyframes);
            ensure!(
                other.is_none(),
                animation.element.place(),
                "a second track of a bone; expected one"
            );
        } else {
            let bind = &bones.binds[track.bone];
            keys.extend(tracks(joint_of[track.bone], bind, &track.keyframes).into_keys());
        }
    }
    if !frames_of.is_empty() {
        keys.extend(rule.keys(&bones.binds, joint_of, &frames_of, budget, counts)?);
    }
    let length = Some(animation.length);
    Clip::new(&animation.name, length, RotationBlend::Nlerp, keys)
        .map_err(|error| Fault::new(animation.element.place(), error.to_string()))
}

/// Tracks of the channels that any key sets, relative to the parent.
fn tracks(joint: u16, bind: &Pose, keyframes: &[Keyframe]) -> Tracks {
    let [moves, turns, scales] = [0, 1, 2].map(|channel| animation::gives(keyframes, channel));
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
