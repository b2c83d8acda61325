//! How numbers are stored, and which vertices triangles use.

use crate::arm::{self, BINDS, INDICES, JOINTS, NORMALS, POSITIONS, TANGENTS, WEIGHTS, arm};
use crate::asset::Asset;
use crate::gltf_file::{Accessor, Component, GltfFile, remove};
use serde_json::json;

pub const ASSETS: [Asset; 10] = [
    Asset::new("interleaved", "data-alignment", "All attributes are in one view, vertex beside vertex.", interleaved),
    Asset::new("strided", "data-alignment", "Positions and weights are 32 bytes apart, with other bytes between.", strided),    Asset::new(
        "strided-to-the-end",
        "data-alignment",
        "Positions are 32 bytes apart, and their view ends with the last one, 12 bytes after its start.",
        strided_to_the_end,
    ),

    Asset::new("offsets", "data-alignment", "View and accessor both begin at an offset.", offsets),
    Asset::new("sparse-positions", "sparse-accessors", "Four positions are stored apart, above others.", sparse_positions),
    Asset::new("sparse-without-view", "sparse-accessors", "The weights have no view: all are 0 but those stored apart.", sparse_without_view),
    Asset::new("quantized", "KHR_mesh_quantization", "Positions are 16 bit integers, normals and tangents normalised bytes; the inverse bind matrices scale.", quantized)
        .reported("rdeioris/glTFRuntime#57"),
    Asset::new("unindexed", "meshes-overview", "Triangles without indices.", unindexed),
    Asset::new("triangle-strip", "meshes-overview", "A strip of triangles.", triangle_strip),
    Asset::new("degenerate", "meshes-overview", "Some triangles use a vertex twice; one vertex is in no triangle.", degenerate),
];

fn interleaved() -> GltfFile {
    let mut file = arm();
    file.interleaved = vec![POSITIONS, NORMALS, TANGENTS, JOINTS, WEIGHTS];
    file
}

fn strided() -> GltfFile {
    let mut file = arm();
    file.accessors[POSITIONS].stride = 32;
    file.accessors[WEIGHTS].stride = 32;
    file
}

fn strided_to_the_end() -> GltfFile {
    let mut file = arm();
    file.accessors[POSITIONS].stride = 32;
    file.accessors[POSITIONS].ends_early = true;
    file
}

fn offsets() -> GltfFile {
    let mut file = arm();
    for accessor in [POSITIONS, WEIGHTS, BINDS, arm::ROTATIONS, INDICES] {
        file.accessors[accessor].offset = 32;
    }
    file
}

fn sparse_positions() -> GltfFile {
    let mut file = arm();
    let mut moved = arm::positions();
    for position in &mut moved[8..] {
        position[1] = 2.5;
    }
    let base = Accessor::floats(&arm::positions());
    file.accessors[POSITIONS] = Accessor::floats(&moved).sparse(&[8, 9, 10, 11], Some(base));
    file
}

fn sparse_without_view() -> GltfFile {
    let mut file = arm();
    let all: Vec<u16> = (0..12).collect();
    file.accessors[WEIGHTS] = Accessor::floats(&arm::weights()).sparse(&all, None);
    file
}

fn quantized() -> GltfFile {
    const STEP: f32 = 1.0 / 1024.0;
    let mut file = arm();
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let scaled = |position: [f32; 3]| position.map(|v| f64::from(v / STEP));
    let positions: Vec<_> = arm::positions().into_iter().map(scaled).collect();
    file.accessors[POSITIONS] = Accessor::new(Component::I16, &positions);
    file.accessors[POSITIONS].stride = 8;
    file.accessors[NORMALS] = Accessor::normalized(Component::I8, 127.0, &arm::normals());
    file.accessors[NORMALS].stride = 4;
    let tangents = Accessor::normalized(Component::I8, 127.0, &[[0.0, 1.0, 0.0, 1.0]; 12]);
    file.accessors[TANGENTS] = tangents;
    let binds = [
        arm::matrix(STEP, [0.0, -0.25, 0.0]),
        arm::matrix(STEP, [0.0, -1.0, 0.0]),
    ];
    file.accessors[BINDS] = Accessor::floats(&binds);
    file
}

fn unindexed() -> GltfFile {
    let mut file = arm();
    // The triangles of one side.
    let corners: Vec<usize> = arm::triangles()[..6]
        .iter()
        .map(|corner| corner[0] as usize)
        .collect();
    file.accessors[POSITIONS] = Accessor::floats(&chosen(&arm::positions(), &corners));
    file.accessors[NORMALS] = Accessor::floats(&chosen(&arm::normals(), &corners));
    file.accessors[TANGENTS] = Accessor::floats(&[[0.0, 1.0, 0.0, 1.0]; 6]);
    file.accessors[JOINTS] = Accessor::new(Component::U8, &chosen(&arm::joints(), &corners));
    file.accessors[WEIGHTS] = Accessor::floats(&chosen(&arm::weights(), &corners));
    remove(file.primitive(0), "indices");
    file
}

fn chosen<T: Copy>(list: &[T], which: &[usize]) -> Vec<T> {
    which.iter().map(|&index| list[index]).collect()
}

fn triangle_strip() -> GltfFile {
    let mut file = arm();
    let strip = [
        [0.0],
        [4.0],
        [1.0],
        [5.0],
        [2.0],
        [6.0],
        [3.0],
        [7.0],
        [11.0],
        [4.0],
        [8.0],
        [5.0],
        [9.0],
        [6.0],
        [10.0],
    ];
    file.accessors[INDICES] = Accessor::new(Component::U16, &strip);
    file.primitive(0)["mode"] = json!(5);
    file
}

fn degenerate() -> GltfFile {
    let mut file = arm();
    let mut triangles = arm::triangles();
    for corner in &mut triangles {
        if corner[0] == 11.0 {
            corner[0] = 10.0;
        }
    }
    file.accessors[INDICES] = Accessor::new(Component::U16, &triangles);
    file
}
