//! The same character with other counts: fewer influences, more or fewer vertices.

use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{Influences, MAX_INFLUENCES, Model};

/// Fraction of a weight that a joint passes to its relatives.
const GIVEN: f32 = 0.2;

/// The model with at most `limit` influences per vertex: the largest ones, renormalised.
///
/// # Errors
/// A limit outside 1 to 16.
pub fn with_influences(model: Model, limit: usize) -> Result<Model> {
    check_influences(limit)?;
    let mut parts = model.into_parts();
    for primitive in &mut parts.primitives {
        let mut limited = Influences::default();
        for vertex in 0..primitive.positions.len() {
            limited.push_largest(primitive.influences.of(vertex).collect(), limit);
        }
        primitive.influences = limited;
    }
    Model::new(parts)
}

/// The model with `count` influences on every vertex, or as many as its joints have relatives: part of each weight is
/// passed to the parent and the children of its joint until there are enough; then the largest are kept.
///
/// # Errors
/// A count outside 1 to 16.
pub fn spread(model: Model, count: usize) -> Result<Model> {
    check_influences(count)?;
    let mut parts = model.into_parts();
    for primitive in &mut parts.primitives {
        let joints = &parts.skins[usize::from(primitive.skin)].joints;
        let relatives = relatives(joints, parts.skeleton.parents());
        let mut influences = Influences::default();
        for vertex in 0..primitive.positions.len() {
            let mut held: Vec<(u16, f32)> = primitive.influences.of(vertex).collect();
            while held.len() < count {
                let before = held.clone();
                for (place, (entry, weight)) in before.iter().enumerate() {
                    let relatives = &relatives[usize::from(*entry)];
                    let share = GIVEN * weight / relatives.len() as f32;
                    for relative in relatives {
                        held[place].1 -= share;
                        add(&mut held, *relative, share);
                    }
                }
                if held.len() == before.len() {
                    break;
                }
            }
            influences.push_largest(held, count);
        }
        primitive.influences = influences;
    }
    Model::new(parts)
}

/// For each entry of a skin, those whose joints are the parent or a child of its joint.
fn relatives(joints: &[u16], parents: &[u16]) -> Vec<Vec<u16>> {
    let mut relatives = vec![Vec::new(); joints.len()];
    for (list, &a) in relatives.iter_mut().zip(joints) {
        for (entry, &b) in (0..).zip(joints) {
            if parents[usize::from(a)] == b || parents[usize::from(b)] == a {
                list.push(entry);
            }
        }
    }
    relatives
}

fn check_influences(count: usize) -> Result<()> {
    if !(1..=MAX_INFLUENCES).contains(&count) {
        let problem = format!("{count} requested; expected 1 to {MAX_INFLUENCES}");
        return Err(DataError::new("influences", problem));
    }
    Ok(())
}

/// Adds a weight to that of its joint, which may be new.
pub(crate) fn add(pairs: &mut Vec<(u16, f32)>, joint: u16, weight: f32) {
    match pairs.iter_mut().find(|known| known.0 == joint) {
        Some((_, sum)) => *sum += weight,
        None => pairs.push((joint, weight)),
    }
}

/// The model with about `count` vertices (within 10 %): triangles are split at the midpoints of their edges, then edges
/// collapse.
///
/// Primitives get their vertices in proportion to their size. Those without triangles stay as they are, also if all of
/// their triangles have fewer than three different corners, which is noted.
///
/// # Errors
/// A model with morph targets; or a count that cannot be reached, with the closest one.
pub fn with_vertices(model: Model, count: u32) -> Result<Model> {
    if !model.mesh().targets().is_empty() {
        let problem = format!(
            "{count} requested; a model with morph targets keeps its {}",
            model.mesh().vertex_count()
        );
        return Err(DataError::new("vertices", problem));
    }
    let mut parts = model.into_parts();
    let mut sources = Vec::new();
    // Vertices of primitives that change, and those of the others.
    let mut changing = 0;
    let mut fixed = 0;
    for primitive in &parts.primitives {
        let source = resample::Source::of(primitive.clone());
        if source.is_some() {
            changing += primitive.positions.len();
        } else {
            fixed += primitive.positions.len();
            let is_flat = usize::from(!primitive.indices.is_empty());
            parts.notes.add(FLAT, is_flat);
        }
        sources.push(source);
    }
    let left = (f64::from(count) - fixed as f64).max(0.0);
    for (primitive, source) in parts.primitives.iter_mut().zip(sources) {
        if let Some(source) = source {
            let share = primitive.positions.len() as f64 / changing as f64;
            *primitive = source.resampled((share * left).round().max(3.0) as usize)?;
        }
    }
    let reached: usize = parts.primitives.iter().map(|p| p.positions.len()).sum();
    if (reached as f64 / f64::from(count) - 1.0).abs() > 0.1 {
        let problem =
            format!("{count} requested; the closest count that this model reaches is {reached}");
        return Err(DataError::new("vertices", problem));
    }
    Model::new(parts)
}

/// Kind of note about primitives that keep their vertices.
const FLAT: &str =
    "kept the vertices of # primitives whose triangles have fewer than three different corners";

mod resample {
    use super::{DataError, MAX_INFLUENCES, Result, add};
    use glam::{Vec3, Vec4};
    use meshoptimizer_rs::{
        Positions, SimplifyOptions, SimplifySettings, Workspace, simplify, simplify_sloppy,
    };
    use skinbench_kernels::model::PrimitiveData;
    use std::collections::HashMap;

    /// Most triangles that splitting may create: more than any skinned model has, and few enough to store.
    const MAX_TRIANGLES: usize = 16 << 20;

    /// A primitive whose equal vertices are merged, and the material of each vertex. It has triangles.
    pub(super) struct Source {
        primitive: PrimitiveData,
        materials: Vec<u16>,
    }

    impl Source {
        /// The primitive to resample; `None` if it has no triangle with three different corners.
        pub(super) fn of(primitive: PrimitiveData) -> Option<Self> {
            let mut materials = vec![0; primitive.positions.len()];
            for subset in &primitive.subsets {
                for &vertex in primitive.indices_of(subset) {
                    materials[vertex as usize] = subset.material;
                }
            }
            let source = Self {
                primitive,
                materials,
            };
            let gathered = source.gathered(&source.primitive.indices);
            (!gathered.primitive.indices.is_empty()).then_some(gathered)
        }

        /// The primitive with about `target` vertices.
        pub(super) fn resampled(mut self, target: usize) -> Result<PrimitiveData> {
            // Each turn adds a vertex for each edge, of which there are at least three.
            while self.primitive.positions.len() < target {
                if self.primitive.indices.len() / 3 > MAX_TRIANGLES / 4 {
                    let problem = format!("{target} in one primitive are too many");
                    return Err(DataError::new("vertices", problem));
                }
                self.split();
            }
            let Self {
                mut primitive,
                materials,
            } = self.gathered(&self.collapsed(target)?);
            // A triangle has the material of its first corner.
            let triangles = primitive.indices.as_chunks().0.iter();
            let triangles = triangles.map(|corners| (materials[corners[0] as usize], *corners));
            primitive.set_triangles(triangles.collect());
            Ok(primitive)
        }

        /// The vertices that `indices` use, with duplicates merged, and the remaining triangles.
        fn gathered(&self, indices: &[u32]) -> Self {
            let mut kept = Vec::new();
            let mut left = Vec::with_capacity(indices.len());
            let mut known = HashMap::new();
            for triangle in indices.as_chunks::<3>().0 {
                let corners = triangle.map(|vertex| {
                    *known.entry(self.key(vertex as usize)).or_insert_with(|| {
                        kept.push(vertex);
                        kept.len() as u32 - 1
                    })
                });
                let [a, b, c] = corners;
                if a != b && b != c && c != a {
                    left.extend(corners);
                }
            }
            let materials = kept.iter().map(|&vertex| self.materials[vertex as usize]);
            Self {
                materials: materials.collect(),
                primitive: PrimitiveData {
                    indices: left,
                    ..self.primitive.with_vertices(&kept)
                },
            }
        }

        /// The bits of a vertex, which equal vertices share.
        fn key(&self, vertex: usize) -> Vec<u32> {
            let primitive = &self.primitive;
            let mut key = vec![self.materials[vertex].into()];
            key.extend(primitive.positions[vertex].map(f32::to_bits));
            if let Some(normals) = &primitive.normals {
                key.extend(normals[vertex].map(f32::to_bits));
            }
            if let Some(uvs) = &primitive.uvs {
                key.extend(uvs[vertex].map(f32::to_bits));
            }
            if let Some(colors) = &primitive.colors {
                key.extend(colors[vertex].map(f32::to_bits));
            }
            for (joint, weight) in primitive.influences.of(vertex) {
                key.extend([joint.into(), weight.to_bits()]);
            }
            key
        }

        /// Splits every triangle in four; each new vertex is the mean of its edge's ends.
        fn split(&mut self) {
            let mut middles = HashMap::new();
            let old = std::mem::take(&mut self.primitive.indices);
            let mut indices = Vec::with_capacity(old.len() * 4);
            for &[a, b, c] in old.as_chunks::<3>().0 {
                let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[a, b]| {
                    *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                        self.materials.push(self.materials[a as usize]);
                        add_middle(&mut self.primitive, a as usize, b as usize)
                    })
                });
                indices.extend([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca]);
            }
            self.primitive.indices = indices;
        }

        /// Triangles over approximately `target` of the vertices.
        fn collapsed(&self, target: usize) -> Result<Vec<u32>> {
            let PrimitiveData {
                positions, indices, ..
            } = &self.primitive;
            let positions = Positions::from_packed(positions);
            let mut workspace = Workspace::default();
            let mut best = indices.clone();
            let mut miss = self.used(&best).abs_diff(target);
            // If seams keep edges from collapsing, simplify without preserving the topology.
            for is_sloppy in [false, true] {
                let mut low = 0;
                let mut high = indices.len() / 3;
                while low < high && miss > target / 50 {
                    let triangles = low.midpoint(high);
                    let settings = SimplifySettings {
                        target_index_count: 3 * triangles,
                        target_error: f32::MAX,
                        options: SimplifyOptions::EMPTY,
                    };
                    let left = if is_sloppy {
                        simplify_sloppy(
                            indices,
                            positions,
                            None,
                            settings.target_index_count,
                            settings.target_error,
                            &mut workspace,
                        )
                    } else {
                        simplify(indices, positions, settings, &mut workspace)
                    };
                    let left = left
                        .map_err(|error| DataError::new("vertices", error.to_string()))?
                        .indices;
                    let vertices = self.used(&left);
                    if vertices.abs_diff(target) < miss {
                        best = left;
                        miss = vertices.abs_diff(target);
                    }
                    if vertices < target {
                        low = triangles + 1;
                    } else {
                        high = triangles;
                    }
                }
                if miss <= target / 10 {
                    break;
                }
            }
            Ok(best)
        }

        /// The number of vertices that indices use.
        fn used(&self, indices: &[u32]) -> usize {
            let mut is_used = vec![false; self.primitive.positions.len()];
            for &vertex in indices {
                is_used[vertex as usize] = true;
            }
            is_used.into_iter().filter(|is_used| *is_used).count()
        }
    }

    /// Adds the mean of two vertices; returns its index.
    fn add_middle(primitive: &mut PrimitiveData, a: usize, b: usize) -> u32 {
        let position = mean(&primitive.positions, a, b);
        primitive.positions.push(position.to_array());
        if let Some(normals) = &mut primitive.normals {
            let normal = mean(normals, a, b).normalize_or(normals[a].into());
            normals.push(normal.to_array());
        }
        if let Some(tangents) = &mut primitive.tangents {
            let start = Vec4::from(tangents[a]);
            let mean = (start + Vec4::from(tangents[b])) / 2.0;
            let direction = mean.truncate().normalize_or(start.truncate());
            tangents.push(direction.extend(start.w).to_array());
        }
        if let Some(uvs) = &mut primitive.uvs {
            uvs.push(std::array::from_fn(|c| (uvs[a][c] + uvs[b][c]) / 2.0));
        }
        if let Some(colors) = &mut primitive.colors {
            colors.push(std::array::from_fn(|c| (colors[a][c] + colors[b][c]) / 2.0));
        }
        let mut sum: Vec<(u16, f32)> = primitive.influences.of(a).collect();
        for (joint, weight) in primitive.influences.of(b) {
            add(&mut sum, joint, weight);
        }
        primitive.influences.push_largest(sum, MAX_INFLUENCES);
        primitive.positions.len() as u32 - 1
    }

    fn mean(vectors: &[[f32; 3]], a: usize, b: usize) -> Vec3 {
        (Vec3::from(vectors[a]) + Vec3::from(vectors[b])) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_characters::{chain_64, star_64, walker};

    #[test]
    fn the_largest_influences_are_kept_and_sum_to_one() {
        let full = chain_64().unwrap();
        assert_eq!(full.mesh().max_influences(), 4);
        let limited = with_influences(full.clone(), 2).unwrap();
        assert_eq!(limited.mesh().max_influences(), 2);
        assert_eq!(limited.mesh().vertex_count(), full.mesh().vertex_count());
        for vertex in 0..limited.mesh().vertex_count() {
            let sum: f32 = limited
                .mesh()
                .influences_of(vertex)
                .map(|(_, weight)| weight)
                .sum();
            assert!((sum - 1.0).abs() < 1e-6);
        }
        assert!(with_influences(full.clone(), 0).is_err());
        assert!(with_influences(full, 17).is_err());
    }

    #[test]
    fn spread_influences_are_as_many_as_asked_for_and_sum_to_one() {
        let walker = walker(500).unwrap();
        let spread = spread(walker.clone(), 8).unwrap();
        assert_eq!(
            spread.mesh().positions().len(),
            walker.mesh().positions().len()
        );
        for vertex in 0..spread.mesh().vertex_count() {
            let weights: Vec<f32> = spread
                .mesh()
                .influences_of(vertex)
                .map(|(_, weight)| weight)
                .collect();
            assert_eq!(weights.len(), 8, "vertex {vertex}");
            assert!(
                (weights.iter().sum::<f32>() - 1.0).abs() < 1e-5
                    && weights.iter().all(|&w| w > 0.0),
                "{weights:?}"
            );
        }
        assert!(super::spread(walker, 17).is_err());
    }

    #[test]
    fn any_model_takes_other_vertex_counts() {
        for model in [chain_64().unwrap(), star_64().unwrap()] {
            for count in [400u32, 1_500, 10_000, 30_000] {
                let other = with_vertices(model.clone(), count).unwrap();
                let got = other.mesh().vertex_count() as f64;
                assert!(
                    (got / f64::from(count) - 1.0).abs() <= 0.1,
                    "{} of {count}: {got}",
                    model.name()
                );
                assert!(other.bounds().min.distance(model.bounds().min) < 0.1);
                assert!(other.bounds().max.distance(model.bounds().max) < 0.1);
                assert_eq!(
                    other.mesh().primitives()[0].dumped_vertices as usize,
                    other.mesh().vertex_count()
                );
            }
            assert!(
                with_vertices(model, 1)
                    .unwrap_err()
                    .problem
                    .contains("the closest count that this model reaches is")
            );
        }
    }

    #[test]
    fn primitives_without_real_triangles_stay_as_they_are() {
        let mut parts = chain_64().unwrap().into_parts();
        let mut flat = parts.primitives[0].with_vertices(&[0, 1]);
        flat.set_triangles(vec![(0, [0, 0, 0]), (0, [0, 1, 1])]);
        parts.primitives.push(flat);
        let model = with_vertices(Model::new(parts).unwrap(), 3_000).unwrap();
        let counts = model.mesh().primitives().iter().map(|p| p.vertex_count);
        let counts: Vec<u32> = counts.collect();
        assert!((2_700..3_300).contains(&counts[0]), "{counts:?}");
        assert_eq!(counts[1], 2);
        assert_eq!(
            model.notes().lines().next().unwrap(),
            "kept the vertices of 1 primitives whose triangles have fewer than three different corners"
        );
    }
}
