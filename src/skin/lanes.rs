//! A block of instances at once, one in each lane: the mesh is read once a block, the palette without gathers.

use super::dual_quaternion::DualQuaternion;
use super::stream::{Store, Streams, TILE, put};
use super::words::{Blend, Source, words};
use crate::crowd::BLOCK;
use crate::model::{Mesh, Run};
use crate::pose::Affine;
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::{Normals, VertexFormat};

/// Skins a block of up to [`BLOCK`] instances.
///
/// `palette` holds the model's palette entries in lanes; `out` takes `[instance][vertex][word]` for as many instances
/// as it has room for. With tangents asked of a mesh that has none, they are zero. An instruction set that the machine
/// lacks falls back to the baseline.
pub fn skin_lanes(
    isa: Isa,
    mesh: &Mesh,
    palette: &[Affine<BLOCK>],
    format: VertexFormat,
    store: Store,
    out: &mut [f32],
) {
    simd::run(isa, Lanes { mesh, palette, format, store, out, interleaved: false });
}

/// As [`skin_lanes`], with `out` as `[vertex][word][instance]` for the `out.len()` over the instance's words instances.
pub fn skin_interleaved(
    isa: Isa,
    mesh: &Mesh,
    palette: &[Affine<BLOCK>],
    format: VertexFormat,
    store: Store,
    out: &mut [f32],
) {
    simd::run(isa, Lanes { mesh, palette, format, store, out, interleaved: true });
}

/// As [`skin_lanes`], by dual quaternions: `palette` from [`super::dual_quaternions`].
pub fn skin_dual_quaternions(
    isa: Isa,
    mesh: &Mesh,
    palette: &[DualQuaternion<BLOCK>],
    format: VertexFormat,
    store: Store,
    out: &mut [f32],
) {
    simd::run(isa, Lanes { mesh, palette, format, store, out, interleaved: false });
}

/// A tile of vertices, its rows on cache lines.
#[repr(align(64))]
struct Tile<T>(T);

struct Lanes<'a, P> {
    mesh: &'a Mesh,
    palette: P,
    format: VertexFormat,
    store: Store,
    out: &'a mut [f32],
    interleaved: bool,
}

impl<P: Blend<BLOCK>> Kernel for Lanes<'_, P> {
    type Out = ();

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        match (self.format.floats(), self.format.words()) {
            (3, 3) => self.all::<W, S, 3, 3>(),
            (6, 6) => self.all::<W, S, 6, 6>(),
            (10, 10) => self.all::<W, S, 10, 10>(),
            (3, _) => self.all::<W, S, 3, 2>(),
            (6, _) => self.all::<W, S, 6, 3>(),
            _ => self.all::<W, S, 10, 4>(),
        }
        S::fence();
    }
}

impl<P: Blend<BLOCK>> Lanes<'_, P> {
    /// Tile by tile: vertices into the tile, then the tile to where it goes.
    #[inline(always)]
    fn all<const W: usize, S: Simd<W>, const FLOATS: usize, const WORDS: usize>(self) {
        let Self { mesh, palette, format, store, out, interleaved } = self;
        let vertices = mesh.vertex_count();
        let instances = out.len() / (vertices * WORDS);
        let Tile(mut tile) = Tile([[[0.0; BLOCK]; WORDS]; TILE]);
        let mut runs = mesh.runs();
        if interleaved {
            for first in (0..vertices).step_by(TILE) {
                let count = TILE.min(vertices - first);
                runs = fill::<P, W, S, FLOATS, WORDS>(mesh, runs, &palette, format.normals, first, &mut tile[..count]);
                let out = &mut out[first * WORDS * instances..][..count * WORDS * instances];
                rows::<W, S>(store, tile[..count].as_flattened(), instances, out);
            }
            return;
        }
        let mut streams = Streams::new(out, vertices * WORDS, store);
        for first in (0..vertices).step_by(TILE) {
            let count = TILE.min(vertices - first);
            runs = fill::<P, W, S, FLOATS, WORDS>(mesh, runs, &palette, format.normals, first, &mut tile[..count]);
            if count == TILE {
                streams.tile::<BLOCK, W, S, WORDS>(&tile, first);
            }
        }
        let left = vertices % TILE;
        streams.finish(&tile, vertices - left, left);
    }
}

/// Skins the vertices from `first` on into the tile; `runs` starts with the run that holds the first. Returns the runs
/// from the one that holds the next.
#[inline(always)]
fn fill<'m, P: Blend<BLOCK>, const W: usize, S: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    mesh: &Mesh,
    mut runs: &'m [Run],
    palette: &P,
    normals: Normals,
    first: usize,
    tile: &mut [[[f32; BLOCK]; WORDS]],
) -> &'m [Run] {
    let end = first + tile.len();
    while let [run, rest @ ..] = runs {
        let (run_first, run_end) = (run.first_vertex as usize, (run.first_vertex + run.vertex_count) as usize);
        let range = run_first.max(first)..run_end.min(end);
        let slots = &mut tile[range.start - first..range.end - first];
        match run.influences {
            1 => part::<P, W, S, FLOATS, WORDS, 1>(mesh, run, palette, normals, range.start, slots),
            2 => part::<P, W, S, FLOATS, WORDS, 2>(mesh, run, palette, normals, range.start, slots),
            3 => part::<P, W, S, FLOATS, WORDS, 3>(mesh, run, palette, normals, range.start, slots),
            4 => part::<P, W, S, FLOATS, WORDS, 4>(mesh, run, palette, normals, range.start, slots),
            8 => part::<P, W, S, FLOATS, WORDS, 8>(mesh, run, palette, normals, range.start, slots),
            _ => part::<P, W, S, FLOATS, WORDS, 16>(mesh, run, palette, normals, range.start, slots),
        }
        if run_end > end {
            break;
        }
        runs = rest;
        if run_end == end {
            break;
        }
    }
    runs
}

/// Skins neighbouring vertices of one run.
#[inline(always)]
fn part<
    P: Blend<BLOCK>,
    const W: usize,
    S: Simd<W>,
    const FLOATS: usize,
    const WORDS: usize,
    const INFLUENCES: usize,
>(
    mesh: &Mesh,
    run: &Run,
    palette: &P,
    normals: Normals,
    first: usize,
    slots: &mut [[[f32; BLOCK]; WORDS]],
) {
    let pairs = run.first_influence as usize + (first - run.first_vertex as usize) * INFLUENCES;
    let joints = mesh.joints()[pairs..].as_chunks::<INFLUENCES>().0;
    let weights = mesh.weights()[pairs..].as_chunks::<INFLUENCES>().0;
    for (((slot, vertex), joints), weights) in slots.iter_mut().zip(first..).zip(joints).zip(weights) {
        for group in 0..BLOCK / W {
            let m = palette.matrix::<W, S, INFLUENCES>(joints, weights, group);
            let source = Source::splat::<W, S>(mesh, vertex);
            let words = words::<W, S, FLOATS, WORDS>(mesh.cube(), &source, &m, normals);
            for (row, v) in slot.iter_mut().zip(words) {
                S::store(v, &mut row.as_chunks_mut().0[group]);
            }
        }
    }
}

/// Writes rows of lanes as they are, as many lanes as there are instances.
#[inline(always)]
fn rows<const W: usize, S: Simd<W>>(store: Store, rows: &[[f32; BLOCK]], instances: usize, out: &mut [f32]) {
    if instances < BLOCK {
        for (to, row) in out.chunks_exact_mut(instances).zip(rows) {
            to.copy_from_slice(&row[..instances]);
        }
        return;
    }
    for (to, row) in out.as_chunks_mut::<BLOCK>().0.iter_mut().zip(rows) {
        for (to, v) in to.as_chunks_mut::<W>().0.iter_mut().zip(row.as_chunks::<W>().0) {
            put::<W, S>(store, S::load(v), to);
        }
    }
}
