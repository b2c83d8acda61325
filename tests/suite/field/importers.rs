//! Importers and the exporter.
use super::*;
use crate::support::golden::load_all;
use serde_json::json;
use skinbench::asset::{self, glb};
use skinbench::model::Interpolation;
use skinbench::scene::ModelSource;

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_primitive_without_a_real_triangle_does_not_keep_others_from_their_vertices() {
    let file = case("hang-vertices-degenerate-primitive").join("placeholder-primitive.glb");
    let mut source = ModelSource::from_name(file.to_str().unwrap());
    source.vertices = Some(400);
    // With all vertices, the placeholder is a primitive of its own.
    for keep_vertices in [false, true] {
        source.keep_vertices = keep_vertices;
        let model = source.load().unwrap();
        let count = model.mesh().vertex_count();
        assert!((360..=440).contains(&count), "{count} vertices");
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn shared_and_unused_vertices_are_skinned_once_or_not_at_all() {
    let folder = case("vertices-no-triangle-draws");
    let right = expected("vertices-no-triangle-draws");
    for (file, note, all) in [
        (
            "shared-accessors.glb",
            "5 primitives share the vertices of others, which are skinned once",
            324,
        ),
        (
            "unused-vertices.glb",
            "left out 5000 vertices that no triangle uses",
            5_054,
        ),
    ] {
        let drawn = asset::load(folder.join(file)).unwrap();
        assert_eq!(json!(drawn.mesh().vertex_count()), right["vertices_used"]);
        assert_eq!(json!(drawn.mesh().indices().len() / 3), right["triangles"]);
        assert_eq!(notes(&drawn), [note]);
        let kept = load_all(&folder.join(file));
        assert_eq!(kept.mesh().vertex_count(), all);
        assert_eq!(notes(&kept), [""; 0]);
        // The export has no more.
        let out = tempfile::tempdir().unwrap();
        let copy = out.path().join("copy.glb");
        std::fs::write(&copy, glb::to_glb(&drawn).unwrap()).unwrap();
        let copy = load_all(&copy);
        assert_eq!(json!(copy.mesh().vertex_count()), right["vertices_used"]);
        let at = Some((0, 0.3));
        assert_eq!(positions(&copy, at), positions(&drawn, at));
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_model_is_the_default_scene() {
    let folder = case("nodes-outside-the-scene");
    let right = expected("nodes-outside-the-scene");
    for (file, poses, note) in [
        (
            "msft-lod.glb",
            "msft_lod",
            "left out lower levels of detail (MSFT_lod): \"body_LOD1\"",
        ),
        (
            "two-scenes.glb",
            "two_scenes",
            "left out the meshes of other scenes: \"other\" of scene 1 \"second\"",
        ),
    ] {
        let model = load_all(&folder.join(file));
        holds_poses(&model, &right[poses]);
        assert_eq!(notes(&model), [note]);
        assert_eq!(model.skins().len(), 1, "{file}");
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn ogres_scales_do_not_shear() {
    let right = expected("ogrexml-uneven-scale");
    for name in ["squash", "leaf"] {
        let file = case("ogrexml-uneven-scale").join(format!("{name}.mesh.xml"));
        let model = load_all(&file);
        let note = &notes(&model)[0];
        assert!(
            note.ends_with("for scales that differ from axis to axis"),
            "{note}"
        );
        for (time, vertices) in right[name].as_object().unwrap() {
            let found = positions(&model, Some((0, time.parse().unwrap())));
            let off = off_by(&found, &json!([vertices]));
            assert!(off < 5e-6, "{name}: off by {off} at {time} s");
        }
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn ogres_base_keys_are_subtracted_and_links_named() {
    let folder = case("ogrexml-baseinfo-and-links");
    let model = load_all(&folder.join("baseinfo.mesh.xml"));
    assert_eq!(notes(&model), [""; 0]);
    let poses = &expected("ogrexml-baseinfo-and-links")["poses"];
    for (time, vertices) in poses.as_object().unwrap() {
        let found = positions(&model, Some((0, time.parse().unwrap())));
        let off = off_by(&found, &json!([vertices]));
        assert!(off < 5e-6, "off by {off} at {time} s");
    }
    let linked = load_all(&folder.join("animationlinks.mesh.xml"));
    assert_eq!(
        notes(&linked),
        ["left out the animations that animationlinks name: \"run.skeleton\""]
    );
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_vertex_without_weight_follows_the_joint_of_its_first_slot() {
    let right = expected("zero-weights-other-joint");
    let file = case("zero-weights-other-joint").join("zero-sum-weights.glb");
    let model = load_all(&file);
    assert_eq!(
        notes(&model),
        ["2 vertices whose weights are all 0 now follow the joint of their first influence"]
    );
    let of_file = |source: &skinbench::model::VertexOrigin| json!(source.vertex) == right["vertex"];
    let stored = model.mesh().sources().iter().position(of_file).unwrap();
    let held: Vec<(u16, f32)> = model.mesh().influences_of(stored).collect();
    let joint = right["joint_of_first_slot"].as_u64().unwrap() as u16;
    assert_eq!(held, [(joint, 1.0)]);
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn an_empty_morph_target_stays_with_its_mesh() {
    let file = case("convert-empty-morph-target").join("empty-target.glb");
    let poses = &expected("convert-empty-morph-target")["poses"];
    let original = load_all(&file);
    assert_eq!(
        notes(&original),
        ["took also meshes that are in no scene: \"second\""]
    );
    holds_poses(&original, poses);
    let out = tempfile::tempdir().unwrap();
    let copy = out.path().join("copy.glb");
    std::fs::write(&copy, glb::to_glb(&original).unwrap()).unwrap();
    let copy = load_all(&copy);
    holds_poses(&copy, poses);
    let interpolations = copy.clips()[0]
        .weights()
        .iter()
        .map(|keys| keys.interpolation);
    assert_eq!(
        interpolations.collect::<Vec<_>>(),
        [Interpolation::Step, Interpolation::CubicSpline]
    );
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn unusual_files_are_read_or_refused_with_the_reason() {
    let folder = case("unclear-refusals");
    let plain = load_all(&folder.join("nulpad.glb"));
    assert_eq!(plain.mesh().vertex_count(), 54);
    let marked = load_all(&folder.join("bom.gltf"));
    assert_eq!(marked.mesh().positions(), plain.mesh().positions());
    let error = asset::load(folder.join("model3d.m3d")).unwrap_err();
    assert_eq!(
        error.problem,
        "Model 3D, not the text format m3d of Luna's DirectX 12 samples; expected a model"
    );
    // Its buffer has the bytes of the other file's, which is embedded.
    let out = tempfile::tempdir().unwrap();
    fs::create_dir(out.path().join("sub")).unwrap();
    fs::copy(
        folder.join("dotdot-inside.gltf"),
        out.path().join("dotdot-inside.gltf"),
    )
    .unwrap();
    let error = asset::load(out.path().join("dotdot-inside.gltf")).unwrap_err();
    assert_eq!(error.place, "buffers[0].uri");
    assert!(
        error
            .problem
            .starts_with("\"sub/../sub/b.bin\" cannot be read"),
        "{error}"
    );
    fs::write(out.path().join("sub/b.bin"), vec![0; 3_252]).unwrap();
    let read = asset::load(out.path().join("dotdot-inside.gltf"));
    assert!(!read.is_err_and(|error| error.place.ends_with("uri")));
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn words_of_refusals_name_what_is_wrong() {
    let folder = case("unclear-words");
    let none = "begins neither with glTF, as a .glb does, nor with {, as a .gltf does";
    for (file, place, problem) in [
        ("utf16.gltf", "", "is UTF-16; expected UTF-8"),
        ("array.gltf", "byte 0", none),
        ("empty.glb", "byte 0", none),
        ("magic.glb", "byte 0", none),
        (
            "version-number.gltf",
            "asset.version",
            "2.0; expected \"2.0\"",
        ),
        (
            "version-1-number.gltf",
            "asset.version",
            "1; expected \"2.0\"",
        ),
    ] {
        let error = asset::load(folder.join(file)).unwrap_err();
        assert_eq!((&*error.place, &*error.problem), (place, problem), "{file}");
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_mesh_whose_data_an_extension_holds_is_refused() {
    let file = case("draco-without-data").join("draco-not-required-no-data.gltf");
    let error = asset::load(file).unwrap_err();
    assert_eq!(error.place, "meshes[0].primitives[0].attributes.POSITION");
    assert!(
        error.problem.contains("KHR_draco_mesh_compression"),
        "{error}"
    );
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn ogre_keeps_four_influences() {
    let folder = case("ogrexml-more-than-four-influences");
    let model = load_all(&folder.join("six.mesh.xml"));
    assert_eq!(
        notes(&model),
        ["kept the 4 largest of up to 6 influences on 1 vertices, as OGRE does"]
    );
    let right = expected("ogrexml-more-than-four-influences");
    let vertex = right["vertex"].as_u64().unwrap() as usize;
    let found = positions(&model, Some((0, 0.0)))[0][vertex];
    let off = off_by(&[vec![found]], &json!([[right["ogre_four"]]]));
    assert!(off < 5e-6, "off by {off}");
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_curve_between_opposite_quaternions_rests() {
    let folder = case("cubic-rotation-through-zero");
    let right = expected("cubic-rotation-through-zero");
    let through = load_all(&folder.join("through-zero.glb"));
    assert_eq!(
        notes(&through),
        ["negated the later of the keys of 1 curves between opposite quaternions"]
    );
    for pose in right["poses"].as_array().unwrap() {
        let time = pose["time"].as_f64().unwrap() as f32;
        let off = off_by(&positions(&through, Some((0, time))), &pose["primitives"]);
        assert!(off < 5e-6, "off by {off} at {time} s");
    }
    let near = load_all(&folder.join("near-zero.glb"));
    assert_eq!(notes(&near), [""; 0]);
    holds_poses(&near, &right["near_zero"]);
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn the_end_of_a_long_chain_is_where_it_should_be() {
    let right = expected("long-chain-pose-limit");
    for file in ["curl200", "curl400"] {
        let path = case("long-chain-pose-limit").join(format!("{file}.glb"));
        let found = positions(&load_all(&path), Some((0, 1.0)));
        let ends = &found[0][found[0].len() - 3..];
        let off = off_by(&[ends.to_vec()], &right[file]);
        assert!(off < 5e-6, "{file}: off by {off}");
    }
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn numbers_near_the_end_of_f32_are_refused_with_their_place() {
    let folder = shared_folder().join("attacks/huge-finite");
    let mut refused = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|ending| ending == "glb") {
            let error = asset::load(&file).unwrap_err();
            let expected = "; expected numbers of at most 1e18";
            assert!(error.problem.ends_with(expected), "{error}");
            assert!(!error.place.is_empty(), "{error}");
            refused += 1;
        }
    }
    assert_eq!(refused, 7);
}
