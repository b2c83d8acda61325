//! A block of instances at once, one in each lane: the mesh is read once a block, the palette without gathers.

use super::dual_quaternion::DualQuaternion;
use super::stream::{Store, Streams, TILE, put};
use super::words::{Blend, Source, before_packing, numbers, pack};
use crate::crowd::BLOCK;
use crate::model::{Mesh, Run};
use crate::pose::Affine;
use crate::simd::{self, Isa, Kernel, Simd, load_group};
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
            (3, words) => self.all::<W, S, 3, 2>(words),
            (6, words) => self.all::<W, S, 6, 3>(words),
            (_, words) => self.all::<W, S, 10, 4>(words),
        }
        S::fence();
    }
}

impl<P: Blend<BLOCK>> Lanes<'_, P> {
    /// Tile by tile: vertices into the tile, then the tile, packed if `words` says so, to where it goes.
    #[inline(always)]
    fn all<const W: usize, S: Simd<W>, const FLOATS: usize, const PACKED: usize>(self, words: usize) {
        let Self { mesh, palette, format, store, out, interleaved } = self;
        let is_packed = words < FLOATS;
        let normals = if is_packed { before_packing(format.normals) } else { format.normals };
        let vertices = mesh.vertex_count();
        let instances = out.len() / (vertices * words);
        let Tile(mut tile) = Tile([[[0.0; BLOCK]; FLOATS]; TILE]);
        let Tile(mut packed) = Tile([[[0.0; BLOCK]; PACKED]; TILE]);
        let mut runs = mesh.runs();
        let mut streams = Streams::new(out, vertices * words, store);
        for first in (0..vertices).step_by(TILE) {
            let count = TILE.min(vertices - first);
            runs = fill::<P, W, S, FLOATS>(mesh, runs, &palette, normals, first, &mut tile[..count]);
            if is_packed {
                pack_tile::<W, S, FLOATS, PACKED>(mesh, &tile, &mut packed);
                put_tile::<W, S, PACKED>(&mut streams, &packed, first, count, interleaved, instances);
            } else {
                put_tile::<W, S, FLOATS>(&mut streams, &tile, first, count, interleaved, instances);
            }
        }
    }
}

/// A tile to where its vertices go.
#[inline(always)]
fn put_tile<const W: usize, S: Simd<W>, const WORDS: usize>(
    streams: &mut Streams,
    tile: &[[[f32; BLOCK]; WORDS]; TILE],
    first: usize,
    count: usize,
    interleaved: bool,
    instances: usize,
) {
    if interleaved {
        let words = WORDS * instances;
        let out = &mut streams.out[first * words..][..count * words];
        rows::<W, S>(streams.store, tile[..count].as_flattened(), instances, out);
    } else if count == TILE {
        streams.tile::<BLOCK, W, S, WORDS>(tile, first);
    } else {
        streams.finish(tile, first, count);
    }
    // A mesh of whole tiles leaves what waits in the stages.
    if !interleaved && count == TILE && first + TILE == streams.vertices::<WORDS>() {
        streams.finish(tile, first + TILE, 0);
    }
}

/// Packs the numbers of a tile.
#[inline(always)]
fn pack_tile<const W: usize, S: Simd<W>, const FLOATS: usize, const WORDS: usize>(
    mesh: &Mesh,
    tile: &[[[f32; BLOCK]; FLOATS]; TILE],
    packed: &mut [[[f32; BLOCK]; WORDS]; TILE],
) {
    for (slot, packed) in tile.iter().zip(packed) {
        for group in 0..BLOCK / W {
            let mut numbers = [S::splat(0.0); FLOATS];
            for (v, row) in numbers.iter_mut().zip(slot) {
                *v = load_group::<BLOCK, W, S>(row, group);
            }
            let words = pack::<W, S, FLOATS, WORDS>(mesh.cube(), &numbers);
            for (row, v) in packed.iter_mut().zip(words) {
                S::store(v, &mut row.as_chunks_mut().0[group]);
            }
        }
    }
}

/// Skins the vertices from `first` on into the tile; `runs` starts with the run that holds the first. Returns the runs
/// from the one that holds the next.
#[inline(always)]
fn fill<'m, P: Blend<BLOCK>, const W: usize, S: Simd<W>, const FLOATS: usize>(
    mesh: &Mesh,
    mut runs: &'m [Run],
    palette: &P,
    normals: Normals,
    first: usize,
    tile: &mut [[[f32; BLOCK]; FLOATS]],
) -> &'m [Run] {
    let end = first + tile.len();
    while let [run, rest @ ..] = runs {
        let (run_first, run_end) = (run.first_vertex as usize, (run.first_vertex + run.vertex_count) as usize);
        let range = run_first.max(first)..run_end.min(end);
        let slots = &mut tile[range.start - first..range.end - first];
        match run.influences {
            1 => part::<P, W, S, FLOATS, 1>(mesh, run, palette, normals, range.start, slots),
            2 => part::<P, W, S, FLOATS, 2>(mesh, run, palette, normals, range.start, slots),
            3 => part::<P, W, S, FLOATS, 3>(mesh, run, palette, normals, range.start, slots),
            4 => part::<P, W, S, FLOATS, 4>(mesh, run, palette, normals, range.start, slots),
            _ => part::<P, W, S, FLOATS, 0>(mesh, run, palette, normals, range.start, slots),
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

/// Skins neighbouring vertices of one run of `INFLUENCES`, or of as many as the run says where that is 0.
#[inline(always)]
fn part<P: Blend<BLOCK>, const W: usize, S: Simd<W>, const FLOATS: usize, const INFLUENCES: usize>(
    mesh: &Mesh,
    run: &Run,
    palette: &P,
    normals: Normals,
    first: usize,
    slots: &mut [[[f32; BLOCK]; FLOATS]],
) {
    let influences = if INFLUENCES == 0 { run.influences as usize } else { INFLUENCES };
    let pairs = run.first_influence as usize + (first - run.first_vertex as usize) * influences;
    let joints = mesh.joints()[pairs..].chunks_exact(influences);
    let weights = mesh.weights()[pairs..].chunks_exact(influences);
    for (((slot, vertex), joints), weights) in slots.iter_mut().zip(first..).zip(joints).zip(weights) {
        for group in 0..BLOCK / W {
            let m = palette.matrix::<W, S>(&joints[..influences], &weights[..influences], group);
            let numbers = numbers::<W, S, FLOATS>(&Source::splat::<W, S>(mesh, vertex), &m, normals);
            for (row, v) in slot.iter_mut().zip(numbers) {
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
