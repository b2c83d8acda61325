//! Keys, interpolation and times.

use crate::arm::{self, LOWER, ROTATIONS, TIMES, TRANSLATIONS, UPPER, arm, turn};
use crate::asset::Asset;
use crate::gltf_file::{Accessor, Component, GltfFile};
use serde_json::json;

pub const ASSETS: [Asset; 20] = [
    Asset::new(
        "rest",
        "animations",
        "No animation plays: the nodes' own transforms count, which differ from the first key.",
        rest,
    )
    .at_rest(),
    Asset::new(
        "untouched-properties",
        "animations",
        "The animation turns a joint whose own translation and scale stay.",
        untouched_properties,
    ),
    Asset {
        animation: Some(1),
        ..Asset::new(
            "second-animation",
            "animations",
            "The second animation plays; nothing of the first is left.",
            second_animation,
        )
    },
    Asset::new(
        "step",
        "appendix-c-interpolation",
        "STEP: each key holds until the next.",
        step,
    )
    .at(&[0.0, 0.5, 0.984375, 1.0, 1.5]),
    Asset::new(
        "slerp-wide",
        "interpolation-slerp",
        "LINEAR rotations 170 degrees apart: on the arc, not on the chord.",
        slerp_wide,
    )
    .at(&[0.0, 0.25, 0.625, 1.0, 1.125, 1.75]),
    Asset::new(
        "slerp-signs",
        "interpolation-slerp",
        "LINEAR rotations of opposite sign: the shorter way.",
        slerp_signs,
    )
    .reported("raysan5/raylib#3920"),
    Asset::new(
        "slerp-equal",
        "interpolation-slerp",
        "LINEAR rotations that are equal, and equal but for their sign: no division by the sine of 0.",
        slerp_equal,
    ),
    Asset::new(
        "cubic-translation",
        "interpolation-cubic",
        "CUBICSPLINE translations with tangents.",
        || cubic_translation([1.0, 2.0]),
    ),
    Asset::new(
        "cubic-uneven-keys",
        "interpolation-cubic",
        "CUBICSPLINE keys a quarter and 1.75 seconds apart: tangents are per second.",
        || cubic_translation([0.25, 2.0]),
    )
    .at(&[0.0, 0.125, 0.25, 1.0, 1.625]),
    Asset::new(
        "cubic-rotation",
        "interpolation-cubic",
        "CUBICSPLINE rotations: normalised after interpolation.",
        cubic_rotation,
    )
    .reported("mrdoob/three.js#22339"),
    Asset::new(
        "cubic-signs",
        "interpolation-cubic",
        "CUBICSPLINE rotations of opposite sign: no shorter way is taken.",
        cubic_signs,
    )
    .reported("KhronosGroup/glTF#2008"),
    Asset::new(
        "late-keys",
        "animations",
        "The first key is at a second: before it, its value holds, not the node's own.",
        late_keys,
    )
    .at(&[0.0, 0.5, 1.0, 1.375, 1.75]),
    Asset::new(
        "one-key",
        "animations",
        "A single key holds at all times.",
        one_key,
    ),
    Asset::new(
        "beyond-the-end",
        "animations",
        "Times after the last key show the last key: nothing goes on or starts anew.",
        arm,
    )
    .at(&[2.0, 2.25, 3.0, 7.5]),
    Asset::new(
        "ends-apart",
        "animations",
        "Channels end at different times: each holds its own last key.",
        ends_apart,
    ),
    Asset::new(
        "keys-not-at-frames",
        "animations",
        "Keys 1/1000 of a second apart, and others far apart.",
        keys_not_at_frames,
    )
    .at(&[0.0, 0.0004882812, 0.5, 1.0, 1.000_488_3, 1.5]),
    Asset::new(
        "rotations-i8",
        "animations",
        "Rotations are normalised bytes.",
        || stored_rotations(Component::I8, 127.0),
    ),
    Asset::new(
        "rotations-i16",
        "animations",
        "Rotations are normalised 16 bit numbers.",
        || stored_rotations(Component::I16, 32_767.0),
    ),
    Asset::new(
        "shared-sampler",
        "animations",
        "Two channels share a sampler.",
        shared_sampler,
    ),
    Asset::new(
        "no-channel-for-joints",
        "animations",
        "The animation moves a node that no joint is below: the joints stay.",
        no_channel_for_joints,
    ),
];

fn rest() -> GltfFile {
    let mut file = arm();
    file.node(UPPER)["rotation"] = json!(turn([0.0, 0.0, 1.0], -45.0));
    file.node(LOWER)["translation"] = json!([0.5, 0.5, 0.5]);
    file
}

fn untouched_properties() -> GltfFile {
    let mut file = arm();
    file.node(UPPER)["translation"] = json!([0.25, 1.0, 0.0]);
    file.node(UPPER)["scale"] = json!([1.5, 1.5, 1.5]);
    file.node(LOWER)["rotation"] = json!(turn([0.0, 0.0, 1.0], 20.0));
    file
}

fn second_animation() -> GltfFile {
    let mut file = arm();
    let rotations = [
        turn([1.0, 0.0, 0.0], 0.0),
        turn([1.0, 0.0, 0.0], 60.0),
        turn([1.0, 0.0, 0.0], -30.0),
    ];
    let output = file.accessor(Accessor::floats(&rotations));
    file.push(
        "animations",
        json!({
            "samplers": [{"input": TIMES, "output": output}],
            "channels": [{"sampler": 0, "target": {"node": LOWER, "path": "rotation"}}],
        }),
    );
    file
}

/// Sets the interpolation of a sampler of the animation.
fn interpolate(file: &mut GltfFile, sampler: usize, interpolation: &str) {
    file.json["animations"][0]["samplers"][sampler]["interpolation"] = json!(interpolation);
}

fn step() -> GltfFile {
    let mut file = arm();
    interpolate(&mut file, 0, "STEP");
    interpolate(&mut file, 1, "STEP");
    file
}

fn slerp_wide() -> GltfFile {
    let mut file = arm();
    let keys = [
        turn([0.0, 0.0, 1.0], 0.0),
        turn([0.0, 0.0, 1.0], 170.0),
        turn([1.0, 0.0, 1.0], 10.0),
    ];
    file.accessors[ROTATIONS] = Accessor::floats(&keys);
    file
}

fn slerp_signs() -> GltfFile {
    let mut file = arm();
    let mut keys = arm::rotations();
    keys[1] = keys[1].map(|v| -v);
    file.accessors[ROTATIONS] = Accessor::floats(&keys);
    file
}

fn slerp_equal() -> GltfFile {
    let mut file = arm();
    let key = arm::rotations()[1];
    file.accessors[ROTATIONS] = Accessor::floats(&[key, key, key.map(|v| -v)]);
    file
}

/// Leaves only the translation in the animation.
fn only_translation(file: &mut GltfFile) {
    let channels = &mut file.json["animations"][0]["channels"];
    *channels = json!([channels[1].clone()]);
}

/// Keys of the lower joint at 0 and at two later times.
fn cubic_translation([second, third]: [f32; 2]) -> GltfFile {
    let mut file = arm();
    only_translation(&mut file);
    let times = file.accessor(Accessor::floats(&[[0.0], [second], [third]]));
    file.json["animations"][0]["samplers"][1]["input"] = json!(times);
    // In-tangent, value, out-tangent of each key.
    file.accessors[TRANSLATIONS] = Accessor::floats(&[
        [9.0, 9.0, 9.0],
        [0.0, 0.25, 0.0],
        [1.0, 0.0, 2.0],
        [0.0, -1.0, 1.0],
        [0.5, 0.5, 0.0],
        [-2.0, 1.0, 0.5],
        [0.0, 3.0, 0.0],
        [0.5, 0.5, 0.75],
        [9.0, 9.0, 9.0],
    ]);
    interpolate(&mut file, 1, "CUBICSPLINE");
    file
}

/// Splines through some rotations, with tangents that do not point along the sphere.
fn cubic_rotations(values: &[[f32; 4]]) -> GltfFile {
    let mut file = arm();
    let mut keys = Vec::new();
    for value in values {
        keys.extend([[0.0, 0.5, 0.25, -0.5], *value, [0.5, 0.0, -0.25, 0.25]]);
    }
    file.accessors[ROTATIONS] = Accessor::floats(&keys);
    interpolate(&mut file, 0, "CUBICSPLINE");
    file
}

fn cubic_rotation() -> GltfFile {
    cubic_rotations(&arm::rotations())
}

fn cubic_signs() -> GltfFile {
    let mut keys = arm::rotations();
    keys[1] = keys[1].map(|v| -v);
    cubic_rotations(&keys)
}

fn late_keys() -> GltfFile {
    let mut file = arm();
    file.accessors[TIMES] = Accessor::floats(&[[1.0], [1.75], [2.5]]);
    let keys = [
        turn([0.0, 0.0, 1.0], 50.0),
        turn([0.0, 0.0, 1.0], 80.0),
        turn([1.0, 0.0, 0.0], 20.0),
    ];
    file.accessors[ROTATIONS] = Accessor::floats(&keys);
    file
}

fn one_key() -> GltfFile {
    let mut file = arm();
    file.accessors[TIMES] = Accessor::floats(&[[0.5]]);
    file.accessors[ROTATIONS] = Accessor::floats(&arm::rotations()[1..2]);
    file.accessors[TRANSLATIONS] = Accessor::floats(&[[0.5, 0.5, 0.25]]);
    file
}

fn ends_apart() -> GltfFile {
    let mut file = arm();
    let times = file.accessor(Accessor::floats(&[[0.0], [0.5], [1.25]]));
    file.json["animations"][0]["samplers"][1]["input"] = json!(times);
    file
}

fn keys_not_at_frames() -> GltfFile {
    let mut file = arm();
    only_translation(&mut file);
    file.accessors[TIMES] = Accessor::floats(&[[0.0], [0.001], [1.001]]);
    file
}

/// Half turns, which these numbers hold exactly.
fn stored_rotations(component: Component, one: f64) -> GltfFile {
    let mut file = arm();
    let keys = [
        turn([0.0, 0.0, 1.0], 0.0),
        turn([0.0, 0.0, 1.0], 180.0),
        turn([1.0, 0.0, 0.0], 180.0),
    ];
    file.accessors[ROTATIONS] = Accessor::normalized(component, one, &keys);
    file
}

fn shared_sampler() -> GltfFile {
    let mut file = arm();
    file.json["animations"][0]["channels"][1] =
        json!({"sampler": 0, "target": {"node": LOWER, "path": "rotation"}});
    file
}

fn no_channel_for_joints() -> GltfFile {
    let mut file = arm();
    let other = file.push("nodes", json!({"name": "camera"}));
    file.json["scenes"] = json!([{"nodes": [arm::MESH, LOWER, other]}]);
    for channel in 0..2 {
        file.json["animations"][0]["channels"][channel]["target"]["node"] = json!(other);
    }
    file
}
