//! Strips and fans of triangles as lists.

/// Every other triangle of a strip is reversed, so that all have the same winding.
pub(super) fn of_strip(indices: &[u32]) -> Vec<u32> {
    let turned = |(place, &[a, b, c]): (usize, &[u32; 3])| {
        if place % 2 == 0 { [a, b, c] } else { [a, c, b] }
    };
    indices
        .array_windows()
        .enumerate()
        .flat_map(turned)
        .collect()
}

/// All triangles of a fan have its first vertex.
pub(super) fn of_fan(indices: &[u32]) -> Vec<u32> {
    let Some((&centre, rim)) = indices.split_first() else {
        return Vec::new();
    };
    rim.array_windows()
        .flat_map(|&[a, b]| [a, b, centre])
        .collect()
}
