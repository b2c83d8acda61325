//! Animations as in the file: keys relative to the bind pose, or to a key of another animation.

use super::bones::Bones;
use super::pose::Pose;
use super::xml::Element;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::Notes;
use std::collections::{BTreeMap, HashMap};

/// An animation.
pub struct Animation<'a> {
    pub element: Element<'a>,
    pub name: String,
    /// Seconds.
    pub length: f32,
    pub tracks: TracksOfBones,
}

/// The keys of each bone that has a track, at rising times.
pub type TracksOfBones = BTreeMap<usize, Vec<Keyframe>>;

/// A key, relative to the bind pose.
#[derive(Clone, Copy, PartialEq)]
pub struct Keyframe {
    pub time: f32,
    pub pose: Pose,
}

/// Returns whether any key gives the translation (0), rotation (1) or scale (2).
pub fn gives(keyframes: &[Keyframe], channel: usize) -> bool {
    keyframes.iter().any(|key| key.pose.given[channel])
}

/// Reads the animations of a skeleton.
pub fn read<'a>(root: Element<'a>, bones: &Bones, notes: &mut Notes) -> Result<Vec<Animation<'a>>> {
    let mut animations = Vec::new();
    let mut index_of: HashMap<String, usize> = HashMap::new();
    for element in root.items("animations", "animation") {
        let animation = animation(element, bones, notes)?;
        index_of
            .entry(animation.name.clone())
            .or_insert(animations.len());
        animations.push(animation);
    }
    for index in 0..animations.len() {
        if let Some(info) = animations[index].element.first("baseinfo") {
            let name = info.text("baseanimationname")?.unwrap_or_default();
            let known = index_of.get(&*name).copied();
            let Some(base) = known.or(name.is_empty().then_some(index)) else {
                bail!(
                    info.at(),
                    "baseanimationname={name:?}; expected the name of an animation"
                );
            };
            ensure!(
                base == index || animations[base].element.first("baseinfo").is_none(),
                info.at(),
                "its base has a base of its own; expected keys that are relative to the bind pose alone"
            );
            rebase(&mut animations, index, base, info)?;
        }
    }
    Ok(animations)
}

fn animation<'a>(element: Element<'a>, bones: &Bones, notes: &mut Notes) -> Result<Animation<'a>> {
    let length = element.number_from(0.0, "length")?;
    let mut tracks = TracksOfBones::new();
    for track in element.items("tracks", "track") {
        let keyframes = resolved(keyframes(track)?, length, notes);
        let other = tracks.insert(bones.named(track, "bone")?, keyframes);
        ensure!(
            other.is_none(),
            track.at(),
            "a second track of a bone; expected one"
        );
    }
    Ok(Animation {
        element,
        name: element.required("name")?.into_owned(),
        length,
        tracks,
    })
}

/// Reads keys, whose times must not fall.
fn keyframes(track: Element) -> Result<Vec<Keyframe>> {
    let mut keyframes: Vec<Keyframe> = Vec::new();
    for element in track.items("keyframes", "keyframe") {
        let least = keyframes.last().map_or(0.0, |key| key.time);
        keyframes.push(Keyframe {
            time: element.number_from(least, "time")?,
            pose: Pose::read(element, ["translate", "rotate", "scale"])?,
        });
    }
    Ok(keyframes)
}

/// Makes the keys of an animation relative to the bind pose alone: they are also relative to those of a base at the time
/// that `info` states.
fn rebase(animations: &mut [Animation], index: usize, base: usize, info: Element) -> Result<()> {
    let mut time = info.number("basekeyframetime")?;
    let length = animations[base].length;
    if time > length && length > 0.0 {
        time %= length;
    }
    let mut tracks = animations[index].tracks.clone();
    for (bone, keyframes) in &mut tracks {
        let known = animations[base].tracks.get(bone);
        let Some(pose) = known.and_then(|known| sample(known, time)) else {
            bail!(
                info.at(),
                "the base has no keyframe of a bone that the animation moves; expected at least one"
            );
        };
        for key in keyframes {
            key.pose = key.pose.relative_to(&pose);
        }
    }
    animations[index].tracks = tracks;
    Ok(())
}

/// The pose of a track at a time, that of its first or last keyframe beyond them; `None` if it has none.
pub fn sample(keyframes: &[Keyframe], time: f32) -> Option<Pose> {
    let after = keyframes.partition_point(|keyframe| keyframe.time <= time);
    let from = keyframes.get(after.saturating_sub(1))?;
    let to = keyframes.get(after).unwrap_or(from);
    if from.time >= to.time {
        return Some(from.pose);
    }
    let t = f64::from(time - from.time) / f64::from(to.time - from.time);
    Some(from.pose.towards(&to.pose, t))
}

/// A track's keyframes at rising times, with one after the end that leads back to the first.
///
/// If keyframes at one time differ, OGRE interpolates towards the first of them before that time, and from the last of
/// them after it. Here the last one moves to the next time that f32 can represent. It is left out if it would never show:
/// at or after the clip's end, or if the next keyframe has that time already. No time is before 0, so at time 0 only the
/// last one is used; the loop still leads back to the first.
fn resolved(mut keyframes: Vec<Keyframe>, length: f32, notes: &mut Notes) -> Vec<Keyframe> {
    let found = keyframes.len();
    keyframes.dedup();
    let mut left_out = found - keyframes.len();
    if let [first, .., last] = keyframes[..]
        && last.time < length
    {
        keyframes.push(Keyframe {
            time: length + first.time,
            ..first
        });
    }
    let mut steps = 0;
    let mut rising = Vec::with_capacity(keyframes.len());
    let mut meetings = keyframes.chunk_by(|a, b| a.time == b.time).peekable();
    while let Some(meeting) = meetings.next() {
        let first = meeting[0];
        let last = meeting[meeting.len() - 1];
        let after = first.time.next_up();
        let shows = after < length && meetings.peek().is_none_or(|next| after < next[0].time);
        let is_step = first != last && (first.time == 0.0 || shows);
        if !is_step || first.time > 0.0 {
            rising.push(first);
        }
        if is_step {
            let time = if first.time == 0.0 { 0.0 } else { after };
            rising.push(Keyframe { time, ..last });
        }
        steps += usize::from(is_step);
        left_out += meeting.len() - 1 - usize::from(is_step);
    }
    let never_show = "left out # keyframes that never show: others have the same time";
    notes.add(never_show, left_out);
    notes.add(
        "made # steps of different keyframes at the same time",
        steps,
    );
    rising
}
