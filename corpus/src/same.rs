//! Whether two models are the same character: every vertex of one is where some vertex of the other is, at rest, throughout
//! each clip, for each morph target, and with joints turned that both have.
//!
//! Files may store vertices, joints and nodes in any order, merge equal vertices, and keep numbers in other units: what is
//! compared is where the vertices are shown.

use glam::{DVec3, Quat, Vec3};
use skinbench_kernels::crowd::{Crowd, Expression, Layer, REST};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{
    Channel, Clip, IDENTITY_ROWS, JointTransform, Keys, Model, RotationBlend, TargetWeight,
    Transform,
};
use skinbench_kernels::reference::{Blending, ReferencePose, shown};
use skinbench_kernels::vertex::Normals;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// Poses that are compared at most.
const POSES: usize = 256;
/// Times of a clip that are compared at least, if it has as many keys.
const FEWEST_TIMES: usize = 8;
/// Distance at rest within which vertices may be the same, over the diagonal, if the tolerance is no larger.
const NEAR: f64 = 1e-3;
/// Cosine of the widest angle between normals of vertices that may be the same.
const SAME_SIDE: f64 = 0.97;
/// Difference of local transforms at rest below which joints can be turned alike.
const SAME_REST: f32 = 1e-4;
/// Angle by which the first joint is turned, in radians, and by how much more each next one.
const TURN: f32 = 0.2;
const MORE: f32 = 0.037;

/// The file of the two that lacks something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first file.
    First,
    /// The second file.
    Second,
}

/// Something that one file has and the other lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// A joint that moves vertices, by its name.
    Joint(String),
    /// A clip, by its name.
    Clip(String),
    /// A morph target, by its name.
    Target(String),
    /// Vertices that are shown where the other file has none, at rest: how many.
    Vertices(usize),
}

/// Where vertices are farthest apart.
#[derive(Debug, Clone, PartialEq)]
pub struct FarthestApart {
    /// Distance over the diagonal.
    pub error: f64,
    /// Where the vertex is at rest in its file.
    pub at_rest: DVec3,
    /// The pose: "at rest", a clip with a time, a morph target, or joints turned.
    pub pose: String,
}

/// The difference of two models.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The unit of errors: diagonal of the box around the first model.
    pub diagonal: f64,
    /// What a file lacks.
    pub missing: Vec<(Side, Missing)>,
    /// The largest distance between vertices of which each file has one.
    pub farthest: FarthestApart,
    /// Number of poses that were compared.
    pub poses: usize,
    /// `false` if joints could not be turned alike: names or transforms at rest differ.
    pub turned_joints: bool,
}

impl Difference {
    /// Returns whether it is the same character, to a distance over the diagonal.
    pub fn is_same(&self, tolerance: f64) -> bool {
        self.missing.is_empty() && self.farthest.error <= tolerance
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Joint(name) => write!(f, "joint {name:?}"),
            Self::Clip(name) => write!(f, "clip {name:?}"),
            Self::Target(name) => write!(f, "morph target {name:?}"),
            Self::Vertices(count) => write!(f, "{count} vertices"),
        }
    }
}

/// One pose of a model.
#[derive(Clone, Copy)]
struct Pose {
    clip: u32,
    time: f32,
    target: Option<u32>,
}

const AT_REST: Pose = Pose {
    clip: REST,
    time: 0.0,
    target: None,
};

/// Compares two models. Vertices further apart at rest than `tolerance` times the diagonal, or a thousandth of it, are
/// missing.
///
/// # Errors
/// Joints cannot be turned, as their number is too large.
pub fn compare(first: Model, second: Model, tolerance: f64) -> Result<Difference> {
    let mut missing = Vec::new();
    let mut models = [first, second];
    let turned_joints = add_turns(&mut models)?;
    let [a, b] = models.map(Arc::new);
    lacks(
        &mut missing,
        joint_names(&a),
        joint_names(&b),
        Missing::Joint,
    );
    let mut poses = vec![(AT_REST, AT_REST, "at rest".to_owned())];
    pair_targets(&a, &b, &mut missing, &mut poses);
    pair_clips(&a, &b, &mut missing, &mut poses);

    let [mut poses_a, mut poses_b] = [Vec::new(), Vec::new()];
    for (pose_a, pose_b, _) in &poses {
        poses_a.push(*pose_a);
        poses_b.push(*pose_b);
    }
    let a = Shown::new(&a, &poses_a)?;
    let b = Shown::new(&b, &poses_b)?;
    let near = a.diagonal * NEAR.max(tolerance);
    let mut farthest = Farthest::default();
    for (side, from, to) in [(Side::Second, &a, &b), (Side::First, &b, &a)] {
        let alone = farthest.include(from, to, near);
        if alone > 0 {
            missing.push((side, Missing::Vertices(alone)));
        }
    }
    Ok(Difference {
        diagonal: a.diagonal,
        missing,
        farthest: FarthestApart {
            error: farthest.distance / a.diagonal,
            at_rest: farthest.at_rest,
            pose: poses[farthest.pose].2.clone(),
        },
        poses: poses.len(),
        turned_joints,
    })
}

/// Names that one file has and the other lacks. Those without a name are not counted.
fn lacks(
    missing: &mut Vec<(Side, Missing)>,
    a: BTreeSet<&str>,
    b: BTreeSet<&str>,
    kind: fn(String) -> Missing,
) {
    for (side, have, lack) in [(Side::Second, &a, &b), (Side::First, &b, &a)] {
        for name in have.difference(lack) {
            if !name.is_empty() {
                missing.push((side, kind((*name).to_owned())));
            }
        }
    }
}

fn joint_names(model: &Model) -> BTreeSet<&str> {
    let names = model.skeleton().names();
    let joints = model.palette_joints().iter();
    joints
        .map(|&joint| names[usize::from(joint)].as_str())
        .collect()
}

/// Poses in which one target has the weight 1, by its name.
fn pair_targets(
    a: &Model,
    b: &Model,
    missing: &mut Vec<(Side, Missing)>,
    poses: &mut Vec<(Pose, Pose, String)>,
) {
    let names = |model: &'_ Model| -> BTreeMap<String, u32> {
        let list = model.mesh().targets().list().iter();
        list.zip(0..)
            .map(|(target, index)| (target.name.clone(), index))
            .collect()
    };
    let [names_a, names_b] = [names(a), names(b)];
    lacks(
        missing,
        names_a.keys().map(String::as_str).collect(),
        names_b.keys().map(String::as_str).collect(),
        Missing::Target,
    );
    for (name, &target_a) in names_a.iter().take(POSES / 4) {
        let Some(&target_b) = names_b.get(name) else {
            continue;
        };
        let pinned = |target| Pose {
            target: Some(target),
            ..AT_REST
        };
        let pose = format!("morph target {name:?} at 1");
        poses.push((pinned(target_a), pinned(target_b), pose));
    }
}

/// Times of both files' clips of a name, or without one, of the same number.
fn pair_clips(
    a: &Model,
    b: &Model,
    missing: &mut Vec<(Side, Missing)>,
    poses: &mut Vec<(Pose, Pose, String)>,
) {
    let names = |model: &'_ Model| -> Vec<String> {
        let mut names = Vec::new();
        for (index, clip) in model.clips().iter().enumerate() {
            let name = clip.name();
            let is_taken = name.is_empty() || names.iter().any(|known| known == name);
            names.push(if is_taken {
                index.to_string()
            } else {
                name.to_owned()
            });
        }
        names
    };
    let [names_a, names_b] = [names(a), names(b)];
    lacks(
        missing,
        names_a.iter().map(String::as_str).collect(),
        names_b.iter().map(String::as_str).collect(),
        Missing::Clip,
    );
    let most = (POSES / names_a.len().max(1)).max(FEWEST_TIMES);
    for (clip_a, name) in names_a.iter().enumerate() {
        let Some(clip_b) = names_b.iter().position(|other| other == name) else {
            continue;
        };
        for time in times(&a.clips()[clip_a], &b.clips()[clip_b], most) {
            let held = |clip: usize| Pose {
                clip: clip as u32,
                time,
                target: None,
            };
            let pose = if *name == TURNED {
                "with its joints turned".into()
            } else {
                format!("in clip {name:?} at {time} s")
            };
            poses.push((held(clip_a), held(clip_b), pose));
        }
    }
}

/// Times of keys of two clips and halfway between them, at most so many.
fn times(a: &Clip, b: &Clip, most: usize) -> Vec<f32> {
    let mut keys = Vec::new();
    for clip in [a, b] {
        if let Some(raw) = clip.keys().raw() {
            keys.extend(raw.timelines().all());
        }
        for track in clip.weights() {
            keys.extend(&track.times);
        }
        keys.push(clip.duration());
    }
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let mut times = Vec::new();
    for (at, &key) in keys.iter().enumerate() {
        if at > 0 {
            times.push(keys[at - 1].midpoint(key));
        }
        times.push(key);
    }
    let step = times.len().div_ceil(most).max(1);
    let last = times.last().copied();
    times.into_iter().step_by(step).chain(last).collect()
}

/// Name of the clip that turns joints.
const TURNED: &str = "skinbench: joints turned";

/// Adds a clip to both models that turns each joint that moves vertices by an angle of its own, so that a weight counts
/// that no clip shows. Does nothing unless both have the same joints, with the same transforms at rest.
fn add_turns(models: &mut [Model; 2]) -> Result<bool> {
    let [a, b] = [&models[0], &models[1]].map(named_joints);
    let (Some(a), Some(b)) = (a, b) else {
        return Ok(false);
    };
    let is_alike = a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|((name_a, (_, rest_a)), (name_b, (_, rest_b)))| {
                name_a == name_b
                    && rest_a.translation.distance(rest_b.translation)
                        <= SAME_REST * rest_a.translation.length().max(1.0)
                    && rest_a.rotation.dot(rest_b.rotation).abs() >= 1.0 - SAME_REST
                    && rest_a.scale.distance(rest_b.scale) <= SAME_REST * rest_a.scale.length()
            });
    if !is_alike {
        return Ok(false);
    }
    for (model, joints) in models.iter_mut().zip([a, b]) {
        let mut keys = Vec::new();
        for (index, (joint, rest)) in joints.values().enumerate() {
            let axis = Vec3::new(1.0, (index % 5) as f32, (index % 3) as f32).normalize();
            let turn = Quat::from_axis_angle(axis, TURN + MORE * (index % 16) as f32);
            let rotation = (rest.rotation * turn).to_array();
            keys.push(Keys::linear(
                *joint,
                Channel::Rotation,
                vec![0.0],
                rotation.to_vec(),
            ));
        }
        model.add_clip(Clip::new(TURNED, None, RotationBlend::Slerp, keys)?)?;
    }
    Ok(true)
}

/// Joints that move vertices, by name, with their transforms at rest; `None` if names are missing or not unique, or if a
/// joint has a matrix.
fn named_joints(model: &Model) -> Option<BTreeMap<String, (u16, Transform)>> {
    let mut named = BTreeMap::new();
    let joints: BTreeSet<u16> = model.palette_joints().iter().copied().collect();
    for joint in joints {
        let name = model.skeleton().names()[usize::from(joint)].clone();
        let JointTransform::Transform(rest) = model.skeleton().rest_of(joint.into()) else {
            return None;
        };
        if name.is_empty() || named.insert(name, (joint, rest)).is_some() {
            return None;
        }
    }
    Some(named)
}

/// The vertices of a model in some poses.
struct Shown {
    /// `[vertex][pose]`.
    positions: Vec<Vec<DVec3>>,
    /// At rest; `None` if the file has none.
    normals: Option<Vec<DVec3>>,
    diagonal: f64,
}

impl Shown {
    fn new(model: &Arc<Model>, poses: &[Pose]) -> Result<Self> {
        let problem = |error: &dyn fmt::Display| DataError::new(model.name(), error.to_string());
        let held = poses
            .iter()
            .map(|pose| (IDENTITY_ROWS, [Layer::held(pose.clip, pose.time)]));
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::clone(model), held)
            .map_err(|error| problem(&error))?;
        if poses.iter().any(|pose| pose.target.is_some()) {
            let mut pinned = Vec::new();
            for pose in poses {
                let weight = |target| TargetWeight {
                    target,
                    weight: 1.0,
                };
                pinned.push(pose.target.map(weight));
            }
            let expressions = pinned.iter().map(|pinned| Expression {
                pinned: pinned.as_slice(),
                alone: pinned.is_some(),
            });
            crowd = crowd
                .with_expressions(expressions)
                .map_err(|error| problem(&error))?;
        }
        let count = model.mesh().vertex_count();
        let mut positions = vec![Vec::with_capacity(poses.len()); count];
        let mut normals = Vec::new();
        for instance in 0..poses.len() as u32 {
            let pose = ReferencePose::new(&crowd, instance, 0);
            for (vertex, positions) in positions.iter_mut().enumerate() {
                let skinned = pose.skin(model, vertex, Normals::Unit, Blending::Linear);
                positions.push(skinned.position);
                if instance == 0 {
                    normals.push(skinned.normal);
                }
            }
        }
        let has_normals = model.mesh().primitives().iter().all(|p| p.has_normals);
        Ok(Self {
            positions,
            normals: has_normals.then_some(normals),
            diagonal: shown(&crowd, &crowd.groups()[0]).diagonal,
        })
    }

    /// Vertices by the cell that they are in at rest.
    fn cells(&self, edge: f64) -> HashMap<[i64; 3], Vec<usize>> {
        let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
        for (vertex, positions) in self.positions.iter().enumerate() {
            cells
                .entry(cell(positions[0], edge))
                .or_default()
                .push(vertex);
        }
        cells
    }

    /// Returns whether two vertices look to the same side at rest, as far as is known.
    fn faces_as(&self, vertex: usize, other: &Self, other_vertex: usize) -> bool {
        match (&self.normals, &other.normals) {
            (Some(a), Some(b)) => {
                let [a, b] = [a[vertex], b[other_vertex]];
                a == DVec3::ZERO || b == DVec3::ZERO || a.dot(b) >= SAME_SIDE
            }
            _ => true,
        }
    }
}

fn cell(position: DVec3, edge: f64) -> [i64; 3] {
    (position / edge).floor().to_array().map(|c| c as i64)
}

/// The largest distance so far.
#[derive(Default)]
struct Farthest {
    distance: f64,
    at_rest: DVec3,
    pose: usize,
}

impl Farthest {
    /// Compares each vertex with the one of the other model that stays nearest to it, among those that are near at rest.
    /// Returns the number of vertices without any.
    fn include(&mut self, from: &Shown, to: &Shown, near: f64) -> usize {
        let cells = to.cells(near);
        let mut alone = 0;
        for (vertex, positions) in from.positions.iter().enumerate() {
            let mut nearest: Option<(f64, usize)> = None;
            let [x, y, z] = cell(positions[0], near);
            for index in 0..27 {
                let cell = [x + index % 3 - 1, y + index / 3 % 3 - 1, z + index / 9 - 1];
                for &other in cells.get(&cell).into_iter().flatten() {
                    let others = &to.positions[other];
                    if positions[0].distance(others[0]) > near || !from.faces_as(vertex, to, other)
                    {
                        continue;
                    }
                    let mut apart = (0.0, 0);
                    for (pose, (a, b)) in positions.iter().zip(others).enumerate() {
                        let distance = a.distance(*b);
                        if distance > apart.0 {
                            apart = (distance, pose);
                        }
                    }
                    if nearest.is_none_or(|nearest| apart.0 < nearest.0) {
                        nearest = Some(apart);
                    }
                }
            }
            match nearest {
                None => alone += 1,
                Some((distance, pose)) if distance > self.distance => {
                    self.distance = distance;
                    self.pose = pose;
                    self.at_rest = positions[0];
                }
                Some(_) => {}
            }
        }
        alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_characters::walker;
    use skinbench_kernels::model::{Joint, ModelParts, Skeleton};

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
        assert!(found.farthest.error > 1e-3, "{found:?}");
        assert!(
            found.farthest.pose.starts_with("in clip \"walk\""),
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
        assert_eq!(found.farthest.pose, "with its joints turned");
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
