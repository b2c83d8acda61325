//! Conditions from public bug reports: the right vertices were computed by a program that shares no code with this one.
mod importers;

use crate::support::golden::morphed;
use crate::support::shared::shared_folder;
use glam::DVec3;
use serde_json::Value;
use skinbench::crowd::{Layer, REST};
use skinbench::model::Model;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// The folder of a case.
fn case(name: &str) -> PathBuf {
    shared_folder().join("field").join(name)
}

/// What is right for a case.
fn expected(name: &str) -> Value {
    let text = fs::read(case(name).join("expected.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn notes(model: &Model) -> Vec<String> {
    model.notes().lines().collect()
}

/// Positions of each primitive in the file's order, at a time of a clip or at rest.
fn positions(model: &Model, clip: Option<(u32, f32)>) -> Vec<Vec<DVec3>> {
    let layer = match clip {
        Some((clip, time)) => Layer::held(clip, time),
        None => Layer::held(REST, 0.0),
    };
    let skinned = morphed(&Arc::new(model.clone()), layer);
    skinned.into_iter().map(|skin| skin.positions).collect()
}

/// Largest distance from recorded positions; as many primitives and vertices are expected.
fn off_by(found: &[Vec<DVec3>], recorded: &Value) -> f64 {
    let recorded = recorded.as_array().unwrap();
    assert_eq!(found.len(), recorded.len(), "primitives");
    let mut most = 0.0f64;
    for (found, recorded) in found.iter().zip(recorded) {
        let recorded = recorded.as_array().unwrap();
        assert_eq!(found.len(), recorded.len(), "vertices");
        for (found, recorded) in found.iter().zip(recorded) {
            let right = [0, 1, 2].map(|axis| recorded[axis].as_f64().unwrap());
            most = most.max(found.distance(DVec3::from(right)));
        }
    }
    most
}

/// Holds a model to recorded poses of `{clip, time, primitives}`, which have six digits.
fn holds_poses(model: &Model, poses: &Value) {
    for pose in poses.as_array().unwrap() {
        let clip = pose["clip"].as_u64().map(|clip| clip as u32);
        let time = pose["time"].as_f64().unwrap_or(0.0) as f32;
        let found = positions(model, clip.map(|clip| (clip, time)));
        let off = off_by(&found, &pose["primitives"]);
        assert!(off < 5e-6, "{}: off by {off} at {time} s", model.name());
    }
}
