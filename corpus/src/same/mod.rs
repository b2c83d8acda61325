//! Whether two models are the same character: every vertex of one is where some vertex of the other is, at rest, throughout
//! each clip, for each morph target, and with joints turned that both have.
//!
//! Files may store vertices, joints and nodes in any order, merge equal vertices, and keep numbers in other units: what is
//! compared is where the vertices are shown.

mod plan;
mod shown;

use crate::picture::Pair;
use glam::DVec3;
pub use plan::{Missing, Motion, Side};
use plan::{Plan, add_turns};
use shown::Shown;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::Model;
use std::sync::Arc;

/// Distance at rest within which vertices may be the same, over the diagonal, if the tolerance is no larger.
const NEAR: f64 = 1e-3;

/// Where a motion moves vertices farthest apart.
#[derive(Debug, Clone, PartialEq)]
pub struct FarthestApart {
    /// What moves them.
    pub motion: Motion,
    /// Distance over the diagonal.
    pub error: f64,
    /// Time of a clip, in seconds.
    pub time: f64,
    /// Where the vertex is at rest in its file.
    pub at_rest: DVec3,
    /// Number of the pose.
    pose: usize,
}

/// The difference of two models.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The unit of errors: diagonal of the box around the first model.
    pub diagonal: f64,
    /// What a file lacks.
    pub missing: Vec<(Side, Missing)>,
    /// The largest distance for each motion, between vertices of which each file has one.
    pub motions: Vec<FarthestApart>,
    /// Number of poses that were compared.
    pub poses: usize,
    /// `false` if joints could not be turned alike: names or transforms at rest differ.
    pub turned_joints: bool,
    /// `true` if both files have UVs, but others, which could not tell vertices apart.
    pub other_uvs: bool,
    /// Vertices of the first file and where the second has them, in the pose of the largest distance.
    pub pairs: Vec<Pair>,
}

impl Difference {
    /// Returns what moves vertices farthest apart.
    ///
    /// # Panics
    /// `motions` is empty.
    pub fn farthest(&self) -> &FarthestApart {
        let motions = self.motions.iter();
        let farthest = motions.reduce(|a, b| if b.error > a.error { b } else { a });
        farthest.expect("the rest is a motion")
    }

    /// Returns whether it is the same character, to a distance over the diagonal.
    pub fn is_same(&self, tolerance: f64) -> bool {
        self.missing.is_empty() && self.farthest().error <= tolerance
    }
}

/// Compares two models. Vertices further apart at rest than `tolerance` times the diagonal, or a thousandth of it, are
/// missing.
///
/// # Errors
/// Joints cannot be turned, as their number is too large.
pub fn compare(first: Model, second: Model, tolerance: f64) -> Result<Difference> {
    let mut models = [first, second];
    let turned_joints = add_turns(&mut models)?;
    let [a, b] = models.map(Arc::new);
    let Plan {
        motions,
        poses,
        mut missing,
    } = Plan::new(&a, &b);
    let [mut poses_a, mut poses_b] = [Vec::new(), Vec::new()];
    for ([pose_a, pose_b], _) in &poses {
        poses_a.push(*pose_a);
        poses_b.push(*pose_b);
    }
    let a = Shown::new(&a, &poses_a)?;
    let b = Shown::new(&b, &poses_b)?;

    let mut farthest = Vec::new();
    for motion in motions {
        farthest.push(FarthestApart {
            motion,
            error: 0.0,
            time: 0.0,
            at_rest: DVec3::ZERO,
            pose: 0,
        });
    }
    let near = a.diagonal * NEAR.max(tolerance);
    // A quantiser stores UVs in other units.
    let other_uvs = alone(&a, &b, near, true) > alone(&a, &b, near, false);
    let mut partners = Vec::new();
    for (side, from, to) in [(Side::First, &b, &a), (Side::Second, &a, &b)] {
        let mut alone = 0;
        partners.clear();
        for (vertex, candidates) in from.candidates(to, near, !other_uvs).iter().enumerate() {
            let partner = from.nearest(vertex, to, candidates);
            partners.push(partner);
            let Some(partner) = partner else {
                alone += 1;
                continue;
            };
            let positions = from.positions[vertex].iter().zip(&to.positions[partner]);
            for (pose, (one, other)) in positions.enumerate() {
                let farthest = &mut farthest[poses[pose].1];
                let error = one.distance(*other) / a.diagonal;
                if error > farthest.error {
                    farthest.error = error;
                    farthest.time = poses[pose].0[0].time.into();
                    farthest.at_rest = from.positions[vertex][0];
                    farthest.pose = pose;
                }
            }
        }
        if alone > 0 {
            missing.push((side, Missing::Vertices(alone)));
        }
    }
    let mut difference = Difference {
        diagonal: a.diagonal,
        missing,
        motions: farthest,
        poses: poses.len(),
        turned_joints,
        other_uvs,
        pairs: Vec::new(),
    };
    let pose = difference.farthest().pose;
    // The partners of the last turn are those of the first file's vertices.
    for (vertex, partner) in partners.into_iter().enumerate() {
        if let Some(partner) = partner {
            difference.pairs.push(Pair {
                want: a.positions[vertex][pose].to_array(),
                got: b.positions[partner][pose].to_array(),
            });
        }
    }
    Ok(difference)
}

/// Number of vertices of either model that have no partner.
fn alone(a: &Shown, b: &Shown, near: f64, with_uvs: bool) -> usize {
    let candidates = [
        a.candidates(b, near, with_uvs),
        b.candidates(a, near, with_uvs),
    ];
    candidates
        .iter()
        .flatten()
        .filter(|found| found.is_empty())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_characters::walker;
    use skinbench_kernels::model::{Clip, Joint, Keys, ModelParts, Skeleton};

    const TOLERANCE: f64 = 1e-4;

    fn parts() -> ModelParts {
        walker(500).unwrap().into_parts()
    }

    /// The difference of the walker from one whose parts were changed.
    fn changed(change: impl FnOnce(&mut ModelParts)) -> Difference {
        let mut other = parts();
        change(&mut other);
        let other = Model::new(other).unwrap();
        compare(Model::new(parts()).unwrap(), other, TOLERANCE).unwrap()
    }

    #[test]
    fn the_order_of_vertices_joints_and_clips_does_not_matter() {
        let same = changed(|parts| {
            let primitive = &mut parts.primitives[0];
            let count = primitive.positions.len() as u32;
            let reversed: Vec<u32> = (0..count).rev().collect();
            let mut triangles = Vec::new();
            for corners in primitive.indices.as_chunks().0 {
                triangles.push((0, corners.map(|vertex: u32| count - 1 - vertex)));
            }
            *primitive = primitive.with_vertices(&reversed);
            primitive.set_triangles(triangles);
            // Entries of the skin from the last to the first.
            let skin = &mut parts.skins[0];
            skin.joints.reverse();
            skin.inverse_binds.reverse();
            let last = skin.joints.len() as u16 - 1;
            let mut influences = Vec::new();
            for vertex in 0..count as usize {
                let of = primitive.influences.of(vertex);
                influences.push(
                    of.map(|(entry, weight)| (last - entry, weight))
                        .collect::<Vec<_>>(),
                );
            }
            primitive.influences = influences.into_iter().collect();
            parts.clips.reverse();
        });
        assert!(same.is_same(TOLERANCE), "{same:?}");
        assert!(same.turned_joints && same.poses > 100, "{same:?}");
    }

    #[test]
    fn a_clip_that_is_one_percent_too_fast_is_found() {
        let found = changed(|parts| {
            let clip = parts
                .clips
                .iter_mut()
                .find(|clip| clip.name() == "walk")
                .unwrap();
            let raw = clip.keys().raw().unwrap();
            let mut keys = Vec::new();
            for track in raw.tracks() {
                keys.push(Keys {
                    joint: track.joint,
                    channel: track.channel,
                    interpolation: track.interpolation,
                    times: raw.times_of(track).iter().map(|time| time / 1.01).collect(),
                    values: raw.values_of(track).to_vec(),
                });
            }
            let blend = clip.rotation_blend();
            *clip = Clip::new("walk", Some(clip.duration() / 1.01), blend, keys).unwrap();
        });
        assert!(!found.is_same(TOLERANCE), "{found:?}");
        assert!(found.farthest().error > 1e-3, "{found:?}");
        assert!(
            matches!(&found.farthest().motion, Motion::Clip { name, .. } if name == "walk"),
            "{found:?}"
        );
    }

    #[test]
    fn a_weight_of_another_joint_is_found_without_a_clip() {
        let swapped = |parts: &mut ModelParts| {
            parts.clips.clear();
            let primitive = &mut parts.primitives[0];
            let mut influences = Vec::new();
            for vertex in 0..primitive.positions.len() {
                influences.push(primitive.influences.of(vertex).collect::<Vec<_>>());
            }
            let blended = influences
                .iter_mut()
                .find(|of| of.len() > 1 && of[0].1 != of[1].1);
            let blended = blended.unwrap();
            (blended[0].1, blended[1].1) = (blended[1].1, blended[0].1);
            primitive.influences = influences.into_iter().collect();
        };
        let mut first = parts();
        first.clips.clear();
        let mut second = parts();
        swapped(&mut second);
        let [first, second] = [first, second].map(|parts| Model::new(parts).unwrap());
        let found = compare(first, second, TOLERANCE).unwrap();
        assert!(
            found.missing.is_empty() && !found.is_same(TOLERANCE),
            "{found:?}"
        );
        assert_eq!(found.farthest().motion, Motion::Turned);
    }

    #[test]
    fn a_clip_that_got_a_name_is_the_same() {
        let named = |name: &str| {
            let mut parts = parts();
            parts.clips.truncate(1);
            let raw = parts.clips[0].keys().raw().unwrap();
            let mut keys = Vec::new();
            for track in raw.tracks() {
                keys.push(Keys {
                    joint: track.joint,
                    channel: track.channel,
                    interpolation: track.interpolation,
                    times: raw.times_of(track).to_vec(),
                    values: raw.values_of(track).to_vec(),
                });
            }
            let blend = parts.clips[0].rotation_blend();
            parts.clips[0] = Clip::new(name, Some(parts.clips[0].duration()), blend, keys).unwrap();
            Model::new(parts).unwrap()
        };
        let same = compare(named(""), named("Anim_0"), TOLERANCE).unwrap();
        assert!(same.is_same(TOLERANCE), "{same:?}");
        let other = compare(named("walk"), named("Anim_0"), TOLERANCE).unwrap();
        assert!(!other.is_same(TOLERANCE), "{other:?}");
    }

    /// The walker with a vertex put where another is that other joints move.
    fn twins(with_uvs: bool, swapped: bool) -> Model {
        let mut parts = parts();
        let primitive = &mut parts.primitives[0];
        let count = primitive.positions.len();
        let mut influences = Vec::new();
        for vertex in 0..count {
            influences.push(primitive.influences.of(vertex).collect::<Vec<_>>());
        }
        let other = (1..count)
            .find(|&vertex| influences[vertex][0].0 != influences[0][0].0)
            .unwrap();
        primitive.positions[other] = primitive.positions[0];
        if let Some(normals) = &mut primitive.normals {
            normals[other] = normals[0];
        }
        primitive.uvs = with_uvs.then(|| {
            let across = |vertex| [vertex as f32 / count as f32, 0.0];
            (0..count).map(across).collect()
        });
        if swapped {
            influences.swap(0, other);
        }
        primitive.influences = influences.into_iter().collect();
        Model::new(parts).unwrap()
    }

    #[test]
    fn uvs_tell_vertices_apart_that_are_at_one_place() {
        let unseen = compare(twins(false, false), twins(false, true), TOLERANCE).unwrap();
        assert!(unseen.is_same(TOLERANCE), "{unseen:?}");
        let seen = compare(twins(true, false), twins(true, true), TOLERANCE).unwrap();
        assert!(!seen.other_uvs && !seen.is_same(TOLERANCE), "{seen:?}");
    }

    #[test]
    fn a_joint_that_is_gone_is_named() {
        let found = changed(|parts| {
            let skeleton = &parts.skeleton;
            let mut joints = Vec::new();
            for (joint, name) in skeleton.names().iter().enumerate() {
                let parent = skeleton.parents()[joint];
                joints.push(Joint {
                    name: if name == "head" {
                        String::new()
                    } else {
                        name.clone()
                    },
                    parent: (joint > 0).then_some(parent.into()),
                    rest: skeleton.rest_of(joint),
                });
            }
            parts.skeleton = Skeleton::new(joints).unwrap().0;
        });
        assert_eq!(
            found.missing,
            [(Side::Second, Missing::Joint("head".into()))]
        );
        assert!(!found.turned_joints);
    }

    #[test]
    fn clips_targets_and_vertices_that_are_gone_are_named() {
        let found = changed(|parts| {
            parts.clips.retain(|clip| clip.name() != "run");
            let primitive = &mut parts.primitives[0];
            primitive.positions[7][1] += 0.5;
        });
        let clip = (Side::Second, Missing::Clip("run".into()));
        assert!(found.missing.contains(&clip), "{:?}", found.missing);
        let vertices = (Side::Second, Missing::Vertices(1));
        assert!(found.missing.contains(&vertices), "{:?}", found.missing);

        let mut face = skinbench_characters::face(500, 0).unwrap().into_parts();
        let first = Model::new(face.clone()).unwrap();
        let name = std::mem::replace(&mut face.targets[3].name, "other".into());
        let found = compare(first, Model::new(face).unwrap(), TOLERANCE).unwrap();
        let targets = [
            (Side::Second, Missing::Target(name)),
            (Side::First, Missing::Target("other".into())),
        ];
        assert_eq!(found.missing, targets);
    }
}
