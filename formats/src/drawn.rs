//! Removal of vertices that no triangle uses. They would be skinned and timed, and never drawn.

use skinbench_kernels::model::{ModelParts, Notes, PrimitiveData};

/// Leaves out the vertices that no triangle uses, with a note; the others keep their order. A primitive without
/// triangles keeps all of its vertices, because they are points or ends of lines.
///
/// # Panics
/// A primitive whose streams, indices and subsets disagree.
pub fn only_drawn(parts: &mut ModelParts, notes: &mut Notes) {
    for primitive in &mut parts.primitives {
        let before = primitive.positions.len();
        trim(primitive);
        let left_out = before - primitive.positions.len();
        notes.add("left out # vertices that no triangle uses", left_out);
    }
}

fn trim(primitive: &mut PrimitiveData) {
    let mut is_used = vec![false; primitive.positions.len()];
    for subset in &primitive.subsets {
        for &vertex in primitive.indices_of(subset) {
            is_used[vertex as usize] = true;
        }
    }
    let mut kept: Vec<u32> = (0..is_used.len() as u32).collect();
    kept.retain(|&vertex| is_used[vertex as usize]);
    if kept.is_empty() || kept.len() == is_used.len() {
        return;
    }
    let mut trimmed = only(primitive, &kept);
    for subset in &primitive.subsets {
        let indices = primitive.indices_of(subset).iter();
        let indices = indices.map(|&vertex| new_index(&kept, vertex));
        trimmed.add_subset(subset.material, indices);
    }
    *primitive = trimmed;
}

/// The index of a vertex among those that are kept, which rise.
pub fn new_index(kept: &[u32], vertex: u32) -> u32 {
    kept.partition_point(|&other| other < vertex) as u32
}

/// A primitive with some of its vertices, whose indices rise.
pub fn only(primitive: &PrimitiveData, kept: &[u32]) -> PrimitiveData {
    let from_file = kept.partition_point(|vertex| *vertex < primitive.dumped_vertices);
    PrimitiveData {
        // 0 would mean a rigid mesh.
        dumped_vertices: (from_file as u32).max(primitive.dumped_vertices.min(1)),
        ..primitive.with_vertices(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_kernels::model::{Subset, TargetDeltas};

    #[test]
    fn the_vertices_of_drawn_triangles_stay() {
        let mut primitive = PrimitiveData {
            positions: (0..7).map(|x| [x as f32, 0.0, 0.0]).collect(),
            influences: (0..7).map(|joint| [(joint, 1.0)]).collect(),
            // The last triangle is in no subset; vertices 5 and 6 are copies at seams.
            indices: vec![1, 3, 5, 3, 1, 4, 0, 2, 6],
            subsets: vec![
                Subset {
                    material: 2,
                    indices: 3..6,
                },
                Subset {
                    material: 1,
                    indices: 0..3,
                },
            ],
            dumped_vertices: 5,
            targets: vec![TargetDeltas {
                target: 0,
                vertices: vec![(2, [[1.0; 3]; 3]), (4, [[2.0; 3]; 3])],
            }],
            ..PrimitiveData::default()
        };
        trim(&mut primitive);
        let x: Vec<f32> = primitive.positions.iter().map(|p| p[0]).collect();
        assert_eq!(x, [1.0, 3.0, 4.0, 5.0]);
        assert_eq!(primitive.influences.pairs()[3], (5, 1.0));
        assert_eq!(primitive.indices, [1, 0, 2, 0, 1, 3]);
        assert_eq!(primitive.subsets[1].indices, 3..6);
        assert_eq!(primitive.dumped_vertices, 3);
        assert_eq!(primitive.targets[0].vertices, [(2, [[2.0; 3]; 3])]);
        let again = primitive.clone();
        trim(&mut primitive);
        assert_eq!(primitive, again);
        primitive.subsets.clear();
        trim(&mut primitive);
        assert_eq!(primitive.positions.len(), 4, "points stay");
    }
}
