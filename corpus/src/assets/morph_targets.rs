//! Morph targets, with skins and without.

use crate::arm::{self, MESH, TIMES, arm, turn};
use crate::asset::Asset;
use crate::gltf_file::{Accessor, Component, GltfFile, remove};
use serde_json::json;

pub const ASSETS: [Asset; 12] = [
    Asset::new(
        "morph-skinned",
        "morph-targets",
        "A skinned mesh with a target of positions and normals: added before the skin moves the vertices.",
        morph_skinned,
    ),
    Asset::new(
        "morph-rest",
        "morph-targets",
        "No animation plays: the mesh's weights count.",
        morph_skinned,
    )
    .at_rest(),
    Asset::new(
        "morph-node-weights",
        "morph-targets",
        "The node has weights, which replace the mesh's.",
        morph_node_weights,
    )
    .at_rest(),
    Asset::new(
        "morph-without-skin",
        "morph-targets",
        "A mesh without a skin: its node's transform counts.",
        morph_without_skin,
    ),
    Asset::new(
        "morph-animated",
        "animations",
        "LINEAR weights of two targets; the numbers of a key follow each other.",
        morph_animated,
    ),
    Asset::new("morph-step", "animations", "STEP weights.", || {
        interpolated("STEP", &[[0.0], [1.0], [1.0], [0.0], [0.5], [0.25]])
    }),
    Asset::new(
        "morph-cubic",
        "animations",
        "CUBICSPLINE weights of two targets: in-tangents of both, values of both, out-tangents of both.",
        morph_cubic,
    ),
    Asset::new(
        "morph-weights-outside",
        "morph-targets",
        "Weights below 0 and above 1.",
        || interpolated("LINEAR", &[[-1.0], [2.0], [3.0], [-0.5], [0.0], [0.0]]),
    ),
    Asset::new(
        "morph-weights-u8",
        "animations",
        "Keys of weights are normalised bytes.",
        morph_weights_u8,
    ),
    Asset::new(
        "morph-tangents",
        "morph-targets",
        "A target moves tangents; their handedness stays.",
        morph_tangents,
    ),
    Asset::new(
        "morph-sparse",
        "sparse-accessors",
        "A target without a view: only two vertices are stored, all others do not move.",
        morph_sparse,
    ),
    Asset::new(
        "morph-quantized",
        "KHR_mesh_quantization",
        "Targets are normalised bytes and 16 bit numbers.",
        morph_quantized,
    ),
];

/// Displacements of the first target: the upper half grows.
fn grown() -> Vec<[f32; 3]> {
    let grow = |[x, y, z]: [f32; 3]| [x * y, 0.25 * y, z * y];
    arm::positions().into_iter().map(grow).collect()
}

/// Displacements of the second target: everything leans.
fn leaned() -> Vec<[f32; 3]> {
    let lean = |[_, y, _]: [f32; 3]| [0.0, -0.125 * y, 0.5 * y];
    arm::positions().into_iter().map(lean).collect()
}

/// Displacements of normals: upwards.
fn raised() -> Vec<[f32; 3]> {
    vec![[0.0, 0.75, 0.25]; 12]
}

/// The arm with two targets.
fn with_targets() -> GltfFile {
    let mut file = arm();
    let grown = file.accessor(Accessor::floats(&grown()));
    let raised = file.accessor(Accessor::floats(&raised()));
    let leaned = file.accessor(Accessor::floats(&leaned()));
    file.primitive(0)["targets"] =
        json!([{"POSITION": grown, "NORMAL": raised}, {"POSITION": leaned}]);
    file.json["meshes"][0]["weights"] = json!([0.5, 0.25]);
    file
}

fn morph_skinned() -> GltfFile {
    with_targets()
}

fn morph_node_weights() -> GltfFile {
    let mut file = with_targets();
    file.node(MESH)["weights"] = json!([0.0, 1.0]);
    file
}

fn morph_without_skin() -> GltfFile {
    let mut file = with_targets();
    for attribute in ["JOINTS_0", "WEIGHTS_0"] {
        remove(&mut file.primitive(0)["attributes"], attribute);
    }
    remove(&mut file.json, "skins");
    let rotation = turn([0.0, 0.0, 1.0], 90.0);
    file.json["nodes"] = json!([{"mesh": 0, "translation": [1.0, 2.0, 3.0], "rotation": rotation}]);
    file.json["scenes"] = json!([{"nodes": [MESH]}]);
    file.json["animations"] = json!([{
        "samplers": [{"input": TIMES, "output": arm::ROTATIONS}],
        "channels": [{"sampler": 0, "target": {"node": MESH, "path": "rotation"}}],
    }]);
    file
}

/// Animates the weights by a sampler with these outputs, beside the joints.
fn animate(file: &mut GltfFile, interpolation: &str, outputs: Accessor) {
    let output = file.accessor(outputs);
    let animation = &mut file.json["animations"][0];
    animation["samplers"][0] =
        json!({"input": TIMES, "output": output, "interpolation": interpolation});
    animation["channels"][0] = json!({"sampler": 0, "target": {"node": MESH, "path": "weights"}});
}

fn interpolated(interpolation: &str, outputs: &[[f32; 1]]) -> GltfFile {
    let mut file = with_targets();
    animate(&mut file, interpolation, Accessor::floats(outputs));
    file
}

fn morph_animated() -> GltfFile {
    interpolated("LINEAR", &[[0.0], [1.0], [1.0], [0.0], [0.5], [0.25]])
}

fn morph_cubic() -> GltfFile {
    let mut keys = Vec::new();
    for values in [[0.0, 1.0], [1.0, 0.0], [0.5, 0.25]] {
        for pair in [[1.0, -0.5], values, [0.25, 2.0]] {
            keys.extend(pair.map(|v| [v]));
        }
    }
    interpolated("CUBICSPLINE", &keys)
}

fn morph_weights_u8() -> GltfFile {
    let mut file = with_targets();
    let keys = [[0.0], [1.0], [0.25], [0.75], [0.5], [0.125]];
    animate(
        &mut file,
        "LINEAR",
        Accessor::normalized(Component::U8, 255.0, &keys),
    );
    file
}

fn morph_tangents() -> GltfFile {
    let mut file = with_targets();
    let swayed = file.accessor(Accessor::floats(&[[0.5, -0.5, 0.25]; 12]));
    file.primitive(0)["targets"][0]["TANGENT"] = json!(swayed);
    file
}

fn morph_sparse() -> GltfFile {
    let mut file = with_targets();
    let mut few = vec![[0.0; 3]; 12];
    few[4] = [0.5, 0.25, 0.0];
    few[9] = [0.0, 1.0, -0.5];
    let few = file.accessor(Accessor::floats(&few).sparse(&[4, 9], None));
    file.primitive(0)["targets"][1] = json!({"POSITION": few});
    file.json["meshes"][0]["weights"] = json!([0.0, 1.0]);
    file
}

fn morph_quantized() -> GltfFile {
    let mut file = with_targets();
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let mut grown = Accessor::normalized(Component::I16, 32_767.0, &grown());
    grown.stride = 8;
    let mut raised = Accessor::normalized(Component::I8, 127.0, &raised());
    raised.stride = 4;
    let mut leaned = Accessor::normalized(Component::I8, 127.0, &leaned());
    leaned.stride = 4;
    let first = file.accessors.len() - 3;
    for (at, accessor) in [grown, raised, leaned].into_iter().enumerate() {
        file.accessors[first + at] = accessor;
    }
    file
}
