//! Morph targets: sparse deltas of primitives, and weights of clips.

use super::document::Document;
use serde_json::{Map, Value, json};
use skinbench_kernels::model::{
    Clip, Interpolation, PrimitiveData, Target, TargetDeltas, WeightKeys,
};
use std::collections::BTreeSet;

/// The targets of some primitives, in rising order.
pub(super) fn of(primitives: &[PrimitiveData]) -> Vec<u32> {
    let all: BTreeSet<u32> = primitives
        .iter()
        .flat_map(|own| &own.targets)
        .map(|deltas| deltas.target)
        .collect();
    all.into_iter().collect()
}

/// The `targets` property of a primitive. Deltas of normals become shorter as the normals do, which glTF requires to be
/// of unit length.
pub(super) fn targets(
    primitive: &PrimitiveData,
    targets: &[u32],
    document: &mut Document,
) -> Value {
    let (none, count) = (TargetDeltas::default(), primitive.positions.len());
    let length = |v: &[f32]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
    let property = |target: &u32| {
        let deltas = primitive
            .targets
            .iter()
            .find(|deltas| deltas.target == *target)
            .unwrap_or(&none);
        let mut attributes = Map::new();
        let mut set = |name: &str, stream: usize, length: &dyn Fn(usize) -> f32| {
            let shortened = deltas.vertices.iter().map(|&(vertex, deltas)| {
                let (length, delta) = (length(vertex as usize), deltas[stream]);
                (
                    vertex,
                    if length > 0.0 {
                        delta.map(|c| c / length)
                    } else {
                        delta
                    },
                )
            });
            let listed: Vec<_> = shortened.filter(|(_, delta)| *delta != [0.0; 3]).collect();
            attributes.insert(name.into(), json!(document.sparse(&listed, count)));
        };
        set("POSITION", 0, &|_| 1.0);
        if let Some(normals) = &primitive.normals {
            set("NORMAL", 1, &|vertex| length(&normals[vertex]));
            if let Some(tangents) = &primitive.tangents {
                set("TANGENT", 2, &|vertex| length(&tangents[vertex][..3]));
            }
        }
        Value::Object(attributes)
    };
    Value::Array(targets.iter().map(property).collect())
}

/// The weights of some targets in a clip, from the first key to the clip's end; `None` if no track sets any of them.
///
/// If one track sets all of them, its keys stay as they are. Otherwise the weights are sampled at the keys of all
/// tracks.
pub(super) fn weights(clip: &Clip, list: &[Target], targets: &[u32]) -> Option<WeightKeys> {
    let sets = |track: &&WeightKeys| targets.iter().any(|target| track.targets.contains(target));
    let tracks: Vec<&WeightKeys> = clip.weights().iter().filter(sets).collect();
    let (first, end) = (*tracks.first()?, clip.duration());
    let complete = targets.iter().all(|target| first.targets.contains(target));
    if complete && first.times.last().is_some_and(|&last| last <= end) {
        let per_key = first.interpolation.values_per_key();
        let rows = (0..first.times.len())
            .flat_map(|key| (0..per_key).map(move |part| first.key(key, part)));
        let column = |row: &[f32], target: &u32| row[(target - first.targets.start) as usize];
        return Some(WeightKeys {
            targets: 0..targets.len() as u32,
            interpolation: first.interpolation,
            times: first.times.clone(),
            values: rows
                .flat_map(|row| targets.iter().map(move |target| column(row, target)))
                .collect(),
        });
    }
    let mut times: Vec<f32> = tracks
        .iter()
        .flat_map(|track| &track.times)
        .map(|time| time.min(end))
        .collect();
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    let mut values = Vec::with_capacity(times.len() * targets.len());
    for &time in &times {
        let mut all: Vec<f32> = list.iter().map(|target| target.weight).collect();
        tracks
            .iter()
            .for_each(|track| track.sample(time, |target, weight| all[target] = weight));
        values.extend(targets.iter().map(|&target| all[target as usize]));
    }
    let step = tracks
        .iter()
        .all(|track| track.interpolation == Interpolation::Step);
    let interpolation = if step {
        Interpolation::Step
    } else {
        Interpolation::Linear
    };
    Some(WeightKeys {
        targets: 0..targets.len() as u32,
        interpolation,
        times,
        values,
    })
}
