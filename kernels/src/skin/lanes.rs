//! Skins a block of instances at once, one in each lane. The mesh is read once per block, and the palette without
//! gathers.

use super::dual_quaternion::DualQuaternion;
use super::stream::{Store, Streams, TILE};
use super::words::{
    BlockPalette, MOST_FLOATS, before_packing, moved, pack, rotated_normal, rotated_tangent,
};
use crate::crowd::BLOCK;
use crate::model::{Mesh, VertexRun};
use crate::morph::MorphedLanes;
use crate::pose::Affine;
use crate::simd::{self, Isa, Kernel, Simd};
use crate::vertex::{Normals, VertexFormat};
use std::ops::Range;

/// The palette of a block: [`Mesh::entries`] items, one instance per lane.
#[derive(Debug, Clone, Copy)]
pub enum LanePalette<'a> {
    /// Matrices, which are blended linearly.
    Matrices(&'a [Affine<BLOCK>]),
    /// Dual quaternions, from [`super::lane_dual_quaternions`].
    DualQuaternions(&'a [DualQuaternion]),
}

/// A block of up to [`BLOCK`] instances of a mesh, and where their vertices go.
#[derive(Debug)]
pub struct LaneBlock<'a> {
    /// The mesh of all instances.
    pub mesh: &'a Mesh,
    /// Vertices in place of those of the mesh.
    pub morphed: Option<MorphedLanes<'a>>,
    /// Their palettes.
    pub palette: LanePalette<'a>,
    /// Format of their vertices. If it has tangents and the mesh has none, tangents are zero.
    pub format: VertexFormat,
    /// Kind of store that writes vertices.
    pub store: Store,
    /// Takes `[instance][vertex][word]` for as many instances as it has room for: its length is a multiple of
    /// [`Mesh::vertex_count`] times [`VertexFormat::words`].
    pub out: &'a mut [f32],
    /// `true` to write `[vertex][word][instance]` instead.
    pub interleaved: bool,
}

/// Skins a block of instances. On a machine that lacks `isa`, the code for the baseline of its architecture runs
/// instead.
///
/// # Panics
/// The palette is too short, or `out` has room for more than [`BLOCK`] instances.
pub fn skin_lanes(isa: Isa, block: LaneBlock) {
    match block.palette {
        LanePalette::Matrices(palette) => skin_with(isa, palette, block),
        LanePalette::DualQuaternions(palette) => skin_with(isa, palette, block),
    }
}

fn skin_with<P: BlockPalette>(isa: Isa, palette: P, block: LaneBlock) {
    match block.format.floats() {
        3 => simd::run(isa, LanesKernel::<P, 3, 2> { palette, block }),
        6 => simd::run(isa, LanesKernel::<P, 6, 3> { palette, block }),
        _ => simd::run(isa, LanesKernel::<P, 10, 4> { palette, block }),
    }
}

/// A tile of vertices. Its rows are cache lines.
#[repr(align(64))]
struct Tile<T>(T);

/// Skins vertices of `FLOATS` numbers into a tile, then the tile, packed into `PACKED` words per vertex if the format is
/// packed, to the output.
struct LanesKernel<'a, P, const FLOATS: usize, const PACKED: usize> {
    palette: P,
    block: LaneBlock<'a>,
}

impl<P: BlockPalette, const FLOATS: usize, const PACKED: usize> Kernel
    for LanesKernel<'_, P, FLOATS, PACKED>
{
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let Self {
            palette,
            block:
                LaneBlock {
                    mesh,
                    morphed,
                    format,
                    store,
                    out,
                    interleaved,
                    ..
                },
        } = self;
        let words = format.words();
        let is_packed = words < FLOATS;
        let normals = if is_packed {
            before_packing(format.normals)
        } else {
            format.normals
        };
        let vertices = mesh.vertex_count();
        let mut filler = Filler {
            mesh,
            morphed,
            palette: &palette,
            normals,
            runs: mesh.runs(),
        };
        let none: &mut [f32] = &mut [];
        let (out, interleaved_out) = if interleaved {
            (none, out)
        } else {
            (out, none)
        };
        if P::UNROLLED
            && store == Store::Streamed
            && !is_packed
            && interleaved_out.len() == vertices * words * BLOCK
        {
            // Rows of a full block are whole cache lines, so they are written to the output directly.
            let slots = interleaved_out.as_chunks_mut().0.as_chunks_mut().0;
            filler.fill::<W, V, FLOATS, true>(
                0,
                slots,
                &mut Streams::new(&mut [], vertices, store),
                &[],
            );
            return simd::fence();
        }
        // One of these two has an empty output and does nothing.
        let none: &mut [f32] = &mut [];
        let (out, packed_out) = if is_packed { (none, out) } else { (out, none) };
        let mut streams = Streams::<FLOATS>::new(out, vertices, store);
        let mut packed_streams = Streams::<PACKED>::new(packed_out, vertices, store);
        let mut tiles = [const { Tile([[[0.0; BLOCK]; FLOATS]; TILE]) }; 2];
        let mut packed_tiles = [const { Tile([[[0.0; BLOCK]; PACKED]; TILE]) }; 2];
        let [Tile(tile), Tile(before)] = &mut tiles;
        let [Tile(packed), Tile(packed_before)] = &mut packed_tiles;
        let mut tile = tile;
        let mut before = before;
        let mut packed = packed;
        let mut packed_before = packed_before;
        let whole = if is_packed {
            Streams::<PACKED>::VERTICES
        } else {
            Streams::<FLOATS>::VERTICES
        };
        for first in (0..vertices).step_by(whole) {
            let count = whole.min(vertices - first);
            filler.fill::<W, V, FLOATS, false>(
                first,
                &mut tile[..count],
                &mut streams,
                before.as_flattened(),
            );
            streams.finish_steps::<W, V>(before.as_flattened());
            let taken = if is_packed {
                let before = packed_before.as_flattened();
                pack_tile::<W, V, FLOATS, PACKED>(mesh, tile, packed, &mut packed_streams, before);
                std::mem::swap(&mut packed, &mut packed_before);
                packed_before.as_flattened()
            } else {
                std::mem::swap(&mut tile, &mut before);
                before.as_flattened()
            };
            if interleaved {
                let instance_words = interleaved_out.len() / vertices;
                let out = &mut interleaved_out[first * instance_words..][..count * instance_words];
                write_rows::<W, V>(store, &taken[..count * words], instance_words / words, out);
            } else if count == whole && is_packed {
                packed_streams.take(first);
            } else if count == whole {
                streams.take(first);
            }
        }
        let left_over = vertices % whole;
        streams.finish::<W, V>(before.as_flattened(), vertices - left_over, left_over);
        packed_streams.finish::<W, V>(
            packed_before.as_flattened(),
            vertices - left_over,
            left_over,
        );
        simd::fence();
    }
}

/// Packs the numbers of a tile's vertices. Meanwhile the streams write out the previous packed tile, `rows`.
#[inline(always)]
fn pack_tile<const W: usize, V: Simd<W>, const FLOATS: usize, const PACKED: usize>(
    mesh: &Mesh,
    tile: &[[[f32; BLOCK]; FLOATS]; TILE],
    packed: &mut [[[f32; BLOCK]; PACKED]; TILE],
    streams: &mut Streams<PACKED>,
    before: &[[f32; BLOCK]],
) {
    for (slot, packed) in tile.iter().zip(packed) {
        for chunk in 0..BLOCK / W {
            let mut numbers = [V::splat(0.0); MOST_FLOATS];
            for (v, row) in numbers.iter_mut().zip(slot) {
                *v = V::load_chunk(row, chunk);
            }
            let words = pack(mesh.cube(), &numbers, FLOATS);
            V::store_rows(&words, packed, chunk);
        }
        streams.step::<W, V>(before);
    }
}

/// Skins a mesh's vertices in their order.
struct Filler<'a, P> {
    mesh: &'a Mesh,
    morphed: Option<MorphedLanes<'a>>,
    palette: &'a P,
    normals: Normals,
    /// Runs, starting with the one that holds the next vertex.
    runs: &'a [VertexRun],
}

impl<P: BlockPalette> Filler<'_, P> {
    /// Skins the vertices from `first` on into slots: past the caches if `DIRECT`, otherwise into a tile, while the
    /// streams write out the previous tile.
    #[inline(always)]
    fn fill<const W: usize, V: Simd<W>, const FLOATS: usize, const DIRECT: bool>(
        &mut self,
        first: usize,
        slots: &mut [[[f32; BLOCK]; FLOATS]],
        streams: &mut Streams<FLOATS>,
        before: &[[f32; BLOCK]],
    ) {
        let end = first + slots.len();
        while let [run, rest @ ..] = self.runs {
            let run_first = run.first_vertex as usize;
            let run_end = (run.first_vertex + run.vertex_count) as usize;
            let range = run_first.max(first)..run_end.min(end);
            let slots = &mut slots[range.start - first..range.end - first];
            // Scalar code and positions alone are not worth a function body per influence count.
            if const { P::UNROLLED && W > 1 && FLOATS > 3 } {
                match run.influences {
                    1 => self.part::<W, V, FLOATS, DIRECT, 1>(run, range, slots, streams, before),
                    2 => self.part::<W, V, FLOATS, DIRECT, 2>(run, range, slots, streams, before),
                    3 => self.part::<W, V, FLOATS, DIRECT, 3>(run, range, slots, streams, before),
                    4 => self.part::<W, V, FLOATS, DIRECT, 4>(run, range, slots, streams, before),
                    _ => self.part::<W, V, FLOATS, DIRECT, 0>(run, range, slots, streams, before),
                }
            } else {
                self.part::<W, V, FLOATS, DIRECT, 0>(run, range, slots, streams, before);
            }
            if run_end > end {
                break;
            }
            self.runs = rest;
            if run_end == end {
                break;
            }
        }
    }

    /// Skins neighbouring vertices of one run of `INFLUENCES`, or of the run's count if that is 0.
    ///
    /// Numbers are stored as soon as they are computed, so that the vertex's source numbers can be broadcast by the
    /// loads that read them.
    #[inline(always)]
    fn part<
        const W: usize,
        V: Simd<W>,
        const FLOATS: usize,
        const DIRECT: bool,
        const INFLUENCES: usize,
    >(
        &self,
        run: &VertexRun,
        vertices: Range<usize>,
        slots: &mut [[[f32; BLOCK]; FLOATS]],
        streams: &mut Streams<FLOATS>,
        before: &[[f32; BLOCK]],
    ) {
        let Self {
            mesh,
            morphed,
            palette,
            normals,
            ..
        } = self;
        let first = vertices.start;
        let influences = if INFLUENCES == 0 {
            run.influences as usize
        } else {
            INFLUENCES
        };
        let pairs = run.first_influence as usize
            + (vertices.start - run.first_vertex as usize) * influences;
        let joints = mesh.joints()[pairs..].chunks_exact(influences);
        let weights = mesh.weights()[pairs..].chunks_exact(influences);
        let tangents = mesh.tangents().map(|tangents| &tangents[vertices.clone()]);
        let sources = mesh.positions()[vertices.clone()]
            .iter()
            .zip(&mesh.normals()[vertices]);
        let mut begun = Tile([[0.0; BLOCK]; FLOATS]);
        let all = slots
            .iter_mut()
            .zip(joints.zip(weights))
            .zip(sources)
            .enumerate();
        for (index, ((slot, (joints, weights)), (position, normal))) in all {
            let morphed = match morphed {
                None => None,
                Some(morphed) => morphed.vertex(first + index),
            };
            for chunk in 0..BLOCK / W {
                let m =
                    palette.matrix::<W, V>(&joints[..influences], &weights[..influences], chunk);
                let position = source::<W, V>(morphed, 0, position, chunk);
                put_rows::<W, V, DIRECT>(
                    &moved(&m, position),
                    &mut slot[..3],
                    &mut begun.0[..3],
                    chunk,
                );
                if FLOATS >= 6 {
                    let normal =
                        rotated_normal(&m, source::<W, V>(morphed, 3, normal, chunk), *normals);
                    put_rows::<W, V, DIRECT>(&normal, &mut slot[3..6], &mut begun.0[3..6], chunk);
                }
                if FLOATS >= 10 {
                    let [x, y, z, handedness] =
                        tangents.map_or([0.0; 4], |tangents| tangents[index]);
                    let tangent =
                        source::<W, V>(morphed.filter(|rows| rows.len() > 6), 6, &[x, y, z], chunk);
                    let tangent = rotated_tangent(&m, tangent, *normals);
                    put_rows::<W, V, DIRECT>(&tangent, &mut slot[6..9], &mut begun.0[6..9], chunk);
                    let handedness = [V::splat(handedness)];
                    put_rows::<W, V, DIRECT>(&handedness, &mut slot[9..], &mut begun.0[9..], chunk);
                }
            }
            if !DIRECT {
                streams.step::<W, V>(before);
            }
        }
    }
}

/// Three numbers of a vertex: those of a chunk of lanes from row `first` of its morphed ones, or the mesh's own in all
/// lanes.
#[inline(always)]
fn source<const W: usize, V: Simd<W>>(
    morphed: Option<&[[f32; BLOCK]]>,
    first: usize,
    [x, y, z]: &[f32; 3],
    chunk: usize,
) -> [V; 3] {
    match morphed {
        None => [V::splat(*x), V::splat(*y), V::splat(*z)],
        Some(rows) => [
            V::load_chunk(&rows[first], chunk),
            V::load_chunk(&rows[first + 1], chunk),
            V::load_chunk(&rows[first + 2], chunk),
        ],
    }
}

/// Stores a chunk of lanes in their rows. Rows that are written past the caches are whole lines, and each is written at
/// once: until its last chunk comes, its lanes are kept in `begun`. Some processors combine only seven lines at a time,
/// and write parts of lines to memory if more are open.
#[inline(always)]
fn put_rows<const W: usize, V: Simd<W>, const DIRECT: bool>(
    numbers: &[V],
    rows: &mut [[f32; BLOCK]],
    begun: &mut [[f32; BLOCK]],
    chunk: usize,
) {
    for ((row, begun), v) in rows.iter_mut().zip(begun).zip(numbers) {
        let row = row.as_chunks_mut().0;
        let begun = begun.as_chunks_mut().0;
        if !DIRECT {
            v.store(&mut row[chunk]);
        } else if chunk + 1 < BLOCK / W {
            v.store(&mut begun[chunk]);
        } else {
            for (to, from) in row.iter_mut().zip(&begun[..chunk]) {
                V::load(from).stream(to);
            }
            v.stream(&mut row[chunk]);
        }
    }
}

/// Writes rows of lanes as they are, with as many lanes as there are instances.
#[inline(always)]
fn write_rows<const W: usize, V: Simd<W>>(
    store: Store,
    rows: &[[f32; BLOCK]],
    instances: usize,
    out: &mut [f32],
) {
    if instances < BLOCK {
        for (to, row) in out.chunks_exact_mut(instances).zip(rows) {
            to.copy_from_slice(&row[..instances]);
        }
        return;
    }
    for (to, row) in out.as_chunks_mut::<BLOCK>().0.iter_mut().zip(rows) {
        for (to, v) in to
            .as_chunks_mut::<W>()
            .0
            .iter_mut()
            .zip(row.as_chunks::<W>().0)
        {
            store.put(V::load(v), to);
        }
    }
}
