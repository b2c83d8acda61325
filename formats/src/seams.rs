//! Conversion of formats that index positions, normals and uvs separately: one vertex per combination in use.
//!
//! The file's own vertices come first, in its order, each with the normal and uv of its first corner; copies for other
//! corners follow.

use crate::budget::Budget;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Influences, PrimitiveData};
use std::collections::HashMap;

/// A corner of a triangle.
#[derive(Debug, Clone, Copy, Default)]
pub struct Corner {
    /// Index of the file's vertex, checked to be in range.
    pub vertex: u32,
    pub normal: Option<[f32; 3]>,
    pub uv: Option<[f32; 2]>,
}

impl Corner {
    /// The bits of its normal and uv: corners with equal values in the file share a vertex.
    fn bits(&self) -> CornerBits {
        CornerBits {
            normal: self.normal.map(|normal| normal.map(f32::to_bits)),
            uv: self.uv.map(|uv| uv.map(f32::to_bits)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct CornerBits {
    normal: Option<[u32; 3]>,
    uv: Option<[u32; 2]>,
}

/// Converts triangles, each with its material, to a primitive; it has normals, or uvs, if every corner has them.
pub fn join(
    positions: Vec<[f32; 3]>,
    influences: Influences,
    mut triangles: Vec<(u16, [Corner; 3])>,
    budget: &Budget,
) -> Result<PrimitiveData> {
    let count = positions.len();
    // Copies are made in the order in which the primitive holds the triangles.
    triangles.sort_by_key(|triangle| triangle.0);
    let corners = || triangles.iter().flat_map(|triangle| &triangle.1);
    let has_normals = !triangles.is_empty() && corners().all(|corner| corner.normal.is_some());
    let has_uvs = !triangles.is_empty() && corners().all(|corner| corner.uv.is_some());
    let mut joined = Joined {
        primitive: PrimitiveData {
            positions,
            normals: has_normals.then(|| vec![[0.0; 3]; count]),
            uvs: has_uvs.then(|| vec![[0.0; 2]; count]),
            influences,
            dumped_vertices: count as u32,
            ..PrimitiveData::default()
        },
        first: vec![None; count],
        copies: HashMap::new(),
        budget,
    };
    let mut kept = Vec::with_capacity(triangles.len());
    for (material, corners) in triangles {
        let mut vertices = [0; 3];
        for (vertex, mut corner) in vertices.iter_mut().zip(corners) {
            corner.normal = corner.normal.filter(|_| has_normals);
            corner.uv = corner.uv.filter(|_| has_uvs);
            *vertex = joined.vertex(&corner)?;
        }
        kept.push((material, vertices));
    }
    joined.primitive.set_triangles(kept);
    Ok(joined.primitive)
}

/// A primitive under construction.
struct Joined<'a> {
    primitive: PrimitiveData,
    /// For each vertex of the file the bits of its first corner.
    first: Vec<Option<CornerBits>>,
    /// The copy of a vertex for corners with these bits.
    copies: HashMap<(u32, CornerBits), u32>,
    budget: &'a Budget,
}

impl Joined<'_> {
    /// The vertex of a corner, which is a new one if it differs from all before.
    fn vertex(&mut self, corner: &Corner) -> Result<u32> {
        let vertex = corner.vertex as usize;
        let bits = corner.bits();
        let primitive = &mut self.primitive;
        let first = self.first[vertex].get_or_insert_with(|| {
            if let Some(normals) = &mut primitive.normals {
                normals[vertex] = corner.normal.unwrap_or_default();
            }
            if let Some(uvs) = &mut primitive.uvs {
                uvs[vertex] = corner.uv.unwrap_or_default();
            }
            bits
        });
        if *first == bits {
            return Ok(corner.vertex);
        }
        if let Some(&copy) = self.copies.get(&(corner.vertex, bits)) {
            return Ok(copy);
        }
        let pairs: Vec<_> = primitive.influences.of(vertex).collect();
        self.budget
            .charge_vertices(1, pairs.len(), || format!("seams of vertex {vertex}"))?;
        let copy = primitive.positions.len() as u32;
        self.copies.insert((corner.vertex, bits), copy);
        primitive.positions.push(primitive.positions[vertex]);
        if let Some(normals) = &mut primitive.normals {
            normals.extend(corner.normal);
        }
        if let Some(uvs) = &mut primitive.uvs {
            uvs.extend(corner.uv);
        }
        primitive.influences.push(pairs);
        Ok(copy)
    }
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
