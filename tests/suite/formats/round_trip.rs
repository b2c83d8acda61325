//! From any format to a .glb and back: the same vertices, at and between keys.
use crate::support::reference::{self, Skinned};
use crate::support::shared::shared_folder;
use glam::DVec3;
use skinbench::asset::{self, glb};
use skinbench::model::Model;
use std::fs;
use std::path::{Path, PathBuf};

/// Positions over the diagonal; normals by component.
#[derive(Default)]
struct Worst {
    position: f64,
    normal: f64,
}

/// Model files of a folder and those below it.
fn models(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(models(&path));
        } else if asset::load(&path).is_ok() {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn compare(original: &[Skinned], copy: &[Skinned], diagonal: f64, worst: &mut Worst) {
    assert_eq!(original.len(), copy.len(), "primitives");
    for (original, copy) in original.iter().zip(copy) {
        assert_eq!(original.positions.len(), copy.positions.len(), "vertices");
        assert_eq!(original.normals.len(), copy.normals.len(), "normals");
        for (a, b) in original.positions.iter().zip(&copy.positions) {
            worst.position = largest(worst.position, (*a - *b).length() / diagonal);
        }
        // A normal without direction has to become one with some.
        for (a, b) in original
            .normals
            .iter()
            .zip(&copy.normals)
            .filter(|(a, _)| **a != DVec3::ZERO)
        {
            worst.normal = largest(worst.normal, (*a - *b).abs().max_element());
        }
    }
}

fn largest(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

fn round_trip(file: &Path, original: &Model, folder: &Path) -> Worst {
    let name = file.file_name().unwrap().to_string_lossy();
    let exported = folder.join(format!("{name}.glb"));
    glb::write(original, &exported).unwrap();
    let copy = asset::load(&exported).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(copy.axes(), original.axes(), "{name}");
    assert_eq!(copy.clips().len(), original.clips().len(), "{name}");
    let mut worst = Worst::default();
    let diagonal = f64::from(original.bounds().diagonal());
    compare(
        &reference::skin(original, None),
        &reference::skin(&copy, None),
        diagonal,
        &mut worst,
    );
    for (index, (clip, copied)) in original.clips().iter().zip(copy.clips()).enumerate() {
        assert_eq!(
            (clip.name(), clip.duration()),
            (copied.name(), copied.duration()),
            "{name}"
        );
        for fraction in [0.0, 0.237, 0.5, 0.811, 0.9999] {
            let at = Some((index, fraction * f64::from(clip.duration())));
            compare(
                &reference::skin(original, at),
                &reference::skin(&copy, at),
                diagonal,
                &mut worst,
            );
        }
    }
    worst
}

fn all_of(folder: &Path) {
    let models = models(folder);
    assert!(!models.is_empty(), "{}", folder.display());
    let mut failures = Vec::new();
    // Kept for a look by other tools, where a folder is named.
    let temporary = tempfile::tempdir().unwrap();
    let keep = std::env::var_os("SKINBENCH_KEEP_GLB").map(PathBuf::from);
    let out = keep.as_deref().unwrap_or(temporary.path());
    for file in &models {
        let original = asset::load(file).unwrap();
        let worst = round_trip(file, &original, out);
        let name = file.strip_prefix(folder).unwrap().display().to_string();
        println!(
            "{name:50} position {:8.1e}  normal {:8.1e}",
            worst.position, worst.normal
        );
        if !(worst.position <= 1e-5 && worst.normal <= 1e-4) {
            failures.push(name);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn real_models_survive_export() {
    let shared = shared_folder();
    all_of(&shared.join("models"));
}

#[test]
fn samples_survive_export() {
    all_of(&super::samples::folder());
}
