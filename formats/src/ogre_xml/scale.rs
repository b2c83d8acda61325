//! OGRE's rule of scale, for bones whose scale differs from axis to axis.
//!
//! OGRE does not multiply matrices: it multiplies scales, axis by axis, and rotations each on their own
//! (`Node::updateFromParentImpl`), and combines them for each bone as
//! `vertex -> position + rotation * scale * (vertex - position at bind)` (`Bone::_getOffsetTransform`). Rotations and
//! scales here are those of the bone over those at bind. There is never shear. Where all axes have the same scale, or
//! nothing below is rotated, this equals the product of matrices.
//!
//! Ordinary joints express the rule: each bone becomes a joint without scale, whose translation is multiplied by the
//! scale of the bones above; and below it stands a joint that takes back the rotation at bind and then scales. Vertices
//! follow the second one. It has the bone's name, because it is the joint that a weapon is attached to.

use super::animation::{BoneTrack, Keyframe, gives};
use super::pose::Pose;
use crate::budget::Budget;
use crate::fault::Fault;
use crate::subdivide::subdivide;
use glam::{DQuat, DVec3};
use skinbench_kernels::model::{Channel, Joint, Keys, Repair, Transform, is_uneven};
use std::collections::{HashMap, HashSet};

/// Largest relative error of the product of two curves between its keys: as large as that of compact clips. At 30 keys per
/// second, scales that change slowly need no further key.
const TOLERANCE: f64 = 1e-4;
/// Shortest time between a key and one that is added, in seconds: few displays show pictures for a shorter time. Scales
/// that jump from key to key may have larger errors between them.
const SHORTEST: f32 = 0.008;
/// Most halvings between two keys.
const DEPTH: u32 = 10;
/// Memory for a key of a product, copies included.
const BYTES_PER_KEY: u64 = 160;

/// A bone that follows the rule.
struct Ruled {
    bone: usize,
    /// The closest bone above it that follows the rule, which is its parent.
    parent: Option<usize>,
    /// Product of the scales at bind, from the first ruled bone down to this one.
    bind_scale: DVec3,
}

/// The bones that follow the rule.
pub struct ScaleRule {
    /// Parents first.
    ruled: Vec<Ruled>,
    /// For each bone its place among them.
    place_of: Vec<Option<usize>>,
}

impl ScaleRule {
    /// Selects the bones with uneven scales in their bind pose or in a key, and all bones below them. `order` has all
    /// bones, parents first.
    pub fn new<'a>(
        joints: &[Joint],
        binds: &[Pose],
        order: &[usize],
        tracks: impl Iterator<Item = &'a BoneTrack<'a>>,
    ) -> Self {
        let mut uneven: Vec<bool> = binds.iter().map(|bind| is_uneven(bind.scale)).collect();
        for track in tracks {
            let bind = binds[track.bone].scale;
            for key in &track.keyframes {
                uneven[track.bone] |= is_uneven(bind * key.pose.scale);
            }
        }
        let mut place_of: Vec<Option<usize>> = vec![None; joints.len()];
        let mut ruled: Vec<Ruled> = Vec::new();
        for &bone in order {
            let parent = joints[bone].parent.and_then(|parent| place_of[parent]);
            if !uneven[bone] && parent.is_none() {
                continue;
            }
            place_of[bone] = Some(ruled.len());
            let above = parent.map_or(DVec3::ONE, |parent| ruled[parent].bind_scale);
            ruled.push(Ruled {
                bone,
                parent,
                bind_scale: above * binds[bone].scale,
            });
        }
        Self { ruled, place_of }
    }

    /// The place of the joint that a bone's vertices follow, behind those of all bones; `None` for a bone that does not
    /// follow the rule.
    pub fn place_of(&self, bone: usize) -> Option<usize> {
        self.place_of[bone]
    }

    /// Changes the rest poses of the bones' joints, and appends the joints that vertices follow, which take over the names
    /// of the bones. `order` has all bones, parents first.
    ///
    /// # Errors
    /// A bone whose scale at bind has no inverse.
    pub fn change(
        &self,
        joints: &mut Vec<Joint>,
        binds: &[Pose],
        order: &[usize],
    ) -> Result<(), Fault> {
        for ruled in &self.ruled {
            ensure!(
                ruled.bind_scale.recip().is_finite(),
                format!("bone {:?}", joints[ruled.bone].name),
                "its scale has no inverse; expected one that is not 0"
            );
        }
        let mut names: HashSet<String> = joints.iter().map(|joint| joint.name.clone()).collect();
        let mut rotations = vec![DQuat::IDENTITY; binds.len()];
        for &bone in order {
            rotations[bone] = binds[bone].rotation;
            if let Some(parent) = joints[bone].parent {
                rotations[bone] = rotations[parent] * rotations[bone];
            }
        }
        for ruled in &self.ruled {
            let bind = &binds[ruled.bone];
            let mut translation = bind.translation;
            if let Some(parent) = ruled.parent {
                translation *= self.ruled[parent].bind_scale;
            }
            let rest = Transform {
                translation: translation.as_vec3(),
                rotation: bind.rotation.as_quat(),
                ..Transform::IDENTITY
            };
            let scaled = Transform {
                rotation: rotations[ruled.bone].inverse().as_quat(),
                ..Transform::IDENTITY
            };
            let Joint { name, parent, .. } = joints[ruled.bone].clone();
            let mut unscaled = format!("{name} unscaled");
            while !names.insert(unscaled.clone()) {
                unscaled += "'";
            }
            joints[ruled.bone] = Joint::new(unscaled, parent, rest);
            joints.push(Joint::new(name, Some(ruled.bone), scaled));
        }
        Ok(())
    }

    /// The tracks of all bones that follow the rule, in an animation with these keyframes by bone; `joint_of` has the
    /// joints of bones and then those that vertices follow.
    pub fn keys(
        &self,
        binds: &[Pose],
        joint_of: &[u16],
        keyframes_of: &HashMap<usize, &[Keyframe]>,
        budget: &Budget,
        counts: &mut KeyCounts,
    ) -> Result<Vec<Keys>, Fault> {
        let mut scales: Vec<Curve> = Vec::new();
        let mut keys = Vec::new();
        let still = Curve::still(DVec3::ONE);
        for (place, ruled) in self.ruled.iter().enumerate() {
            let bind = &binds[ruled.bone];
            let frames = keyframes_of.get(&ruled.bone).copied().unwrap_or_default();
            let above = ruled.parent.map_or(&still, |parent| &scales[parent]);
            let mut moved = Curve::still(bind.translation);
            if gives(frames, 0) {
                moved = Curve::of(frames, |key| bind.translation + key.translation);
            }
            let mut scaled = Curve::still(bind.scale);
            if gives(frames, 2) {
                scaled = Curve::of(frames, |key| bind.scale * key.scale);
            }
            let translation = above.times(&moved, budget)?;
            let scale = above.times(&scaled, budget)?;
            counts.found += moved.key_count() + scaled.key_count();
            counts.written += translation.key_count() + scale.key_count();
            let joint = joint_of[ruled.bone];
            keys.extend(translation.keys(joint, Channel::Translation, DVec3::ONE));
            if gives(frames, 1) {
                let mut rotations = Keys::linear(joint, Channel::Rotation, Vec::new(), Vec::new());
                for key in frames {
                    let rotation = (bind.rotation * key.pose.rotation).as_quat();
                    rotations.times.push(key.time);
                    rotations.values.extend(rotation.to_array());
                }
                keys.push(rotations);
            }
            let vertices = joint_of[binds.len() + place];
            keys.extend(scale.keys(vertices, Channel::Scale, ruled.bind_scale));
            scales.push(scale);
        }
        Ok(keys)
    }

    /// Adds notes about the joints and the keys, if any bone follows the rule.
    pub fn describe(&self, counts: &KeyCounts, repairs: &mut Vec<Repair>) {
        let count = self.ruled.len();
        let KeyCounts { found, written } = counts;
        if count > 0 {
            repairs.push(Repair::new(format!(
                "{count} bones have one joint more each, for scales that differ from axis to axis"
            )));
        }
        if found != written {
            repairs.push(Repair::new(format!(
                "their {found} keys of translation and scale became {written}, to follow products of scales"
            )));
        }
    }
}

/// Keys of translation and scale of the bones that follow the rule: in the file, and in the clips.
#[derive(Default)]
pub struct KeyCounts {
    found: usize,
    written: usize,
}

/// A vector over time: linear between keys, and constant before the first and after the last.
struct Curve {
    times: Vec<f32>,
    values: Vec<DVec3>,
    /// `false` if no key sets it, so that it is as at rest.
    is_set: bool,
}

impl Curve {
    fn still(value: DVec3) -> Self {
        Self {
            times: vec![0.0],
            values: vec![value],
            is_set: false,
        }
    }

    /// A value of each keyframe.
    fn of(frames: &[Keyframe], value: impl Fn(&Pose) -> DVec3) -> Self {
        Self {
            times: frames.iter().map(|key| key.time).collect(),
            values: frames.iter().map(|key| value(&key.pose)).collect(),
            is_set: true,
        }
    }

    /// Number of keys in a clip.
    fn key_count(&self) -> usize {
        if self.is_set { self.times.len() } else { 0 }
    }

    fn at(&self, time: f64) -> DVec3 {
        let after = self.times.partition_point(|&key| f64::from(key) <= time);
        if after == 0 || after == self.times.len() {
            return self.values[after.saturating_sub(1)];
        }
        let [start, end] = [after - 1, after].map(|key| f64::from(self.times[key]));
        self.values[after - 1].lerp(self.values[after], (time - start) / (end - start))
    }

    /// The product, with as many keys as it takes to follow it linearly.
    fn times(&self, other: &Self, budget: &Budget) -> Result<Self, Fault> {
        let mut times: Vec<f32> = self.times.iter().chain(&other.times).copied().collect();
        times.sort_unstable_by(f32::total_cmp);
        times.dedup();
        let product = |time: f32| self.at(time.into()) * other.at(time.into());
        let is_off = |from: f32, to: f32| {
            let middle = from + (to - from) / 2.0;
            let exact = product(middle);
            let t = f64::from(middle - from) / f64::from(to - from);
            let line = product(from).lerp(product(to), t);
            let error = (line - exact).abs().max_element();
            // The product of two lines is a parabola, which is furthest from its chord in the middle.
            middle - from >= SHORTEST && error > TOLERANCE * (1.0 + exact.abs().max_element())
        };
        let mut result = Self {
            times: Vec::new(),
            values: Vec::new(),
            is_set: self.is_set || other.is_set,
        };
        for time in times {
            let mut further = Vec::new();
            if let Some(&last) = result.times.last() {
                further = subdivide(last, time, DEPTH, &is_off);
            }
            further.push(time);
            budget.charge(further.len() as u64 * BYTES_PER_KEY, || {
                "keys for scales that differ from axis to axis".into()
            })?;
            for time in further {
                result.times.push(time);
                result.values.push(product(time));
            }
        }
        Ok(result)
    }

    /// The curve over a factor, as a track; `None` if no key sets it.
    fn keys(&self, joint: u16, channel: Channel, factor: DVec3) -> Option<Keys> {
        let values = self.values.iter().map(|value| (value / factor).as_vec3());
        let values = values.flat_map(|value| value.to_array()).collect();
        let keys = Keys::linear(joint, channel, self.times.clone(), values);
        self.is_set.then_some(keys)
    }
}
