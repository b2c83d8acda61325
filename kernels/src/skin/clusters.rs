//! The vertices of a mesh in clusters that share few joints, and their numbers after skinning.

use super::job::SkinningInput;
use super::job_error::JobError;
use super::stream::{Store, TILE};
use super::words::{MOST_FLOATS, Matrix, moved, rotated_normal, rotated_tangent};
use crate::model::{Bounds, Mesh, Rows, Shape};
use crate::simd::{self, Aligned, Isa, Simd};
use crate::vertex::{Cube, Normals, VertexFormat};
use glam::Vec3;

/// Numbers of a vertex's position and normal, and of a tangent with its handedness.
pub(super) const POINT: usize = 6;
pub(super) const TANGENT: usize = 4;
/// Neighbouring vertices that are sorted together. Their output stays in the first-level cache until all are written,
/// and is prefetched meanwhile. A multiple of the lanes of any vector.
pub(super) const WINDOW: usize = 1024;

/// The vertices of a mesh in clusters.
#[derive(Debug, Clone)]
pub struct Clusters {
    pub(super) isa: Isa,
    pub(super) cube: Cube,
    pub(super) entries: usize,
    pub(super) vertex_count: usize,
    /// Number of joints of each cluster.
    pub(super) joint_counts: Vec<u32>,
    /// Palette entries of all clusters' joints, each less than `entries`.
    pub(super) joints: Vec<u16>,
    /// `[joint of a cluster][lane]`.
    pub(super) weights: Aligned<f32>,
    /// `[cluster][number][lane]`: position x y z, normal x y z.
    pub(super) points: Aligned<f32>,
    /// `[cluster][number][lane]`: x y z w, or nothing if the mesh has no tangents.
    pub(super) tangents: Aligned<f32>,
    pub(super) order: Order,
}

/// The vertices of clusters, lane after lane. Lanes that are left over in the last cluster repeat the last vertex.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// Those of the mesh, in its order, to be streamed.
    Mesh,
    /// `[cluster][lane]`: sorted by joints within windows. Each is less than the number of vertices.
    Sorted(Vec<u32>),
}

impl Clusters {
    /// Sorts the vertices of a mesh into clusters for an instruction set, or for the baseline of its architecture on a
    /// machine that lacks `isa`, and for a kind of store. Only vectors of a whole cache line gain by streaming; clusters
    /// for others write through the caches.
    pub fn new(isa: Isa, mesh: &Mesh, store: Store) -> Self {
        let source = Source {
            cube: *mesh.cube(),
            entries: mesh.entries(),
            shape: mesh.shape(),
            influences: |vertex| mesh.influences_of(vertex),
        };
        source.clusters(isa, store)
    }

    /// Sorts the vertices of an engine into clusters, as [`Clusters::new`] those of a mesh. Skinned vertices have the order
    /// of `input`. Its tangents need a fourth number, their handedness; normals and tangents that it lacks become zero.
    ///
    /// # Errors
    /// [`JobError::TooShort`], [`JobError::Stride`] or [`JobError::Influences`].
    pub fn from_slices(isa: Isa, input: &SkinningInput, store: Store) -> Result<Self, JobError> {
        input.check(4)?;
        let positions = input.floats(Some(&input.positions));
        let normals = input.floats(input.normals.as_ref());
        let tangents = input.tangents.as_ref();
        let tangents = tangents.map(|tangents| input.floats(Some(tangents)));
        let (joints, weights) = input.pairs();
        let bounds = Bounds::around(positions.iter().map(|position| Vec3::from(*position)));
        let source = Source {
            cube: Cube::around(bounds.min.to_array(), bounds.max.to_array()),
            entries: joints
                .iter()
                .max()
                .map_or(0, |&joint| usize::from(joint) + 1),
            shape: Shape {
                positions: &positions,
                normals: &normals,
                tangents: tangents.as_deref(),
            },
            influences: |vertex| {
                let range = vertex * input.influences..(vertex + 1) * input.influences;
                let pairs = joints[range.clone()].iter().zip(&weights[range]);
                // Influences without weight only fill up what is left of the usual four.
                pairs
                    .map(|(&joint, &weight)| (joint, weight))
                    .filter(|pair| pair.1 != 0.0)
            },
        };
        Ok(source.clusters(isa, store))
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertex_count
    }

    /// Number of palette entries that the vertices name: the largest index and one, also where its weight is 0.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The cube of packed positions: that of the mesh, or around the vertices before skinning.
    pub fn cube(&self) -> &Cube {
        &self.cube
    }

    /// Bytes of the clusters.
    pub fn bytes(&self) -> u64 {
        let vertices: &[u32] = match &self.order {
            Order::Mesh => &[],
            Order::Sorted(vertices) => vertices,
        };
        let lists = size_of_val(&self.joint_counts[..])
            + size_of_val(&self.joints[..])
            + size_of_val(vertices);
        lists as u64
            + self.weights.allocated()
            + self.points.allocated()
            + self.tangents.allocated()
    }
}

/// Vertices of which clusters are made.
struct Source<'a, F> {
    cube: Cube,
    entries: usize,
    shape: Shape<'a>,
    /// Joints and weights of a vertex.
    influences: F,
}

impl<I: Iterator<Item = (u16, f32)>, F: Fn(usize) -> I> Source<'_, F> {
    fn clusters(&self, isa: Isa, store: Store) -> Clusters {
        let isa = if isa.is_available() {
            isa
        } else {
            Isa::Baseline
        };
        let shape = self.shape;
        let lanes = simd::lanes(isa);
        let is_streamed = store == Store::Streamed && lanes == TILE;
        let found = self.gathered(lanes, is_streamed);
        let joints: Vec<u16> = found
            .iter()
            .flat_map(|cluster| cluster.joints.iter().copied())
            .collect();
        let mut weights = Aligned::zeroed(lanes * joints.len());
        let mut weight_rows = weights.chunks_exact_mut(lanes);
        let mut points = Aligned::zeroed(lanes * POINT * found.len());
        let mut tangents =
            Aligned::zeroed(lanes * TANGENT * found.len() * usize::from(shape.tangents.is_some()));
        let mut tangent_rows = tangents.chunks_exact_mut(lanes * TANGENT);
        let mut vertices = vec![0; lanes * found.len()];
        let places = vertices
            .chunks_exact_mut(lanes)
            .zip(points.chunks_exact_mut(lanes * POINT));
        for (cluster, (places, points)) in found.iter().zip(places) {
            let mut tangents = tangent_rows.next();
            for (lane, place) in places.iter_mut().enumerate() {
                let vertex = cluster.vertices[lane.min(cluster.vertices.len() - 1)];
                *place = vertex as u32;
                let point = shape.positions[vertex].iter().chain(&shape.normals[vertex]);
                for (row, number) in points.chunks_exact_mut(lanes).zip(point) {
                    row[lane] = *number;
                }
                if let (Some(rows), Some(tangents)) = (&mut tangents, shape.tangents) {
                    for (row, number) in rows.chunks_exact_mut(lanes).zip(tangents[vertex]) {
                        row[lane] = number;
                    }
                }
            }
            for (&joint, row) in cluster.joints.iter().zip(&mut weight_rows) {
                for (weight, &vertex) in row.iter_mut().zip(&*places) {
                    let pairs = (self.influences)(vertex as usize).filter(|pair| pair.0 == joint);
                    *weight = pairs.map(|pair| pair.1).sum();
                }
            }
        }
        let order = if is_streamed {
            Order::Mesh
        } else {
            Order::Sorted(vertices)
        };
        Clusters {
            isa,
            cube: self.cube,
            entries: self.entries,
            vertex_count: shape.positions.len(),
            joint_counts: found
                .iter()
                .map(|cluster| cluster.joints.len() as u32)
                .collect(),
            joints,
            weights,
            points,
            tangents,
            order,
        }
    }

    /// Sorts vertices by their sets of joints, unless they are to stay in order, and cuts them into clusters.
    fn gathered(&self, lanes: usize, in_order: bool) -> Vec<Gathered> {
        let count = self.shape.positions.len();
        let mut sorted = Vec::with_capacity(count);
        for vertex in 0..count {
            let joints = sorted_set((self.influences)(vertex).map(|pair| pair.0));
            sorted.push((joints, vertex));
        }
        if !in_order {
            sorted.chunks_mut(WINDOW).for_each(<[_]>::sort_unstable);
        }
        let mut clusters = Vec::with_capacity(count.div_ceil(lanes));
        for members in sorted.chunks(lanes) {
            let joints = members.iter().flat_map(|member| member.0.iter().copied());
            clusters.push(Gathered {
                vertices: members.iter().map(|member| member.1).collect(),
                joints: sorted_set(joints),
            });
        }
        clusters
    }
}

/// Vertices that share joints, and these joints.
struct Gathered {
    vertices: Vec<usize>,
    joints: Vec<u16>,
}

/// Joints in rising order, each once: padding repeats one.
fn sorted_set(joints: impl Iterator<Item = u16>) -> Vec<u16> {
    let mut joints: Vec<u16> = joints.collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}

/// Up to [`BLOCK`](crate::crowd::BLOCK) instances and their output.
pub(super) struct ClusterBlock<'a> {
    pub clusters: &'a Clusters,
    /// Palettes with an entry for each joint of the clusters.
    pub palettes: &'a [&'a [Rows]],
    pub format: VertexFormat,
    /// One output after the other.
    pub out: &'a mut [f32],
}

/// A matrix for each vertex of a cluster.
///
/// # Safety
/// `joints` must be less than the palette's length.
#[inline(always)]
pub(super) unsafe fn blend<const W: usize, V: Simd<W>>(
    palette: &[Rows],
    joints: &[u16],
    weights: &[[f32; W]],
) -> Matrix<V> {
    let mut m = [V::splat(0.0); 12];
    let ([first, joints @ ..], [first_weight, weights @ ..]) = (joints, weights) else {
        return m;
    };
    // SAFETY: the caller's promise.
    let entry = unsafe { palette.get_unchecked(usize::from(*first)) };
    let weight = V::load(first_weight);
    for (sum, number) in m.iter_mut().zip(entry) {
        *sum = weight * V::splat(*number);
    }
    for (&joint, weight) in joints.iter().zip(weights) {
        // SAFETY: as above.
        let entry = unsafe { palette.get_unchecked(usize::from(joint)) };
        let weight = V::load(weight);
        for (sum, number) in m.iter_mut().zip(entry) {
            *sum = weight.mul_add(V::splat(*number), *sum);
        }
    }
    m
}

/// The first `FLOATS` numbers of a cluster's skinned vertices, in the order of [`VertexFormat::floats`]; zeros follow.
/// Tangents that are missing are zero.
#[inline(always)]
pub(super) fn skinned<const W: usize, V: Simd<W>, const FLOATS: usize>(
    [x, y, z, a, b, c]: &[[f32; W]; POINT],
    tangent: Option<&[[f32; W]; TANGENT]>,
    m: &Matrix<V>,
    normals: Normals,
) -> [V; MOST_FLOATS] {
    let mut out = [V::splat(0.0); MOST_FLOATS];
    out[..3].copy_from_slice(&moved(m, [V::load(x), V::load(y), V::load(z)]));
    if FLOATS >= 6 {
        out[3..6].copy_from_slice(&rotated_normal(
            m,
            [V::load(a), V::load(b), V::load(c)],
            normals,
        ));
    }
    if let (10, Some([x, y, z, handedness])) = (FLOATS, tangent) {
        out[6..9].copy_from_slice(&rotated_tangent(
            m,
            [V::load(x), V::load(y), V::load(z)],
            normals,
        ));
        out[9] = V::load(handedness);
    }
    out
}
