//! Where joints and meshes are in the scene, and inverse bind matrices.

use crate::arm::{self, BINDS, LOWER, MESH, UPPER, arm, below, matrix, turn};
use crate::asset::Asset;
use crate::gltf_file::{Accessor, Component, GltfFile, remove};
use serde_json::json;

pub const ASSETS: [Asset; 24] = [
    Asset::new("plain", "skins-overview", "An arm of two joints that bends: nothing special, the base of most assets.", arm),
    Asset::new("binary", "glb-file-format-specification", "The same arm in a binary file.", binary),
    Asset::new("mesh-node-moved", "joint-hierarchy", "The node of the skinned mesh is moved and turned: its transform is ignored.", mesh_node_moved)
        .reported("playcanvas/engine#4611"),
    Asset::new("mesh-parent-moved", "joint-hierarchy", "The mesh is below a moved, turned and scaled node, the joints are not: the mesh stays with its joints.", mesh_parent_moved)
        .reported("KhronosGroup/glTF-Sample-Assets#263"),
    Asset::new("mesh-node-animated", "joint-hierarchy", "The node of the skinned mesh is animated: that is ignored.", mesh_node_animated),
    Asset::new("mesh-below-joint", "joint-hierarchy", "The node of the skinned mesh is a child of a joint: no transform counts twice.", mesh_below_joint)
        .reported("raysan5/raylib#1964"),
    Asset::new("parent-moved", "joint-hierarchy", "Mesh and joints are below a moved and turned node, which is no joint: the joints move with it, and so does the mesh.", parent_moved)
        .reported("google/usd_from_gltf#67"),
    Asset::new("parent-scaled", "joint-hierarchy", "Mesh and joints are below a node of scale 100, as exports in centimetres are.", parent_scaled),
    Asset::new("parent-mirrored", "transformations", "Mesh and joints are below a node of scale -1 along x: the arm is mirrored.", parent_mirrored),
    Asset::new("parent-uneven", "transformations", "Joints that turn are below a node that scales unevenly: they are sheared.", parent_uneven)
        .open("Normals by the matrix of positions, by its inverse transpose, or by a blend of those of the joints."),
    Asset::new("parent-animated", "joint-hierarchy", "A node above the joints, which is no joint, is animated.", parent_animated),
    Asset::new("helper-between-joints", "joint-hierarchy", "A node that is no joint is between the joints, moved and turned.", helper_between_joints),
    Asset::new("helper-animated", "joint-hierarchy", "A node that is no joint is between the joints, and is animated.", helper_animated),
    Asset::new("joints-reversed", "skins-overview", "The skin lists the child before its parent: matrices and JOINTS_0 follow that list, not the order of nodes.", joints_reversed),
    Asset::new("children-first", "node-hierarchy", "Each node comes after its children in the list of nodes.", children_first),
    Asset::new("skeleton-above", "skins-overview", "skin.skeleton names a moved node above the joints: it does not change what is computed.", skeleton_above),
    Asset::new("shared-skin", "skins-overview", "Two nodes show the same mesh with the same skin: they coincide, wherever the nodes are.", shared_skin)
        .reported("KhronosGroup/glTF-Blender-IO#368"),
    Asset::new("two-skins", "skins-overview", "Two nodes show the same mesh with skins of the same joints, but other inverse bind matrices.", two_skins),
    Asset::new("two-armatures", "skins-overview", "Two nodes show the same mesh with skins of different joints.", two_armatures),
    Asset::new("matrix-nodes", "transformations", "Nodes have matrices instead of translation, rotation and scale.", matrix_nodes).at_rest(),
    Asset::new("no-inverse-binds", "skins-overview", "The skin has no inverse bind matrices: each is the identity.", no_inverse_binds)
        .reported("assimp/assimp#3465"),
    Asset::new("bind-shape", "skins-overview", "Inverse bind matrices also scale and turn the mesh, which is stored in other units and axes.", bind_shape),
    Asset::new("bind-pose-apart", "skins-overview", "The nodes do not stand as the mesh was bound: their pose is what counts, also without an animation.", bind_pose_apart).at_rest(),
    Asset::new("chain-400", "joint-hierarchy", "400 joints in a row, each turned by half a degree: more than a byte can name, and rounding adds up.", chain_400)
        .at_rest().reported("ValveResourceFormat/ValveResourceFormat#841"),
];

fn binary() -> GltfFile {
    GltfFile {
        binary: true,
        ..arm()
    }
}

fn mesh_node_moved() -> GltfFile {
    let mut file = arm();
    file.node(MESH)["translation"] = json!([1.0, 2.0, 3.0]);
    file.node(MESH)["rotation"] = json!(turn([1.0, 0.0, 0.0], 90.0));
    file
}

fn mesh_parent_moved() -> GltfFile {
    let mut file = arm();
    let parent = json!({"translation": [1.0, 2.0, 3.0], "rotation": turn([1.0, 1.0, 0.0], 50.0), "scale": [2.0, 2.0, 2.0]});
    below(&mut file, &[MESH], parent);
    file
}

/// Adds a channel to the animation: three keys of a node's translation.
fn move_node(file: &mut GltfFile, node: usize, keys: [[f32; 3]; 3]) {
    let output = file.accessor(Accessor::floats(&keys));
    let animation = &mut file.json["animations"][0];
    for (list, object) in [
        ("samplers", json!({"input": arm::TIMES, "output": output})),
        (
            "channels",
            json!({"sampler": 2, "target": {"node": node, "path": "translation"}}),
        ),
    ] {
        if let Some(list) = animation[list].as_array_mut() {
            list.push(object);
        }
    }
}

fn mesh_node_animated() -> GltfFile {
    let mut file = arm();
    move_node(
        &mut file,
        MESH,
        [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]],
    );
    file
}

fn mesh_below_joint() -> GltfFile {
    let mut file = arm();
    file.node(LOWER)["children"] = json!([UPPER, MESH]);
    file.json["scenes"] = json!([{"nodes": [LOWER]}]);
    file
}

fn parent_moved() -> GltfFile {
    let mut file = arm();
    let parent = json!({"translation": [3.0, -1.0, 2.0], "rotation": turn([0.0, 1.0, 1.0], 70.0)});
    below(&mut file, &[MESH, LOWER], parent);
    file
}

fn parent_scaled() -> GltfFile {
    let mut file = arm();
    below(
        &mut file,
        &[MESH, LOWER],
        json!({"scale": [100.0, 100.0, 100.0]}),
    );
    file
}

fn parent_mirrored() -> GltfFile {
    let mut file = arm();
    below(
        &mut file,
        &[MESH, LOWER],
        json!({"scale": [-1.0, 1.0, 1.0]}),
    );
    file
}

fn parent_uneven() -> GltfFile {
    let mut file = arm();
    below(&mut file, &[MESH, LOWER], json!({"scale": [2.0, 0.5, 1.0]}));
    file
}

fn parent_animated() -> GltfFile {
    let mut file = arm();
    let parent = below(&mut file, &[MESH, LOWER], json!({}));
    move_node(
        &mut file,
        parent,
        [[0.0; 3], [0.0, 0.0, -2.0], [1.0, 1.0, 1.0]],
    );
    file
}

/// Puts a node between the joints; returns its index.
fn helper(file: &mut GltfFile) -> usize {
    let helper = json!({"children": [UPPER], "translation": [0.25, 0.0, 0.125], "rotation": turn([0.0, 1.0, 0.0], 30.0)});
    let helper = file.push("nodes", helper);
    file.node(LOWER)["children"] = json!([helper]);
    helper
}

fn helper_between_joints() -> GltfFile {
    let mut file = arm();
    helper(&mut file);
    file
}

fn helper_animated() -> GltfFile {
    let mut file = arm();
    let helper = helper(&mut file);
    move_node(
        &mut file,
        helper,
        [[0.25, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, -0.5]],
    );
    file
}

fn joints_reversed() -> GltfFile {
    let mut file = arm();
    let [lower, upper] = [arm::binds()[0], arm::binds()[1]];
    file.accessors[BINDS] = Accessor::floats(&[upper, lower]);
    file.json["skins"][0]["joints"] = json!([UPPER, LOWER]);
    let mut joints = arm::joints();
    for (joints, weights) in joints.iter_mut().zip(arm::weights()) {
        *joints = [1.0, 0.0, 0.0, 0.0];
        if weights[0] == 0.0 {
            joints[0] = 0.0;
        }
    }
    file.accessors[arm::JOINTS] = Accessor::new(Component::U8, &joints);
    file
}

fn children_first() -> GltfFile {
    let mut file = arm();
    let upper = file.node(UPPER).clone();
    let mut lower = file.node(LOWER).clone();
    lower["children"] = json!([LOWER]);
    *file.node(LOWER) = upper;
    *file.node(UPPER) = lower;
    let parent = json!({"children": [MESH, UPPER], "translation": [0.0, 0.0, 1.0]});
    let parent = file.push("nodes", parent);
    file.json["scenes"] = json!([{"nodes": [parent]}]);
    file.json["skins"][0]["joints"] = json!([UPPER, LOWER]);
    let channels = &mut file.json["animations"][0]["channels"];
    channels[0]["target"]["node"] = json!(LOWER);
    channels[1]["target"]["node"] = json!(UPPER);
    file
}

fn skeleton_above() -> GltfFile {
    let mut file = parent_moved();
    file.json["skins"][0]["skeleton"] = json!(3);
    file
}

fn shared_skin() -> GltfFile {
    let mut file = arm();
    let second = file.push(
        "nodes",
        json!({"mesh": 0, "skin": 0, "translation": [2.0, 0.0, 0.0]}),
    );
    file.json["scenes"] = json!([{"nodes": [MESH, LOWER, second]}]);
    file
}

fn two_skins() -> GltfFile {
    let mut file = arm();
    let binds = [
        matrix(1.0, [1.0, -0.25, 0.0]),
        matrix(1.0, [1.0, -1.0, 0.5]),
    ];
    let binds = file.accessor(Accessor::floats(&binds));
    let skin = file.push(
        "skins",
        json!({"joints": [LOWER, UPPER], "inverseBindMatrices": binds}),
    );
    let second = file.push("nodes", json!({"mesh": 0, "skin": skin}));
    file.json["scenes"] = json!([{"nodes": [MESH, LOWER, second]}]);
    file
}

fn two_armatures() -> GltfFile {
    let mut file = arm();
    let lower = file.push("nodes", json!({"translation": [2.0, 0.5, 0.0]}));
    let upper = file.push(
        "nodes",
        json!({"translation": [0.0, 1.0, 0.0], "rotation": turn([0.0, 0.0, 1.0], -40.0)}),
    );
    file.node(lower)["children"] = json!([upper]);
    let skin = file.push(
        "skins",
        json!({"joints": [lower, upper], "inverseBindMatrices": BINDS}),
    );
    let second = file.push("nodes", json!({"mesh": 0, "skin": skin}));
    file.json["scenes"] = json!([{"nodes": [MESH, LOWER, lower, second]}]);
    file
}

fn matrix_nodes() -> GltfFile {
    let mut file = arm();
    remove(&mut file.json, "animations");
    // A turn by 90 degrees about z, scaled by 2 along the joint's x axis.
    let lower = [
        0.0, 2.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.25, 0.0, 1.0,
    ];
    *file.node(LOWER) = json!({"children": [UPPER], "matrix": lower});
    *file.node(UPPER) = json!({"matrix": matrix(0.5, [0.0, 0.75, 0.25])});
    file
}

fn no_inverse_binds() -> GltfFile {
    let mut file = arm();
    remove(&mut file.json["skins"][0], "inverseBindMatrices");
    file
}

fn bind_shape() -> GltfFile {
    let mut file = arm();
    // The mesh stands along x in units of an eighth: x becomes y, y becomes -x.
    let turned = |height: f32| {
        [
            0.0, 8.0, 0.0, 0.0, -8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, -height, 0.0, 1.0,
        ]
    };
    file.accessors[BINDS] = Accessor::floats(&[turned(0.25), turned(1.0)]);
    let along = |[x, y, z]: [f32; 3]| [y / 8.0, -x / 8.0, z / 8.0];
    let positions: Vec<_> = arm::positions().into_iter().map(along).collect();
    file.accessors[arm::POSITIONS] = Accessor::floats(&positions);
    let normals: Vec<_> = arm::normals()
        .into_iter()
        .map(|[x, y, z]| [y, -x, z])
        .collect();
    file.accessors[arm::NORMALS] = Accessor::floats(&normals);
    file.accessors[arm::TANGENTS] = Accessor::floats(&[[1.0, 0.0, 0.0, 1.0]; 12]);
    file
}

fn bind_pose_apart() -> GltfFile {
    let mut file = arm();
    file.node(LOWER)["rotation"] = json!(turn([0.0, 0.0, 1.0], 30.0));
    file.node(UPPER)["rotation"] = json!(turn([1.0, 0.0, 0.0], -60.0));
    file
}

/// A chain without inverse bind matrices: each vertex is in the space of its joint.
fn chain_400() -> GltfFile {
    const JOINTS: usize = 400;
    let mut file = GltfFile::new();
    file.binary = true;
    let mut positions = Vec::new();
    let mut joints = Vec::new();
    let followed: Vec<usize> = (0..JOINTS).step_by(57).chain([JOINTS - 1]).collect();
    for &joint in &followed {
        for z in [-0.25, 0.25] {
            positions.push([0.0, 0.0, z]);
            joints.push([joint as f64, 0.0, 0.0, 0.0]);
        }
    }
    let mut triangles = Vec::new();
    for first in 0..positions.len() - 2 {
        triangles.extend([[first as f64], [first as f64 + 1.0], [first as f64 + 2.0]]);
    }
    let attributes = json!({
        "POSITION": file.accessor(Accessor::floats(&positions)),
        "JOINTS_0": file.accessor(Accessor::new(Component::U16, &joints)),
        "WEIGHTS_0": file.accessor(Accessor::floats(&vec![[1.0, 0.0, 0.0, 0.0]; positions.len()])),
    });
    let indices = file.accessor(Accessor::new(Component::U16, &triangles));
    file.push(
        "meshes",
        json!({"primitives": [{"attributes": attributes, "indices": indices}]}),
    );
    file.push("nodes", json!({"mesh": 0, "skin": 0}));
    let step = turn([0.0, 0.0, 1.0], 0.5);
    for joint in 0..JOINTS {
        let mut node = json!({"rotation": step, "translation": [0.0, 0.0625, 0.0]});
        if joint + 1 < JOINTS {
            node["children"] = json!([joint + 2]);
        }
        file.push("nodes", node);
    }
    file.push("skins", json!({"joints": (1..=JOINTS).collect::<Vec<_>>()}));
    file.json["scene"] = json!(0);
    file.json["scenes"] = json!([{"nodes": [MESH, LOWER]}]);
    file
}
