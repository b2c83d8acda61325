//! Skinning of a single character: as many vertices side by side as a vector has lanes. The vertices of a mesh are
//! sorted once into clusters that share few joints. Each number of a joint's palette entry is then broadcast once for
//! all vertices of a cluster, and multiplied by their weights for that joint; nothing is gathered.

use super::words::{
    MOST_FLOATS, MOST_PACKED, Matrix, before_packing, moved, pack, rotated_normal, rotated_tangent,
};
use crate::model::{Mesh, Rows};
use crate::simd::{self, Aligned, Isa, Kernel, LINE, Simd, prefetch_at};
use crate::vertex::{Cube, Normals, VertexFormat};

/// Numbers of a vertex's position and normal, and of a tangent with its handedness.
const POINT: usize = 6;
const TANGENT: usize = 4;
/// Neighbouring vertices that are sorted together. Their output stays in the first-level cache until all are written,
/// and is prefetched meanwhile. A multiple of the lanes of any vector.
const WINDOW: usize = 1024;

/// The vertices of a mesh in clusters.
#[derive(Debug, Clone)]
pub struct Clusters {
    isa: Isa,
    cube: Cube,
    entries: usize,
    vertex_count: usize,
    /// Number of joints of each cluster, at least 1.
    joint_counts: Vec<u32>,
    /// Palette entries of all clusters' joints, each less than `entries`.
    joints: Vec<u16>,
    /// `[joint of a cluster][lane]`.
    weights: Aligned<f32>,
    /// `[cluster][number][lane]`: position x y z, normal x y z.
    points: Aligned<f32>,
    /// `[cluster][number][lane]`: x y z w, or nothing if the mesh has no tangents.
    tangents: Aligned<f32>,
    /// `[cluster][lane]`: each is less than `vertex_count`. Places that are left over repeat the last vertex.
    vertices: Vec<u32>,
}

impl Clusters {
    /// Sorts the vertices of a mesh into clusters for an instruction set; for the baseline of its architecture on a
    /// machine that lacks `isa`.
    pub fn new(isa: Isa, mesh: &Mesh) -> Self {
        let isa = if isa.is_available() {
            isa
        } else {
            Isa::Baseline
        };
        let lanes = simd::lanes(isa);
        let found = gathered(mesh, lanes);
        let joints: Vec<u16> = found
            .iter()
            .flat_map(|cluster| cluster.joints.iter().copied())
            .collect();
        let mut weights = Aligned::zeroed(lanes * joints.len());
        let mut weight_rows = weights.chunks_exact_mut(lanes);
        let mut points = Aligned::zeroed(lanes * POINT * found.len());
        let mut tangents =
            Aligned::zeroed(lanes * TANGENT * found.len() * usize::from(mesh.tangents().is_some()));
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
                let point = mesh.positions()[vertex]
                    .iter()
                    .chain(&mesh.normals()[vertex]);
                for (row, number) in points.chunks_exact_mut(lanes).zip(point) {
                    row[lane] = *number;
                }
                if let (Some(rows), Some(tangents)) = (&mut tangents, mesh.tangents()) {
                    for (row, number) in rows.chunks_exact_mut(lanes).zip(tangents[vertex]) {
                        row[lane] = number;
                    }
                }
            }
            for (&joint, row) in cluster.joints.iter().zip(&mut weight_rows) {
                for (weight, &vertex) in row.iter_mut().zip(&*places) {
                    let pairs = mesh
                        .influences_of(vertex as usize)
                        .filter(|pair| pair.0 == joint);
                    *weight = pairs.map(|pair| pair.1).sum();
                }
            }
        }
        Self {
            isa,
            cube: *mesh.cube(),
            entries: mesh.entries(),
            vertex_count: mesh.vertex_count(),
            joint_counts: found
                .iter()
                .map(|cluster| cluster.joints.len() as u32)
                .collect(),
            joints,
            weights,
            points,
            tangents,
            vertices,
        }
    }

    /// Bytes of the clusters.
    pub fn bytes(&self) -> u64 {
        let lists = size_of_val(&self.joint_counts[..])
            + size_of_val(&self.joints[..])
            + size_of_val(&self.vertices[..]);
        lists as u64
            + self.weights.allocated()
            + self.points.allocated()
            + self.tangents.allocated()
    }
}

/// Vertices that share joints, and these joints.
struct Gathered {
    vertices: Vec<usize>,
    joints: Vec<u16>,
}

/// Sorts vertices by their sets of joints, and cuts them into clusters.
fn gathered(mesh: &Mesh, lanes: usize) -> Vec<Gathered> {
    let mut sorted = Vec::with_capacity(mesh.vertex_count());
    for vertex in 0..mesh.vertex_count() {
        let joints = sorted_set(mesh.influences_of(vertex).map(|pair| pair.0));
        sorted.push((joints, vertex));
    }
    sorted.chunks_mut(WINDOW).for_each(<[_]>::sort_unstable);
    let mut clusters = Vec::with_capacity(sorted.len().div_ceil(lanes));
    for members in sorted.chunks(lanes) {
        let joints = members.iter().flat_map(|member| member.0.iter().copied());
        clusters.push(Gathered {
            vertices: members.iter().map(|member| member.1).collect(),
            joints: sorted_set(joints),
        });
    }
    clusters
}

/// Joints in rising order, each once: padding repeats one.
fn sorted_set(joints: impl Iterator<Item = u16>) -> Vec<u16> {
    let mut joints: Vec<u16> = joints.collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}

/// Skins one instance of the mesh of `clusters`. The other arguments are as for [`super::skin`].
///
/// # Panics
/// `palette` or `out` is too short.
pub fn skin_clusters(clusters: &Clusters, palette: &[Rows], format: VertexFormat, out: &mut [f32]) {
    let isa = clusters.isa;
    match (format.floats(), format.words()) {
        (3, 3) => simd::run(
            isa,
            ClusterKernel::<3, 3> {
                clusters,
                palette,
                format,
                out,
            },
        ),
        (6, 6) => simd::run(
            isa,
            ClusterKernel::<6, 6> {
                clusters,
                palette,
                format,
                out,
            },
        ),
        (10, 10) => simd::run(
            isa,
            ClusterKernel::<10, 10> {
                clusters,
                palette,
                format,
                out,
            },
        ),
        (3, _) => simd::run(
            isa,
            ClusterKernel::<3, 2> {
                clusters,
                palette,
                format,
                out,
            },
        ),
        (6, _) => simd::run(
            isa,
            ClusterKernel::<6, 3> {
                clusters,
                palette,
                format,
                out,
            },
        ),
        _ => simd::run(
            isa,
            ClusterKernel::<10, 4> {
                clusters,
                palette,
                format,
                out,
            },
        ),
    }
}

/// The body for vertices of `FLOATS` numbers that are stored in `WORDS` words.
struct ClusterKernel<'a, const FLOATS: usize, const WORDS: usize> {
    clusters: &'a Clusters,
    palette: &'a [Rows],
    format: VertexFormat,
    out: &'a mut [f32],
}

impl<const FLOATS: usize, const WORDS: usize> Kernel for ClusterKernel<'_, FLOATS, WORDS> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let normals = if WORDS < FLOATS {
            before_packing(self.format.normals)
        } else {
            self.format.normals
        };
        // Each treatment has its own body, so that clusters do not ask for it. With packing, or with tangents in other than
        // 256-bit vectors, one body for all is not slower.
        match normals {
            _ if WORDS < FLOATS || (W != 8 && FLOATS > POINT) => self.each::<W, S>(normals),
            _ if FLOATS < POINT => self.each::<W, S>(Normals::Raw),
            Normals::Raw => self.each::<W, S>(Normals::Raw),
            Normals::Unit => self.each::<W, S>(Normals::Unit),
            Normals::Exact => self.each::<W, S>(Normals::Exact),
        }
    }
}

impl<const FLOATS: usize, const WORDS: usize> ClusterKernel<'_, FLOATS, WORDS> {
    #[inline(always)]
    fn each<const W: usize, S: Simd<W>>(self, normals: Normals) {
        let Self {
            clusters,
            palette,
            out,
            ..
        } = self;
        // Checked once, so that vertices need no checks.
        let palette = &palette[..clusters.entries];
        let out = &mut out[..clusters.vertex_count * WORDS];
        let mut joints = &clusters.joints[..];
        let mut weights = clusters.weights.as_chunks::<W>().0;
        let points = clusters.points.as_chunks::<W>().0.as_chunks::<POINT>().0;
        let tangents = clusters
            .tangents
            .as_chunks::<W>()
            .0
            .as_chunks::<TANGENT>()
            .0;
        let vertices = clusters.vertices.as_chunks::<W>().0;
        // A cluster is written after the next one is computed, so that shuffles and stores run beside multiplications.
        // It gains only where registers hold the numbers of both, and nothing is packed.
        let is_held = W == 16 && FLOATS <= POINT && WORDS == FLOATS;
        let mut held = [S::splat(0.0); MOST_FLOATS];
        for (index, ((&count, points), own_vertices)) in clusters
            .joint_counts
            .iter()
            .zip(points)
            .zip(vertices)
            .enumerate()
        {
            let (own_joints, own_weights);
            (own_joints, joints) = joints.split_at(count as usize);
            (own_weights, weights) = weights.split_at(count as usize);
            // The processor does not foresee stores without an order. After the last window comes the next instance.
            for line in (0..W * WORDS).step_by(LINE / size_of::<f32>()) {
                prefetch_at(
                    out.as_ptr()
                        .wrapping_add((index * W + WINDOW) * WORDS + line),
                );
            }
            // SAFETY: joints are less than `entries`, the length of `palette`.
            let m = unsafe { blend::<W, S>(palette, own_joints, own_weights) };
            let numbers = skinned::<W, S, FLOATS>(points, tangents.get(index), &m, normals);
            if !is_held {
                // SAFETY: vertices are less than `vertex_count`, and `out` has words for as many.
                unsafe {
                    write::<W, S, FLOATS, WORDS>(&clusters.cube, &numbers, own_vertices, out)
                };
                continue;
            }
            if let Some(before) = index.checked_sub(1) {
                // SAFETY: as above.
                unsafe {
                    write::<W, S, FLOATS, WORDS>(&clusters.cube, &held, &vertices[before], out)
                };
            }
            held = numbers;
        }
        if let (true, Some(last)) = (is_held, vertices.last()) {
            // SAFETY: as above.
            unsafe { write::<W, S, FLOATS, WORDS>(&clusters.cube, &held, last, out) };
        }
    }
}

/// A matrix for each vertex of a cluster.
///
/// # Safety
/// `joints` must be less than the palette's length.
#[inline(always)]
unsafe fn blend<const W: usize, S: Simd<W>>(
    palette: &[Rows],
    joints: &[u16],
    weights: &[[f32; W]],
) -> Matrix<S::V> {
    let mut m = [S::splat(0.0); 12];
    let ([first, joints @ ..], [first_weight, weights @ ..]) = (joints, weights) else {
        return m;
    };
    // SAFETY: the caller's promise.
    let entry = unsafe { palette.get_unchecked(usize::from(*first)) };
    let weight = S::load(first_weight);
    for (sum, number) in m.iter_mut().zip(entry) {
        *sum = S::mul(weight, S::splat(*number));
    }
    for (&joint, weight) in joints.iter().zip(weights) {
        // SAFETY: as above.
        let entry = unsafe { palette.get_unchecked(usize::from(joint)) };
        let weight = S::load(weight);
        for (sum, number) in m.iter_mut().zip(entry) {
            *sum = S::mul_add(weight, S::splat(*number), *sum);
        }
    }
    m
}

/// The first `FLOATS` numbers of a cluster's skinned vertices, in the order of [`VertexFormat::floats`]; zeros follow.
/// Tangents that are missing are zero.
#[inline(always)]
fn skinned<const W: usize, S: Simd<W>, const FLOATS: usize>(
    [x, y, z, a, b, c]: &[[f32; W]; POINT],
    tangent: Option<&[[f32; W]; TANGENT]>,
    m: &Matrix<S::V>,
    normals: Normals,
) -> [S::V; MOST_FLOATS] {
    let mut out = [S::splat(0.0); MOST_FLOATS];
    out[..3].copy_from_slice(&moved::<W, S>(m, [S::load(x), S::load(y), S::load(z)]));
    if FLOATS >= 6 {
        out[3..6].copy_from_slice(&rotated_normal::<W, S>(
            m,
            [S::load(a), S::load(b), S::load(c)],
            normals,
        ));
    }
    if let (10, Some([x, y, z, handedness])) = (FLOATS, tangent) {
        out[6..9].copy_from_slice(&rotated_tangent::<W, S>(
            m,
            [S::load(x), S::load(y), S::load(z)],
            normals,
        ));
        out[9] = S::load(handedness);
    }
    out
}

/// Writes vertices of `FLOATS` numbers to their places, in `WORDS` words each.
///
/// # Safety
/// `out` must have `WORDS` words for each vertex up to the largest of `vertices`.
#[inline(always)]
unsafe fn write<const W: usize, S: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    cube: &Cube,
    numbers: &[S::V; MOST_FLOATS],
    vertices: &[u32; W],
    out: &mut [f32],
) {
    let mut words = [S::splat(0.0); 12];
    if WORDS < FLOATS {
        words[..MOST_PACKED].copy_from_slice(&pack::<W, S>(cube, numbers, FLOATS));
    } else {
        words[..MOST_FLOATS].copy_from_slice(numbers);
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
    // The first, second and third four words of each vertex.
    let first = S::columns([a, b, c, d]);
    let second = S::columns([e, f, g, h]);
    let third = S::columns([i, j, k, l]);
    for (((&vertex, first), second), third) in vertices.iter().zip(first).zip(second).zip(third) {
        // SAFETY: the caller's promise.
        let out = unsafe {
            out.get_unchecked_mut(vertex as usize * WORDS..)
                .get_unchecked_mut(..WORDS)
        };
        for (to, four) in out.chunks_mut(4).zip([first, second, third]) {
            to.copy_from_slice(&four.to_array()[..to.len()]);
        }
    }
}
