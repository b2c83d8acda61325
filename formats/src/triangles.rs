//! Lists of triangles: of strips, of fans, and of subsets of a primitive.

use skinbench_kernels::model::{PrimitiveData, Subset};

/// Every other triangle of a strip is reversed, so that all have the same winding.
pub fn of_strip(indices: &[u32]) -> Vec<u32> {
    let mut triangles = Vec::new();
    for (place, &[a, b, c]) in indices.array_windows().enumerate() {
        triangles.extend(if place % 2 == 0 { [a, b, c] } else { [a, c, b] });
    }
    triangles
}

/// All triangles of a fan have its first vertex.
pub fn of_fan(indices: &[u32]) -> Vec<u32> {
    let Some((&centre, rim)) = indices.split_first() else {
        return Vec::new();
    };
    let edges = rim.array_windows();
    edges.flat_map(|&[a, b]| [a, b, centre]).collect()
}

/// The indices of a subset of a primitive.
pub fn of_subset<'a>(primitive: &'a PrimitiveData, subset: &Subset) -> &'a [u32] {
    &primitive.indices[subset.indices.start as usize..subset.indices.end as usize]
}

/// The subset of a primitive that begins at an index and ends with its last one.
pub fn subset_from(start: u32, material: u16, primitive: &PrimitiveData) -> Subset {
    Subset {
        material,
        indices: start..primitive.indices.len() as u32,
    }
}
