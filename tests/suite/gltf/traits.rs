//! What files of the format can have, one trait a test.
use crate::support::gltf_fixture::*;
use crate::support::reference;
use glam::DVec3;
use serde_json::json;
use skinbench::asset;
use skinbench::model::{Channel, Interpolation, Model, NO_PARENT};
use std::fs;

pub(super) fn load(fixture: &Fixture) -> Model {
    let folder = tempfile::tempdir().unwrap();
    asset::load(fixture.write(folder.path())).unwrap_or_else(|error| panic!("{error}"))
}

/// Positions of all primitives, in file order.
fn positions(model: &Model) -> Vec<DVec3> {
    reference::skin(model, None)
        .into_iter()
        .flat_map(|p| p.positions)
        .collect()
}

pub(super) fn notes(model: &Model) -> Vec<String> {
    model.notes().lines().collect()
}

fn at(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

#[test]
fn a_plain_file_needs_no_repair() {
    let model = load(&Fixture::new());
    assert_eq!(model.name(), "fixture");
    assert_eq!(model.skeleton().names(), ["root", "tip"]);
    assert_eq!(model.skins()[0].name, "rig");
    assert_eq!(
        positions(&model),
        [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 2.0, 0.0)]
    );
    assert_eq!(notes(&model), [""; 0]);
    assert!(!model.mesh().primitives()[0].has_normals);
    let clip = &model.clips()[0];
    assert_eq!(
        (
            clip.name(),
            clip.duration(),
            clip.keys().raw().unwrap().tracks().len()
        ),
        ("bend", 1.5, 1)
    );
    let turned = reference::skin(&model, Some((0, 9.0)));
    assert!((turned[0].positions[2] - at(0.0, 0.0, 0.0)).length() < 1e-6);
}

#[test]
fn a_buffer_may_be_inside_or_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::new();
    let inside = load(&fixture);
    let file = folder.path().join("fixture.glb");
    fs::write(&file, fixture.glb()).unwrap();
    assert_eq!(asset::load(&file).unwrap().mesh(), inside.mesh());

    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/my buffer.bin"), &fixture.buffer).unwrap();
    fixture.set("/buffers/0/uri", json!("data/my%20buffer.bin"));
    assert_eq!(
        asset::load(fixture.write(folder.path())).unwrap().mesh(),
        inside.mesh()
    );
}

#[test]
fn unknown_chunks_and_bytes_after_the_container_are_skipped() {
    let fixture = Fixture::new();
    let json = fixture.json.to_string();
    let mut bytes = glb(&[
        (b"JSON", &[json.as_bytes(), b"   "].concat()),
        (b"WHAT", &[1; 8]),
        (b"BIN\0", &fixture.buffer),
    ]);
    // JSON is padded by spaces, not zeros.
    let end = 20 + json.len();
    bytes[end..end + 4]
        .iter_mut()
        .filter(|b| **b == 0)
        .for_each(|b| *b = b' ');
    bytes.extend([7; 5]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fixture.glb");
    fs::write(&file, bytes).unwrap();
    assert_eq!(asset::load(&file).unwrap().mesh(), load(&fixture).mesh());
}

#[test]
fn positions_may_have_any_component_type() {
    let vertex = |bytes: &[u8], padding: usize| [bytes, &vec![0; padding]].concat().repeat(3);
    let words =
        |v: [i32; 3]| -> Vec<u8> { v.iter().flat_map(|v| (*v as u16).to_le_bytes()).collect() };
    let cases: [(u32, bool, Vec<u8>, [f32; 3]); 10] = [
        (BYTE, false, vertex(&[2, 0x80, 3], 1), [2.0, -128.0, 3.0]),
        (BYTE, true, vertex(&[127, 0x80, 0], 1), [1.0, -1.0, 0.0]),
        (
            UNSIGNED_BYTE,
            false,
            vertex(&[2, 255, 3], 1),
            [2.0, 255.0, 3.0],
        ),
        (
            UNSIGNED_BYTE,
            true,
            vertex(&[51, 255, 0], 1),
            [0.2, 1.0, 0.0],
        ),
        (
            SHORT,
            false,
            vertex(&words([2, -300, 3]), 2),
            [2.0, -300.0, 3.0],
        ),
        (
            SHORT,
            true,
            vertex(&words([32_767, -32_768, 0]), 2),
            [1.0, -1.0, 0.0],
        ),
        (
            UNSIGNED_SHORT,
            false,
            vertex(&words([2, 65_535, 3]), 2),
            [2.0, 65_535.0, 3.0],
        ),
        (
            UNSIGNED_SHORT,
            true,
            vertex(&words([13_107, 65_535, 0]), 2),
            [0.2, 1.0, 0.0],
        ),
        (
            UNSIGNED_INT,
            false,
            vertex(&[9, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1], 0),
            [9.0, 256.0, 16_777_216.0],
        ),
        (
            UNSIGNED_INT,
            true,
            vertex(&[255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 128], 0),
            [1.0, 0.0, 0.5],
        ),
    ];
    for (component, normalized, bytes, expected) in cases {
        let mut fixture = Fixture::new();
        fixture.set("/extensionsRequired", json!(["KHR_mesh_quantization"]));
        let accessor = fixture.accessor(component, "VEC3", 3, &bytes);
        fixture.set(
            &format!("/accessors/{accessor}/normalized"),
            json!(normalized),
        );
        let view = fixture.json["bufferViews"].as_array().unwrap().len() - 1;
        fixture.set(
            &format!("/bufferViews/{view}/byteStride"),
            json!(bytes.len() / 3),
        );
        fixture.set(
            "/meshes/0/primitives/0/attributes/POSITION",
            json!(accessor),
        );
        assert_eq!(
            load(&fixture).mesh().positions(),
            [expected; 3],
            "{component} {normalized}"
        );
    }
}

#[test]
fn rotation_keys_may_be_normalised_integers() {
    let cases: [(u32, [u8; 2]); 4] = [
        (BYTE, [127, 0]),
        (UNSIGNED_BYTE, [255, 0]),
        (SHORT, [0xFF, 0x7F]),
        (UNSIGNED_SHORT, [0xFF, 0xFF]),
    ];
    for (component, one) in cases {
        let size = if matches!(component, BYTE | UNSIGNED_BYTE) {
            1
        } else {
            2
        };
        let mut bytes = vec![0; 8 * size];
        bytes[3 * size..4 * size].copy_from_slice(&one[..size]);
        bytes[6 * size..7 * size].copy_from_slice(&one[..size]);
        let mut fixture = Fixture::new();
        let accessor = fixture.accessor(component, "VEC4", 2, &bytes);
        fixture.set(&format!("/accessors/{accessor}/normalized"), json!(true));
        fixture.set("/animations/0/samplers/0/output", json!(accessor));
        assert_eq!(load(&fixture).clips(), load(&Fixture::new()).clips());
    }
}

#[test]
fn weights_and_joints_may_be_integers() {
    let mut fixture = Fixture::new();
    let weights = fixture.accessor(
        UNSIGNED_BYTE,
        "VEC4",
        3,
        &[255, 0, 0, 0, 127, 128, 0, 0, 255, 0, 0, 0],
    );
    let joints: Vec<u8> = [0u16, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]
        .iter()
        .flat_map(|j| j.to_le_bytes())
        .collect();
    let joints = fixture.accessor(UNSIGNED_SHORT, "VEC4", 3, &joints);
    fixture.set(&format!("/accessors/{weights}/normalized"), json!(true));
    fixture.set(
        "/meshes/0/primitives/0/attributes/WEIGHTS_0",
        json!(weights),
    );
    fixture.set("/meshes/0/primitives/0/attributes/JOINTS_0", json!(joints));
    let model = load(&fixture);
    assert_eq!(
        model.mesh().weights(),
        [1.0, 1.0, 127.0 / 255.0, 128.0 / 255.0]
    );
    assert_eq!(model.mesh().joints(), [0, 1, 0, 1]);
}

#[test]
fn sparse_accessors_replace_elements_of_a_base_or_of_zeros() {
    for with_base in [true, false] {
        let mut fixture = Fixture::new();
        let indices = fixture.view(&[1, 2]);
        let values: Vec<u8> = [7.0f32, 0.0, 0.0, 0.0, 9.0, 0.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let values = fixture.view(&values);
        let sparse = json!({
            "count": 2,
            "indices": {"bufferView": indices, "componentType": UNSIGNED_BYTE},
            "values": {"bufferView": values},
        });
        fixture.set(&format!("/accessors/{POSITION}/sparse"), sparse);
        // So that the first vertex tells the two apart.
        fixture.buffer[..4].copy_from_slice(&3.0f32.to_le_bytes());
        if !with_base {
            fixture.remove(&format!("/accessors/{POSITION}/bufferView"));
        }
        let first = at(if with_base { 3.0 } else { 0.0 }, 0.0, 0.0);
        assert_eq!(
            positions(&load(&fixture)),
            [first, at(7.0, 0.0, 0.0), at(0.0, 9.0, 0.0)]
        );
    }
}

#[test]
fn strips_fans_and_missing_indices_become_triangle_lists() {
    let cases: [(u32, &[u32]); 7] = [
        (0, &[]),
        (1, &[]),
        (2, &[]),
        (3, &[]),
        (4, &[0, 1, 2, 3, 4, 5]),
        (5, &[0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4]),
        (6, &[1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0]),
    ];
    for (mode, expected) in cases {
        let mut fixture = Fixture::new();
        let positions = fixture.floats("VEC3", &[0.0; 18]);
        let joints = fixture.accessor(UNSIGNED_BYTE, "VEC4", 6, &[0; 24]);
        let weights = fixture.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(6));
        fixture.set(
            "/meshes/0/primitives/0",
            json!({"attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights}, "mode": mode}),
        );
        let model = load(&fixture);
        assert_eq!(model.mesh().indices(), expected, "mode {mode}");
        assert_eq!(model.mesh().primitives()[0].vertex_count, 6);
    }
}

#[test]
fn other_attributes_are_read_where_present() {
    let mut fixture = Fixture::new();
    let normals = fixture.accessor(BYTE, "VEC3", 3, &[0, 0, 127, 0, 0, 127, 0, 0, 127]);
    fixture.set(&format!("/accessors/{normals}/normalized"), json!(true));
    let tangents = fixture.floats("VEC4", &[1.0, 0.0, 0.0, -1.0].repeat(3));
    let uvs = fixture.accessor(UNSIGNED_BYTE, "VEC2", 3, &[0, 255, 0, 255, 0, 255]);
    fixture.set(&format!("/accessors/{uvs}/normalized"), json!(true));
    for (name, accessor) in [
        ("NORMAL", normals),
        ("TANGENT", tangents),
        ("TEXCOORD_0", uvs),
    ] {
        fixture.set(
            &format!("/meshes/0/primitives/0/attributes/{name}"),
            json!(accessor),
        );
    }
    let model = load(&fixture);
    let mesh = model.mesh();
    assert!(mesh.primitives()[0].has_normals);
    assert_eq!(mesh.normals(), [[0.0, 0.0, 1.0]; 3]);
    assert_eq!(mesh.tangents(), Some([[1.0, 0.0, 0.0, -1.0]; 3].as_slice()));
    assert_eq!(mesh.uvs(), Some([[0.0, 1.0]; 3].as_slice()));
}

#[test]
fn all_sets_of_influences_count_and_unused_ones_may_name_any_joint() {
    let mut fixture = Fixture::new();
    let joints = fixture.accessor(UNSIGNED_BYTE, "VEC4", 3, &[1, 77, 77, 77].repeat(3));
    let weights = fixture.floats(
        "VEC4",
        &[0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
    fixture.set("/meshes/0/primitives/0/attributes/JOINTS_1", json!(joints));
    fixture.set(
        "/meshes/0/primitives/0/attributes/WEIGHTS_1",
        json!(weights),
    );
    let model = load(&fixture);
    assert_eq!(
        notes(&model),
        ["renormalised the weights of 1 vertices (worst sum 1.5)"]
    );
    assert_eq!(
        model
            .mesh()
            .runs()
            .iter()
            .map(|r| (r.influences, r.vertex_count))
            .collect::<Vec<_>>(),
        [(1, 1), (2, 2)]
    );
}

#[test]
fn absent_inverse_binds_are_the_identity() {
    let mut fixture = Fixture::new();
    fixture.remove("/skins/0/inverseBindMatrices");
    assert_eq!(
        positions(&load(&fixture)),
        [at(0.0, 0.0, 0.0), at(1.0, 0.5, 0.0), at(0.0, 3.0, 0.0)]
    );
}

#[test]
fn ancestors_that_move_joints_are_in_the_skeleton() {
    let mut fixture = Fixture::new();
    let shear = [
        1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 5.0, 0.0, 0.0, 1.0,
    ];
    let still = fixture.push("nodes", json!({"name": "still", "children": [0]}));
    let sheared = fixture.push(
        "nodes",
        json!({"name": "sheared", "matrix": shear, "children": [still]}),
    );
    let animated = fixture.push("nodes", json!({"name": "animated", "children": [sheared]}));
    fixture.push("nodes", json!({"name": "scene", "children": [animated, 2]}));
    // The mesh node's own place means nothing.
    fixture.set("/nodes/2/translation", json!([100.0, 0.0, 0.0]));
    fixture.set("/animations/0/channels/0/target/node", json!(animated));
    let model = load(&fixture);
    assert_eq!(
        model.skeleton().names(),
        ["animated", "sheared", "root", "tip"]
    );
    assert_eq!(model.skeleton().parents(), [NO_PARENT, 0, 1, 2]);
    assert_eq!(model.skeleton().matrices().len(), 1);
    assert_eq!(
        positions(&model),
        [at(5.0, 0.0, 0.0), at(6.0, 0.0, 0.0), at(6.0, 2.0, 0.0)]
    );
}

#[test]
fn rigid_meshes_below_a_joint_follow_it() {
    let mut fixture = Fixture::new();
    fixture.push(
        "meshes",
        json!({"primitives": [{"attributes": {"POSITION": POSITION}}]}),
    );
    fixture.set("/nodes/1/children", json!([3]));
    fixture.push(
        "nodes",
        json!({"name": "wrist", "translation": [0.0, 0.5, 0.0], "children": [4, 5]}),
    );
    fixture.push(
        "nodes",
        json!({"name": "ring", "translation": [0.25, 0.0, 0.0], "mesh": 1}),
    );
    fixture.push(
        "nodes",
        json!({"name": "propeller", "scale": [2.0, 2.0, 2.0], "children": [6]}),
    );
    fixture.push(
        "nodes",
        json!({"name": "blade", "translation": [1.0, 0.0, 0.0], "mesh": 1}),
    );
    fixture.push("nodes", json!({"name": "rock", "mesh": 1}));
    let channels = json!([{"sampler": 0, "target": {"node": 5, "path": "rotation"}}]);
    fixture.set("/animations/0/channels", channels);
    let model = load(&fixture);
    // What stands still folds into a palette entry; what a clip moves, and what moves that, are joints.
    assert_eq!(
        model.skeleton().names(),
        ["root", "tip", "wrist", "propeller"]
    );
    let mesh = model.mesh();
    let primitives = mesh.primitives();
    assert_eq!(
        primitives
            .iter()
            .map(|p| p.dumped_vertices)
            .collect::<Vec<_>>(),
        [3, 0, 0]
    );
    assert_eq!(model.skins()[1].entries, 2..4);
    assert_eq!(model.palette_joints()[2..], [2, 3]);
    let translations: Vec<_> = model.inverse_binds()[2..]
        .iter()
        .map(|m| [m[0], m[3], m[7], m[11]])
        .collect();
    assert_eq!(translations, [[1.0, 0.25, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]);
    let blade = mesh
        .sources()
        .iter()
        .position(|s| s.primitive == 2)
        .unwrap();
    assert_eq!(mesh.influences_of(blade).collect::<Vec<_>>(), [(3, 1.0)]);
}

#[test]
fn a_mesh_appears_once_for_each_node_that_skins_it() {
    let mut fixture = Fixture::new();
    fixture.push("skins", json!({"name": "unused", "joints": [1]}));
    fixture.push("skins", json!({"name": "other", "joints": [1, 0]}));
    fixture.push("nodes", json!({"mesh": 0, "skin": 2}));
    fixture.push("nodes", json!({"mesh": 0, "skin": 0}));
    let model = load(&fixture);
    assert_eq!(
        model
            .skins()
            .iter()
            .map(|s| s.name.as_str())
            .collect::<Vec<_>>(),
        ["rig", "other"]
    );
    assert_eq!(
        model
            .mesh()
            .primitives()
            .iter()
            .map(|p| p.skin)
            .collect::<Vec<_>>(),
        [0, 1, 0]
    );
    assert_eq!(model.palette_joints(), [0, 1, 1, 0]);
}

#[test]
fn every_animation_is_a_clip_and_only_joints_have_tracks() {
    let mut fixture = Fixture::new();
    let late = fixture.floats("SCALAR", &[4.0]);
    let zero = fixture.floats("SCALAR", &[0.0]);
    let scale = fixture.floats("VEC3", &[2.0, 2.0, 2.0]);
    let cubic = fixture.floats(
        "VEC3",
        &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0].repeat(2),
    );
    fixture.push(
        "animations",
        json!({
            "channels": [
                {"sampler": 0, "target": {"node": 2, "path": "scale"}},
                {"sampler": 0, "target": {"node": 2, "path": "weights"}},
                {"sampler": 0, "target": {"path": "pointer"}},
            ],
            "samplers": [{"input": late, "output": scale}],
        }),
    );
    fixture.push(
        "animations",
        json!({
            "name": "pose",
            "channels": [
                {"sampler": 0, "target": {"node": 0, "path": "scale"}},
                {"sampler": 1, "target": {"node": 1, "path": "translation"}},
            ],
            "samplers": [
                {"input": zero, "output": scale, "interpolation": "STEP"},
                {"input": TIMES, "output": cubic, "interpolation": "CUBICSPLINE"},
            ],
        }),
    );
    fixture.push("animations", json!({"channels": [], "samplers": []}));
    let model = load(&fixture);
    let clips: Vec<_> = model
        .clips()
        .iter()
        .map(|c| {
            (
                c.name(),
                c.duration(),
                c.keys().raw().unwrap().tracks().len(),
            )
        })
        .collect();
    assert_eq!(
        clips,
        [
            ("bend", 1.5, 1),
            ("", 4.0, 0),
            ("pose", 1.5, 2),
            ("", 0.0, 0)
        ]
    );
    let tracks: Vec<_> = model.clips()[2]
        .keys()
        .raw()
        .unwrap()
        .tracks()
        .iter()
        .map(|t| (t.joint, t.channel, t.interpolation))
        .collect();
    assert_eq!(
        tracks,
        [
            (0, Channel::Scale, Interpolation::Step),
            (1, Channel::Translation, Interpolation::CubicSpline)
        ]
    );
}

#[test]
fn materials_are_plain_base_colours() {
    let mut fixture = Fixture::new();
    let colour = json!({"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "baseColorTexture": {"index": 0}});
    fixture.push(
        "materials",
        json!({"name": "skin", "pbrMetallicRoughness": colour}),
    );
    fixture.push("materials", json!({}));
    // No source without an extension that the crate's types would have to know.
    fixture.push(
        "textures",
        json!({"extensions": {"KHR_texture_basisu": {"source": 0}}}),
    );
    fixture.set(
        "/extensionsRequired",
        json!(["KHR_texture_basisu", "KHR_materials_unlit"]),
    );
    let plain = fixture.json["meshes"][0]["primitives"][0].clone();
    fixture.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(plain);
    fixture.set("/meshes/0/primitives/0/material", json!(0));
    let model = load(&fixture);
    let colours: Vec<_> = model
        .materials()
        .iter()
        .map(|m| (m.name.as_str(), m.base_color))
        .collect();
    assert_eq!(
        colours,
        [
            ("skin", [0.1, 0.2, 0.3, 0.4]),
            ("", [1.0; 4]),
            ("", [0.8, 0.8, 0.8, 1.0])
        ]
    );
    let subsets = model.mesh().primitives()[0].subsets.iter();
    assert_eq!(subsets.map(|s| s.material).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn notes_are_told_once_with_counts() {
    let mut fixture = Fixture::new();
    fixture.set("/nodes/0/rotation", json!([0.0, 0.0, 0.0, 2.0]));
    let keys = fixture.floats("VEC4", &[0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.5, 0.0]);
    fixture.set("/animations/0/samplers/0/output", json!(keys));
    assert_eq!(
        notes(&load(&fixture)),
        ["normalised 3 rotations (worst length 2)",]
    );
}

#[test]
fn extras_of_others_are_skipped() {
    for extras in [
        json!(1),
        json!(-0.5),
        json!("a"),
        json!(null),
        json!(true),
        json!([{}]),
        json!({"a": {"b": 1}}),
    ] {
        let mut fixture = Fixture::new();
        fixture.set("/asset/extras", extras.clone());
        fixture.set("/meshes/0/primitives/0/extras", extras);
        assert_eq!(load(&fixture).mesh(), load(&Fixture::new()).mesh());
    }
}

#[test]
fn a_primitive_may_continue_the_one_before_it_as_a_subset() {
    let mut fixture = Fixture::new();
    let mut primitive = fixture.json["meshes"][0]["primitives"][0].clone();
    primitive["extras"] = json!({"skinbench": {"continues": true}});
    fixture.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(primitive.clone());
    let model = load(&fixture);
    assert_eq!(model.mesh().primitives().len(), 1);
    assert_eq!(
        model.mesh().primitives()[0]
            .subsets
            .iter()
            .map(|s| s.indices.clone())
            .collect::<Vec<_>>(),
        [0..3, 3..6]
    );
    // Other vertices are another primitive, whatever is noted.
    primitive["attributes"]["NORMAL"] = json!(POSITION);
    fixture.set("/meshes/0/primitives/1", primitive);
    assert_eq!(load(&fixture).mesh().primitives().len(), 2);
}

#[test]
fn a_primitive_continues_the_one_before_it_also_if_that_shares_vertices() {
    let mut fixture = Fixture::new();
    let others = fixture.floats("VEC3", &[5.0; 9]);
    let first = fixture.json["meshes"][0]["primitives"][0].clone();
    let mut second = first.clone();
    second["attributes"]["POSITION"] = json!(others);
    let mut fourth = first.clone();
    fourth["extras"] = json!({"skinbench": {"continues": true}});
    let primitives = json!([first, second, first, fourth]);
    fixture.set("/meshes/0/primitives", primitives);
    let model = load(&fixture);
    let subsets: Vec<usize> = model
        .mesh()
        .primitives()
        .iter()
        .map(|primitive| primitive.subsets.len())
        .collect();
    assert_eq!(subsets, [3, 1]);
}

/// The fixture with a second triangle over the same accessors, and two vertices that no index names.
fn shared_accessors() -> Fixture {
    let mut fixture = Fixture::new();
    let positions: Vec<f32> = (0..15).map(|v| v as f32).collect();
    let positions = fixture.floats("VEC3", &positions);
    let joints = fixture.accessor(UNSIGNED_BYTE, "VEC4", 5, &[0; 20]);
    let weights = fixture.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(5));
    let first = fixture.accessor(UNSIGNED_BYTE, "SCALAR", 3, &[0, 2, 4]);
    let second = fixture.accessor(UNSIGNED_BYTE, "SCALAR", 3, &[4, 2, 2]);
    // An accessor of its own, but with the same bytes.
    let again = fixture.json["accessors"][positions].clone();
    let again = fixture.push("accessors", again);
    let primitive = |positions: usize, indices: usize| {
        json!({
            "attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights},
            "indices": indices,
        })
    };
    let primitives = json!([primitive(positions, first), primitive(again, second)]);
    fixture.set("/meshes/0/primitives", primitives);
    fixture
}

#[test]
fn vertices_are_skinned_once_and_only_if_they_are_drawn() {
    let mut fixture = shared_accessors();
    // Attributes that are not read make no difference.
    fixture.set("/meshes/0/primitives/1/attributes/COLOR_1", json!(POSITION));
    let model = load(&fixture);
    assert_eq!(model.mesh().vertex_count(), 3);
    let subsets = &model.mesh().primitives()[0].subsets;
    assert_eq!(
        subsets
            .iter()
            .map(|s| s.indices.clone())
            .collect::<Vec<_>>(),
        [0..3, 3..6]
    );
    assert_eq!(model.mesh().indices(), [0, 1, 2, 2, 1, 1]);
    assert_eq!(
        notes(&model),
        [
            "1 primitives share the vertices of others, which are skinned once",
            "left out 2 vertices that no triangle uses",
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    let all = asset::load_with(&asset::Request {
        file: &fixture.write(folder.path()),
        clips: &[],
        vertices: asset::Vertices::All,
    });
    let all = all.unwrap();
    let counts: Vec<u32> = all
        .mesh()
        .primitives()
        .iter()
        .map(|p| p.vertex_count)
        .collect();
    assert_eq!(counts, [5, 5]);
    assert_eq!(notes(&all), [""; 0]);
    // Points are drawn, too, and name two vertices.
    fixture.set("/meshes/0/primitives/1/mode", json!(0));
    let points = load(&fixture);
    let counts: Vec<u32> = points
        .mesh()
        .primitives()
        .iter()
        .map(|p| p.vertex_count)
        .collect();
    assert_eq!(counts, [3, 2]);
    assert!(notes(&points).contains(&"left out 3 vertices that no point or line names".to_owned()));
    // Points and lines share vertices with each other, and without indices have all of them.
    let mut lines = fixture.json["meshes"][0]["primitives"][1].clone();
    lines["mode"] = json!(1);
    lines["indices"] = fixture.json["meshes"][0]["primitives"][0]["indices"].clone();
    fixture.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(lines.clone());
    let both = load(&fixture);
    assert_eq!(both.mesh().primitives()[1].vertex_count, 3);
    assert_eq!(both.mesh().primitives()[1].subsets.len(), 2);
    lines.as_object_mut().unwrap().remove("indices");
    fixture.set("/meshes/0/primitives/1", lines);
    assert_eq!(load(&fixture).mesh().primitives()[1].vertex_count, 5);
}

#[test]
fn only_the_default_scene_is_read() {
    let mut fixture = Fixture::new();
    fixture.push("nodes", json!({"name": "other", "mesh": 0, "skin": 0}));
    fixture.push("nodes", json!({"name": "far", "mesh": 0, "skin": 0}));
    fixture.push("nodes", json!({"name": "forgotten", "mesh": 0, "skin": 0}));
    fixture.push("nodes", json!({"name": "ground", "mesh": 0}));
    fixture.set(
        "/scenes",
        json!([{"nodes": [3]}, {"name": "main", "nodes": [0, 2, 6]}]),
    );
    fixture.set("/scene", json!(1));
    fixture.set("/nodes/2/extensions", json!({"MSFT_lod": {"ids": [4]}}));
    let model = load(&fixture);
    assert_eq!(model.mesh().primitives().len(), 2);
    assert_eq!(
        notes(&model),
        [
            "left out the meshes of other scenes: \"other\" of scene 0 \"\"",
            "left out lower levels of detail (MSFT_lod): \"far\"",
            "took also meshes that are in no scene: \"forgotten\"",
            "left out meshes that no joint moves: \"ground\"",
        ]
    );
    // Without scenes, all nodes count.
    fixture.remove("/scene");
    fixture.remove("/scenes");
    assert_eq!(load(&fixture).mesh().primitives().len(), 3);
}

#[test]
fn what_is_not_read_is_told() {
    let mut fixture = Fixture::new();
    fixture.set("/asset/generator", json!("somebody"));
    fixture.set("/nodes/0/camera", json!(0));
    fixture.set("/nodes/0/extras", json!({"anything": [1, 2]}));
    fixture.set("/nodes/0/visible", json!(true));
    fixture.set("/nodes/1/visible", json!(false));
    fixture.set(
        "/nodes/1/extensions",
        json!({"EXT_undeclared": {}, "KHR_lights_punctual": {}}),
    );
    fixture.set(
        "/materials",
        json!([{"extensions": {"KHR_materials_clearcoat": {}}}]),
    );
    fixture.set(
        "/extensionsUsed",
        json!([
            "EXT_undeclared",
            "VRM",
            "MSFT_lod",
            "KHR_materials_clearcoat"
        ]),
    );
    fixture.set("/meshes/0/primitives/0/attributes/COLOR_1", json!(POSITION));
    fixture.set("/meshes/0/primitives/0/attributes/_OWN", json!(POSITION));
    fixture.set("/meshes/0/primitives/0/attributes/NORMALS", json!(POSITION));
    assert_eq!(
        notes(&load(&fixture)),
        [
            "left out parts that are not read: nodes[].visible (2 times), extensions.EXT_undeclared, \
             meshes[].primitives[].attributes.NORMALS, extensions.VRM"
        ]
    );
}

#[test]
fn null_counts_as_absent_and_other_types_are_told() {
    let mut fixture = Fixture::new();
    let plain = load(&fixture);
    fixture.set(
        "/scenes",
        json!([{"name": null, "nodes": null, "extensions": null}]),
    );
    fixture.set("/extensions", json!(null));
    fixture.set("/extensionsUsed", json!(null));
    fixture.set("/nodes/2/extensions", json!(null));
    fixture.set("/nodes/1/name", json!(null));
    fixture.set("/meshes/0/extras", json!(null));
    let model = load(&fixture);
    assert_eq!(model.mesh(), plain.mesh());
    let note = "took also meshes that are in no scene: \"body\"";
    assert_eq!(notes(&model), [note]);
    fixture.set("/scenes", json!(null));
    fixture.set("/scene", json!(0));
    fixture.set("/meshes/0/extensions", json!(["a", 1]));
    let note = "left out parts that are not read: meshes[].extensions[] (2 times)";
    assert_eq!(notes(&load(&fixture)), [note]);
    fixture.set("/meshes/0/extensions", json!("a"));
    let folder = tempfile::tempdir().unwrap();
    let error = asset::load(fixture.write(folder.path())).unwrap_err();
    assert!(
        error.problem.ends_with("expected an object or a list"),
        "{error}"
    );
}

#[test]
fn levels_of_detail_in_a_circle_count_for_none() {
    let levels = |ids: &[u32]| json!({"MSFT_lod": {"ids": ids}});
    let mut fixture = Fixture::new();
    fixture.set("/nodes/2/extensions", levels(&[2]));
    let note = "ignored levels of detail (MSFT_lod) that include their own node: \"body\"";
    assert_eq!(notes(&load(&fixture)), [note]);
    // Another node has levels, of which the second refers to the first.
    let mesh = json!({"name": "far", "mesh": 0, "skin": 0});
    fixture.push("nodes", mesh.clone());
    fixture.push("nodes", mesh);
    fixture.set("/nodes/2/extensions", levels(&[4]));
    fixture.set("/nodes/4/extensions", levels(&[3]));
    fixture.set("/nodes/3/extensions", levels(&[4]));
    let model = load(&fixture);
    assert_eq!(model.mesh().primitives().len(), 1);
    let note = "left out lower levels of detail (MSFT_lod): \"far\" (2 times)";
    assert_eq!(notes(&model), [note]);
    // All in one circle.
    fixture.set("/nodes/3/extensions", levels(&[2]));
    assert_eq!(load(&fixture).mesh().primitives().len(), 3);
}

#[test]
fn clips_of_other_scenes_are_left_out() {
    let mut fixture = Fixture::new();
    let other = fixture.push("nodes", json!({"name": "other root"}));
    fixture.push("scenes", json!({"nodes": [other]}));
    let mut clip = fixture.json["animations"][0].clone();
    clip["name"] = json!("of the other");
    clip["channels"][0]["target"]["node"] = json!(other);
    fixture.push("animations", clip.clone());
    // Nodes in no scene may belong to the model.
    let nowhere = fixture.push("nodes", json!({"name": "nowhere"}));
    clip["name"] = json!("of nobody");
    clip["channels"][0]["target"]["node"] = json!(nowhere);
    fixture.push("animations", clip);
    let model = load(&fixture);
    let names: Vec<&str> = model.clips().iter().map(|clip| clip.name()).collect();
    assert_eq!(names, ["bend", "of nobody"]);
    let note =
        "left out clips that move only other scenes or lower levels of detail: \"of the other\"";
    assert_eq!(notes(&model), [note]);
}

#[test]
fn data_uris_are_known_in_any_case() {
    let mut fixture = Fixture::new();
    let json: serde_json::Value = serde_json::from_slice(&fixture.gltf()).unwrap();
    let uri = json["buffers"][0]["uri"].as_str().unwrap();
    let (_, data) = uri.split_once(',').unwrap();
    fixture.set(
        "/buffers/0/uri",
        json!(format!("DATA:application/octet-stream;BASE64,{data}")),
    );
    assert_eq!(load(&fixture).mesh(), load(&Fixture::new()).mesh());
}

#[test]
fn paths_may_go_down_and_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::new();
    fs::write(folder.path().join("b.bin"), &fixture.buffer).unwrap();
    for uri in ["sub/../b.bin", "./sub/x/../.././b.bin", "sub/%2e%2e/b.bin"] {
        fixture.set("/buffers/0/uri", json!(uri));
        let file = fixture.write(folder.path());
        assert_eq!(
            asset::load(&file).unwrap().mesh(),
            load(&Fixture::new()).mesh(),
            "{uri}"
        );
    }
}

#[test]
fn byte_order_marks_and_nul_padding_are_skipped() {
    let fixture = Fixture::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fixture.gltf");
    fs::write(&file, [b"\xef\xbb\xbf", &fixture.gltf()[..]].concat()).unwrap();
    assert_eq!(asset::load(&file).unwrap().mesh(), load(&fixture).mesh());
    let json = fixture.json.to_string();
    for padding in 1..=4 {
        let padded = [json.as_bytes(), &vec![0; padding]].concat();
        let file = folder.path().join("fixture.glb");
        fs::write(
            &file,
            glb(&[(b"JSON", &padded), (b"BIN\0", &fixture.buffer)]),
        )
        .unwrap();
        assert_eq!(asset::load(&file).unwrap().mesh(), load(&fixture).mesh());
    }
}
