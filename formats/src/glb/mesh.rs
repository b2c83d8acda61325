//! Primitives with their vertices in the file's order.

use super::buffer::{BufferBuilder, Use};
use serde_json::{Map, Value, json};
use skinbench_kernels::model::{Mesh, Model, Primitive};

/// Stored vertices of each primitive, in the file's order.
pub(super) fn vertices_by_primitive(mesh: &Mesh) -> Vec<Vec<usize>> {
    let mut vertices: Vec<Vec<usize>> = mesh.primitives().iter().map(|p| vec![0; p.vertex_count as usize]).collect();
    for (stored, source) in mesh.sources().iter().enumerate() {
        vertices[source.primitive as usize][source.vertex as usize] = stored;
    }
    vertices
}

/// A primitive as one glTF primitive per subset; each after the first continues the one before.
pub(super) fn primitives(
    model: &Model,
    primitive: &Primitive,
    vertices: &[usize],
    skinned: bool,
    buffer: &mut BufferBuilder,
) -> Vec<Value> {
    let mesh = model.mesh();
    let mut attributes = Map::new();
    let mut set = |name: &str, accessor: usize| attributes.insert(name.into(), json!(accessor));
    let positions: Vec<_> = vertices.iter().map(|&v| mesh.positions()[v]).collect();
    set("POSITION", buffer.bounded_floats(&positions, Use::Vertices));
    if primitive.has_normals {
        let normals: Vec<_> = vertices.iter().map(|&v| unit(mesh.normals()[v])).collect();
        set("NORMAL", buffer.floats(&normals, Use::Vertices));
        if let Some(tangents) = mesh.tangents() {
            let tangents: Vec<_> = vertices.iter().map(|&v| tangent(tangents[v])).collect();
            set("TANGENT", buffer.floats(&tangents, Use::Vertices));
        }
    }
    if let Some(uvs) = mesh.uvs() {
        let uvs: Vec<_> = vertices.iter().map(|&v| uvs[v]).collect();
        set("TEXCOORD_0", buffer.floats(&uvs, Use::Vertices));
    }
    if skinned {
        let entries = &model.skins()[usize::from(primitive.skin)].entries;
        let pairs: Vec<_> = vertices.iter().map(|&v| normalised_pairs(mesh, v, entries.start as u16)).collect();
        let most = pairs.iter().map(Vec::len).max().unwrap_or(0);
        for first in (0..most).step_by(4) {
            let take = |pairs: &Vec<(u16, f32)>| -> [(u16, f32); 4] {
                std::array::from_fn(|i| pairs.get(first + i).copied().unwrap_or((0, 0.0)))
            };
            let joints: Vec<_> = pairs.iter().map(|p| take(p).map(|(joint, _)| joint)).collect();
            let weights: Vec<_> = pairs.iter().map(|p| take(p).map(|(_, weight)| weight)).collect();
            set(&format!("JOINTS_{}", first / 4), buffer.joints(&joints, entries.len()));
            set(&format!("WEIGHTS_{}", first / 4), buffer.floats(&weights, Use::Vertices));
        }
    }
    let mut own = json!({"attributes": attributes});
    if primitive.dumped_vertices > 0 && primitive.dumped_vertices < primitive.vertex_count {
        own["extras"] = json!({"skinbench": {"vertices": primitive.dumped_vertices}});
    }
    let mut parts = Vec::new();
    for subset in primitive.subsets.iter().filter(|s| !s.indices.is_empty()) {
        let indices = &mesh.indices()[subset.indices.start as usize..subset.indices.end as usize];
        let indices: Vec<u32> = indices.iter().map(|&i| mesh.sources()[i as usize].vertex).collect();
        let mut part = own.clone();
        part["indices"] = json!(buffer.indices(&indices, vertices.len()));
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
fn normalised_pairs(mesh: &Mesh, vertex: usize, first_entry: u16) -> Vec<(u16, f32)> {
    let mut pairs: Vec<(u16, f64)> = Vec::new();
    for (entry, weight) in mesh.influences_of(vertex).filter(|(_, weight)| *weight > 0.0) {
        let joint = entry - first_entry;
        match pairs.iter_mut().find(|(known, _)| *known == joint) {
            Some((_, sum)) => *sum += f64::from(weight),
            None => pairs.push((joint, weight.into())),
        }
    }
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sum: f64 = pairs.iter().map(|(_, weight)| weight).sum();
    let mut rounded: Vec<(u16, f32)> = pairs.iter().map(|&(joint, weight)| (joint, (weight / sum) as f32)).collect();
    let others: f64 = rounded.iter().skip(1).map(|(_, weight)| f64::from(*weight)).sum();
    if let Some((_, largest)) = rounded.first_mut() {
        *largest = (1.0 - others) as f32;
    }
    rounded.retain(|(_, weight)| *weight > 0.0);
    rounded
}

/// glTF requires unit length, so a zero normal becomes an arbitrary one.
fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = v.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 { v.map(|c| (f64::from(c) / length) as f32) } else { [0.0, 0.0, 1.0] }
}

fn tangent([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    let [x, y, z] = unit([x, y, z]);
    [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
}
