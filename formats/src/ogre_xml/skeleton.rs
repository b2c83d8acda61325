//! Importer of `.skeleton.xml`: bones, and animations relative to the bind pose.

use super::xml::{Element, Xml};
use crate::fault::{Fault, ensure};
use glam::{DQuat, DVec3, Vec3};
use skinbench_kernels::model::{Channel, Clip, Joint, Keys, Repair, RotationBlend, Skeleton, Transform};
use std::collections::HashMap;

/// Content of a skeleton file.
pub(super) struct SkeletonFile {
    pub(super) joints: Skeleton,
    pub(super) clips: Vec<Clip>,
    /// Joint of each bone, in the file's order.
    pub(super) joint_of: Vec<u16>,
    /// Index, in the file's order, of each bone's ID.
    pub(super) index_of: HashMap<u32, u16>,
    pub(super) repairs: Vec<Repair>,
}

/// Bind transform of a bone.
#[derive(Clone, Copy)]
struct Bind {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
}

#[derive(Default)]
struct Bones {
    joints: Vec<Joint>,
    binds: Vec<Bind>,
    by_name: HashMap<String, usize>,
    by_id: HashMap<u32, u16>,
}

impl Bones {
    fn named(&self, xml: &Xml, element: &Element, attribute: &str) -> Result<usize, Fault> {
        let name = xml.required(element, attribute)?;
        let known = self.by_name.get(&name).copied();
        known.ok_or_else(|| xml.fault(element, format!("{attribute}={name:?}; expected the name of a bone")))
    }
}

/// Reads the whole file.
pub(super) fn read(xml: &mut Xml) -> Result<SkeletonFile, Fault> {
    let root = xml.root("skeleton")?;
    let mut bones = Bones::default();
    let mut animations = Vec::new();
    let mut meetings = Meetings::default();
    while let Some(list) = xml.child(&root)? {
        match list.name() {
            "bones" => {
                while let Some(child) = xml.child(&list)? {
                    bone(xml, &child, &mut bones)?;
                }
            }
            "bonehierarchy" => hierarchy(xml, &list, &mut bones)?,
            "animations" => {
                while let Some(child) = xml.child(&list)? {
                    animations.push(animation(xml, child, &bones, &mut meetings)?);
                }
            }
            _ => {}
        }
    }
    xml.end()?;
    let (joints, joint_of) = Skeleton::new(bones.joints).map_err(|error| xml.fault(&root, error.to_string()))?;
    let mut clips = Vec::with_capacity(animations.len());
    for AnimationElement { element, name, length, mut keys } in animations {
        for track in &mut keys {
            if let Some(&joint) = joint_of.get(usize::from(track.joint)) {
                track.joint = joint;
            }
        }
        let clip = Clip::new(name, Some(length), RotationBlend::Nlerp, keys);
        clips.push(clip.map_err(|error| xml.fault(&element, error.to_string()))?);
    }
    Ok(SkeletonFile { joints, clips, joint_of, index_of: bones.by_id, repairs: meetings.describe() })
}

fn bone(xml: &mut Xml, element: &Element, bones: &mut Bones) -> Result<(), Fault> {
    let id = xml.integer(element, "id")?;
    let name = xml.required(element, "name")?;
    let mut bind = Bind { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };
    while let Some(child) = xml.child(element)? {
        match child.name() {
            "position" => bind.translation = vector(xml, &child)?,
            "rotation" => bind.rotation = rotation(xml, &child)?,
            "scale" => bind.scale = scale(xml, &child)?,
            _ => {}
        }
    }
    // The store refuses more joints than u16 can count.
    ensure(bones.by_id.insert(id, bones.joints.len() as u16).is_none(), || {
        xml.fault(element, format!("a second bone with id {id}; expected ids to be unique"))
    })?;
    ensure(bones.by_name.insert(name.clone(), bones.joints.len()).is_none(), || {
        xml.fault(element, format!("a second bone named {name:?}; expected names to be unique"))
    })?;
    let rest = Transform {
        rotation: bind.rotation.as_quat(),
        translation: bind.translation.as_vec3(),
        scale: bind.scale.as_vec3(),
    };
    bones.joints.push(Joint::new(name, None, rest));
    bones.binds.push(bind);
    Ok(())
}

fn hierarchy(xml: &mut Xml, list: &Element, bones: &mut Bones) -> Result<(), Fault> {
    while let Some(element) = xml.child(list)? {
        let child = bones.named(xml, &element, "bone")?;
        let parent = bones.named(xml, &element, "parent")?;
        let other = bones.joints[child].parent.replace(parent);
        ensure(other.is_none(), || xml.fault(&element, "a second parent for the bone; expected one"))?;
    }
    Ok(())
}

struct AnimationElement {
    element: Element,
    name: String,
    length: f32,
    /// Keys; joints are indices of bones in the file's order.
    keys: Vec<Keys>,
}

fn animation(
    xml: &mut Xml,
    element: Element,
    bones: &Bones,
    meetings: &mut Meetings,
) -> Result<AnimationElement, Fault> {
    let name = xml.required(&element, "name")?;
    let length = xml.number(&element, "length")?;
    ensure(length >= 0.0, || xml.fault(&element, format!("length={length}; expected 0 or more")))?;
    let mut keys = Vec::new();
    while let Some(tracks_element) = xml.child(&element)? {
        if tracks_element.name() != "tracks" {
            continue;
        }
        while let Some(track) = xml.child(&tracks_element)? {
            let bone = bones.named(xml, &track, "bone")?;
            let mut poses = Vec::new();
            while let Some(child) = xml.child(&track)? {
                if child.name() == "keyframes" {
                    keyframes(xml, &child, &mut poses)?;
                }
            }
            keys.extend(tracks(bone as u16, &bones.binds[bone], meetings.resolve(poses, length)));
        }
    }
    Ok(AnimationElement { element, name, length, keys })
}

/// A key as in the file, relative to the bind pose.
#[derive(Clone, Copy, PartialEq)]
struct Keyframe {
    time: f32,
    translation: Option<DVec3>,
    rotation: Option<DQuat>,
    scale: Option<DVec3>,
}

fn keyframes(xml: &mut Xml, list: &Element, keyframes: &mut Vec<Keyframe>) -> Result<(), Fault> {
    while let Some(element) = xml.child(list)? {
        let time = xml.number(&element, "time")?;
        let least = keyframes.last().map_or(0.0, |k| k.time);
        ensure(time >= least, || {
            xml.fault(&element, format!("time={time}; expected {least} or more, as times must not fall"))
        })?;
        let mut keyframe = Keyframe { time, translation: None, rotation: None, scale: None };
        while let Some(child) = xml.child(&element)? {
            match child.name() {
                "translate" => keyframe.translation = Some(vector(xml, &child)?),
                "rotate" => keyframe.rotation = Some(rotation(xml, &child)?),
                "scale" => keyframe.scale = Some(scale(xml, &child)?),
                _ => {}
            }
        }
        keyframes.push(keyframe);
    }
    Ok(())
}

/// Keyframes of one track at the same time, with counts of their treatment.
#[derive(Default)]
struct Meetings {
    left_out: usize,
    steps: u32,
}

impl Meetings {
    /// A track's keyframes at rising times, with one after the end that leads back to the first.
    ///
    /// If keyframes at one time differ, OGRE interpolates towards the first of them before that time, and from the last
    /// of them after it. Here the last one moves to the next time that f32 can represent. It is left out if it would
    /// never show: at or after the clip's end, or if the next keyframe has that time already. No time is before 0, so
    /// at time 0 only the last one is used; the loop still leads back to the first.
    fn resolve(&mut self, mut keyframes: Vec<Keyframe>, length: f32) -> Vec<Keyframe> {
        let found = keyframes.len();
        keyframes.dedup();
        self.left_out += found - keyframes.len();
        if let [first, .., last] = keyframes[..]
            && last.time < length
        {
            keyframes.push(Keyframe { time: length + first.time, ..first });
        }
        let mut rising = Vec::with_capacity(keyframes.len());
        let mut meetings = keyframes.chunk_by(|a, b| a.time == b.time).peekable();
        while let Some(meeting) = meetings.next() {
            let (first, last) = match *meeting {
                [first, .., last] if first != last => (first, last),
                [only, ..] => {
                    rising.push(only);
                    self.left_out += meeting.len() - 1;
                    continue;
                }
                [] => continue,
            };
            let after = first.time.next_up();
            let shows = after < length && meetings.peek().is_none_or(|next| after < next[0].time);
            match (first.time == 0.0, shows) {
                (true, _) => rising.push(last),
                (false, true) => rising.extend([first, Keyframe { time: after, ..last }]),
                (false, false) => rising.push(first),
            }
            let steps = u32::from(first.time == 0.0 || shows);
            self.steps += steps;
            self.left_out += meeting.len() - 1 - steps as usize;
        }
        rising
    }

    fn describe(self) -> Vec<Repair> {
        let Self { left_out, steps } = self;
        let counted = [
            (left_out, format!("left out {left_out} keyframes that never show: others have the same time")),
            (steps as usize, format!("made {steps} steps of different keyframes at the same time")),
        ];
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, message)| Repair { message }).collect()
    }
}

/// Tracks of the channels that any key sets, relative to the parent.
fn tracks(bone: u16, bind: &Bind, keyframes: Vec<Keyframe>) -> Vec<Keys> {
    let times = || keyframes.iter().map(|k| k.time).collect();
    let track = |channel, values: Vec<f32>| Keys::linear(bone, channel, times(), values);
    let mut tracks = Vec::new();
    if keyframes.iter().any(|k| k.translation.is_some()) {
        let value = |k: &Keyframe| (bind.translation + k.translation.unwrap_or(DVec3::ZERO)).as_vec3().to_array();
        tracks.push(track(Channel::Translation, keyframes.iter().flat_map(value).collect()));
    }
    if keyframes.iter().any(|k| k.rotation.is_some()) {
        let value = |k: &Keyframe| (bind.rotation * k.rotation.unwrap_or(DQuat::IDENTITY)).as_quat().to_array();
        tracks.push(track(Channel::Rotation, keyframes.iter().flat_map(value).collect()));
    }
    if keyframes.iter().any(|k| k.scale.is_some()) {
        let value = |k: &Keyframe| (bind.scale * k.scale.unwrap_or(DVec3::ONE)).as_vec3().to_array();
        tracks.push(track(Channel::Scale, keyframes.iter().flat_map(value).collect()));
    }
    tracks
}

fn vector(xml: &Xml, element: &Element) -> Result<DVec3, Fault> {
    Ok(Vec3::from_array(xml.numbers(element, ["x", "y", "z"])?).as_dvec3())
}

/// Reads a scale per axis, or one factor for all.
fn scale(xml: &Xml, element: &Element) -> Result<DVec3, Fault> {
    match xml.text(element, "factor")? {
        Some(_) => Ok(DVec3::splat(xml.number(element, "factor")?.into())),
        None => vector(xml, element),
    }
}

/// Reads an angle in radians and the axis inside the element.
fn rotation(xml: &mut Xml, element: &Element) -> Result<DQuat, Fault> {
    let angle = f64::from(xml.number(element, "angle")?);
    let mut axis = DVec3::ZERO;
    while let Some(child) = xml.child(element)? {
        if child.name() == "axis" {
            axis = vector(xml, &child)?;
        }
    }
    match axis.try_normalize() {
        Some(axis) => Ok(DQuat::from_axis_angle(axis, angle)),
        None if angle == 0.0 => Ok(DQuat::IDENTITY),
        None => Err(xml.fault(element, "an axis of zero length; expected one to rotate about")),
    }
}
