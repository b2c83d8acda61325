//! Skinning of a single character with AVX-512: 16 vertices side by side. Vertices are divided once into clusters that
//! depend on at most 16 joints. A cluster's palette fits 12 registers, one for each number of a matrix, and looking up
//! an entry is a permutation within a register instead of a gather from memory.

use super::words::{MOST_FLOATS, MOST_PACKED, Matrix, Source, before_packing, numbers, pack};
use crate::model::{Mesh, Rows, Shape, VertexRun};
use crate::simd::{Avx512, Isa, Simd};
use crate::vertex::{Normals, VertexFormat};
use std::arch::x86_64::*;

/// Vertices of a batch and joints of a cluster: the lanes of a register.
const LANES: usize = 16;
/// Most words of a vertex, and most pairs of words.
const MOST_WORDS: usize = 10;

/// One number of 16 vertices, or of one of their influences.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct VertexLanes<T>([T; LANES]);

/// Neighbouring vertices of one run with at most 16 joints in total.
#[derive(Debug, Clone)]
struct Cluster {
    /// Palette entries; unused places repeat the first one.
    joints: [u16; LANES],
    influences: usize,
    batches: Vec<VertexBatch>,
}

/// Up to 16 neighbouring vertices.
#[derive(Debug, Clone)]
struct VertexBatch {
    first_vertex: usize,
    count: usize,
    /// Position x y z, normal x y z, tangent x y z w.
    numbers: Box<[VertexLanes<f32>; MOST_WORDS]>,
    /// For each influence the joint's place in the cluster and the weight.
    influences: Vec<(VertexLanes<i32>, VertexLanes<f32>)>,
}

/// A mesh divided into clusters.
#[derive(Debug, Clone)]
pub struct Clusters {
    clusters: Vec<Cluster>,
}

impl Clusters {
    /// Divides a mesh into clusters, in the order of its vertices.
    pub fn new(mesh: &Mesh) -> Self {
        let mut clusters = Vec::new();
        for run in mesh.runs() {
            cut(mesh, run, &mut clusters);
        }
        Self { clusters }
    }

    /// Bytes of the clusters.
    pub fn allocated(&self) -> u64 {
        let batch = |b: &VertexBatch| size_of_val(b) + size_of_val(&*b.numbers) + size_of_val(&b.influences[..]);
        let cluster = |c: &Cluster| size_of_val(c) + c.batches.iter().map(batch).sum::<usize>();
        self.clusters.iter().map(cluster).sum::<usize>() as u64
    }
}

fn cut(mesh: &Mesh, run: &VertexRun, clusters: &mut Vec<Cluster>) {
    let influences = run.influences as usize;
    let joints_of = |vertex: usize| {
        let first = run.first_influence as usize + (vertex - run.first_vertex as usize) * influences;
        (&mesh.joints()[first..first + influences], &mesh.weights()[first..first + influences])
    };
    let end = (run.first_vertex + run.vertex_count) as usize;
    let (mut vertex, mut known) = (run.first_vertex as usize, Vec::new());
    let mut open: Option<Cluster> = None;
    while vertex < end {
        // At most a whole batch, as long as the joints of the cluster and of the vertices stay within 16.
        let most = LANES.min(end - vertex);
        let fits = |mut joints: Vec<u16>| {
            let mut count = 0;
            for v in vertex..vertex + most {
                let mut more = joints.clone();
                more.extend_from_slice(joints_of(v).0);
                more.sort_unstable();
                more.dedup();
                if more.len() > LANES {
                    break;
                }
                (joints, count) = (more, count + 1);
            }
            (joints, count)
        };
        let (joints, count) = match fits(known.clone()) {
            (joints, count) if count == most => (joints, count),
            _ => {
                clusters.extend(open.take());
                fits(Vec::new())
            }
        };
        known = joints;
        let cluster = open.get_or_insert_with(|| Cluster { joints: [0; LANES], influences, batches: Vec::new() });
        cluster.batches.push(VertexBatch::new(mesh, vertex, count, influences));
        vertex += count;
        // Places change while joints are added, so they are assigned when the cluster is complete.
        cluster.joints = std::array::from_fn(|i| *known.get(i).unwrap_or(&known[0]));
    }
    clusters.extend(open);
    for cluster in clusters.iter_mut().filter(|c| c.batches.iter().any(|b| b.influences.is_empty())) {
        let place = |joint: u16| cluster.joints.iter().position(|j| *j == joint).unwrap_or(0) as i32;
        for batch in &mut cluster.batches {
            batch.influences = (0..influences)
                .map(|k| {
                    let of = |lane: usize| joints_of(batch.first_vertex + lane.min(batch.count - 1));
                    let places = std::array::from_fn(|lane| place(of(lane).0[k]));
                    let weights = std::array::from_fn(|lane| of(lane).1[k]);
                    (VertexLanes(places), VertexLanes(weights))
                })
                .collect();
        }
    }
}

impl VertexBatch {
    fn new(mesh: &Mesh, first_vertex: usize, count: usize, influences: usize) -> Self {
        let lanes = |number: &dyn Fn(usize) -> f32| {
            VertexLanes(std::array::from_fn(|l| number(first_vertex + l.min(count - 1))))
        };
        let numbers = std::array::from_fn(|n| match n {
            0..3 => lanes(&|v| mesh.positions()[v][n]),
            3..6 => lanes(&|v| mesh.normals()[v][n - 3]),
            _ => lanes(&|v| mesh.tangents().map_or(0.0, |t| t[v][n - 6])),
        });
        Self { first_vertex, count, numbers: Box::new(numbers), influences: Vec::with_capacity(influences) }
    }
}

impl VertexBatch {
    /// The batch's vertices from a shape, whose vectors follow each other in memory.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    #[inline]
    fn morphed<const FLOATS: usize>(&self, shape: &Shape) -> Source<__m512> {
        let vertices = self.first_vertex..self.first_vertex + self.count;
        let position = side_by_side(&shape.positions[vertices.clone()]);
        let mut source = Source { position, normal: position, tangent: [_mm512_setzero_ps(); 4] };
        if FLOATS >= 6 {
            source.normal = side_by_side(&shape.normals[vertices.clone()]);
        }
        if let (10, Some(tangents)) = (FLOATS, shape.tangents) {
            source.tangent = side_by_side(&tangents[vertices]);
        }
        source
    }
}

/// Each number of up to 16 vectors in a register.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
#[inline]
fn side_by_side<const N: usize>(vectors: &[[f32; N]]) -> [__m512; N] {
    let mut lanes = [[0.0; LANES]; N];
    for (lane, vector) in vectors.iter().enumerate().take(LANES) {
        for (row, number) in lanes.iter_mut().zip(vector) {
            row[lane] = *number;
        }
    }
    let mut registers = [_mm512_setzero_ps(); N];
    for (register, row) in registers.iter_mut().zip(&lanes) {
        *register = Avx512::load(row);
    }
    registers
}

/// Skins one instance, with the morphed vertices of `shape` in place of those of the mesh, if given; needs AVX-512.
/// `clusters` are those of `mesh`; the other arguments are as for [`super::skin`].
///
/// # Panics
/// The machine lacks AVX-512, `palette` or `out` is too short, or `shape` has fewer vertices than the mesh.
pub fn skin_clusters(
    mesh: &Mesh,
    clusters: &Clusters,
    shape: Option<Shape>,
    palette: &[Rows],
    format: VertexFormat,
    out: &mut [f32],
) {
    assert!(Isa::Avx512.is_available(), "clusters need AVX-512");
    // SAFETY: `is_available` detected every feature that `skin_all` enables.
    unsafe {
        match (format.floats(), format.words()) {
            (3, 3) => skin_all::<3, 3>(mesh, clusters, shape, palette, format.normals, out),
            (6, 6) => skin_all::<6, 6>(mesh, clusters, shape, palette, format.normals, out),
            (10, 10) => skin_all::<10, 10>(mesh, clusters, shape, palette, format.normals, out),
            (3, _) => skin_all::<3, 2>(mesh, clusters, shape, palette, format.normals, out),
            (6, _) => skin_all::<6, 3>(mesh, clusters, shape, palette, format.normals, out),
            _ => skin_all::<10, 4>(mesh, clusters, shape, palette, format.normals, out),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn skin_all<const FLOATS: usize, const WORDS: usize>(
    mesh: &Mesh,
    clusters: &Clusters,
    shape: Option<Shape>,
    palette: &[Rows],
    normals: Normals,
    out: &mut [f32],
) {
    let weave = const { Weave::<WORDS>::new() };
    let normals = if WORDS < FLOATS { before_packing(normals) } else { normals };
    for cluster in &clusters.clusters {
        let tables = tables(palette, &cluster.joints);
        for batch in &cluster.batches {
            let m = blend(&tables, &batch.influences[..cluster.influences]);
            let number = |n: usize| Avx512::load(&batch.numbers[n].0);
            let source = match shape {
                None => Source {
                    position: [number(0), number(1), number(2)],
                    normal: [number(3), number(4), number(5)],
                    tangent: [number(6), number(7), number(8), number(9)],
                },
                Some(shape) => batch.morphed::<FLOATS>(&shape),
            };
            let words = finished::<FLOATS, WORDS>(mesh, numbers::<LANES, Avx512, FLOATS>(&source, &m, normals));
            let out = &mut out[batch.first_vertex * WORDS..][..batch.count * WORDS];
            if batch.count == LANES {
                for (line, to) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                    Avx512::store(weave.line(&words, line), to);
                }
            } else {
                let mut lines = [[0.0; LANES]; WORDS];
                for (line, to) in lines.iter_mut().enumerate() {
                    Avx512::store(weave.line(&words, line), to);
                }
                out.copy_from_slice(&lines.as_flattened()[..batch.count * WORDS]);
            }
        }
    }
}

/// The words of a vertex: its numbers, packed if the format has fewer words than numbers.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
#[inline]
fn finished<const FLOATS: usize, const WORDS: usize>(mesh: &Mesh, numbers: [__m512; FLOATS]) -> [__m512; WORDS] {
    if WORDS < FLOATS {
        let mut all = [_mm512_setzero_ps(); MOST_FLOATS];
        all[..FLOATS].copy_from_slice(&numbers);
        let packed = pack::<LANES, Avx512>(mesh.cube(), &all, FLOATS);
        let mut words = [_mm512_setzero_ps(); WORDS];
        words[..WORDS.min(MOST_PACKED)].copy_from_slice(&packed[..WORDS.min(MOST_PACKED)]);
        return words;
    }
    let mut words = [_mm512_setzero_ps(); WORDS];
    words.copy_from_slice(&numbers);
    words
}

/// One register for each number of the cluster's palette entries.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
#[inline]
fn tables(palette: &[Rows], joints: &[u16; LANES]) -> Matrix<__m512> {
    let mut square = [_mm512_setzero_ps(); LANES];
    for (row, &joint) in square.iter_mut().zip(joints) {
        let entry = &palette[usize::from(joint)];
        // SAFETY: the mask selects 12 floats, which is the length of an entry; masked lanes are not read.
        *row = unsafe { _mm512_maskz_loadu_ps(0x0fff, entry.as_ptr()) };
    }
    Avx512::transpose(&mut square);
    let [a, b, c, d, e, f, g, h, i, j, k, l, ..] = square;
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
#[inline]
fn blend(tables: &Matrix<__m512>, influences: &[(VertexLanes<i32>, VertexLanes<f32>)]) -> Matrix<__m512> {
    let mut m = [_mm512_setzero_ps(); 12];
    for (places, weights) in influences {
        // SAFETY: `VertexLanes<i32>` is 64 bytes long and aligned to 64 bytes.
        let places = unsafe { _mm512_load_si512(places.0.as_ptr().cast()) };
        let weight = Avx512::load(&weights.0);
        for (sum, table) in m.iter_mut().zip(tables) {
            *sum = _mm512_fmadd_ps(weight, _mm512_permutexvar_ps(places, *table), *sum);
        }
    }
    m
}

/// Permutations that interleave words in lanes to consecutive vertices: for each line and pair of words, the lanes that
/// come from the pair, and their positions.
struct Weave<const WORDS: usize> {
    places: [[VertexLanes<i32>; MOST_WORDS / 2]; WORDS],
    masks: [[u16; MOST_WORDS / 2]; WORDS],
}

impl<const WORDS: usize> Weave<WORDS> {
    const PAIRS: usize = WORDS.div_ceil(2);

    const fn new() -> Self {
        let mut places = [[VertexLanes([0; LANES]); MOST_WORDS / 2]; WORDS];
        let mut masks = [[0; MOST_WORDS / 2]; WORDS];
        let mut at = 0;
        while at < WORDS * LANES {
            let (line, lane) = (at / LANES, at % LANES);
            let (vertex, word) = (at / WORDS, at % WORDS);
            places[line][word / 2].0[lane] = (vertex + LANES * (word % 2)) as i32;
            masks[line][word / 2] |= 1 << lane;
            at += 1;
        }
        Self { places, masks }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
    #[inline]
    fn line(&self, words: &[__m512; WORDS], line: usize) -> __m512 {
        let mut out = _mm512_setzero_ps();
        for pair in 0..Self::PAIRS {
            // SAFETY: `VertexLanes<i32>` is 64 bytes long and aligned to 64 bytes.
            let places = unsafe { _mm512_load_si512(self.places[line][pair].0.as_ptr().cast()) };
            let (low, high) = (words[2 * pair], words[(2 * pair + 1).min(WORDS - 1)]);
            let woven = _mm512_permutex2var_ps(low, places, high);
            out = _mm512_mask_mov_ps(out, self.masks[line][pair], woven);
        }
        out
    }
}
