//! Real models against other engines' vertices.
use crate::support::golden::goldens;
use crate::support::shared::shared_folder;
use skinbench::asset;

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn real_models_skin_as_in_other_engines() {
    let shared = shared_folder();
    let goldens = goldens(&shared, "gltf/");
    assert!(!goldens.is_empty());
    let mut failures = Vec::new();
    for golden in &goldens {
        let worst = golden.compare();
        println!(
            "{:50} position {:8.1e}  normal {:8.1e}",
            golden.name, worst.position, worst.normal
        );
        // Their keys are not of unit length, which engines treat differently.
        let tolerance = match golden.name.as_str() {
            "gltf/SimpleSkin.gltf" => 2e-4,
            name if name.contains("gltfpack_q") => 5e-5,
            _ => 2e-5,
        };
        if !(worst.position <= tolerance && worst.normal <= 1e-3) {
            failures.push(&golden.name);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn a_joint_beyond_the_skin_is_refused() {
    let shared = shared_folder();
    let error = asset::load(shared.join("models/gltf/joints_weights_complex.gltf")).unwrap_err();
    assert_eq!(error.place, "meshes[0].primitives[0].attributes.JOINTS_1");
    assert_eq!(error.problem, "vertex 1 has joint 9; its skin has 9");
}
