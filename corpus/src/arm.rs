//! The character that most assets change in one respect: an arm of two joints.

use crate::gltf_file::{Accessor, Component, GltfFile};
use glam::{DQuat, DVec3, Vec3};
use serde_json::json;

/// Node of the mesh, node of the lower joint, and that of the upper joint, which is its child.
pub const MESH: usize = 0;
/// The lower joint.
pub const LOWER: usize = 1;
/// The upper joint, a child of the lower one.
pub const UPPER: usize = 2;

/// Accessors of the arm.
pub const POSITIONS: usize = 0;
/// Normals.
pub const NORMALS: usize = 1;
/// Tangents.
pub const TANGENTS: usize = 2;
/// Joints of each vertex.
pub const JOINTS: usize = 3;
/// Weights of each vertex.
pub const WEIGHTS: usize = 4;
/// Triangles.
pub const INDICES: usize = 5;
/// Inverse bind matrices of both joints.
pub const BINDS: usize = 6;
/// Times of the animation's keys.
pub const TIMES: usize = 7;
/// Rotations of the upper joint.
pub const ROTATIONS: usize = 8;
/// Translations of the lower joint.
pub const TRANSLATIONS: usize = 9;

/// Height of the upper joint above the origin, in the bind pose.
const ELBOW: f32 = 1.0;
/// Height of the lower joint.
const SHOULDER: f32 = 0.25;

/// Times on keys and halfway between them, where chord and arc agree: only assets that are for it tell them apart. The
/// last key is left out, because players that loop show the first one there.
pub const MOMENTS: &[f32] = &[0.0, 0.5, 1.0, 1.5];

/// Corners of the arm's three rings, from the lowest up.
pub fn positions() -> Vec<[f32; 3]> {
    let mut positions = Vec::new();
    for ring in 0u8..3 {
        for [x, z] in [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]] {
            positions.push([0.25 * x, ring.into(), 0.25 * z]);
        }
    }
    positions
}

/// Normals, which point away from the arm's axis.
pub fn normals() -> Vec<[f32; 3]> {
    let outward = |[x, _, z]: [f32; 3]| Vec3::new(x, 0.0, z).normalize().to_array();
    positions().into_iter().map(outward).collect()
}

/// Weights of the lower and the upper joint.
pub fn weights() -> Vec<[f32; 4]> {
    let mut weights = vec![[1.0, 0.0, 0.0, 0.0]; 4];
    weights.extend([[0.75, 0.25, 0.0, 0.0]; 2]);
    weights.extend([[0.25, 0.75, 0.0, 0.0]; 2]);
    weights.extend([[0.0, 1.0, 0.0, 0.0]; 4]);
    weights
}

/// Joints of each vertex: those without a weight are 0.
pub fn joints() -> Vec<[f64; 4]> {
    let mut joints = Vec::new();
    for weights in weights() {
        let upper = if weights[1] > 0.0 { 1.0 } else { 0.0 };
        joints.push([0.0, upper, 0.0, 0.0]);
    }
    joints
}

/// Triangles between the rings.
pub fn triangles() -> Vec<[f64; 1]> {
    let mut corners = Vec::new();
    for ring in 0u8..2 {
        for side in 0..4 {
            let a = 4 * ring + side;
            let b = 4 * ring + (side + 1) % 4;
            for corner in [a, a + 4, b, b, a + 4, b + 4] {
                corners.push([corner.into()]);
            }
        }
    }
    corners
}

/// A column-major matrix that moves by a vector after scaling.
pub fn matrix(scale: f32, [x, y, z]: [f32; 3]) -> [f32; 16] {
    [
        scale, 0.0, 0.0, 0.0, //
        0.0, scale, 0.0, 0.0, //
        0.0, 0.0, scale, 0.0, //
        x, y, z, 1.0,
    ]
}

/// Inverse bind matrices of both joints.
pub fn binds() -> Vec<[f32; 16]> {
    vec![
        matrix(1.0, [0.0, -SHOULDER, 0.0]),
        matrix(1.0, [0.0, -ELBOW, 0.0]),
    ]
}

/// A rotation by degrees about an axis. Normalising it and rounding to f32 changes nothing, so that readers that do so
/// and those that do not agree.
pub fn turn(axis: [f64; 3], degrees: f64) -> [f32; 4] {
    let axis = DVec3::from(axis).normalize();
    let half = degrees.to_radians() / 2.0;
    let mut turn = axis.extend(0.0) * libm::sin(half);
    turn.w = libm::cos(half);
    let mut stored = turn.as_vec4();
    for _ in 0..8 {
        stored = stored.as_dvec4().normalize().as_vec4();
    }
    DQuat::from_vec4(stored.as_dvec4()).as_quat().to_array()
}

/// Keys of the upper joint: straight, bent, bent and twisted.
pub fn rotations() -> Vec<[f32; 4]> {
    vec![
        turn([0.0, 0.0, 1.0], 0.0),
        turn([0.0, 0.0, 1.0], 80.0),
        turn([1.0, 2.0, 1.0], 120.0),
    ]
}

/// The arm: a mesh, a skin, and an animation that bends and moves it within two seconds.
pub fn arm() -> GltfFile {
    let mut file = GltfFile::new();
    let mut tangents = vec![[0.0, 1.0, 0.0, 1.0]; 12];
    tangents[3][3] = -1.0;
    file.accessor(Accessor::floats(&positions()));
    file.accessor(Accessor::floats(&normals()));
    file.accessor(Accessor::floats(&tangents));
    file.accessor(Accessor::new(Component::U8, &joints()));
    file.accessor(Accessor::floats(&weights()));
    file.accessor(Accessor::new(Component::U16, &triangles()));
    file.accessor(Accessor::floats(&binds()));
    file.accessor(Accessor::floats(&[[0.0], [1.0], [2.0]]));
    file.accessor(Accessor::floats(&rotations()));
    file.accessor(Accessor::floats(&[
        [0.0, SHOULDER, 0.0],
        [0.5, 0.5, 0.0],
        [0.5, 0.5, 0.75],
    ]));
    let attributes = json!({
        "POSITION": POSITIONS, "NORMAL": NORMALS, "TANGENT": TANGENTS, "JOINTS_0": JOINTS, "WEIGHTS_0": WEIGHTS,
    });
    let primitive = json!({"attributes": attributes, "indices": INDICES});
    file.push("meshes", json!({"primitives": [primitive]}));
    file.push("nodes", json!({"mesh": 0, "skin": 0}));
    let lower = json!({"children": [UPPER], "translation": [0.0, SHOULDER, 0.0]});
    file.push("nodes", lower);
    file.push(
        "nodes",
        json!({"translation": [0.0, ELBOW - SHOULDER, 0.0]}),
    );
    let skin = json!({"joints": [LOWER, UPPER], "inverseBindMatrices": BINDS});
    file.push("skins", skin);
    file.json["scene"] = json!(0);
    file.json["scenes"] = json!([{"nodes": [MESH, LOWER]}]);
    file.json["animations"] = json!([{
        "samplers": [
            {"input": TIMES, "output": ROTATIONS},
            {"input": TIMES, "output": TRANSLATIONS},
        ],
        "channels": [
            {"sampler": 0, "target": {"node": UPPER, "path": "rotation"}},
            {"sampler": 1, "target": {"node": LOWER, "path": "translation"}},
        ],
    }]);
    file
}

/// Puts the roots of the scene below a new node; returns its index.
pub fn below(file: &mut GltfFile, roots: &[usize], mut node: serde_json::Value) -> usize {
    node["children"] = json!(roots);
    let index = file.push("nodes", node);
    let mut left = vec![index];
    for root in [MESH, LOWER] {
        if !roots.contains(&root) {
            left.push(root);
        }
    }
    file.json["scenes"] = json!([{"nodes": left}]);
    index
}
