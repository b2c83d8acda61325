//! Built-in models with extreme hierarchies: a chain of 64 joints, and 63 joints under one root.
//!
//! A traversal of the hierarchy one joint at a time costs the same for both. Algorithms that work level by level, or
//! that give each joint a path to its root, have their worst case in one and their best case in the other.

use crate::curves::rotation;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Channel, Clip, Joint, Keys, Material, Model, ModelParts, PrimitiveData, RotationBlend, Rows,
    Skeleton, SkinData, Transform, affine_to_rows,
};
use std::f64::consts::TAU;

const JOINTS: u16 = 64;
/// Corners of each ring of the tubes.
const CORNERS: u32 = 8;
/// Length of the chain, and of each arm of the star, in metres.
const LENGTH: f64 = 1.6;
const RADIUS: f64 = 0.06;
const DURATION: f64 = 2.0;
const KEYS: usize = 31;

/// A chain of 64 joints along Y under a tube with four neighbouring joints per vertex. Its clip `sway` sends waves up
/// the chain.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn chain_64() -> Result<Model> {
    let step = LENGTH / f64::from(JOINTS);
    let mut joints = vec![joint(0, None, DQuat::IDENTITY, 0.0)];
    let mut inverse_binds = Vec::new();
    for index in 0..JOINTS {
        let back = DVec3::new(0.0, -step * f64::from(index), 0.0);
        inverse_binds.push(rows(DQuat::IDENTITY, back));
        if index > 0 {
            joints.push(joint(index, Some(index - 1), DQuat::IDENTITY, step));
        }
    }
    let mut tube = PrimitiveData::default();
    add_tube(&mut tube, DVec3::ZERO, DQuat::IDENTITY, 256, |along| {
        let at = along * f64::from(JOINTS) - 0.5;
        // A smooth bump over four joints, so that weights change smoothly along the tube.
        let first = libm::floor(at) as i32 - 1;
        let bump = [0, 1, 2, 3].map(|next| {
            let near = 1.0 - (f64::from(first + next) - at).abs() / 2.5;
            near * near
        });
        let sum: f64 = bump.iter().sum();
        let mut pairs = Vec::new();
        for (joint, weight) in (first..).zip(bump) {
            let joint = joint.clamp(0, i32::from(JOINTS) - 1) as u16;
            pairs.push((joint, (weight / sum) as f32));
        }
        pairs
    });
    let clip = clip("sway", |joint, phase| {
        let angle = 0.07 * libm::sin(TAU * (phase - f64::from(joint) / 40.0));
        rotation(DVec3::Z, angle)
    })?;
    model("chain-64", joints, inverse_binds, clip, tube)
}

/// One root with 63 joints around it, each with an arm. Its clip `pulse` nods every arm with a phase of its own.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn star_64() -> Result<Model> {
    let root = DVec3::new(0.0, LENGTH, 0.0);
    let mut joints = vec![joint(0, None, DQuat::IDENTITY, LENGTH)];
    let mut inverse_binds = vec![rows(DQuat::IDENTITY, DQuat::IDENTITY * -root)];
    let mut tubes = PrimitiveData::default();
    for arm in 1..JOINTS {
        let facing = facing(arm);
        joints.push(joint(arm, Some(0), facing, 0.0));
        add_tube(&mut tubes, root, facing, 5, |along| {
            let along = along as f32;
            vec![(arm, 0.25 + 0.75 * along), (0, 0.75 - 0.75 * along)]
        });
        let back = facing.conjugate();
        inverse_binds.push(rows(back, back * -root));
    }
    let clip = clip("pulse", |joint, phase| {
        if joint == 0 {
            return rotation(DVec3::Y, 0.4 * libm::sin(TAU * phase));
        }
        let nod = 0.35 * libm::sin(TAU * (phase + f64::from(joint) * 0.381_966));
        facing(joint) * rotation(DVec3::X, nod)
    })?;
    model("star-64", joints, inverse_binds, clip, tubes)
}

/// The rotation of an arm, counted from 1. Their directions are spread evenly over the sphere: a Fibonacci lattice.
fn facing(arm: u16) -> DQuat {
    let arm = f64::from(arm - 1);
    let y = 1.0 - (2.0 * arm + 1.0) / f64::from(JOINTS - 1);
    let around = arm * std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let flat = (1.0 - y * y).sqrt();
    let direction = DVec3::new(flat * libm::cos(around), y, flat * libm::sin(around));
    DQuat::from_rotation_arc(DVec3::Y, direction)
}

fn joint(index: u16, parent: Option<u16>, rotation: DQuat, up: f64) -> Joint {
    let translation = DVec3::new(0.0, up, 0.0).as_vec3();
    let rest = Transform {
        rotation: rotation.as_quat(),
        translation,
        ..Transform::IDENTITY
    };
    Joint::new(format!("joint_{index:02}"), parent.map(usize::from), rest)
}

fn rows(rotation: DQuat, translation: DVec3) -> Rows {
    let [x, y, z] = DVec3::AXES.map(|axis| rotation * axis);
    affine_to_rows(&DAffine3 {
        matrix3: DMat3::from_cols(x, y, z),
        translation,
    })
}

/// A clip that rotates every joint; `pose` returns a rotation at a phase from 0 to 1, and takes 0 for both ends.
fn clip(name: &str, pose: impl Fn(u16, f64) -> DQuat) -> Result<Clip> {
    let mut tracks = Vec::new();
    for joint in 0..JOINTS {
        let mut keys = Keys::linear(joint, Channel::Rotation, Vec::new(), Vec::new());
        for key in 0..KEYS {
            let phase = key as f64 / (KEYS - 1) as f64;
            keys.times.push((phase * DURATION) as f32);
            // The last key repeats the first, so that the loop closes exactly.
            let rotation = pose(joint, phase % 1.0).as_quat();
            keys.values.extend(rotation.to_array());
        }
        tracks.push(keys);
    }
    Clip::new(name, None, RotationBlend::Slerp, tracks)
}

/// A model of tubes, whose palette has every joint, in the order of `joints`. The joints of the clip are those of
/// the skeleton, which is sorted depth first.
fn model(
    name: &str,
    joints: Vec<Joint>,
    inverse_binds: Vec<Rows>,
    clip: Clip,
    mut tubes: PrimitiveData,
) -> Result<Model> {
    let indices = std::mem::take(&mut tubes.indices);
    tubes.add_subset(0, indices);
    let (skeleton, skin_joints) = Skeleton::new(joints)?;
    let skin = SkinData {
        name: name.into(),
        joints: skin_joints,
        inverse_binds,
    };
    let mut parts = ModelParts::new(name, skeleton, skin, vec![tubes]);
    parts.clips.push(clip);
    parts.materials.push(Material {
        name: name.into(),
        base_color: [0.75, 0.35, 0.2, 1.0],
        ..Material::default()
    });
    Model::new(parts)
}

/// Adds an open tube that tapers to its ends, from `start` along the rotated Y axis; `pairs` returns the influences at
/// a position along it, 0 to 1.
fn add_tube(
    tubes: &mut PrimitiveData,
    start: DVec3,
    facing: DQuat,
    rings: u32,
    pairs: impl Fn(f64) -> Vec<(u16, f32)>,
) {
    let PrimitiveData {
        positions,
        normals,
        tangents,
        uvs,
        ..
    } = tubes;
    let normals = normals.get_or_insert_default();
    let tangents = tangents.get_or_insert_default();
    let uvs = uvs.get_or_insert_default();
    for ring in 0..rings {
        let along = f64::from(ring) / f64::from(rings - 1);
        let radius = RADIUS * (1.05 - along);
        for corner in 0..CORNERS {
            let around = TAU * f64::from(corner) / f64::from(CORNERS);
            let out = DVec3::new(libm::cos(around), 0.0, libm::sin(around));
            let place = out * radius + DVec3::new(0.0, along * LENGTH, 0.0);
            let tangent = facing * DVec3::new(-out.z, 0.0, out.x);
            let first = positions.len() as u32;
            positions.push((start + facing * place).as_vec3().to_array());
            normals.push((facing * out).as_vec3().to_array());
            tangents.push(tangent.as_vec3().extend(1.0).to_array());
            uvs.push([(around / TAU) as f32, along as f32]);
            tubes.influences.push(pairs(along));
            if ring > 0 {
                let mut next = first + 1;
                if corner + 1 == CORNERS {
                    next -= CORNERS;
                }
                let [a, b] = [first - CORNERS, next - CORNERS];
                tubes.indices.extend([a, first, next, a, next, b]);
            }
        }
    }
    tubes.dumped_vertices = positions.len() as u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_kernels::model::NO_PARENT;

    #[test]
    fn hierarchies_are_as_extreme_as_their_names() {
        let (chain, star) = (chain_64().unwrap(), star_64().unwrap());
        assert_eq!(
            chain.skeleton().parents(),
            (0..64)
                .map(|j| if j == 0 { NO_PARENT } else { j - 1 })
                .collect::<Vec<u16>>()
        );
        assert_eq!(star.skeleton().parents()[0], NO_PARENT);
        assert_eq!(star.skeleton().parents()[1..], [0; 63]);
        assert_eq!(chain.mesh().max_influences(), 4);
        for model in [chain, star] {
            assert_eq!(model.clips().len(), 1);
            assert_eq!(model.notes().lines().count(), 0);
            // At rest the palette is the identity: the mesh is where it was modelled.
            let (mut min, mut max) = (glam::Vec3::INFINITY, glam::Vec3::NEG_INFINITY);
            for p in model.mesh().positions() {
                (min, max) = (min.min((*p).into()), max.max((*p).into()));
            }
            assert!(
                min.distance(model.bounds().min) < 1e-5 && max.distance(model.bounds().max) < 1e-5
            );
        }
    }
}
