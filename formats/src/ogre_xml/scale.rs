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

use super::animation::{Animation, TracksOfBones, sample};
use super::bones::Bones;
use super::pose::Pose;
use crate::budget::Budget;
use crate::subdivide::subdivide;
use glam::{DQuat, DVec3};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Channel, Joint, Keys, Notes, Transform, is_uneven};
use std::collections::HashSet;

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
    pub fn new(bones: &Bones, order: &[usize], animations: &[Animation]) -> Self {
        let mut uneven: Vec<bool> = Vec::new();
        for bind in &bones.binds {
            uneven.push(is_uneven(bind.scale));
        }
        for (&bone, keyframes) in animations.iter().flat_map(|animation| &animation.tracks) {
            let bind = bones.binds[bone].scale;
            uneven[bone] |= keyframes.iter().any(|key| is_uneven(bind * key.pose.scale));
        }
        let mut place_of: Vec<Option<usize>> = vec![None; order.len()];
        let mut ruled: Vec<Ruled> = Vec::new();
        for &bone in order {
            let parent = bones.joints[bone]
                .parent
                .and_then(|parent| place_of[parent]);
            if !uneven[bone] && parent.is_none() {
                continue;
            }
            place_of[bone] = Some(ruled.len());
            ruled.push(Ruled { bone, parent });
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
    pub fn change(&self, bones: &mut Bones, order: &[usize], notes: &mut Notes) -> Result<()> {
        let Bones { joints, binds, .. } = bones;
        let mut names: HashSet<String> = joints.iter().map(|joint| joint.name.clone()).collect();
        let mut rotations = vec![DQuat::IDENTITY; binds.len()];
        for &bone in order {
            rotations[bone] = binds[bone].rotation;
            if let Some(parent) = joints[bone].parent {
                rotations[bone] = rotations[parent] * rotations[bone];
            }
        }
        let vectors = self.at(binds, &TracksOfBones::new(), 0.0);
        for (ruled, vectors) in self.ruled.iter().zip(vectors.as_chunks().0) {
            let [translation, scale] = vectors;
            let Joint { name, parent, .. } = joints[ruled.bone].clone();
            ensure!(
                scale.recip().is_finite(),
                format!("bone {name:?}"),
                "its scale has no inverse; expected one that is not 0"
            );
            let rest = Transform {
                translation: translation.as_vec3(),
                rotation: binds[ruled.bone].rotation.as_quat(),
                ..Transform::IDENTITY
            };
            let scaled = Transform {
                rotation: rotations[ruled.bone].inverse().as_quat(),
                ..Transform::IDENTITY
            };
            let mut unscaled = format!("{name} unscaled");
            while !names.insert(unscaled.clone()) {
                unscaled += "'";
            }
            joints[ruled.bone] = Joint::new(unscaled, parent, rest);
            joints.push(Joint::new(name, Some(ruled.bone), scaled));
        }
        let kind = "# bones have one joint more each, for scales that differ from axis to axis";
        notes.add(kind, self.ruled.len());
        Ok(())
    }

    /// The keys of all bones that follow the rule, in an animation with these tracks by bone; `joint_of` has the joints of
    /// bones and then those that vertices follow. Translations and scales have keys at the same times, as many as it takes
    /// to follow products of scales linearly.
    pub fn keys(
        &self,
        binds: &[Pose],
        joint_of: &[u16],
        tracks: &TracksOfBones,
        budget: &Budget,
        notes: &mut Notes,
    ) -> Result<Vec<Keys>> {
        let mut found: Vec<f32> = Vec::new();
        for ruled in &self.ruled {
            let keyframes = tracks.get(&ruled.bone).into_iter().flatten();
            found.extend(keyframes.map(|key| key.time));
        }
        found.sort_unstable_by(f32::total_cmp);
        found.dedup();
        let mut times: Vec<f32> = Vec::new();
        for time in found {
            let mut further = Vec::new();
            if let Some(&last) = times.last() {
                let is_off = |from, to| self.is_off(binds, tracks, from, to);
                further = subdivide(last, time, DEPTH, &is_off);
            }
            let kind = "added # times of keys, to follow products of scales";
            notes.add(kind, further.len());
            further.push(time);
            let bytes = (further.len() * self.ruled.len()) as u64 * BYTES_PER_KEY;
            budget.charge(bytes, || {
                "keys for scales that differ from axis to axis".into()
            })?;
            times.extend(further);
        }
        let rest = self.at(binds, &TracksOfBones::new(), 0.0);
        let all: Vec<_> = times
            .iter()
            .map(|&time| self.at(binds, tracks, time))
            .collect();
        let mut keys = Vec::new();
        for (place, ruled) in self.ruled.iter().enumerate() {
            let joint = joint_of[ruled.bone];
            let below = joint_of[binds.len() + place];
            for (index, joint, channel, factor) in [
                (2 * place, joint, Channel::Translation, DVec3::ONE),
                (2 * place + 1, below, Channel::Scale, rest[2 * place + 1]),
            ] {
                if all.iter().any(|vectors| vectors[index] != rest[index]) {
                    let values = all.iter().map(|vectors| vectors[index] / factor);
                    let values = values.flat_map(|value| value.as_vec3().to_array());
                    keys.push(Keys::linear(
                        joint,
                        channel,
                        times.clone(),
                        values.collect(),
                    ));
                }
            }
        }
        Ok(keys)
    }

    /// Returns whether straight lines between two times leave the products.
    fn is_off(&self, binds: &[Pose], tracks: &TracksOfBones, from: f32, to: f32) -> bool {
        // The product of two lines is a parabola, which is furthest from its chord in the middle.
        let middle = from + (to - from) / 2.0;
        let [start, exact, end] = [from, middle, to].map(|time| self.at(binds, tracks, time));
        middle - from >= SHORTEST
            && (0..exact.len()).any(|index| {
                let line = start[index].midpoint(end[index]);
                let error = (line - exact[index]).abs().max_element();
                error > TOLERANCE * (1.0 + exact[index].abs().max_element())
            })
    }

    /// The translation and the scale of each bone that follows the rule, at a time.
    fn at(&self, binds: &[Pose], tracks: &TracksOfBones, time: f32) -> Vec<DVec3> {
        let mut vectors: Vec<DVec3> = Vec::with_capacity(2 * self.ruled.len());
        for ruled in &self.ruled {
            let mut pose = binds[ruled.bone];
            let keyframes = tracks.get(&ruled.bone);
            if let Some(key) = keyframes.and_then(|keyframes| sample(keyframes, time)) {
                pose.translation += key.translation;
                pose.scale *= key.scale;
            }
            let above = ruled.parent.map(|parent| vectors[2 * parent + 1]);
            let above = above.unwrap_or(DVec3::ONE);
            vectors.extend([above * pose.translation, above * pose.scale]);
        }
        vectors
    }
}
