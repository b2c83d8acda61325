//! Skins clusters in the order of the mesh, for output that exceeds the caches: each instance's vertices are written past
//! them in whole lines, from registers.

use super::clusters::{ClusterBlock, Clusters, POINT, TANGENT, blend, skinned};
use super::stream::TILE;
use super::words::{MOST_FLOATS, before_packing, normalise, pack};
use crate::crowd::BLOCK;
use crate::simd::{Kernel, Simd, fence};
use crate::vertex::Normals;

/// Clusters that are skinned for one instance before the next one follows. What is read of them stays in the first-level
/// cache; otherwise loads would wait for the buffers in which lines leave.
const CHUNK: usize = 32;

/// The body for vertices of `FLOATS` numbers that are stored in `WORDS` words.
pub(super) struct OrderedKernel<'a, const FLOATS: usize, const WORDS: usize> {
    pub block: ClusterBlock<'a>,
}

impl<const FLOATS: usize, const WORDS: usize> Kernel for OrderedKernel<'_, FLOATS, WORDS> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        // `Clusters::new` sorts the clusters of other vectors.
        if W != TILE {
            return;
        }
        match before_packing(self.block.format.normals) {
            Normals::Exact if FLOATS >= POINT => self.each::<W, V>(Normals::Exact),
            _ => self.each::<W, V>(Normals::Raw),
        }
    }
}

impl<const FLOATS: usize, const WORDS: usize> OrderedKernel<'_, FLOATS, WORDS> {
    /// Skins all instances, with normals that are raw where they will be normalised after the next cluster is computed.
    #[inline(always)]
    fn each<const W: usize, V: Simd<W>>(self, normals: Normals) {
        let ClusterBlock {
            clusters,
            palettes,
            format,
            out,
        } = self.block;
        let are_unit = WORDS == FLOATS && format.normals == Normals::Unit;
        let instance_words = clusters.vertex_count * WORDS;
        let mut joints = &clusters.joints[..];
        let mut weights = clusters.weights.as_chunks::<W>().0;
        let points = clusters.points.as_chunks::<W>().0.as_chunks::<POINT>().0;
        let tangents = clusters.tangents.as_chunks::<W>().0;
        let tangents = tangents.as_chunks::<TANGENT>().0;
        let mut last_lines = [[0.0; W]; BLOCK];
        let chunks = clusters.joint_counts.chunks(CHUNK);
        for (chunk, (counts, points)) in chunks.zip(points.chunks(CHUNK)).enumerate() {
            let first = chunk * CHUNK;
            let count = counts.iter().sum::<u32>() as usize;
            let (chunk_joints, chunk_weights);
            (chunk_joints, joints) = joints.split_at(count);
            (chunk_weights, weights) = weights.split_at(count);
            let instances = palettes.iter().zip(out.chunks_exact_mut(instance_words));
            for ((palette, out), last) in instances.zip(&mut last_lines) {
                // Checked once, so that clusters need no checks.
                let palette = &palette[..clusters.entries];
                let mut lines = Lines::<W, V>::new(out, first * W * WORDS, last);
                let mut joints = chunk_joints;
                let mut weights = chunk_weights;
                // A cluster is written after the next one is computed, so that its roots and shuffles run beside
                // multiplications.
                let mut held = [V::splat(0.0); MOST_FLOATS];
                for (index, (&count, points)) in counts.iter().zip(points).enumerate() {
                    let (own_joints, own_weights);
                    (own_joints, joints) = joints.split_at(count as usize);
                    (own_weights, weights) = weights.split_at(count as usize);
                    // SAFETY: joints are less than `entries` of the clusters, the length of `palette`.
                    let m = unsafe { blend::<W, V>(palette, own_joints, own_weights) };
                    let tangents = tangents.get(first + index);
                    let numbers = skinned::<W, V, FLOATS>(points, tangents, &m, normals);
                    if index > 0 {
                        lines.take(in_words::<W, V, FLOATS, WORDS>(clusters, &held, are_unit));
                    }
                    held = numbers;
                }
                lines.take(in_words::<W, V, FLOATS, WORDS>(clusters, &held, are_unit));
                lines.last.store(last);
            }
        }
        let taken = clusters.joint_counts.len() * W * WORDS;
        for (out, last) in out.chunks_exact_mut(instance_words).zip(&last_lines) {
            Lines::<W, V>::new(out, taken, last).finish();
        }
        fence();
    }
}

/// The words of a cluster's vertices, one vertex after the other.
#[inline(always)]
fn in_words<const W: usize, V: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    clusters: &Clusters,
    numbers: &[V; MOST_FLOATS],
    are_unit: bool,
) -> [V; WORDS] {
    let mut words = [V::splat(0.0); WORDS];
    if WORDS < FLOATS {
        words.copy_from_slice(&pack(&clusters.cube, numbers, FLOATS)[..WORDS]);
    } else {
        words.copy_from_slice(&numbers[..WORDS]);
    }
    if are_unit && WORDS == FLOATS {
        for directions in words[3..].as_chunks_mut().0 {
            *directions = normalise(*directions);
        }
    }
    V::interleave(&words)
}

/// The output of an instance, which is written past the caches.
struct Lines<'a, const W: usize, V: Simd<W>> {
    out: &'a mut [f32],
    /// Words of the line in which `out` begins that lie before it.
    shift: usize,
    /// Words that were taken before, whole lines of them. All but `shift` of them are written.
    taken: usize,
    /// The last line that was taken.
    last: V,
}

impl<'a, const W: usize, V: Simd<W>> Lines<'a, W, V> {
    #[inline(always)]
    fn new(out: &'a mut [f32], taken: usize, last: &[f32; W]) -> Self {
        Self {
            shift: out.as_ptr() as usize / size_of::<f32>() % W,
            out,
            taken,
            last: V::load(last),
        }
    }

    /// Takes whole lines, and writes as many, which begin and end `shift` words before.
    #[inline(always)]
    fn take<const WORDS: usize>(&mut self, rows: [V; WORDS]) {
        let mut lines = rows;
        for (line, row) in lines.iter_mut().zip(rows) {
            *line = V::joined(self.last, row, self.shift);
            self.last = row;
        }
        let first = self.taken.checked_sub(self.shift);
        let rest = first.and_then(|first| self.out.get_mut(first..));
        if let Some(to) = rest.and_then(|rest| rest.as_chunks_mut().0.first_chunk_mut::<WORDS>()) {
            for (to, line) in to.iter_mut().zip(lines) {
                line.stream(to);
            }
        } else {
            self.write_part(lines);
        }
        self.taken += W * WORDS;
    }

    /// Writes lines that reach beyond the output, through the caches: their ends may be of other instances.
    #[inline(always)]
    fn write_part<const WORDS: usize>(&mut self, lines: [V; WORDS]) {
        let mut words = [[0.0; W]; WORDS];
        for (words, line) in words.iter_mut().zip(lines) {
            line.store(words);
        }
        let words = words.as_flattened();
        let before = self.shift.saturating_sub(self.taken);
        let first = (self.taken + before - self.shift).min(self.out.len());
        for (to, word) in self.out[first..].iter_mut().zip(&words[before..]) {
            *to = *word;
        }
    }

    /// Writes the words that are left.
    #[inline(always)]
    fn finish(mut self) {
        let line = V::joined(self.last, self.last, self.shift);
        self.write_part([line]);
    }
}
