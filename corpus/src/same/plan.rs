//! The poses in which two models are compared, and what one of them lacks.

use glam::{Quat, Vec3};
use skinbench_kernels::crowd::REST;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Channel, Clip, JointTransform, Keys, Model, RotationBlend, Transform,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Poses that are compared at most.
const POSES: usize = 256;
/// Times of a clip that are compared at least, if it has as many keys.
const FEWEST_TIMES: usize = 8;
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

/// What moves vertices in some of the poses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Motion {
    /// Nothing.
    Rest,
    /// Joints that are turned, whether a clip turns them or not.
    Turned,
    /// A morph target of this name, at 1.
    Target(String),
    /// A clip.
    Clip {
        /// Its name, or its number if it has none.
        name: String,
        /// Number of times at which the first and the second file have keys.
        keys: [usize; 2],
    },
}

/// One pose of a model.
#[derive(Clone, Copy)]
pub struct Pose {
    pub clip: u32,
    pub time: f32,
    pub target: Option<u32>,
}

const AT_REST: Pose = Pose {
    clip: REST,
    time: 0.0,
    target: None,
};

/// What is compared.
pub struct Plan {
    pub motions: Vec<Motion>,
    /// Poses of the first and the second model, each with the index of its motion. The first pose is the rest.
    pub poses: Vec<([Pose; 2], usize)>,
    pub missing: Vec<(Side, Missing)>,
}

impl Plan {
    pub fn new(a: &Model, b: &Model) -> Self {
        let mut plan = Self {
            motions: vec![Motion::Rest],
            poses: vec![([AT_REST; 2], 0)],
            missing: Vec::new(),
        };
        plan.lacks(joint_names(a), joint_names(b), Missing::Joint);
        plan.pair_targets(a, b);
        plan.pair_clips(a, b);
        plan
    }

    /// Names that one file has and the other lacks. Those without a name are not counted.
    fn lacks(&mut self, a: BTreeSet<&str>, b: BTreeSet<&str>, kind: fn(String) -> Missing) {
        for (side, have, lack) in [(Side::Second, &a, &b), (Side::First, &b, &a)] {
            for name in have.difference(lack) {
                if !name.is_empty() {
                    self.missing.push((side, kind((*name).to_owned())));
                }
            }
        }
    }

    /// Poses in which one target has the weight 1, by its name.
    fn pair_targets(&mut self, a: &Model, b: &Model) {
        let [names_a, names_b] = [target_names(a), target_names(b)];
        self.lacks(
            names_a.keys().copied().collect(),
            names_b.keys().copied().collect(),
            Missing::Target,
        );
        for (name, &target_a) in names_a.iter().take(POSES / 4) {
            let Some(&target_b) = names_b.get(name) else {
                continue;
            };
            let poses = [target_a, target_b].map(|target| Pose {
                target: Some(target),
                ..AT_REST
            });
            self.poses.push((poses, self.motions.len()));
            self.motions.push(Motion::Target((*name).to_owned()));
        }
    }

    /// Times of both files' clips of a name, or without one, of the same number.
    fn pair_clips(&mut self, a: &Model, b: &Model) {
        let [names_a, mut names_b] = [clip_names(a), clip_names(b)];
        // Exporters name what has no name.
        for (index, (clip_a, clip_b)) in a.clips().iter().zip(b.clips()).enumerate() {
            let is_unnamed = clip_a.name().is_empty() || clip_b.name().is_empty();
            let [name_a, name_b] = [&names_a[index], &names_b[index]];
            if is_unnamed && !names_a.contains(name_b) && !names_b.contains(name_a) {
                names_b[index] = name_a.clone();
            }
        }
        self.lacks(
            names_a.iter().map(String::as_str).collect(),
            names_b.iter().map(String::as_str).collect(),
            Missing::Clip,
        );
        let most = (POSES / names_a.len().max(1)).max(FEWEST_TIMES);
        for (clip_a, name) in names_a.iter().enumerate() {
            let Some(clip_b) = names_b.iter().position(|other| other == name) else {
                continue;
            };
            let keys = [&a.clips()[clip_a], &b.clips()[clip_b]].map(key_times);
            for time in times(&keys, most) {
                let poses = [clip_a, clip_b].map(|clip| Pose {
                    clip: clip as u32,
                    time,
                    target: None,
                });
                self.poses.push((poses, self.motions.len()));
            }
            self.motions.push(if *name == TURNED {
                Motion::Turned
            } else {
                Motion::Clip {
                    name: name.clone(),
                    keys: keys.map(|keys| keys.len()),
                }
            });
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

fn target_names(model: &Model) -> BTreeMap<&str, u32> {
    let targets = model.mesh().targets().list().iter();
    targets
        .zip(0..)
        .map(|(target, index)| (target.name.as_str(), index))
        .collect()
}

fn clip_names(model: &Model) -> Vec<String> {
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
}

/// Times of a clip's keys, by time, each one once.
fn key_times(clip: &Clip) -> Vec<f32> {
    let mut keys = Vec::new();
    if let Some(raw) = clip.keys().raw() {
        keys.extend(raw.timelines().all());
    }
    for track in clip.weights() {
        keys.extend(&track.times);
    }
    keys.push(clip.duration());
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    keys
}

/// Times of keys of two clips and halfway between them, at most so many.
fn times(keys: &[Vec<f32>; 2], most: usize) -> Vec<f32> {
    let mut keys = keys.concat();
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
pub fn add_turns(models: &mut [Model; 2]) -> Result<bool> {
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
