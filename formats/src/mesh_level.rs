//! Levels of detail of meshes: fewer triangles over some of the same vertices.

use crate::drawn;
use meshoptimizer_rs::{
    Attributes, Positions, SimplifyOptions, SimplifySettings, Workspace, simplify_with_attributes,
};
use skinbench_kernels::error::DataError;
use skinbench_kernels::model::{Model, PrimitiveData};
use std::collections::HashMap;

/// Numbers that stand for the joints of a vertex.
const SIGNATURE: usize = 8;
/// Attributes of a vertex: its normal and its signature.
const ATTRIBUTES: usize = 3 + SIGNATURE;
/// Weights of attributes against positions, which are relative to the size of the mesh.
const NORMAL_WEIGHT: f32 = 0.25;
const SIGNATURE_WEIGHT: f32 = 0.25;
/// Largest fraction of its vertices with which a mesh counts as simplified.
const LEAST_SAVING: f64 = 0.9;

/// A model with fewer triangles.
pub struct Simplified {
    /// The model.
    pub model: Model,
    /// Largest error of a collapsed edge by meshoptimizer's metric, in metres: the distance of the surface, and how far
    /// normals and influences differ.
    pub error: f64,
}

/// The model with about this fraction of its triangles (0 to 1), or `None` if it keeps nearly all of its vertices: seams
/// stay closed and borders stay whole, and some meshes have little else.
///
/// Every vertex that is left is one of the original, with all of its attributes and influences. Edges collapse where
/// position, normal and influences change least (meshoptimizer's metric, after Garland and Heckbert 1998). Open borders
/// stay as they are, because another primitive may begin there. Primitives without triangles are kept.
///
/// # Errors
/// Positions that meshoptimizer refuses.
pub fn simplified(model: &Model, fraction: f64) -> Result<Option<Simplified>, DataError> {
    let mut parts = model.clone().into_parts();
    let mut error = 0.0f64;
    for primitive in &mut parts.primitives {
        if !primitive.indices.is_empty() {
            let joints = &parts.skins[usize::from(primitive.skin)].joints;
            let reduced = reduced(primitive, joints, fraction)?;
            *primitive = reduced.primitive;
            error = error.max(reduced.error);
        }
    }
    let left: usize = parts.primitives.iter().map(|p| p.positions.len()).sum();
    if left as f64 > LEAST_SAVING * model.mesh().vertex_count() as f64 {
        return Ok(None);
    }
    let model = Model::new(parts)?;
    Ok(Some(Simplified { model, error }))
}

/// A primitive with fewer triangles, and the error as in [`Simplified`].
struct Reduced {
    primitive: PrimitiveData,
    error: f64,
}

/// A vertex of a primitive where it has one material.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Split {
    vertex: u32,
    material: u16,
}

fn reduced(primitive: &PrimitiveData, joints: &[u16], fraction: f64) -> Result<Reduced, DataError> {
    // A vertex between two materials becomes one per material, at the same position: a seam, along which edges collapse
    // together.
    let mut splits: Vec<Split> = Vec::new();
    let mut known: HashMap<Split, u32> = HashMap::new();
    let mut indices = Vec::with_capacity(primitive.indices.len());
    for subset in &primitive.subsets {
        for &vertex in primitive.indices_of(subset) {
            let split = Split {
                vertex,
                material: subset.material,
            };
            indices.push(*known.entry(split).or_insert_with(|| {
                splits.push(split);
                splits.len() as u32 - 1
            }));
        }
    }
    let mut positions: Vec<[f32; 3]> = Vec::with_capacity(splits.len());
    let mut values: Vec<[f32; ATTRIBUTES]> = Vec::with_capacity(splits.len());
    for split in &splits {
        let vertex = split.vertex as usize;
        positions.push(primitive.positions[vertex]);
        values.push(attributes(primitive, joints, vertex));
    }
    let mut weights = [NORMAL_WEIGHT; ATTRIBUTES];
    weights[3..].fill(SIGNATURE_WEIGHT);
    let settings = SimplifySettings {
        target_index_count: 3 * ((indices.len() / 3) as f64 * fraction).round() as usize,
        target_error: f32::MAX,
        options: SimplifyOptions::LOCK_BORDER | SimplifyOptions::ERROR_ABSOLUTE,
    };
    let values = Attributes::from_interleaved(
        values.as_flattened(),
        splits.len(),
        ATTRIBUTES,
        ATTRIBUTES,
        0,
    );
    let simplified = values.and_then(|values| {
        simplify_with_attributes(
            &indices,
            Positions::from_packed(&positions),
            values,
            &weights,
            None,
            settings,
            &mut Workspace::default(),
        )
    });
    let left = simplified.map_err(|error| DataError::new("mesh level", error.to_string()))?;

    let mut kept: Vec<u32> = Vec::with_capacity(left.indices.len());
    for &index in &left.indices {
        kept.push(splits[index as usize].vertex);
    }
    kept.sort_unstable();
    kept.dedup();
    let triangles = left.indices.as_chunks::<3>().0.iter().map(|corners| {
        let corners = corners.map(|corner| splits[corner as usize]);
        let vertices = corners.map(|corner| drawn::new_index(&kept, corner.vertex));
        (corners[0].material, vertices)
    });
    let mut level = primitive.with_vertices(&kept);
    level.set_triangles(triangles.collect());
    Ok(Reduced {
        primitive: level,
        error: left.error.into(),
    })
}

/// The normal of a vertex, and its weights projected to a few numbers: each joint has a direction of its own, and
/// random directions keep the distances between sets of weights (Johnson and Lindenstrauss 1984).
fn attributes(primitive: &PrimitiveData, joints: &[u16], vertex: usize) -> [f32; ATTRIBUTES] {
    let mut values = [0.0; ATTRIBUTES];
    if let Some(normals) = &primitive.normals {
        values[..3].copy_from_slice(&normals[vertex]);
    }
    for (joint, weight) in primitive.influences.of(vertex) {
        let joint = u64::from(joints[usize::from(joint)]);
        let mut bits = joint.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ bits >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        for value in &mut values[3..] {
            bits = bits.rotate_left(7);
            *value += if bits & 1 == 0 { weight } else { -weight };
        }
    }
    // Sums of signs have the length of the root of their number.
    for value in &mut values[3..] {
        *value /= (SIGNATURE as f32).sqrt();
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use skinbench_characters::{chain_64, walker};
    use skinbench_kernels::model::Subset;

    fn edges(model: &Model) -> HashMap<(u32, u32), i32> {
        let mut edges = HashMap::new();
        for &[a, b, c] in model.mesh().indices().as_chunks::<3>().0 {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry((from.min(to), from.max(to))).or_insert(0) +=
                    if from < to { 1 } else { -1 };
            }
        }
        edges
    }

    #[test]
    fn levels_are_closed_and_made_of_the_same_vertices() {
        let model = walker(2_000).unwrap();
        let full: std::collections::HashSet<[u32; 3]> = model
            .mesh()
            .positions()
            .iter()
            .map(|p| p.map(f32::to_bits))
            .collect();
        let mut before = model.mesh().vertex_count();
        let mut least_error = 0.0;
        for fraction in [0.5, 0.25, 0.125] {
            let Simplified {
                model: level,
                error,
            } = simplified(&model, fraction).unwrap().unwrap();
            assert!(error > least_error, "{error} after {least_error}");
            least_error = error;
            let mesh = level.mesh();
            assert!(
                mesh.positions()
                    .iter()
                    .all(|p| full.contains(&p.map(f32::to_bits)))
            );
            let expected = fraction * model.mesh().indices().len() as f64;
            assert!(
                (mesh.indices().len() as f64) < 1.1 * expected,
                "{} of {expected}",
                mesh.indices().len()
            );
            assert!(mesh.vertex_count() < before);
            before = mesh.vertex_count();
            // Every edge has a triangle on each side: no crack, not even between materials.
            assert!(
                edges(&level).values().all(|sides| *sides == 0),
                "{fraction}"
            );
            let materials = |model: &Model| {
                let subsets = model.mesh().primitives().iter().flat_map(|p| &p.subsets);
                subsets.map(|subset| subset.material).collect::<Vec<_>>()
            };
            assert_eq!(materials(&level)[..5], materials(&model)[..5]);
            let size = |model: &Model| {
                DVec3::from(
                    (model.bounds().max - model.bounds().min)
                        .to_array()
                        .map(f64::from),
                )
            };
            assert!(size(&level).distance(size(&model)) < 0.05, "{fraction}");
        }
    }

    #[test]
    fn influences_decide_where_vertices_stay() {
        // The tube of the chain is straight: only its influences tell one place from another.
        let model = chain_64().unwrap();
        let level = simplified(&model, 0.5).unwrap().unwrap().model;
        let mut held = vec![false; model.palette_joints().len()];
        for vertex in 0..level.mesh().vertex_count() {
            level
                .mesh()
                .influences_of(vertex)
                .for_each(|(entry, _)| held[usize::from(entry)] = true);
        }
        assert!(
            held.iter().filter(|held| **held).count() > 48,
            "whole joints lost their vertices"
        );
    }

    #[test]
    fn a_mesh_of_borders_is_kept_whole() {
        assert!(simplified(&shreds(), 0.5).unwrap().is_none());
    }

    /// A model whose triangles share no vertex: all edges are borders.
    fn shreds() -> Model {
        let mut parts = walker(500).unwrap().into_parts();
        let primitive = &mut parts.primitives[0];
        let first: Vec<u32> = primitive.indices[..60].to_vec();
        *primitive = PrimitiveData {
            indices: (0..60).collect(),
            ..primitive.with_vertices(&first)
        };
        primitive.subsets = vec![Subset {
            material: 0,
            indices: 0..60,
        }];
        // Each corner at a place of its own.
        primitive
            .positions
            .iter_mut()
            .zip(0u8..)
            .for_each(|(p, at)| p[0] += f32::from(at));
        Model::new(parts).unwrap()
    }
}
