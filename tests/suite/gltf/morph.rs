//! Morph targets of glTF files.
use crate::support::gltf_fixture::*;
use crate::support::golden::goldens;
use crate::support::shared::shared_folder;
use glam::DVec3;
use serde_json::{Value, json};
use skinbench::asset;
use skinbench::crowd::{Crowd, Layer, REST};
use skinbench::error::DataError;
use skinbench::model::{IDENTITY_ROWS, Interpolation, Model, Target};
use skinbench::reference::reference_vertices;
use std::sync::Arc;

/// The fixture with two targets: the first lifts vertex 1 by one, the second moves all vertices along x.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    let lift = fixture.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let shift = fixture.floats("VEC3", &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    fixture.set(
        "/meshes/0/primitives/0/targets",
        json!([{"POSITION": lift}, {"POSITION": shift}]),
    );
    fixture
}

fn try_load(fixture: &Fixture) -> Result<Model, DataError> {
    let folder = tempfile::tempdir().unwrap();
    asset::load(fixture.write(folder.path()))
}

fn load(fixture: &Fixture) -> Model {
    try_load(fixture).unwrap_or_else(|error| panic!("{error}"))
}

/// Positions by the reference, in file order, at a time of the first clip or at rest.
fn positions(model: &Model, time: Option<f32>) -> Vec<DVec3> {
    let layer = time.map_or(Layer::held(REST, 0.0), |time| Layer::held(0, time));
    let mut crowd = Crowd::new();
    crowd
        .push_group(Arc::new(model.clone()), [(IDENTITY_ROWS, layer)])
        .unwrap();
    let numbers = reference_vertices(&crowd, 0, 0);
    let mut vertices: Vec<_> = model
        .mesh()
        .sources()
        .iter()
        .zip(numbers.as_chunks::<6>().0)
        .collect();
    vertices.sort_by_key(|(source, _)| **source);
    vertices
        .into_iter()
        .map(|(_, [x, y, z, ..])| DVec3::new(*x, *y, *z))
        .collect()
}

fn close(got: &[DVec3], want: &[[f64; 3]]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!(
            got.distance(DVec3::from(*want)) < 1e-6,
            "{got} instead of {want:?}"
        );
    }
}

#[test]
fn weights_of_nodes_replace_those_of_meshes() {
    let mut file = fixture();
    close(
        &positions(&load(&file), None),
        &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
    );
    file.set("/meshes/0/weights", json!([2.0, -1.0]));
    close(
        &positions(&load(&file), None),
        &[[-1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [-1.0, 2.0, 0.0]],
    );
    file.set("/nodes/2/weights", json!([0.5, 0.0]));
    close(
        &positions(&load(&file), None),
        &[[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 2.0, 0.0]],
    );
    file.set(
        "/meshes/0/extras",
        json!({"targetNames": ["lift", "shift"], "other": [1]}),
    );
    let model = load(&file);
    let named = |name: &str, weight| Target {
        name: name.into(),
        weight,
    };
    assert_eq!(
        model.mesh().targets().list(),
        [named("lift", 0.5), named("shift", 0.0)]
    );
    for (extras, misfit) in [
        (json!(7), None),
        (json!({"targetNames": 3}), Some("no list of texts")),
        (json!({"targetNames": [1, 2]}), Some("no list of texts")),
        (json!({"targetNames": ["lift"]}), Some("1 for 2")),
        (
            json!({"targetNames": ["lift", "target 1", "more"]}),
            Some("3 for 2"),
        ),
    ] {
        file.set("/meshes/0/extras", extras);
        let model = load(&file);
        assert_eq!(model.mesh().targets().list()[1].name, "target 1");
        let found = model.notes().lines().next();
        let expected = misfit.map(|misfit| {
            format!(
                "names that do not fit the morph targets: meshes[0].extras.targetNames ({misfit})"
            )
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn channels_set_weights_by_each_interpolation() {
    let animated = |interpolation: &str, values: &[f32]| {
        let mut file = fixture();
        let (times, values) = (
            file.floats("SCALAR", &[1.0, 2.0]),
            file.floats("SCALAR", values),
        );
        let sampler = json!({"input": times, "output": values, "interpolation": interpolation});
        file.set("/animations/0/samplers", json!([sampler]));
        file.set(
            "/animations/0/channels",
            json!([{"sampler": 0, "target": {"node": 2, "path": "weights"}}]),
        );
        load(&file)
    };
    let first = |model: &Model, time: f32| positions(model, Some(time))[0].x;
    let linear = animated("LINEAR", &[0.0, 0.0, 0.0, 4.0]);
    assert_eq!(
        (
            first(&linear, 0.0),
            first(&linear, 1.25),
            first(&linear, 9.0)
        ),
        (0.0, 1.0, 4.0)
    );
    let step = animated("STEP", &[0.0, 1.0, 0.0, 4.0]);
    assert_eq!((first(&step, 1.9), first(&step, 2.0)), (1.0, 4.0));
    let cubic = animated(
        "CUBICSPLINE",
        &[0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    );
    assert!(
        (first(&cubic, 1.5) - (0.5 + 0.125 * 2.0)).abs() < 1e-6,
        "{}",
        first(&cubic, 1.5)
    );
    assert_eq!(linear.clips()[0].duration(), 2.0);
}

/// Two meshes of one skin become one mesh in a copy if the targets of the first move nothing.
#[test]
fn weights_that_move_nothing_do_not_change_the_keys_of_others() {
    let mut file = fixture();
    let still = file.floats("VEC3", &[0.0; 9]);
    let mut mesh = file.json["meshes"][0].clone();
    mesh["primitives"][0]["targets"] = json!(vec![json!({"POSITION": still}); 3]);
    let moving = std::mem::replace(&mut file.json["meshes"][0], mesh);
    let moving = file.push("meshes", moving);
    let node = file.push("nodes", json!({"mesh": moving, "skin": 0}));
    file.set("/scenes/0/nodes", json!([0, 2, node]));
    let times: Vec<f32> = (0..9).map(|key| key as f32 / 8.0).collect();
    let curved: Vec<f32> = (0..81).map(|value| (value % 7) as f32).collect();
    let samplers = json!([
        {
            "input": file.floats("SCALAR", &times),
            "output": file.floats("SCALAR", &curved),
            "interpolation": "CUBICSPLINE",
        },
        {
            "input": file.floats("SCALAR", &[0.0, 0.4]),
            "output": file.floats("SCALAR", &[1.0, 0.5, 0.25, 2.0]),
            "interpolation": "STEP",
        },
    ]);
    file.set("/animations/0/samplers", samplers);
    file.set(
        "/animations/0/channels",
        json!([
            {"sampler": 0, "target": {"node": 2, "path": "weights"}},
            {"sampler": 1, "target": {"node": node, "path": "weights"}},
        ]),
    );
    let original = load(&file);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.glb");
    std::fs::write(&copy, asset::glb::to_glb(&original).unwrap()).unwrap();
    let copy = asset::load(copy).unwrap();
    let tracks: Vec<_> = copy.clips()[0]
        .weights()
        .iter()
        .map(|keys| (keys.interpolation, keys.times.len(), keys.values.len()))
        .collect();
    assert_eq!(tracks, [(Interpolation::Step, 2, 4)]);
    for time in [0.0, 0.39, 0.41, 1.0] {
        let found = positions(&copy, Some(time));
        let right = positions(&original, Some(time));
        assert_eq!(found, right, "at {time} s");
    }
}

#[test]
fn sparse_and_quantised_deltas() {
    let mut file = fixture();
    let indices = file.view(&[1, 0]);
    let values: Vec<u8> = [0.0f32, 0.0, 3.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let values = file.view(&values);
    let sparse = file.push(
        "accessors",
        json!({"componentType": FLOAT, "type": "VEC3", "count": 3, "sparse": {
            "count": 1,
            "indices": {"bufferView": indices, "componentType": UNSIGNED_SHORT},
            "values": {"bufferView": values},
        }}),
    );
    let bytes = file.accessor(BYTE, "VEC3", 3, &[0, 0, 0, 127, 0, 0, 0, 0x81, 0]);
    file.set(&format!("/accessors/{bytes}/normalized"), json!(true));
    // The byte vectors are 3 bytes apart, which a view of its own states.
    file.set(
        "/meshes/0/primitives/0/targets",
        json!([{"POSITION": sparse}, {"POSITION": bytes}, {}]),
    );
    file.set("/meshes/0/weights", json!([1.0, 2.0, 5.0]));
    let model = load(&file);
    close(
        &positions(&model, None),
        &[[0.0, 0.0, 0.0], [3.0, 0.0, 3.0], [0.0, 0.0, 0.0]],
    );
    let spans = |target| {
        model
            .mesh()
            .targets()
            .spans(target)
            .iter()
            .map(|s| s.count)
            .sum::<u32>()
    };
    assert_eq!((spans(0), spans(1), spans(2)), (1, 2, 0));
}

/// The triangle without its skin stands where its node does, and a joint above it moves it.
#[test]
fn a_mesh_without_a_skin_is_a_rigid_instance_of_its_node() {
    let mut file = fixture();
    file.remove("/nodes/2/skin");
    file.set("/nodes/2/translation", json!([0.0, 0.0, 5.0]));
    file.set("/nodes/2/weights", json!([1.0, 0.0]));
    let alone = load(&file);
    assert_eq!(
        (alone.skins()[0].name.as_str(), alone.palette_joints().len()),
        ("rigid meshes", 1)
    );
    assert_eq!(alone.mesh().primitives()[0].dumped_vertices, 3);
    close(
        &positions(&alone, None),
        &[[0.0, 0.0, 5.0], [1.0, 1.0, 5.0], [0.0, 2.0, 5.0]],
    );
    // Below joint 1, which a clip turns by half a turn about z.
    file.set("/nodes/1/children", json!([2]));
    let carried = load(&file);
    close(
        &positions(&carried, Some(9.0)),
        &[[0.0, 1.0, 5.0], [-1.0, 0.0, 5.0], [0.0, -1.0, 5.0]],
    );
}

/// Primitives come by node; rigid ones without targets are not dumped.
#[test]
fn dumped_primitives_have_a_skin_or_targets() {
    let mut file = fixture();
    file.push(
        "meshes",
        json!({"primitives": [{"attributes": {"POSITION": POSITION}}]}),
    );
    file.push("nodes", json!({"mesh": 1, "name": "plain"}));
    file.push(
        "nodes",
        json!({"mesh": 0, "name": "face", "translation": [0.0, 0.0, 1.0]}),
    );
    file.set("/nodes/1/children", json!([3, 4]));
    file.push("nodes", json!({"mesh": 0, "skin": 0, "name": "second"}));
    let model = load(&file);
    let dumped: Vec<u32> = model
        .mesh()
        .primitives()
        .iter()
        .map(|p| p.dumped_vertices)
        .collect();
    assert_eq!(dumped, [3, 3, 3, 0]);
    let skins: Vec<u16> = model.mesh().primitives().iter().map(|p| p.skin).collect();
    assert_eq!(
        skins,
        [0, 1, 0, 1],
        "by node: skinned, rigid with targets, skinned; then the plain one"
    );
    assert_eq!(
        model.mesh().targets().len(),
        6,
        "each node has weights of its own"
    );
}

#[test]
fn faulty_targets_are_refused() {
    let refused = |place: &str, problem: &str, edit: &dyn Fn(&mut Fixture)| {
        let mut file = fixture();
        edit(&mut file);
        let error = try_load(&file).unwrap_err();
        assert_eq!(error.place, place, "{error}");
        assert!(
            error.problem.contains(problem),
            "{error}\nexpected: {problem}"
        );
    };
    let target = |file: &mut Fixture, attributes: Value| {
        file.set("/meshes/0/primitives/0/targets/0", attributes);
    };
    refused(
        "meshes[0].primitives[0].targets[0].POSITION",
        "2 elements; expected 3, as POSITION has",
        &|file| {
            let short = file.floats("VEC3", &[0.0; 6]);
            target(file, json!({"POSITION": short}));
        },
    );
    refused(
        "accessors[9]",
        "holds NaN; expected finite numbers",
        &|file| {
            let nan = file.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0]);
            target(file, json!({"NORMAL": nan}));
        },
    );
    refused(
        "meshes[0].primitives[0].targets[0].POSITION",
        "accessor 99 is out of range",
        &|file| {
            target(file, json!({"POSITION": 99}));
        },
    );
    refused(
        "meshes[0].weights",
        "3 weights; expected 2, one per morph target",
        &|file| {
            file.set("/meshes/0/weights", json!([0.0, 0.0, 0.0]));
        },
    );
    refused("nodes[2].weights", "1 weights; expected 2", &|file| {
        file.set("/nodes/2/weights", json!([0.0]))
    });
    refused(
        "meshes[0].primitives[1].targets",
        "1 morph targets; expected 2",
        &|file| {
            let mut second = file.json["meshes"][0]["primitives"][0].clone();
            second["targets"].as_array_mut().unwrap().pop();
            file.json["meshes"][0]["primitives"]
                .as_array_mut()
                .unwrap()
                .push(second);
        },
    );
    refused(
        "animations[0].samplers[0].output",
        "2 elements for 2 keys; expected 2 per key",
        &|file| {
            let values = file.floats("SCALAR", &[0.0, 1.0]);
            file.set("/animations/0/samplers/0/output", json!(values));
            file.set(
                "/animations/0/channels/0/target",
                json!({"node": 2, "path": "weights"}),
            );
        },
    );
    refused("meshes[0]", "expected at most 65535", &|file| {
        file.set(
            "/meshes/0/primitives/0/targets",
            Value::Array(vec![json!({}); 65_536]),
        );
    });
}

/// Thousands of targets that a small file asks for take memory for what they list, not for every vertex.
#[test]
fn empty_targets_take_little_memory() {
    let mut file = fixture();
    let nothing = file.push(
        "accessors",
        json!({"componentType": FLOAT, "type": "VEC3", "count": 3}),
    );
    file.set(
        "/meshes/0/primitives/0/targets",
        Value::Array(vec![json!({"POSITION": nothing}); 4_000]),
    );
    let model = load(&file);
    assert_eq!(
        (model.mesh().targets().len(), model.mesh().targets().moved()),
        (4_000, 0)
    );
    assert!(
        model.mesh().targets().bytes() < 400_000,
        "{}",
        model.mesh().targets().bytes()
    );
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn real_models_morph_as_in_three_js() {
    let goldens = goldens(&shared_folder(), "morph/");
    assert_eq!(goldens.len(), 6);
    for golden in &goldens {
        let worst = golden.compare_morphed();
        println!(
            "{:40} position {:8.1e}  normal {:8.1e}",
            golden.name, worst.position, worst.normal
        );
        assert!(
            worst.position <= 2e-6 && worst.normal <= 1e-5,
            "{}: {worst:?}",
            golden.name
        );
    }
}
