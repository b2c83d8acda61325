//! Conversion of formats that index positions, normals and uvs separately: one vertex per combination in use.
//!
//! The file's own vertices come first, in its order, each with the normal and uv of its first corner; copies for other
//! corners follow.

use crate::budget::Budget;
use crate::fault::Fault;
use skinbench_kernels::model::{Influences, PrimitiveData};
use std::collections::HashMap;

/// A corner of a triangle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Corner {
    /// Index of the file's vertex, checked to be in range.
    pub(super) vertex: u32,
    pub(super) normal: Option<[f32; 3]>,
    pub(super) uv: Option<[f32; 2]>,
}

/// Bits of a normal and a uv: corners with equal values in the file share a vertex.
type Look = (Option<[u32; 3]>, Option<[u32; 2]>);

/// Converts triangles, each with its material, to a primitive; it has normals, or uvs, if every corner has them.
pub(super) fn join(
    mut positions: Vec<[f32; 3]>,
    mut influences: Influences,
    mut triangles: Vec<(u16, [Corner; 3])>,
    budget: &Budget,
) -> Result<PrimitiveData, Fault> {
    let count = positions.len();
    // Copies are made in the order in which the primitive holds the triangles.
    triangles.sort_by_key(|(material, _)| *material);
    let has_all = |has: fn(&Corner) -> bool| {
        !triangles.is_empty() && triangles.iter().all(|(_, c)| c.iter().all(has))
    };
    let has_normals = has_all(|corner| corner.normal.is_some());
    let has_uvs = has_all(|corner| corner.uv.is_some());
    let mut normals = vec![[0.0; 3]; if has_normals { count } else { 0 }];
    let mut uvs = vec![[0.0; 2]; if has_uvs { count } else { 0 }];
    let mut first: Vec<Option<Look>> = vec![None; count];
    let mut copies: HashMap<(u32, Look), u32> = HashMap::new();
    let mut stored = |Corner {
                          vertex: of,
                          normal,
                          uv,
                      }: Corner| {
        let (vertex, normal, uv) = (
            of as usize,
            normal.filter(|_| has_normals),
            uv.filter(|_| has_uvs),
        );
        let look = (
            normal.map(|n| n.map(f32::to_bits)),
            uv.map(|uv| uv.map(f32::to_bits)),
        );
        if first[vertex].is_none() {
            first[vertex] = Some(look);
            normal
                .into_iter()
                .for_each(|normal| normals[vertex] = normal);
            uv.into_iter().for_each(|uv| uvs[vertex] = uv);
        }
        if first[vertex] == Some(look) {
            return Ok(of);
        }
        if let Some(&copy) = copies.get(&(of, look)) {
            return Ok(copy);
        }
        let pairs: Vec<_> = influences.of(vertex).collect();
        budget.charge_vertices(1, pairs.len(), || format!("seams of vertex {vertex}"))?;
        let copy = positions.len() as u32;
        copies.insert((of, look), copy);
        positions.push(positions[vertex]);
        normals.extend(normal);
        uvs.extend(uv);
        influences.push(pairs);
        Ok::<_, Fault>(copy)
    };
    let mut kept = Vec::with_capacity(triangles.len());
    for (material, [a, b, c]) in triangles {
        kept.push((material, [stored(a)?, stored(b)?, stored(c)?]));
    }
    let mut primitive = PrimitiveData {
        positions,
        normals: has_normals.then_some(normals),
        uvs: has_uvs.then_some(uvs),
        influences,
        dumped_vertices: count as u32,
        ..PrimitiveData::default()
    };
    primitive.set_triangles(kept);
    Ok(primitive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_with_two_normals_are_copied_behind_the_files_own() {
        let corner = |vertex, z| Corner {
            vertex,
            normal: Some([0.0, 0.0, z]),
            uv: None,
        };
        let triangles = vec![
            (0, [corner(0, 1.0), corner(1, 1.0), corner(2, 1.0)]),
            (0, [corner(0, 2.0), corner(2, 1.0), corner(1, 1.0)]),
            (1, [corner(0, 2.0), corner(1, 1.0), corner(2, 1.0)]),
        ];
        let mut influences = Influences::default();
        (0..3).for_each(|v| influences.push([(v, 1.0)]));
        let joined = join(
            vec![[0.0; 3], [1.0; 3], [2.0; 3]],
            influences,
            triangles,
            &Budget::new(0),
        )
        .unwrap();
        assert_eq!(joined.indices, [0, 1, 2, 3, 2, 1, 3, 1, 2]);
        assert_eq!(joined.positions.len(), 4);
        assert_eq!(
            joined.influences.pairs(),
            [0u16, 1, 2, 0].map(|joint| (joint, 1.0f32))
        );
        assert_eq!(joined.normals.unwrap()[3], [0.0, 0.0, 2.0]);
        assert_eq!((joined.dumped_vertices, joined.uvs), (3, None));
    }
}
