//! Primitives with their vertices in the file's order.

use super::document::{Document, Use};
use serde_json::{Map, Value, json};
use skinbench_kernels::model::PrimitiveData;

/// A primitive as one glTF primitive per subset; each after the first continues the one before. If it is skinned, its
/// skin has so many `joints`.
pub(super) fn primitives(
    primitive: &PrimitiveData,
    joints: Option<usize>,
    document: &mut Document,
) -> Vec<Value> {
    let count = primitive.positions.len();
    let mut attributes = Map::new();
    let mut set = |name: &str, accessor: usize| attributes.insert(name.into(), json!(accessor));
    set(
        "POSITION",
        document.bounded_floats(&primitive.positions, Use::Vertices),
    );
    if let Some(normals) = &primitive.normals {
        let normals: Vec<_> = normals.iter().map(|&normal| unit(normal)).collect();
        set("NORMAL", document.floats(&normals, Use::Vertices));
        if let Some(tangents) = &primitive.tangents {
            let tangents: Vec<_> = tangents
                .iter()
                .map(|&tangent| unit_tangent(tangent))
                .collect();
            set("TANGENT", document.floats(&tangents, Use::Vertices));
        }
    }
    if let Some(uvs) = &primitive.uvs {
        set("TEXCOORD_0", document.floats(uvs, Use::Vertices));
    }
    if let Some(joint_count) = joints {
        let pairs: Vec<_> = (0..count)
            .map(|vertex| normalised(primitive.influences.of(vertex)))
            .collect();
        let most = pairs.iter().map(Vec::len).max().unwrap_or(0);
        for first in (0..most).step_by(4) {
            let take = |pairs: &Vec<(u16, f32)>| -> [(u16, f32); 4] {
                std::array::from_fn(|i| pairs.get(first + i).copied().unwrap_or((0, 0.0)))
            };
            let joints: Vec<_> = pairs
                .iter()
                .map(|p| take(p).map(|(joint, _)| joint))
                .collect();
            let weights: Vec<_> = pairs
                .iter()
                .map(|p| take(p).map(|(_, weight)| weight))
                .collect();
            set(
                &format!("JOINTS_{}", first / 4),
                document.joints(&joints, joint_count),
            );
            set(
                &format!("WEIGHTS_{}", first / 4),
                document.floats(&weights, Use::Vertices),
            );
        }
    }
    let mut own = json!({"attributes": attributes});
    if (1..count as u32).contains(&primitive.dumped_vertices) {
        own["extras"] = json!({"skinbench": {"vertices": primitive.dumped_vertices}});
    }
    let mut parts = Vec::new();
    for subset in primitive.subsets.iter().filter(|s| !s.indices.is_empty()) {
        let indices =
            &primitive.indices[subset.indices.start as usize..subset.indices.end as usize];
        let mut part = own.clone();
        part["indices"] = json!(document.indices(indices, count));
        part["material"] = json!(subset.material);
        if !parts.is_empty() {
            part["extras"]["skinbench"]["continues"] = json!(true);
        }
        parts.push(part);
    }
    if parts.is_empty() {
        // Points, so that the vertices are in the file.
        own["mode"] = json!(0);
        if let Some(subset) = primitive.subsets.first() {
            own["material"] = json!(subset.material);
        }
        parts.push(own);
    }
    parts
}

/// Each joint once, largest weight first, with weights that sum to one as closely as f32 allows.
fn normalised(influences: impl Iterator<Item = (u16, f32)>) -> Vec<(u16, f32)> {
    let mut pairs: Vec<(u16, f64)> = Vec::new();
    for (joint, weight) in influences {
        match pairs.iter_mut().find(|(known, _)| *known == joint) {
            Some((_, sum)) => *sum += f64::from(weight),
            None => pairs.push((joint, weight.into())),
        }
    }
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sum: f64 = pairs.iter().map(|(_, weight)| weight).sum();
    let mut rounded: Vec<(u16, f32)> = pairs
        .iter()
        .map(|&(joint, weight)| (joint, (weight / sum) as f32))
        .collect();
    let others: f64 = rounded
        .iter()
        .skip(1)
        .map(|(_, weight)| f64::from(*weight))
        .sum();
    if let Some((_, largest)) = rounded.first_mut() {
        *largest = (1.0 - others) as f32;
    }
    rounded.retain(|(_, weight)| *weight > 0.0);
    rounded
}

/// glTF requires unit length, so a zero normal becomes an arbitrary one.
fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = v.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        v.map(|c| (f64::from(c) / length) as f32)
    } else {
        [0.0, 0.0, 1.0]
    }
}

fn unit_tangent([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    let [x, y, z] = unit([x, y, z]);
    [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
}
