//! Primitives with their vertices in the file's order.

use super::document::{Document, Use};
use glam::DVec3;
use serde_json::{Value, json};
use skinbench_kernels::model::PrimitiveData;

/// A primitive as one glTF primitive per subset; each after the first continues the one before. If it is skinned, its
/// skin has so many `joints`.
pub fn primitives(
    primitive: &PrimitiveData,
    joints: Option<usize>,
    document: &mut Document,
) -> Vec<Value> {
    let PrimitiveData {
        positions,
        normals,
        tangents,
        uvs,
        colors,
        influences,
        ..
    } = primitive;
    let count = positions.len();
    let mut attributes = json!({});
    attributes["POSITION"] = json!(document.bounded_floats(positions, Use::Vertices));
    if let Some(normals) = normals {
        let normals: Vec<_> = normals.iter().map(|&normal| unit(normal)).collect();
        attributes["NORMAL"] = json!(document.floats(&normals, Use::Vertices));
        if let Some(tangents) = tangents {
            let tangents: Vec<_> = tangents.iter().map(|&t| unit_tangent(t)).collect();
            attributes["TANGENT"] = json!(document.floats(&tangents, Use::Vertices));
        }
    }
    if let Some(uvs) = uvs {
        attributes["TEXCOORD_0"] = json!(document.floats(uvs, Use::Vertices));
    }
    if let Some(colors) = colors {
        attributes["COLOR_0"] = json!(document.floats(colors, Use::Vertices));
    }
    if let Some(joint_count) = joints {
        let pairs: Vec<_> = (0..count).map(|v| normalised(influences.of(v))).collect();
        let most = pairs.iter().map(Vec::len).max().unwrap_or(0);
        for set in 0..most.div_ceil(4) {
            let mut joints = vec![[0; 4]; count];
            let mut weights = vec![[0.0; 4]; count];
            for (vertex, pairs) in pairs.iter().enumerate() {
                for (place, (joint, weight)) in pairs.iter().skip(4 * set).take(4).enumerate() {
                    joints[vertex][place] = *joint;
                    weights[vertex][place] = *weight;
                }
            }
            attributes[format!("JOINTS_{set}")] = json!(document.joints(&joints, joint_count));
            attributes[format!("WEIGHTS_{set}")] = json!(document.floats(&weights, Use::Vertices));
        }
    }
    let mut shared = json!({"attributes": attributes});
    if (1..count as u32).contains(&primitive.dumped_vertices) {
        shared["extras"]["skinbench"]["vertices"] = json!(primitive.dumped_vertices);
    }
    let mut written = Vec::new();
    for subset in &primitive.subsets {
        let indices = primitive.indices_of(subset);
        if indices.is_empty() {
            continue;
        }
        let mut value = shared.clone();
        value["indices"] = json!(document.indices(indices, count));
        value["material"] = json!(subset.material);
        if !written.is_empty() {
            value["extras"]["skinbench"]["continues"] = json!(true);
        }
        written.push(value);
    }
    if written.is_empty() {
        // Points, so that the vertices are in the file.
        shared["mode"] = json!(0);
        if let Some(subset) = primitive.subsets.first() {
            shared["material"] = json!(subset.material);
        }
        written.push(shared);
    }
    written
}

/// Each joint once, largest weight first, with weights that sum to one as closely as f32 allows.
fn normalised(influences: impl Iterator<Item = (u16, f32)>) -> Vec<(u16, f32)> {
    let mut sums: Vec<(u16, f64)> = Vec::new();
    for (joint, weight) in influences {
        match sums.iter_mut().find(|known| known.0 == joint) {
            Some((_, sum)) => *sum += f64::from(weight),
            None => sums.push((joint, weight.into())),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = sums.iter().map(|pair| pair.1).sum();
    let mut others = 0.0;
    let mut rounded = Vec::new();
    for (joint, sum) in sums {
        let weight = (sum / all) as f32;
        if !rounded.is_empty() {
            others += f64::from(weight);
        }
        rounded.push((joint, weight));
    }
    if let Some((_, largest)) = rounded.first_mut() {
        *largest = (1.0 - others) as f32;
    }
    rounded.retain(|pair| pair.1 > 0.0);
    rounded
}

/// glTF requires unit length, so a zero normal becomes an arbitrary one.
fn unit(v: [f32; 3]) -> [f32; 3] {
    let v = DVec3::from(v.map(f64::from));
    let unit = v / v.length();
    if unit.is_finite() {
        unit.as_vec3().to_array()
    } else {
        [0.0, 0.0, 1.0]
    }
}

fn unit_tangent([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    let [x, y, z] = unit([x, y, z]);
    [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
}
