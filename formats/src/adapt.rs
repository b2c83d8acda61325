//! The same character with other counts: fewer influences, more or fewer vertices.

#[cfg(feature = "resample")]
use skinbench_kernels::model::Repair;
use skinbench_kernels::model::{MAX_INFLUENCES, Model, ModelError};

/// Fraction of a weight that a joint passes to its relatives.
const GIVEN: f32 = 0.2;

/// The model with at most `limit` influences per vertex: the largest ones, renormalised.
///
/// # Errors
/// A limit outside 1 to 16.
pub fn with_influences(model: Model, limit: usize) -> Result<Model, ModelError> {
    check_influences(limit)?;
    let mut parts = model.into_parts();
    for primitive in &mut parts.primitives {
        let limited = |vertex| largest(primitive.influences.of(vertex).collect(), limit);
        primitive.influences = (0..primitive.positions.len()).map(limited).collect();
    }
    Model::new(parts)
}

/// The model with `count` influences on every vertex, or as many as its joints have relatives: part of each weight is
/// passed to the parent and the children of its joint until there are enough; then the largest are kept.
///
/// # Errors
/// A count outside 1 to 16.
pub fn spread(model: Model, count: usize) -> Result<Model, ModelError> {
    check_influences(count)?;
    let mut parts = model.into_parts();
    let parents = parts.skeleton.parents();
    for primitive in &mut parts.primitives {
        let joints = &parts.skins[usize::from(primitive.skin)].joints;
        let related = |a: u16, b: u16| parents[usize::from(a)] == b || parents[usize::from(b)] == a;
        let relatives: Vec<Vec<u16>> = joints
            .iter()
            .map(|&a| {
                (0..)
                    .zip(joints)
                    .filter(|&(_, &b)| related(a, b))
                    .map(|(i, _)| i)
                    .collect()
            })
            .collect();
        let spread = |vertex| {
            let mut held: Vec<(u16, f32)> = primitive.influences.of(vertex).collect();
            while held.len() < count {
                let before = held.clone();
                for (place, (joint, weight)) in before.iter().enumerate() {
                    let relatives = &relatives[usize::from(*joint)];
                    for relative in relatives {
                        let share = GIVEN * weight / relatives.len() as f32;
                        held[place].1 -= share;
                        add(&mut held, *relative, share);
                    }
                }
                if held.len() == before.len() {
                    break;
                }
            }
            largest(held, count)
        };
        primitive.influences = (0..primitive.positions.len()).map(spread).collect();
    }
    Model::new(parts)
}

fn check_influences(count: usize) -> Result<(), ModelError> {
    match count {
        1..=MAX_INFLUENCES => Ok(()),
        _ => Err(ModelError::new(
            "influences",
            format!("{count} requested; expected 1 to {MAX_INFLUENCES}"),
        )),
    }
}

/// Adds a weight to that of its joint, which may be new.
pub(crate) fn add(pairs: &mut Vec<(u16, f32)>, joint: u16, weight: f32) {
    match pairs.iter_mut().find(|(known, _)| *known == joint) {
        Some((_, sum)) => *sum += weight,
        None => pairs.push((joint, weight)),
    }
}

fn largest(mut pairs: Vec<(u16, f32)>, limit: usize) -> Vec<(u16, f32)> {
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    pairs.truncate(limit);
    let sum: f32 = pairs.iter().map(|(_, weight)| weight).sum();
    pairs.iter_mut().for_each(|(_, weight)| *weight /= sum);
    pairs
}

/// The model with about `count` vertices (within 10 %): triangles are split at the midpoints of their edges, then edges
/// collapse.
///
/// Primitives get their vertices in proportion to their size. Those without triangles stay as they are, also if all of
/// their triangles have fewer than three different corners, which is noted.
///
/// # Errors
/// A model with morph targets; or a count that cannot be reached, with the closest one.
#[cfg(feature = "resample")]
pub fn with_vertices(model: Model, count: u32) -> Result<Model, ModelError> {
    if !model.mesh().targets().is_empty() {
        let problem = format!(
            "{count} requested; a model with morph targets keeps its {}",
            model.mesh().vertex_count()
        );
        return Err(ModelError::new("vertices", problem));
    }
    let mut parts = model.into_parts();
    let mut sources = Vec::with_capacity(parts.primitives.len());
    // Vertices of primitives that change, vertices of the others, and the others that have triangles.
    let mut changing = 0;
    let mut fixed = 0;
    let mut flat = 0;
    for primitive in &parts.primitives {
        let source = resample::Source::of(primitive);
        if source.is_some() {
            changing += primitive.positions.len();
        } else {
            fixed += primitive.positions.len();
            flat += u32::from(!primitive.indices.is_empty());
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
    if flat > 0 {
        let corners = "whose triangles have fewer than three different corners";
        let message = format!("kept the vertices of {flat} primitives {corners}");
        parts.repairs.push(Repair::new(message));
    }
    let reached = parts
        .primitives
        .iter()
        .map(|p| p.positions.len())
        .sum::<usize>();
    if (reached as f64 / f64::from(count) - 1.0).abs() > 0.1 {
        let problem =
            format!("{count} requested; the closest count that this model reaches is {reached}");
        return Err(ModelError::new("vertices", problem));
    }
    Model::new(parts)
}

#[cfg(feature = "resample")]
mod resample {
    use super::{MAX_INFLUENCES, ModelError, add, largest};
    use glam::{Vec3, Vec4};
    use meshopt::{SimplifyOptions, VertexDataAdapter, simplify, simplify_sloppy};
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
        pub(super) fn of(primitive: &PrimitiveData) -> Option<Self> {
            let materials = vertex_materials(primitive);
            let (primitive, materials) = gathered(primitive, &materials, &primitive.indices);
            (!primitive.indices.is_empty()).then_some(Self {
                primitive,
                materials,
            })
        }

        /// The primitive with about `target` vertices.
        pub(super) fn resampled(self, target: usize) -> Result<PrimitiveData, ModelError> {
            let Self {
                primitive: mut primitive_now,
                mut materials,
            } = self;
            // Each turn adds a vertex for each edge, of which there are at least three.
            while primitive_now.positions.len() < target {
                if primitive_now.indices.len() / 3 > MAX_TRIANGLES / 4 {
                    return Err(ModelError::new(
                        "vertices",
                        format!("{target} in one primitive are too many"),
                    ));
                }
                split(&mut primitive_now, &mut materials);
            }
            let kept = collapsed(&primitive_now, target)?;
            let (mut result, materials) = gathered(&primitive_now, &materials, &kept);
            // A triangle has the material of its first corner.
            let triangles = result.indices.as_chunks::<3>().0;
            let triangles = triangles
                .iter()
                .map(|corners| (materials[corners[0] as usize], *corners))
                .collect();
            result.set_triangles(triangles);
            Ok(result)
        }
    }

    fn vertex_materials(primitive: &PrimitiveData) -> Vec<u16> {
        let mut materials = vec![0; primitive.positions.len()];
        for subset in &primitive.subsets {
            for &vertex in
                &primitive.indices[subset.indices.start as usize..subset.indices.end as usize]
            {
                materials[vertex as usize] = subset.material;
            }
        }
        materials
    }

    /// The vertices that `indices` use, with duplicates merged, and the remaining triangles.
    fn gathered(
        from: &PrimitiveData,
        materials: &[u16],
        indices: &[u32],
    ) -> (PrimitiveData, Vec<u16>) {
        let (mut kept, mut left) = (Vec::new(), Vec::with_capacity(indices.len()));
        let mut known = HashMap::new();
        for triangle in indices.as_chunks::<3>().0 {
            let corners = triangle.map(|vertex| {
                let v = vertex as usize;
                let looks = from
                    .normals
                    .iter()
                    .flat_map(|n| n[v])
                    .chain(from.uvs.iter().flat_map(|t| t[v]));
                let mut key: Vec<u32> = from.positions[v]
                    .into_iter()
                    .chain(looks)
                    .map(f32::to_bits)
                    .collect();
                key.extend(
                    from.influences
                        .of(v)
                        .flat_map(|(joint, weight)| [joint.into(), weight.to_bits()]),
                );
                key.push(materials[v].into());
                *known.entry(key).or_insert_with(|| {
                    kept.push(vertex);
                    kept.len() as u32 - 1
                })
            });
            let [a, b, c] = corners;
            if a != b && b != c && c != a {
                left.extend(corners);
            }
        }
        let to = PrimitiveData {
            indices: left,
            ..from.with_vertices(&kept)
        };
        (
            to,
            kept.iter()
                .map(|&vertex| materials[vertex as usize])
                .collect(),
        )
    }

    /// Splits every triangle in four; each new vertex is the mean of its edge's ends.
    fn split(primitive: &mut PrimitiveData, materials: &mut Vec<u16>) {
        let mut middles = HashMap::new();
        let old = std::mem::take(&mut primitive.indices);
        let mut indices = Vec::with_capacity(old.len() * 4);
        for &[a, b, c] in old.as_chunks::<3>().0 {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(a, b)| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    materials.push(materials[a as usize]);
                    middle(primitive, a as usize, b as usize)
                })
            });
            indices.extend([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca]);
        }
        primitive.indices = indices;
    }

    fn middle(primitive: &mut PrimitiveData, a: usize, b: usize) -> u32 {
        let mean = |a: [f32; 3], b: [f32; 3]| (Vec3::from(a) + Vec3::from(b)) / 2.0;
        let position = mean(primitive.positions[a], primitive.positions[b]);
        primitive.positions.push(position.to_array());
        if let Some(normals) = &mut primitive.normals {
            let normal = mean(normals[a], normals[b]).normalize_or(normals[a].into());
            normals.push(normal.to_array());
        }
        if let Some(tangents) = &mut primitive.tangents {
            let (a, b) = (Vec4::from(tangents[a]), Vec4::from(tangents[b]));
            tangents.push(
                ((a + b) / 2.0)
                    .truncate()
                    .normalize_or(a.truncate())
                    .extend(a.w)
                    .to_array(),
            );
        }
        if let Some(uvs) = &mut primitive.uvs {
            uvs.push(std::array::from_fn(|c| (uvs[a][c] + uvs[b][c]) / 2.0));
        }
        let mut sum: Vec<(u16, f32)> = primitive.influences.of(a).collect();
        primitive
            .influences
            .of(b)
            .for_each(|(joint, weight)| add(&mut sum, joint, weight));
        primitive.influences.push(largest(sum, MAX_INFLUENCES));
        primitive.positions.len() as u32 - 1
    }

    /// Triangles over approximately `target` of the vertices.
    fn collapsed(primitive: &PrimitiveData, target: usize) -> Result<Vec<u32>, ModelError> {
        let used = |indices: &[u32]| {
            let mut seen = vec![false; primitive.positions.len()];
            indices.iter().for_each(|&i| seen[i as usize] = true);
            seen.into_iter().filter(|s| *s).count()
        };
        let bytes: &[u8] = bytemuck::cast_slice(&primitive.positions);
        let adapter = VertexDataAdapter::new(bytes, size_of::<[f32; 3]>(), 0)
            .map_err(|error| ModelError::new("vertices", error.to_string()))?;
        let careful = |indices| {
            simplify(
                &primitive.indices,
                &adapter,
                indices,
                f32::MAX,
                SimplifyOptions::None,
                None,
            )
        };
        // If seams keep edges from collapsing, simplify without preserving the topology.
        let sloppy =
            |indices| simplify_sloppy(&primitive.indices, &adapter, indices, f32::MAX, None);
        let mut best = primitive.indices.clone();
        let mut miss = used(&best).abs_diff(target);
        for collapse in [&careful as &dyn Fn(usize) -> Vec<u32>, &sloppy] {
            let (mut low, mut high) = (0, primitive.indices.len() / 3);
            while low < high && miss > target / 50 {
                let triangles = low.midpoint(high);
                let indices = collapse(3 * triangles);
                let vertices = used(&indices);
                if vertices.abs_diff(target) < miss {
                    (best, miss) = (indices, vertices.abs_diff(target));
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extremes::chain_64;

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
        let walker = crate::walker::walker(500).unwrap();
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

    #[cfg(feature = "resample")]
    #[test]
    fn any_model_takes_other_vertex_counts() {
        for model in [chain_64().unwrap(), crate::extremes::star_64().unwrap()] {
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

    #[cfg(feature = "resample")]
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
            model.repairs()[0].message,
            "kept the vertices of 1 primitives whose triangles have fewer than three different corners"
        );
    }
}
