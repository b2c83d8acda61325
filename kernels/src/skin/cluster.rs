//! Skinning of characters one by one: as many vertices side by side as a vector has lanes. The vertices of a mesh are
//! sorted once into clusters that share few joints. Each number of a joint's palette entry is then broadcast once for
//! all vertices of a cluster, and multiplied by their weights for that joint; nothing is gathered.

use super::clusters::{ClusterBlock, Clusters, Order, POINT, TANGENT, WINDOW, blend, skinned};
use super::job_error::JobError;
use super::ordered::OrderedKernel;
use super::words::{MOST_FLOATS, MOST_PACKED, before_packing, pack};
use crate::crowd::BLOCK;
use crate::model::Rows;
use crate::simd::{self, Kernel, LINE, Simd, prefetch_at};
use crate::vertex::{Cube, Normals, VertexFormat};

/// Skins an instance by each of `palettes`, which have at least [`Clusters::entries`] matrices
/// ([`columns_to_rows`](crate::model::columns_to_rows) turns 4x4 matrices into such). `out` takes
/// `[instance][vertex][word]`: vertices in the order of those that the clusters were made of, of [`VertexFormat::words`]
/// words, one after the other. What is longer stays as it is. Tangents that clusters lack become zero.
///
/// Threads share a large character by clusters of a part of its vertices each. A matrix that is not finite may also spoil
/// vertices that do not name it.
///
/// # Errors
/// [`JobError::Palette`] or [`JobError::TooShort`]; nothing is written then.
pub fn skin_clusters(
    clusters: &Clusters,
    palettes: &[&[Rows]],
    format: VertexFormat,
    out: &mut [f32],
) -> Result<(), JobError> {
    let words = clusters.vertex_count * format.words();
    if words == 0 {
        return Ok(());
    }
    for palette in palettes {
        if palette.len() < clusters.entries {
            return Err(JobError::Palette {
                given: palette.len(),
                largest: (clusters.entries - 1) as u16,
            });
        }
    }
    let given = out.len();
    let needed = words.saturating_mul(palettes.len());
    let Some(out) = out.get_mut(..needed) else {
        return Err(JobError::TooShort {
            array: "output",
            given: 4 * given,
            needed: needed.saturating_mul(4),
            vertices: palettes.len() * clusters.vertex_count,
            stride: 4 * format.words(),
        });
    };
    let palettes = palettes.chunks(BLOCK);
    for (palettes, out) in palettes.zip(out.chunks_mut(BLOCK * words)) {
        let block = ClusterBlock {
            clusters,
            palettes,
            format,
            out,
        };
        match (format.floats(), format.words()) {
            (3, 3) => block.skin::<3, 3>(),
            (6, 6) => block.skin::<6, 6>(),
            (10, 10) => block.skin::<10, 10>(),
            (3, _) => block.skin::<3, 2>(),
            (6, _) => block.skin::<6, 3>(),
            _ => block.skin::<10, 4>(),
        }
    }
    Ok(())
}

impl ClusterBlock<'_> {
    fn skin<const FLOATS: usize, const WORDS: usize>(self) {
        let clusters = self.clusters;
        let vertices = match &clusters.order {
            Order::Mesh => {
                return simd::run(clusters.isa, OrderedKernel::<FLOATS, WORDS> { block: self });
            }
            Order::Sorted(vertices) => vertices,
        };
        let outputs = self.out.chunks_exact_mut(clusters.vertex_count * WORDS);
        for (palette, out) in self.palettes.iter().zip(outputs) {
            simd::run(
                clusters.isa,
                ClusterKernel::<FLOATS, WORDS> {
                    clusters,
                    vertices,
                    palette,
                    format: self.format,
                    out,
                },
            );
        }
    }
}

/// The body for vertices of `FLOATS` numbers that are stored in `WORDS` words.
struct ClusterKernel<'a, const FLOATS: usize, const WORDS: usize> {
    clusters: &'a Clusters,
    /// `[cluster][lane]`.
    vertices: &'a [u32],
    palette: &'a [Rows],
    format: VertexFormat,
    out: &'a mut [f32],
}

impl<const FLOATS: usize, const WORDS: usize> Kernel for ClusterKernel<'_, FLOATS, WORDS> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let normals = if WORDS < FLOATS {
            before_packing(self.format.normals)
        } else {
            self.format.normals
        };
        // Each treatment has its own body, so that clusters do not ask for it. With packing, or with tangents in other than
        // 256-bit vectors, one body for all is not slower.
        match normals {
            _ if WORDS < FLOATS || (W != 8 && FLOATS > POINT) => self.each::<W, V>(normals),
            _ if FLOATS < POINT => self.each::<W, V>(Normals::Raw),
            Normals::Raw => self.each::<W, V>(Normals::Raw),
            Normals::Unit => self.each::<W, V>(Normals::Unit),
            Normals::Exact => self.each::<W, V>(Normals::Exact),
        }
    }
}

impl<const FLOATS: usize, const WORDS: usize> ClusterKernel<'_, FLOATS, WORDS> {
    #[inline(always)]
    fn each<const W: usize, V: Simd<W>>(self, normals: Normals) {
        let Self {
            clusters,
            vertices,
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
        let vertices = vertices.as_chunks::<W>().0;
        // A cluster is written after the next one is computed, so that shuffles and stores run beside multiplications.
        // It gains only where registers hold the numbers of both, and nothing is packed.
        let is_held = W == 16 && FLOATS <= POINT && WORDS == FLOATS;
        let mut held = [V::splat(0.0); MOST_FLOATS];
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
            let m = unsafe { blend::<W, V>(palette, own_joints, own_weights) };
            let numbers = skinned::<W, V, FLOATS>(points, tangents.get(index), &m, normals);
            if !is_held {
                // SAFETY: vertices are less than `vertex_count`, and `out` has words for as many.
                unsafe {
                    write::<W, V, FLOATS, WORDS>(&clusters.cube, &numbers, own_vertices, out)
                };
                continue;
            }
            if let Some(before) = index.checked_sub(1) {
                // SAFETY: as above.
                unsafe {
                    write::<W, V, FLOATS, WORDS>(&clusters.cube, &held, &vertices[before], out)
                };
            }
            held = numbers;
        }
        if let (true, Some(last)) = (is_held, vertices.last()) {
            // SAFETY: as above.
            unsafe { write::<W, V, FLOATS, WORDS>(&clusters.cube, &held, last, out) };
        }
    }
}

/// Writes vertices of `FLOATS` numbers to their places, in `WORDS` words each.
///
/// # Safety
/// `out` must have `WORDS` words for each vertex up to the largest of `vertices`.
#[inline(always)]
unsafe fn write<const W: usize, V: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    cube: &Cube,
    numbers: &[V; MOST_FLOATS],
    vertices: &[u32; W],
    out: &mut [f32],
) {
    let mut words = [V::splat(0.0); 12];
    if WORDS < FLOATS {
        words[..MOST_PACKED].copy_from_slice(&pack(cube, numbers, FLOATS));
    } else {
        words[..MOST_FLOATS].copy_from_slice(numbers);
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l] = words;
    // The first, second and third four words of each vertex.
    let first = V::columns([a, b, c, d]);
    let second = V::columns([e, f, g, h]);
    let third = V::columns([i, j, k, l]);
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
