//! Morph targets: sparse deltas of primitives, and weights of clips.

use super::buffer::BufferBuilder;
use serde_json::{Map, Value, json};
use skinbench_kernels::model::{Clip, Interpolation, Mesh, Primitive, WeightKeys};
use std::collections::{BTreeMap, BTreeSet};

/// For each target of a primitive the vertices that it moves, in file order, with the items of the delta streams.
pub(super) type PrimitiveTargets = BTreeMap<usize, Vec<(u32, usize)>>;

/// The targets of each primitive.
pub(super) fn by_primitive(mesh: &Mesh) -> Vec<PrimitiveTargets> {
    let mut primitives = vec![PrimitiveTargets::new(); mesh.primitives().len()];
    for (target, vertex, delta) in mesh.targets().entries() {
        let source = mesh.sources()[vertex];
        primitives[source.primitive as usize].entry(target).or_default().push((source.vertex, delta));
    }
    primitives.iter_mut().flat_map(BTreeMap::values_mut).for_each(|moved| moved.sort_unstable());
    primitives
}

/// The targets of some primitives, in rising order.
pub(super) fn of(primitives: &[PrimitiveTargets]) -> Vec<usize> {
    let all: BTreeSet<usize> = primitives.iter().flat_map(BTreeMap::keys).copied().collect();
    all.into_iter().collect()
}

/// The `targets` property of a primitive whose vertices are stored at `vertices`. Deltas of normals become shorter as
/// the normals do, which glTF requires to be of unit length.
pub(super) fn targets(
    mesh: &Mesh,
    primitive: &Primitive,
    vertices: &[usize],
    own: &PrimitiveTargets,
    targets: &[usize],
    buffer: &mut BufferBuilder,
) -> Value {
    let store = mesh.targets();
    let length = |v: &[f32]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
    let shortened = |vertex: u32, delta: [f32; 3], stream: &dyn Fn(usize) -> f32| {
        let length = stream(vertices[vertex as usize]);
        if length > 0.0 { delta.map(|c| c / length) } else { delta }
    };
    let property = |target: &usize| {
        let moved = own.get(target).map_or(&[][..], |moved| &moved[..]);
        let of = |delta: &dyn Fn(u32, usize) -> [f32; 3]| -> Vec<(u32, [f32; 3])> {
            let all = moved.iter().map(|&(vertex, at)| (vertex, delta(vertex, at)));
            all.filter(|(_, delta)| *delta != [0.0; 3]).collect()
        };
        let mut attributes = Map::new();
        let mut set = |name: &str, deltas: &[(u32, [f32; 3])]| {
            attributes.insert(name.into(), json!(buffer.sparse(deltas, vertices.len())));
        };
        set("POSITION", &of(&|_, at| store.positions()[at]));
        if primitive.has_normals {
            let unit = |v: usize| length(&mesh.normals()[v]);
            set("NORMAL", &of(&|vertex, at| shortened(vertex, store.normals()[at], &unit)));
            if let Some(tangents) = mesh.tangents() {
                let unit = |v: usize| length(&tangents[v][..3]);
                set("TANGENT", &of(&|vertex, at| shortened(vertex, store.tangents()[at], &unit)));
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
pub(super) fn weights(clip: &Clip, mesh: &Mesh, targets: &[usize]) -> Option<WeightKeys> {
    let sets = |track: &&WeightKeys| targets.iter().any(|target| track.targets.contains(&(*target as u32)));
    let tracks: Vec<&WeightKeys> = clip.weights().iter().filter(sets).collect();
    let (first, end) = (*tracks.first()?, clip.duration());
    let complete = targets.iter().all(|target| first.targets.contains(&(*target as u32)));
    if complete && first.times.last().is_some_and(|&last| last <= end) {
        let per_key = first.interpolation.values_per_key();
        let rows = (0..first.times.len()).flat_map(|key| (0..per_key).map(move |part| first.key(key, part)));
        let column = |row: &[f32], target: &usize| row[target - first.targets.start as usize];
        return Some(WeightKeys {
            targets: 0..targets.len() as u32,
            interpolation: first.interpolation,
            times: first.times.clone(),
            values: rows.flat_map(|row| targets.iter().map(move |target| column(row, target))).collect(),
        });
    }
    let mut times: Vec<f32> = tracks.iter().flat_map(|track| &track.times).map(|time| time.min(end)).collect();
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    let mut values = Vec::with_capacity(times.len() * targets.len());
    for &time in &times {
        let mut all: Vec<f32> = mesh.targets().list().iter().map(|target| target.weight).collect();
        tracks.iter().for_each(|track| track.sample(time, |target, weight| all[target] = weight));
        values.extend(targets.iter().map(|&target| all[target]));
    }
    let step = tracks.iter().all(|track| track.interpolation == Interpolation::Step);
    let interpolation = if step { Interpolation::Step } else { Interpolation::Linear };
    Some(WeightKeys { targets: 0..targets.len() as u32, interpolation, times, values })
}
