//! Animations as in the file: keys relative to the bind pose, or to a key of another animation.

use super::bones::Bones;
use super::pose::Pose;
use super::xml::Element;
use crate::fault::Fault;
use skinbench_kernels::model::Repair;
use std::collections::HashMap;

/// An animation.
pub struct Animation<'a> {
    pub element: Element<'a>,
    pub name: String,
    /// Seconds.
    pub length: f32,
    pub tracks: Vec<BoneTrack<'a>>,
}

/// The keys of a bone.
pub struct BoneTrack<'a> {
    element: Element<'a>,
    pub bone: usize,
    pub keyframes: Vec<Keyframe>,
}

/// A key as in the file, relative to the bind pose.
#[derive(Clone, Copy, PartialEq)]
pub struct Keyframe {
    pub time: f32,
    pub pose: Pose,
}

/// Returns whether any key gives the translation (0), rotation (1) or scale (2).
pub fn gives(keyframes: &[Keyframe], channel: usize) -> bool {
    keyframes.iter().any(|key| key.pose.given[channel])
}

fn keyframes(track: Element) -> Result<Vec<Keyframe>, Fault> {
    let mut keyframes: Vec<Keyframe> = Vec::new();
    for element in track.inside("keyframes") {
        let time = element.number("time")?;
        let least = keyframes.last().map_or(0.0, |k| k.time);
        ensure!(
            time >= least,
            element.place(),
            "time={time}; expected {least} or more, as times must not fall"
        );
        keyframes.push(Keyframe {
            time,
            pose: Pose::read(element, ["translate", "rotate", "scale"])?,
        });
    }
    Ok(keyframes)
}

/// The key that all keys of an animation are relative to, besides the bind pose: that of an animation at a time.
struct Base<'a> {
    element: Element<'a>,
    animation: usize,
    time: f32,
}

/// Reads all animations of a skeleton.
pub fn read<'a>(
    root: Element<'a>,
    bones: &Bones,
    meetings: &mut Meetings,
) -> Result<Vec<Animation<'a>>, Fault> {
    let mut animations = Vec::new();
    for element in root.inside("animations") {
        animations.push(animation(element, bones)?);
    }
    rebase(&mut animations)?;
    for animation in &mut animations {
        for track in &mut animation.tracks {
            let keyframes = std::mem::take(&mut track.keyframes);
            track.keyframes = meetings.resolve(keyframes, animation.length);
        }
    }
    Ok(animations)
}

fn animation<'a>(element: Element<'a>, bones: &Bones) -> Result<Animation<'a>, Fault> {
    let name = element.required("name")?.into_owned();
    let length = element.number("length")?;
    ensure!(
        length >= 0.0,
        element.place(),
        "length={length}; expected 0 or more"
    );
    let mut tracks = Vec::new();
    for element in element.inside("tracks") {
        tracks.push(BoneTrack {
            element,
            bone: bones.named(element, "bone")?,
            keyframes: keyframes(element)?,
        });
    }
    Ok(Animation {
        element,
        name,
        length,
        tracks,
    })
}

/// Makes the keys of animations with a base relative to the bind pose alone, by OGRE's formulae
/// (`NodeAnimationTrack::_applyBaseKeyFrame`): translation minus that of the base, the inverse rotation of the base times
/// the rotation, and scale over that of the base.
fn rebase(animations: &mut [Animation]) -> Result<(), Fault> {
    let mut index_of: HashMap<&str, usize> = HashMap::new();
    let mut track_of: Vec<HashMap<usize, usize>> = Vec::new();
    for (index, animation) in animations.iter().enumerate() {
        index_of.entry(&animation.name).or_insert(index);
        let tracks = animation.tracks.iter().zip(0..);
        track_of.push(tracks.map(|(track, index)| (track.bone, index)).collect());
    }
    let mut bases = Vec::new();
    for (index, animation) in animations.iter().enumerate() {
        bases.push(base(animation.element, index, &index_of)?);
    }
    for (index, base) in bases.iter().enumerate() {
        let Some(base) = base else { continue };
        let is_plain = base.animation == index || bases[base.animation].is_none();
        ensure!(
            is_plain,
            base.element.place(),
            "its base has a base of its own; expected keys that are relative to the bind pose alone"
        );
        let mut poses = Vec::new();
        for track in &animations[index].tracks {
            let animation = &animations[base.animation];
            let known = track_of[base.animation].get(&track.bone);
            let keyframes = known.map_or(&[][..], |at| &animation.tracks[*at].keyframes);
            let Some(pose) = pose_at(keyframes, animation.length, base.time) else {
                bail!(
                    track.element.place(),
                    "its base has no keyframe of the bone; expected at least one"
                );
            };
            poses.push(pose);
        }
        for (track, base) in animations[index].tracks.iter_mut().zip(poses) {
            for Keyframe { pose, .. } in &mut track.keyframes {
                pose.translation -= base.translation;
                pose.rotation = base.rotation.inverse() * pose.rotation;
                pose.scale /= base.scale;
                for channel in 0..3 {
                    pose.given[channel] |= base.given[channel];
                }
            }
        }
    }
    Ok(())
}

/// Reads the base of an animation: without a name, the animation itself.
fn base<'a>(
    animation: Element<'a>,
    index: usize,
    index_of: &HashMap<&str, usize>,
) -> Result<Option<Base<'a>>, Fault> {
    let Some(element) = animation.named("baseinfo").last() else {
        return Ok(None);
    };
    let name = element.text("baseanimationname")?.unwrap_or_default();
    let known = if name.is_empty() {
        Some(&index)
    } else {
        index_of.get(&*name)
    };
    let Some(&animation) = known else {
        bail!(
            element.place(),
            "baseanimationname={name:?}; expected the name of an animation"
        );
    };
    Ok(Some(Base {
        element,
        animation,
        time: element.number("basekeyframetime")?,
    }))
}

/// The pose of a track at a time; `None` if it has no keyframe. Times beyond the length start again, and after the last
/// keyframe the track leads back to its first.
fn pose_at(keyframes: &[Keyframe], length: f32, mut time: f32) -> Option<Pose> {
    let first = keyframes.first()?;
    if time > length && length > 0.0 {
        time %= length;
    }
    let after = keyframes.partition_point(|keyframe| keyframe.time <= time);
    if after == 0 {
        return Some(first.pose);
    }
    let from = keyframes[after - 1];
    let to = match keyframes.get(after) {
        Some(next) => *next,
        None if from.time < length => Keyframe {
            time: length + first.time,
            ..*first
        },
        None => return Some(from.pose),
    };
    let t = f64::from(time - from.time) / f64::from(to.time - from.time);
    Some(from.pose.towards(&to.pose, t))
}

/// Keyframes of one track at the same time, with counts of their treatment.
#[derive(Default)]
pub struct Meetings {
    left_out: usize,
    steps: usize,
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
            let first = meeting[0];
            let last = meeting[meeting.len() - 1];
            let after = first.time.next_up();
            let shows = after < length && meetings.peek().is_none_or(|next| after < next[0].time);
            let steps = first != last && (first.time == 0.0 || shows);
            if !steps || first.time > 0.0 {
                rising.push(first);
            }
            if steps {
                let time = if first.time == 0.0 { 0.0 } else { after };
                rising.push(Keyframe { time, ..last });
            }
            self.steps += usize::from(steps);
            self.left_out += meeting.len() - 1 - usize::from(steps);
        }
        rising
    }

    pub fn describe(self, repairs: &mut Vec<Repair>) {
        let Self { left_out, steps } = self;
        if left_out > 0 {
            repairs.push(Repair::new(format!(
                "left out {left_out} keyframes that never show: others have the same time"
            )));
        }
        if steps > 0 {
            repairs.push(Repair::new(format!(
                "made {steps} steps of different keyframes at the same time"
            )));
        }
    }
}
