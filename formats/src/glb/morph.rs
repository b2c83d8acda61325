//! Morph targets: sparse deltas of primitives, and weights of clips.

use super::document::Document;
use super::error::ExportError;
use glam::Vec3;
use serde_json::{Value, json};
use skinbench_kernels::model::{Clip, PrimitiveData, Target, TargetDeltas, WeightKeys};
use std::collections::BTreeSet;

/// The `targets` property of a primitive. Deltas of normals become shorter as the normals do, which glTF requires to be
/// of unit length.
pub fn targets(primitive: &PrimitiveData, targets: &[u32], document: &mut Document) -> Value {
    let count = primitive.positions.len();
    let none = TargetDeltas::default();
    let mut list = Vec::new();
    for target in targets {
        let mut deltas = primitive.targets.iter();
        let deltas = deltas
            .find(|deltas| deltas.target == *target)
            .unwrap_or(&none);
        let mut write = |stream, length: &dyn Fn(usize) -> f32| {
            let mut vertices = Vec::new();
            let mut values = Vec::new();
            for &(vertex, deltas) in &deltas.vertices {
                let length = length(vertex as usize);
                let delta: [f32; 3] = deltas[stream];
                let delta = if length > 0.0 {
                    delta.map(|c| c / length)
                } else {
                    delta
                };
                if delta != [0.0; 3] {
                    vertices.push(vertex);
                    values.push(delta);
                }
            }
            document.sparse(&vertices, &values, count)
        };
        let mut attributes = json!({"POSITION": write(0, &|_| 1.0)});
        if let Some(normals) = &primitive.normals {
            let length = |vertex: usize| Vec3::from(normals[vertex]).length();
            attributes["NORMAL"] = json!(write(1, &length));
            if let Some(tangents) = &primitive.tangents {
                let length = |vertex: usize| Vec3::from_slice(&tangents[vertex]).length();
                attributes["TANGENT"] = json!(write(2, &length));
            }
        }
        list.push(attributes);
    }
    Value::Array(list)
}

/// The targets with deltas of a run of primitives, in rising order. Those without a delta move nothing and are left out.
pub fn moving(run: &[PrimitiveData]) -> Vec<u32> {
    let deltas = run.iter().flat_map(|primitive| &primitive.targets);
    let moving: BTreeSet<u32> = deltas.map(|deltas| deltas.target).collect();
    moving.into_iter().collect()
}

/// The weights of some targets of a list in a clip; `None` if no track sets one. A target without a track keeps its
/// default weight.
///
/// # Errors
/// Several tracks whose keys differ: a node of a file has one list of weights for each key.
pub fn weights(
    clip: &Clip,
    list: &[Target],
    targets: &[u32],
) -> Result<Option<WeightKeys>, ExportError> {
    let mut tracks = clip.weights().to_vec();
    tracks.retain(|track| targets.iter().any(|target| track.targets.contains(target)));
    let Some(first) = tracks.first() else {
        return Ok(None);
    };
    let interpolation = first.interpolation;
    let times = first.times.clone();
    let ends_in_time = times.last().is_some_and(|&last| last <= clip.duration());
    let mut others = tracks.iter();
    let are_alike =
        others.all(|other| other.interpolation == interpolation && other.times == times);
    if !ends_in_time || !are_alike {
        return Err(ExportError::Weights(clip.name().into()));
    }
    let mut values = Vec::new();
    for key in 0..times.len() {
        for value in 0..interpolation.values_per_key() {
            for target in targets {
                let mut tracks = tracks.iter();
                values.push(match tracks.find(|track| track.targets.contains(target)) {
                    Some(track) => track.key(key, value)[(target - track.targets.start) as usize],
                    None if value == interpolation.value_of_key() => list[*target as usize].weight,
                    // Tangents.
                    None => 0.0,
                });
            }
        }
    }
    Ok(Some(WeightKeys {
        targets: 0..targets.len() as u32,
        interpolation,
        times,
        values,
    }))
}
