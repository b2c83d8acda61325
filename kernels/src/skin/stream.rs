//! Writes tiles of vertices, with instances in lanes, to one contiguous output per instance, in whole cache lines.

use crate::crowd::BLOCK;
use crate::simd::{LINE, Simd};

/// Vertices of a tile: for any number of words per vertex, a tile is that many whole cache lines per instance.
pub(super) const TILE: usize = LINE / size_of::<f32>();
/// Most words of a vertex.
const MOST_WORDS: usize = 10;
/// Output size in bytes from which streaming pays: approximately the second-level cache of a core.
const STREAM_FROM: u64 = 4 << 20;

/// Kind of store that writes vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// Through the caches: for output that fits them.
    Cached,
    /// Past the caches in whole lines, which are neither read before nor kept after.
    Streamed,
}

impl Store {
    /// The kind of store that suits an output of `bytes` bytes.
    #[inline(never)] // compiled in no other crate: `scripts/kernel-bodies` counts what is
    pub fn for_bytes(bytes: u64) -> Self {
        if bytes >= STREAM_FROM {
            Self::Streamed
        } else {
            Self::Cached
        }
    }

    /// Writes a vector.
    #[inline(always)] // as all here: to take on the caller's instruction set
    pub(crate) fn put<const W: usize, V: Simd<W>>(self, v: V, to: &mut [f32; W]) {
        match self {
            Self::Cached => v.store(to),
            Self::Streamed => v.stream(to),
        }
    }
}

/// A line of a lane's output, aligned like its destination.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct OutputLine([f32; TILE]);

/// Lines of a lane: those of a tile, preceded by the last line of the tile before.
type StagingLines = [OutputLine; MOST_WORDS + 1];

/// The outputs of a block's instances, `WORDS` per vertex, filled tile by tile.
///
/// A tile is transposed, so that lanes become rows, in pieces between the vertices of the next tile: shuffles and
/// stores then run in parallel with multiplications. Cached output is transposed directly to its destination. Streamed
/// output is transposed to a staging buffer for each lane, and written lane by lane between the vertices of the tile
/// after that: a burst would fill the store buffer, and the vertices would wait. A staging buffer is read at an offset
/// that matches the line boundaries of the lane's output, so the end of a tile is written with the next one.
pub(super) struct Streams<'a, const WORDS: usize> {
    out: &'a mut [f32],
    store: Store,
    instances: usize,
    instance_words: usize,
    /// Staging buffers of the tile that is being transposed and of the one that is being written, alternating.
    stages: [[StagingLines; TILE]; 2],
    /// Index of the staging buffers that are being filled.
    filled: usize,
    /// The first vertex of the tile that is being transposed, if any.
    first: Option<usize>,
    /// Number of lanes of the previous tile that are still to be written, and whether its lines are the first of the
    /// outputs.
    leaving: usize,
    are_first: bool,
    /// Steps since the tile was taken. One step per vertex transposes the whole tile and writes the whole tile before
    /// it.
    steps: usize,
    /// Words of a lane's first line that belong to the instance before it.
    shifts: [usize; TILE],
    /// Offsets of the next lines of each lane.
    places: [usize; TILE],
}

impl<'a, const WORDS: usize> Streams<'a, WORDS> {
    /// Vertices of a tile, a whole number of lines.
    pub const VERTICES: usize = if WORDS > 6 { TILE / 2 } else { TILE };
    const LINES: usize = WORDS * Self::VERTICES / TILE;

    /// Outputs of as many instances as `out` has room for, with this many vertices.
    #[inline(always)]
    pub fn new(out: &'a mut [f32], vertices: usize, store: Store) -> Self {
        let stages = [[[OutputLine([0.0; TILE]); MOST_WORDS + 1]; TILE]; 2];
        let instance_words = vertices * WORDS;
        let instances = out.len() / instance_words;
        let mut shifts = [0; TILE];
        let mut places = [0; TILE];
        for (lane, (shift, place)) in shifts
            .iter_mut()
            .zip(&mut places)
            .enumerate()
            .take(instances)
        {
            let start = lane * instance_words;
            *shift = (out.as_ptr() as usize / size_of::<f32>() + start) % TILE;
            *place = start;
        }
        let steps = Self::VERTICES;
        let filled = 0;
        let first = None;
        let leaving = 0;
        let are_first = true;
        Self {
            out,
            store,
            instances,
            instance_words,
            stages,
            filled,
            first,
            leaving,
            are_first,
            steps,
            shifts,
            places,
        }
    }

    /// Takes the tile whose vertices begin at `first`: the next steps will read its rows. All steps of the last tile
    /// must be done.
    #[inline(always)]
    pub fn take(&mut self, first: usize) {
        self.swap_stages();
        (self.first, self.steps) = (Some(first), 0);
    }

    /// Passes the transposed tile on to be written.
    #[inline(always)]
    fn swap_stages(&mut self) {
        if let (Some(first), Store::Streamed) = (self.first, self.store) {
            (self.leaving, self.are_first) = (self.instances, first == 0);
            self.filled ^= 1;
        }
    }

    /// Runs one more step, if any is left.
    #[inline(always)]
    pub fn step<const W: usize, V: Simd<W>>(&mut self, tile: &[[f32; BLOCK]]) {
        let step = self.steps;
        if step == Self::VERTICES {
            return;
        }
        self.steps += 1;
        let squares = TILE / W * (TILE / W) * Self::LINES;
        for square in step * squares / Self::VERTICES..(step + 1) * squares / Self::VERTICES {
            self.transpose::<W, V>(tile, square % (TILE / W), square / (TILE / W));
        }
        for other in 0..BLOCK / Self::VERTICES {
            let lane = step + other * Self::VERTICES;
            if lane < self.leaving {
                self.send::<W, V>(lane);
            }
        }
    }

    /// Runs all steps that are left.
    #[inline(always)]
    pub fn finish_steps<const W: usize, V: Simd<W>>(&mut self, tile: &[[f32; BLOCK]]) {
        while self.steps < Self::VERTICES {
            self.step::<W, V>(tile);
        }
    }

    /// Transposes `W` of a tile's rows in a chunk of lanes. The loops over lanes are simple enough to be unrolled;
    /// otherwise the registers of the transpose would be spilled to memory.
    #[inline(always)]
    fn transpose<const W: usize, V: Simd<W>>(
        &mut self,
        tile: &[[f32; BLOCK]],
        chunk: usize,
        rows: usize,
    ) {
        let square = transposed::<W, V>(&tile.as_chunks::<W>().0[rows], chunk);
        match self.store {
            Store::Streamed => {
                let stages = &mut self.stages[self.filled].as_chunks_mut::<W>().0[chunk];
                for (stage, v) in stages.iter_mut().zip(square) {
                    v.store(&mut floats(stage).as_chunks_mut().0[TILE / W + rows]);
                }
            }
            Store::Cached => {
                let first = self.first.unwrap_or(0);
                let mut at = chunk * W * self.instance_words + first * WORDS + rows * W;
                for v in square {
                    // Lanes without an instance have no destination.
                    if let Some(to) = self.out.get_mut(at..).and_then(|out| out.first_chunk_mut()) {
                        v.store(to);
                    }
                    at += self.instance_words;
                }
            }
        }
    }

    /// Writes a lane of the previous tile.
    #[inline(always)]
    fn send<const W: usize, V: Simd<W>>(&mut self, lane: usize) {
        let [even, odd] = &mut self.stages;
        let (filled, stages) = if self.filled == 0 {
            (even, odd)
        } else {
            (odd, even)
        };
        let place = &mut self.places[lane];
        let shift = self.shifts[lane];
        let lines = Self::LINES;
        if self.are_first {
            // A first line may also belong to another instance, so the first tile is written in words, up to the last
            // whole line.
            let words = lines * TILE - shift;
            self.out[*place..][..words]
                .copy_from_slice(&floats(&mut stages[lane])[TILE..][..words]);
            *place += words;
        } else {
            let to = &mut self.out[*place..][..lines * TILE];
            let from = &floats(&mut stages[lane])[TILE - shift..][..lines * TILE];
            for (to, from) in to
                .as_chunks_mut::<W>()
                .0
                .iter_mut()
                .zip(from.as_chunks::<W>().0)
            {
                V::load(from).stream(to);
            }
            *place += lines * TILE;
        }
        filled[lane][0] = stages[lane][lines];
    }

    /// Writes everything that waits, then the rows of the remaining vertices: `count` from `first` on, fewer than a
    /// tile. If `count` is 0, `tile` is the last one that was taken.
    #[inline(always)]
    pub fn finish<const W: usize, V: Simd<W>>(
        &mut self,
        tile: &[[f32; BLOCK]],
        first: usize,
        count: usize,
    ) {
        self.finish_steps::<W, V>(tile);
        self.swap_stages();
        for lane in 0..self.leaving {
            self.send::<W, V>(lane);
        }
        for lane in 0..self.instances {
            let start = lane * self.instance_words + first * WORDS;
            if self.store == Store::Streamed && first > 0 {
                let shift = self.shifts[lane];
                let end = &self.stages[self.filled][lane][0].0[TILE - shift..];
                self.out[start - shift..start].copy_from_slice(end);
            }
            for (to, row) in self.out[start..start + count * WORDS].iter_mut().zip(tile) {
                *to = row[lane];
            }
        }
    }
}

/// Transposes `W` rows of a chunk of lanes. Sixteen rows are one line of each instance; `W` of them are a part of it.
#[inline(always)]
fn transposed<const W: usize, V: Simd<W>>(rows: &[[f32; BLOCK]; W], chunk: usize) -> [V; W] {
    let mut square = V::load_rows(rows, chunk);
    V::transpose(&mut square);
    square
}

#[inline(always)]
fn floats(stage: &mut StagingLines) -> &mut [f32; TILE * (MOST_WORDS + 1)] {
    // SAFETY: both types have the same size: `OutputLine` is `TILE` floats without padding. Floats need less alignment,
    // and the result borrows `stage` mutably.
    unsafe { &mut *std::ptr::from_mut(stage).cast() }
}
