//! Conversion of formats that index positions, normals and uvs separately: one vertex per combination in use.
//!
//! The file's own vertices come first, in its order, each with the normal and uv of its first corner; copies for other
//! corners follow.

use super::budget::Budget;
use super::fault::Fault;
use crate::model::{Influences, PrimitiveData, Subset};
use std::collections::HashMap;

/// A corner of a triangle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Corner {
    /// Index of the file's vertex, checked to be in range.
    pub(super) vertex: u32,
    pub(super) normal: Option<[f32; 3]>,
    pub(super) uv: Option<[f32; 2]>,
}

type Look = (Option<[u32; 3]>, Option<[u32; 2]>);

impl Corner {
    /// Compares bits: corners with equal values in the file share a vertex.
    fn look(&self) -> Look {
        (self.normal.map(|n| n.map(f32::to_bits)), self.uv.map(|uv| uv.map(f32::to_bits)))
    }
}

/// Converts the corners of triangles to a primitive; it has normals, or uvs, if every corner has them.
pub(super) fn join(
    mut positions: Vec<[f32; 3]>,
    influences: &Influences,
    corners: &[Corner],
    subsets: Vec<Subset>,
    budget: &Budget,
) -> Result<PrimitiveData, Fault> {
    let count = positions.len();
    let has_normals = !corners.is_empty() && corners.iter().all(|c| c.normal.is_some());
    let has_uvs = !corners.is_empty() && corners.iter().all(|c| c.uv.is_some());
    let mut normals = vec![[0.0; 3]; if has_normals { count } else { 0 }];
    let mut uvs = vec![[0.0; 2]; if has_uvs { count } else { 0 }];
    let mut joined = influences.clone();
    let mut first: Vec<Option<Look>> = vec![None; count];
    let mut copies: HashMap<(u32, Look), u32> = HashMap::new();
    let mut indices = Vec::with_capacity(corners.len());
    for corner in corners {
        let corner = Corner {
            normal: corner.normal.filter(|_| has_normals),
            uv: corner.uv.filter(|_| has_uvs),
            vertex: corner.vertex,
        };
        let vertex = corner.vertex as usize;
        let look = corner.look();
        match &mut first[vertex] {
            Some(known) if *known == look => indices.push(corner.vertex),
            own @ None => {
                *own = Some(look);
                if let (Some(normal), Some(slot)) = (corner.normal, normals.get_mut(vertex)) {
                    *slot = normal;
                }
                if let (Some(uv), Some(slot)) = (corner.uv, uvs.get_mut(vertex)) {
                    *slot = uv;
                }
                indices.push(corner.vertex);
            }
            Some(_) => {
                if let Some(&copy) = copies.get(&(corner.vertex, look)) {
                    indices.push(copy);
                    continue;
                }
                let pairs = influences.offsets[vertex] as usize..influences.offsets[vertex + 1] as usize;
                budget.charge_vertices(1, pairs.len(), || format!("seams of vertex {vertex}"))?;
                let copy = positions.len() as u32;
                copies.insert((corner.vertex, look), copy);
                positions.push(positions[vertex]);
                normals.extend(corner.normal);
                uvs.extend(corner.uv);
                joined.push(pairs.map(|p| (influences.joints[p], influences.weights[p])));
                indices.push(copy);
            }
        }
    }
    Ok(PrimitiveData {
        skin: 0,
        positions,
        normals: has_normals.then_some(normals),
        tangents: None,
        uvs: has_uvs.then_some(uvs),
        influences: joined,
        indices,
        subsets,
        dumped_vertices: count as u32,
        targets: Vec::new(),
    })
}

/// Sorts triangles' corners by material (a stable sort) into one subset each.
pub(super) fn subsets(triangles: &mut [(u16, [Corner; 3])]) -> (Vec<Corner>, Vec<Subset>) {
    triangles.sort_by_key(|(material, _)| *material);
    let mut subsets: Vec<Subset> = Vec::new();
    for (index, (material, _)) in triangles.iter().enumerate() {
        let (start, end) = (3 * index as u32, 3 * (index as u32 + 1));
        match subsets.last_mut() {
            Some(subset) if subset.material == *material => subset.indices.end = end,
            _ => subsets.push(Subset { material: *material, indices: start..end }),
        }
    }
    (triangles.iter().flat_map(|(_, corners)| *corners).collect(), subsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_with_two_normals_are_copied_behind_the_files_own() {
        let corner = |vertex, z| Corner { vertex, normal: Some([0.0, 0.0, z]), uv: None };
        let corners = [
            corner(0, 1.0),
            corner(1, 1.0),
            corner(2, 1.0),
            corner(0, 2.0),
            corner(2, 1.0),
            corner(1, 1.0),
            corner(0, 2.0),
            corner(1, 1.0),
            corner(2, 1.0),
        ];
        let mut influences = Influences::new();
        (0..3).for_each(|v| influences.push([(v, 1.0)]));
        let joined = join(vec![[0.0; 3], [1.0; 3], [2.0; 3]], &influences, &corners, vec![], &Budget::new(0)).unwrap();
        assert_eq!(joined.indices, [0, 1, 2, 3, 2, 1, 3, 1, 2]);
        assert_eq!(joined.positions.len(), 4);
        assert_eq!(joined.influences.joints, [0, 1, 2, 0]);
        assert_eq!(joined.normals.unwrap()[3], [0.0, 0.0, 2.0]);
        assert_eq!((joined.dumped_vertices, joined.uvs), (3, None));
    }
}
