//! Joints that scale, and characters far away.

use crate::arm::{self, LOWER, MESH, arm, below};
use crate::asset::Asset;
use crate::gltf_file::{Accessor, GltfFile};
use serde_json::json;

pub const ASSETS: [Asset; 6] = [
    Asset::new(
        "scale-even",
        "transformations",
        "A joint scales evenly, and its child with it.",
        || scaled([[1.0; 3], [2.0; 3], [0.5; 3]]),
    ),
    Asset::new(
        "scale-uneven",
        "transformations",
        "A joint scales unevenly above a joint that turns, which is sheared.",
        || scaled([[1.0; 3], [2.0, 1.0, 0.5], [1.0, 3.0, 1.0]]),
    )
    .open("Normals by the matrix of positions, by its inverse transpose, or by a blend of those of the joints."),
    Asset::new(
        "scale-negative",
        "transformations",
        "A joint has a negative scale.",
        || scaled([[1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]]),
    ),
    Asset::new(
        "scale-zero",
        "transformations",
        "A joint shrinks to nothing, which hides what follows it; normals there have no direction.",
        || scaled([[1.0; 3], [0.0; 3], [0.0; 3]]),
    )
    .reported("atteneder/glTFast#807"),
    Asset::new(
        "scale-through-zero",
        "transformations",
        "A scale goes through zero to its negative between keys.",
        || scaled([[1.0; 3], [-1.0; 3], [1.0; 3]]),
    ),
    Asset::new(
        "far-away",
        "transformations",
        "The character is 10,000 units away from the origin.",
        far_away,
    ),
];

/// The arm whose lower joint scales instead of moving.
fn scaled(keys: [[f32; 3]; 3]) -> GltfFile {
    let mut file = arm();
    file.accessors[arm::TRANSLATIONS] = Accessor::floats(&keys);
    file.json["animations"][0]["channels"][1]["target"]["path"] = json!("scale");
    file
}

fn far_away() -> GltfFile {
    let mut file = arm();
    below(
        &mut file,
        &[MESH, LOWER],
        json!({"translation": [10_000.0, 0.0, -10_000.0]}),
    );
    file
}
