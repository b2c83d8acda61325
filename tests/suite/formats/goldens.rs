//! Real models against other engines' vertices.
use crate::support::golden::goldens;
use crate::support::shared::shared_folder;

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn real_models_skin_as_in_other_engines() {
    let shared = shared_folder();
    let mut failures = Vec::new();
    for format in ["m3d/", "ram/", "threejs_legacy/", "ogrexml/"] {
        let goldens = goldens(&shared, format);
        assert!(!goldens.is_empty(), "{format}");
        for golden in &goldens {
            let worst = golden.compare();
            println!(
                "{:50} position {:8.1e}  normal {:8.1e}",
                golden.name, worst.position, worst.normal
            );
            // OGRE blends normals approximately.
            let normal = if format == "ogrexml/" { 2e-3 } else { 1e-3 };
            if !(worst.position <= 2e-5 && worst.normal <= normal) {
                failures.push(golden.name.clone());
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
