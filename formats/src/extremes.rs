//! Built-in models with extreme hierarchies: a chain of 64 joints, and 63 joints under one root.
//!
//! A traversal of the hierarchy one joint at a time costs the same for both. Algorithms that work level by level, or
//! that give each joint a path to its root, have their worst case in one and their best case in the other.

use crate::curves::rotation;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use skinbench_kernels::model::{
    Channel, Clip, Joint, Keys, Material, Model, ModelError, ModelParts, PrimitiveData,
    RotationBlend, Rows, Skeleton, SkinData, Subset, Transform, affine_to_rows,
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
pub fn chain_64() -> Result<Model, ModelError> {
    let step = LENGTH / f64::from(JOINTS);
    let joints = (0..JOINTS).map(|j| {
        joint(
            j,
            (j > 0).then(|| j - 1),
            DQuat::IDENTITY,
            if j > 0 { step } else { 0.0 },
        )
    });
    let mut tube = PrimitiveData::default();
    add_tube(&mut tube, DVec3::ZERO, DQuat::IDENTITY, 256, |along| {
        let at = along * f64::from(JOINTS) - 0.5;
        // A smooth bump over four joints, so that weights change smoothly along the tube.
        let first = libm::floor(at) as i32 - 1;
        let pairs = (first..first + 4).map(|j| {
            let near = 1.0 - (f64::from(j) - at).abs() / 2.5;
            (j.clamp(0, i32::from(JOINTS) - 1) as u16, near * near)
        });
        let sum: f64 = pairs.clone().map(|(_, w)| w).sum();
        pairs.map(|(j, w)| (j, (w / sum) as f32)).collect()
    });
    let inverse_bind = |j: u16| rows(DQuat::IDENTITY, DVec3::new(0.0, -step * f64::from(j), 0.0));
    let angle = |j: u16, phase: f64| 0.07 * libm::sin(TAU * (phase - f64::from(j) / 40.0));
    let clip = clip("sway", |j, phase| rotation(DVec3::Z, angle(j, phase)));
    model(
        "chain-64",
        joints.collect(),
        (0..JOINTS).map(inverse_bind).collect(),
        clip?,
        tube,
    )
}

/// One root with 63 joints around it, each with an arm. Its clip `pulse` nods every arm with a phase of its own.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn star_64() -> Result<Model, ModelError> {
    let arms = JOINTS - 1;
    // Directions spread evenly over the sphere: a Fibonacci lattice.
    let direction = |arm: u16| {
        let y = 1.0 - (2.0 * f64::from(arm) + 1.0) / f64::from(arms);
        let around = f64::from(arm) * std::f64::consts::PI * (3.0 - 5f64.sqrt());
        let flat = (1.0 - y * y).sqrt();
        DVec3::new(flat * libm::cos(around), y, flat * libm::sin(around))
    };
    let facing = |arm: u16| DQuat::from_rotation_arc(DVec3::Y, direction(arm));
    let root = DVec3::new(0.0, LENGTH, 0.0);
    let mut joints = vec![joint(0, None, DQuat::IDENTITY, LENGTH)];
    joints.extend((1..JOINTS).map(|j| joint(j, Some(0), facing(j - 1), 0.0)));
    let mut tube = PrimitiveData::default();
    for arm in 0..arms {
        add_tube(&mut tube, root, facing(arm), 5, |along| {
            let own = along.clamp(0.0, 1.0) as f32;
            vec![(arm + 1, 0.25 + 0.75 * own), (0, 0.75 - 0.75 * own)]
        });
    }
    let inverse_bind = |j: u16| {
        let back = if j == 0 {
            DQuat::IDENTITY
        } else {
            facing(j - 1).conjugate()
        };
        rows(back, back * -root)
    };
    let nod = |j: u16, phase: f64| 0.35 * libm::sin(TAU * (phase + f64::from(j) * 0.381_966));
    let clip = clip("pulse", |j, phase| match j {
        0 => rotation(DVec3::Y, 0.4 * libm::sin(TAU * phase)),
        _ => facing(j - 1) * rotation(DVec3::X, nod(j, phase)),
    });
    model(
        "star-64",
        joints,
        (0..JOINTS).map(inverse_bind).collect(),
        clip?,
        tube,
    )
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
    let matrix3 = DMat3::from_cols(
        rotation * DVec3::X,
        rotation * DVec3::Y,
        rotation * DVec3::Z,
    );
    affine_to_rows(&DAffine3 {
        matrix3,
        translation,
    })
}

/// A clip that rotates every joint; `pose` returns a rotation at a phase from 0 to 1, and takes 0 for both ends.
fn clip(name: &str, pose: impl Fn(u16, f64) -> DQuat) -> Result<Clip, ModelError> {
    let phases: Vec<f64> = (0..KEYS).map(|k| k as f64 / (KEYS - 1) as f64).collect();
    let keys = (0..JOINTS).map(|joint| {
        let times = phases
            .iter()
            .map(|phase| (phase * DURATION) as f32)
            .collect();
        // The last key repeats the first, so that the loop closes exactly.
        let values = phases
            .iter()
            .flat_map(|phase| pose(joint, phase % 1.0).as_quat().to_array())
            .collect();
        Keys::linear(joint, Channel::Rotation, times, values)
    });
    Clip::new(name, None, RotationBlend::Slerp, keys.collect())
}

/// A model of tubes, whose palette has every joint, in the order of `joints`. The joints of the clip are those of
/// the skeleton, which is sorted depth first.
fn model(
    name: &str,
    joints: Vec<Joint>,
    inverse_binds: Vec<Rows>,
    clip: Clip,
    tubes: PrimitiveData,
) -> Result<Model, ModelError> {
    let (skeleton, skin_joints) = Skeleton::new(joints)?;
    let skin = SkinData {
        name: name.into(),
        joints: skin_joints,
        inverse_binds,
    };
    let material = Material {
        name: name.into(),
        base_color: [0.75, 0.35, 0.2, 1.0],
        ..Material::default()
    };
    let parts = ModelParts::new(name, skeleton, skin, vec![tubes]);
    Model::new(ModelParts {
        clips: vec![clip],
        materials: vec![material],
        ..parts
    })
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
    for ring in 0..rings {
        let along = f64::from(ring) / f64::from(rings - 1);
        let radius = RADIUS * (1.05 - along);
        for corner in 0..CORNERS {
            let around = TAU * f64::from(corner) / f64::from(CORNERS);
            let out = DVec3::new(libm::cos(around), 0.0, libm::sin(around));
            let float = |v: DVec3| v.to_array().map(|v| v as f32);
            let tangent = float(facing * DVec3::new(-out.z, 0.0, out.x));
            let first = tubes.positions.len() as u32;
            tubes.positions.push(float(
                start + facing * (out * radius + DVec3::new(0.0, along * LENGTH, 0.0)),
            ));
            tubes
                .normals
                .get_or_insert_default()
                .push(float(facing * out));
            tubes
                .tangents
                .get_or_insert_default()
                .push([tangent[0], tangent[1], tangent[2], 1.0]);
            tubes
                .uvs
                .get_or_insert_default()
                .push([(around / TAU) as f32, along as f32]);
            tubes.influences.push(pairs(along));
            if ring > 0 {
                let next = if corner + 1 == CORNERS {
                    first + 1 - CORNERS
                } else {
                    first + 1
                };
                let (a, b) = (first - CORNERS, next - CORNERS);
                tubes.indices.extend([a, first, next, a, next, b]);
            }
        }
    }
    tubes.subsets = vec![Subset {
        material: 0,
        indices: 0..tubes.indices.len() as u32,
    }];
    tubes.dumped_vertices = tubes.positions.len() as u32;
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
            assert!(model.repairs().is_empty(), "{:?}", model.repairs());
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
