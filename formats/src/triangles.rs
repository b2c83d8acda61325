//! Lists of triangles of strips and of fans.

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
