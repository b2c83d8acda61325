//! From any format to a .glb and back: the same vertices, at and between keys.
use crate::support::golden::{load_all, morphed};
use crate::support::reference::{self, Skinned};
use crate::support::shared::shared_folder;
use glam::DVec3;
use skinbench::asset::{self, glb};
use skinbench::crowd::{Layer, REST};
use skinbench::model::Model;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
            let distance = (*a - *b).length();
            // Some models have no extent at rest.
            if distance != 0.0 {
                worst.position = largest(worst.position, distance / diagonal);
            }
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

/// Compares a model and its copy at rest and at `times` fractions of each clip.
fn round_trip(file: &Path, original: Model, times: u32, folder: &Path) -> Worst {
    let name = file.file_name().unwrap().to_string_lossy();
    let exported = folder.join(format!("{name}.glb"));
    std::fs::write(&exported, glb::to_glb(&original).unwrap()).unwrap();
    let (original, copy) = (Arc::new(original), Arc::new(load_all(&exported)));
    assert_eq!(copy.axes(), original.axes(), "{name}");
    assert_eq!(copy.clips().len(), original.clips().len(), "{name}");
    let mut worst = Worst::default();
    let diagonal = f64::from(original.bounds().diagonal());
    let mut compare_at = |clip: Option<(usize, f64)>| {
        // The harness' reference morphs, the other one knows which normals are the file's.
        let layer = match clip {
            Some((clip, time)) => Layer::held(clip as u32, time as f32),
            None => Layer::held(REST, 0.0),
        };
        let [mut a, mut b] = [&original, &copy].map(|model| morphed(model, layer));
        if original.mesh().targets().is_empty() {
            [a, b] = [&original, &copy].map(|model| reference::skin(model, clip));
        }
        compare(&a, &b, diagonal, &mut worst);
    };
    compare_at(None);
    for (index, (clip, copied)) in original.clips().iter().zip(copy.clips()).enumerate() {
        assert_eq!(
            (clip.name(), clip.duration()),
            (copied.name(), copied.duration()),
            "{name}"
        );
        for time in 0..times {
            let fraction = (0.237 * f64::from(time)).fract();
            compare_at(Some((index, fraction * f64::from(clip.duration()))));
        }
    }
    worst
}

fn all_of(folder: &Path, times: u32) {
    let models = models(folder);
    assert!(!models.is_empty(), "{}", folder.display());
    let mut failures = Vec::new();
    // Kept for a look by other tools, where a folder is named.
    let temporary = tempfile::tempdir().unwrap();
    let keep = std::env::var_os("SKINBENCH_KEEP_GLB").map(PathBuf::from);
    let out = keep.as_deref().unwrap_or(temporary.path());
    for file in &models {
        let worst = round_trip(file, load_all(file), times, out);
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
    all_of(&shared_folder().join("models"), 5);
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn models_from_bug_reports_survive_export() {
    all_of(&shared_folder().join("field"), 40);
}

#[test]
fn samples_survive_export() {
    all_of(&super::samples::folder(), 40);
}
