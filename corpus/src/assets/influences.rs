//! Joints and weights of vertices.

use crate::arm::{self, BINDS, JOINTS, LOWER, UPPER, WEIGHTS, arm, matrix, turn};
use crate::asset::Asset;
use crate::gltf_file::{Accessor, Component, GltfFile};
use serde_json::json;

pub const ASSETS: [Asset; 10] = [
    Asset::new("joints-u16", "skinned-mesh-attributes", "Joints are stored in 16 bits.", joints_u16),
    Asset::new("weights-u8", "skinned-mesh-attributes", "Weights are stored as normalised bytes, which sum to 255.", weights_u8)
        .reported("donmccurdy/glTF-Transform#1404"),
    Asset::new("weights-u16", "skinned-mesh-attributes", "Weights are stored as normalised 16 bit numbers, which sum to 65535.", weights_u16),
    Asset::new("influences-3", "skinned-mesh-attributes", "Vertices follow three joints.", || influences(3)).at_rest(),
    Asset {
        optional: true,
        ..Asset::new("influences-8", "skinned-mesh-attributes", "Vertices follow eight joints, in JOINTS_0 and JOINTS_1.", || influences(8))
            .at_rest().reported("KhronosGroup/glTF#1275")
            .open("Engines may use four joints of each vertex.")
    },
    Asset {
        optional: true,
        ..Asset::new("influences-16", "skinned-mesh-attributes", "Vertices follow 16 joints, in JOINTS_0 to JOINTS_3.", || influences(16))
            .at_rest().open("Engines may use four joints of each vertex.")
    },
    Asset::new("unused-joints", "skinned-mesh-attributes", "Influences of weight 0 name a joint that is far away.", unused_joints)
        .reported("KhronosGroup/glTF-Validator#58"),
    Asset {
        optional: true,
        invalid: "A vertex names a joint twice, with two weights.",
        ..Asset::new("joint-repeated", "skinned-mesh-attributes", "Vertices name the same joint twice: the weights add up.", joint_repeated)
            .reported("KhronosGroup/glTF#2493")
    },
    Asset {
        optional: true,
        invalid: "Weights do not sum to 1.",
        weight_sum: Some(|vertex| if (4..8).contains(&vertex) { 0.5 } else { 1.0 }),
        ..Asset::new("weights-sum-half", "skinned-mesh-attributes", "The weights of four vertices sum to a half.", weights_sum_half)
            .reported("mrdoob/three.js#15319")
            .open("Weights as they are stored, so that vertices approach the origin, or divided by their sum.")
    },
    Asset {
        optional: true,
        invalid: "Weights do not sum to 1.",
        weight_sum: Some(|vertex| if vertex < 4 { 0.0 } else { 1.0 }),
        ..Asset::new("weights-zero", "skinned-mesh-attributes", "The weights of four vertices are all 0.", weights_zero)
            .open("Such vertices are at the origin, or they follow the joint of their first influence.")
    },
];

fn joints_u16() -> GltfFile {
    let mut file = arm();
    file.accessors[JOINTS] = Accessor::new(Component::U16, &arm::joints());
    file
}

/// Weights that are no multiples of each other, in units that sum to `one`.
fn stored_weights(component: Component, one: f64) -> Accessor {
    let mut weights = arm::weights();
    let third = (one / 3.0).round() / one;
    for weights in &mut weights[4..6] {
        *weights = [third as f32, (1.0 - third) as f32, 0.0, 0.0];
    }
    for weights in &mut weights[6..8] {
        let tenth = (one / 10.0).round() / one;
        *weights = [tenth as f32, (1.0 - tenth) as f32, 0.0, 0.0];
    }
    Accessor::normalized(component, one, &weights)
}

fn weights_u8() -> GltfFile {
    let mut file = arm();
    file.accessors[WEIGHTS] = stored_weights(Component::U8, 255.0);
    file
}

fn weights_u16() -> GltfFile {
    let mut file = arm();
    file.accessors[WEIGHTS] = stored_weights(Component::U16, 65_535.0);
    file
}

/// An arm whose vertices follow as many joints each, which stand in a fan.
fn influences(count: usize) -> GltfFile {
    let mut file = arm();
    let mut joints = vec![UPPER];
    for _ in 1..count {
        joints.push(file.push("nodes", json!({})));
    }
    for (place, &joint) in joints.iter().enumerate() {
        let rotation = turn([1.0, 0.0, 1.0], 20.0 * place as f64);
        let translation = [0.125 * place as f32, 0.25, 0.0];
        *file.node(joint) = json!({"translation": translation, "rotation": rotation});
    }
    file.node(LOWER)["children"] = json!(joints);
    file.json["skins"][0]["joints"] = json!(joints);
    file.accessors[BINDS] = Accessor::floats(&vec![matrix(1.0, [0.0, -0.25, 0.0]); count]);
    // Weights in 64ths: the later sets weigh as much as the first.
    let each = 64 / count;
    for set in 0..count.div_ceil(4) {
        let mut joints = [0.0; 4];
        let mut weights = [0.0f32; 4];
        for place in 0..4.min(count - 4 * set) {
            let joint = 4 * set + place;
            joints[place] = joint as f64;
            let extra = if joint == 0 { 64 - each * count } else { 0 };
            weights[place] = (each + extra) as f32 / 64.0;
        }
        let joints = Accessor::new(Component::U8, &[joints; 12]);
        let weights = Accessor::floats(&[weights; 12]);
        if set == 0 {
            file.accessors[JOINTS] = joints;
            file.accessors[WEIGHTS] = weights;
            continue;
        }
        let joints = file.accessor(joints);
        let weights = file.accessor(weights);
        let attributes = &mut file.primitive(0)["attributes"];
        attributes[format!("JOINTS_{set}")] = json!(joints);
        attributes[format!("WEIGHTS_{set}")] = json!(weights);
    }
    file
}

fn unused_joints() -> GltfFile {
    let mut file = arm();
    let far = file.push("nodes", json!({"translation": [1.0e6, 0.0, 0.0]}));
    file.node(LOWER)["children"] = json!([UPPER, far]);
    file.json["skins"][0]["joints"] = json!([LOWER, UPPER, far]);
    let mut binds = arm::binds();
    binds.push(matrix(1.0, [0.0; 3]));
    file.accessors[BINDS] = Accessor::floats(&binds);
    let mut joints = arm::joints();
    joints.fill([0.0, 1.0, 2.0, 2.0]);
    file.accessors[JOINTS] = Accessor::new(Component::U8, &joints);
    file
}

fn joint_repeated() -> GltfFile {
    let mut file = arm();
    let mut joints = arm::joints();
    let mut weights = arm::weights();
    for vertex in 4..8 {
        joints[vertex] = [0.0, 1.0, 1.0, 0.0];
        weights[vertex] = [0.25, 0.25, 0.5, 0.0];
    }
    file.accessors[JOINTS] = Accessor::new(Component::U8, &joints);
    file.accessors[WEIGHTS] = Accessor::floats(&weights);
    file
}

fn weights_sum_half() -> GltfFile {
    let mut file = arm();
    let mut weights = arm::weights();
    for weights in &mut weights[4..8] {
        *weights = [0.25, 0.25, 0.0, 0.0];
    }
    file.accessors[WEIGHTS] = Accessor::floats(&weights);
    file
}

fn weights_zero() -> GltfFile {
    let mut file = arm();
    let mut weights = arm::weights();
    for weights in &mut weights[..4] {
        *weights = [0.0; 4];
    }
    file.accessors[WEIGHTS] = Accessor::floats(&weights);
    file
}
