//! Importer of `.skeleton.xml`: bones, and animations relative to the bind pose.

use super::xml::Element;
use crate::fault::{Fault, ensure};
use crate::tracks::Tracks;
use glam::{DQuat, DVec3, Vec3};
use skinbench_kernels::model::{
    Clip, Joint, ModelParts, Repair, RotationBlend, Skeleton, SkinData, Transform,
};
use std::collections::HashMap;

/// The transform of a bone, with parts of the identity where the file gives none.
#[derive(Clone, Copy, PartialEq)]
struct Pose {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
    /// Which of the three the file gives.
    given: [bool; 3],
}

impl Pose {
    /// Reads the children with the names of translation, rotation and scale.
    fn read(element: Element, names: [&'static str; 3]) -> Result<Self, Fault> {
        let [translation, rotation, scale] = names.map(|name| element.named(name).last());
        Ok(Self {
            given: [translation.is_some(), rotation.is_some(), scale.is_some()],
            translation: translation.map_or(Ok(DVec3::ZERO), vector)?,
            rotation: rotation.map_or(Ok(DQuat::IDENTITY), self::rotation)?,
            scale: scale.map_or(Ok(DVec3::ONE), self::scale)?,
        })
    }
}

#[derive(Default)]
struct Bones {
    joints: Vec<Joint>,
    binds: Vec<Pose>,
    by_name: HashMap<String, usize>,
    by_id: HashMap<u32, u16>,
}

impl Bones {
    fn named(&self, element: Element, attribute: &str) -> Result<usize, Fault> {
        let name = element.required(attribute)?;
        let known = self.by_name.get(&*name).copied();
        known.ok_or_else(|| {
            element.fault(format!("{attribute}={name:?}; expected the name of a bone"))
        })
    }
}

/// Reads the whole file, as parts of a model without primitives; and the palette entry of each bone's ID.
pub(super) fn read(root: Element, name: &str) -> Result<(ModelParts, HashMap<u32, u16>), Fault> {
    let mut bones = Bones::default();
    root.inside("bones")
        .try_for_each(|element| bone(element, &mut bones))?;
    for element in root.inside("bonehierarchy") {
        let [child, parent] = [
            bones.named(element, "bone")?,
            bones.named(element, "parent")?,
        ];
        let other = bones.joints[child].parent.replace(parent);
        ensure(other.is_none(), || {
            element.fault("a second parent for the bone; expected one")
        })?;
    }
    let joints = std::mem::take(&mut bones.joints);
    let (skeleton, joint_of) =
        Skeleton::new(joints).map_err(|error| root.fault(error.to_string()))?;
    let mut meetings = Meetings::default();
    let clips = root
        .inside("animations")
        .map(|element| clip(element, &bones, &joint_of, &mut meetings));
    let clips = clips.collect::<Result<_, _>>()?;
    let skin = SkinData::at_rest(&skeleton, joint_of)?;
    let parts = ModelParts::new(name, skeleton, skin, Vec::new());
    Ok((
        ModelParts {
            clips,
            repairs: meetings.describe(),
            ..parts
        },
        bones.by_id,
    ))
}

fn bone(element: Element, bones: &mut Bones) -> Result<(), Fault> {
    let id = element.integer("id")?;
    let name = element.required("name")?;
    let bind = Pose::read(element, ["position", "rotation", "scale"])?;
    // The store refuses more joints than u16 can count.
    ensure(
        bones.by_id.insert(id, bones.joints.len() as u16).is_none(),
        || {
            element.fault(format!(
                "a second bone with id {id}; expected ids to be unique"
            ))
        },
    )?;
    ensure(
        bones
            .by_name
            .insert(name.clone().into(), bones.joints.len())
            .is_none(),
        || {
            element.fault(format!(
                "a second bone named {name:?}; expected names to be unique"
            ))
        },
    )?;
    let Pose {
        translation,
        rotation,
        scale,
        ..
    } = bind;
    let rest = Transform {
        rotation: rotation.as_quat(),
        translation: translation.as_vec3(),
        scale: scale.as_vec3(),
    };
    bones.joints.push(Joint::new(name, None, rest));
    bones.binds.push(bind);
    Ok(())
}

fn clip(
    element: Element,
    bones: &Bones,
    joint_of: &[u16],
    meetings: &mut Meetings,
) -> Result<Clip, Fault> {
    let name = element.required("name")?;
    let length = element.number("length")?;
    ensure(length >= 0.0, || {
        element.fault(format!("length={length}; expected 0 or more"))
    })?;
    let mut keys = Vec::new();
    for track in element.inside("tracks") {
        let bone = bones.named(track, "bone")?;
        let keyframes = meetings.resolve(keyframes(track)?, length);
        keys.extend(tracks(joint_of[bone], &bones.binds[bone], &keyframes).into_keys());
    }
    let clip = Clip::new(name, Some(length), RotationBlend::Nlerp, keys);
    clip.map_err(|error| element.fault(error.to_string()))
}

/// A key as in the file, relative to the bind pose.
#[derive(Clone, Copy, PartialEq)]
struct Keyframe {
    time: f32,
    pose: Pose,
}

fn keyframes(track: Element) -> Result<Vec<Keyframe>, Fault> {
    let mut keyframes: Vec<Keyframe> = Vec::new();
    for element in track.inside("keyframes") {
        let time = element.number("time")?;
        let least = keyframes.last().map_or(0.0, |k| k.time);
        ensure(time >= least, || {
            element.fault(format!(
                "time={time}; expected {least} or more, as times must not fall"
            ))
        })?;
        keyframes.push(Keyframe {
            time,
            pose: Pose::read(element, ["translate", "rotate", "scale"])?,
        });
    }
    Ok(keyframes)
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
            keyframes.push(Keyframe {
                time: length + first.time,
                ..first
            });
        }
        let mut rising = Vec::with_capacity(keyframes.len());
        let mut meetings = keyframes.chunk_by(|a, b| a.time == b.time).peekable();
        while let Some(meeting) = meetings.next() {
            let (first, last) = (meeting[0], meeting[meeting.len() - 1]);
            let after = first.time.next_up();
            let shows = after < length && meetings.peek().is_none_or(|next| after < next[0].time);
            let steps = first != last && (first.time == 0.0 || shows);
            match steps {
                true if first.time == 0.0 => rising.push(last),
                true => rising.extend([
                    first,
                    Keyframe {
                        time: after,
                        ..last
                    },
                ]),
                false => rising.push(first),
            }
            self.steps += u32::from(steps);
            self.left_out += meeting.len() - 1 - usize::from(steps);
        }
        rising
    }

    fn describe(self) -> Vec<Repair> {
        let Self { left_out, steps } = self;
        let counted = [
            (
                left_out,
                format!("left out {left_out} keyframes that never show: others have the same time"),
            ),
            (
                steps as usize,
                format!("made {steps} steps of different keyframes at the same time"),
            ),
        ];
        counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, message)| Repair { message })
            .collect()
    }
}

/// Tracks of the channels that any key sets, relative to the parent.
fn tracks(joint: u16, bind: &Pose, keyframes: &[Keyframe]) -> Tracks {
    let [moves, turns, scales] =
        [0, 1, 2].map(|part| keyframes.iter().any(|keyframe| keyframe.pose.given[part]));
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

fn vector(element: Element) -> Result<DVec3, Fault> {
    Ok(Vec3::from_array(element.vector()?).as_dvec3())
}

/// Reads a scale per axis, or one factor for all.
fn scale(element: Element) -> Result<DVec3, Fault> {
    match element.text("factor")? {
        Some(_) => Ok(DVec3::splat(element.number("factor")?.into())),
        None => vector(element),
    }
}

/// Reads an angle in radians and the axis inside the element.
fn rotation(element: Element) -> Result<DQuat, Fault> {
    let angle = f64::from(element.number("angle")?);
    let axis = element
        .named("axis")
        .last()
        .map_or(Ok(DVec3::ZERO), vector)?;
    match axis.try_normalize() {
        Some(axis) => Ok(DQuat::from_axis_angle(axis, angle)),
        None if angle == 0.0 => Ok(DQuat::IDENTITY),
        None => Err(element.fault("an axis of zero length; expected one to rotate about")),
    }
}
