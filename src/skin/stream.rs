//! From tiles of vertices with instances in lanes to one contiguous output an instance, in whole cache lines.

use crate::simd::{LINE, Simd, load_group};

/// Vertices of a tile: whatever a vertex's words, a tile is that many whole cache lines an instance.
pub(super) const TILE: usize = LINE / size_of::<f32>();
/// Most words of a vertex.
const MOST_WORDS: usize = 10;
/// Bytes of output from which streaming pays: about what a core's second-level cache holds.
const STREAM_FROM: u64 = 4 << 20;

/// How vertices are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// Through the caches: for output that stays there.
    Cached,
    /// Past the caches in whole lines: neither read before nor kept after.
    Streamed,
}

impl Store {
    /// What suits an output of so many bytes.
    pub fn for_bytes(bytes: u64) -> Self {
        if bytes >= STREAM_FROM { Self::Streamed } else { Self::Cached }
    }
}

/// Writes a vector as the store says.
#[inline(always)] // as all here: to take on the caller's instruction set
pub(super) fn put<const W: usize, S: Simd<W>>(store: Store, v: S::V, to: &mut [f32; W]) {
    match store {
        Store::Cached => S::store(v, to),
        Store::Streamed => S::stream(v, to),
    }
}

/// A line that a lane's output is cut into, aligned as the memory it goes to.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([f32; TILE]);

/// The outputs of a block's instances, `WORDS` a vertex, filled tile by tile.
///
/// Output that stays in the caches goes out straight from the transpose. Streamed output waits in a stage of each lane
/// and leaves lane by lane between the vertices of the next tile: a burst would fill the store buffer, and the next
/// tile's vertices wait for it. A stage is read shifted to the line boundaries of the lane's output: the end of a tile
/// stays there for the next.
pub(super) struct Streams<'a, const WORDS: usize> {
    pub out: &'a mut [f32],
    pub store: Store,
    pub instances: usize,
    instance_words: usize,
    stages: [[Line; MOST_WORDS + 1]; TILE],
    /// Words of a lane's first line that belong to the instance before it.
    shifts: [usize; TILE],
    /// Where the lines that wait in a lane's stage go.
    places: [usize; TILE],
    /// Lanes whose lines have left; the others' wait.
    sent: usize,
}

impl<'a, const WORDS: usize> Streams<'a, WORDS> {
    /// Outputs of as many instances of so many vertices as there is room for.
    #[inline(always)]
    pub fn new(out: &'a mut [f32], vertices: usize, store: Store) -> Self {
        let instance_words = vertices * WORDS;
        let instances = out.len() / instance_words;
        let stages = [[Line([0.0; TILE]); MOST_WORDS + 1]; TILE];
        let (mut shifts, mut places) = ([0; TILE], [0; TILE]);
        for (lane, (shift, place)) in shifts.iter_mut().zip(&mut places).enumerate().take(instances) {
            let start = lane * instance_words;
            *shift = (out.as_ptr() as usize / size_of::<f32>() + start) % TILE;
            *place = start + WORDS * TILE - *shift;
        }
        Self { out, store, instances, instance_words, stages, shifts, places, sent: instances }
    }

    /// Takes the rows of the vertices `first..first + TILE`; the tile before must have left.
    #[inline(always)]
    pub fn tile<const N: usize, const W: usize, S: Simd<W>>(&mut self, tile: &[[f32; N]], first: usize) {
        if self.store == Store::Cached {
            return self.place::<N, W, S>(tile, first);
        }
        self.stage::<N, W, S>(tile);
        if first > 0 {
            self.sent = 0;
            return;
        }
        // A first line may be another instance's, too, so the first tile goes out in words, up to the last whole line.
        for lane in 0..self.instances {
            let (start, stage) = (lane * self.instance_words, &mut self.stages[lane]);
            self.out[start..self.places[lane]].copy_from_slice(&floats(stage)[TILE..][..self.places[lane] - start]);
            stage[0] = stage[WORDS];
        }
    }

    /// To the stages. The loop over lanes is so plain that it unrolls: a loop over the transpose's registers would put
    /// them in memory.
    #[inline(always)]
    fn stage<const N: usize, const W: usize, S: Simd<W>>(&mut self, tile: &[[f32; N]]) {
        for (part, rows) in tile.as_chunks::<W>().0.iter().enumerate() {
            for (group, stages) in self.stages.as_chunks_mut::<W>().0.iter_mut().enumerate() {
                let square = turned::<N, W, S>(rows, group);
                for (stage, v) in stages.iter_mut().zip(square) {
                    S::store(v, &mut floats(stage).as_chunks_mut().0[TILE / W + part]);
                }
            }
        }
    }

    /// To their places; lanes that hold no instance have none.
    #[inline(always)]
    fn place<const N: usize, const W: usize, S: Simd<W>>(&mut self, tile: &[[f32; N]], first: usize) {
        for (part, rows) in tile.as_chunks::<W>().0.iter().enumerate() {
            for group in 0..N / W {
                let square = turned::<N, W, S>(rows, group);
                for (lane, v) in (group * W..).zip(square) {
                    let at = lane * self.instance_words + first * WORDS + part * W;
                    if let Some(to) = self.out.get_mut(at..).and_then(|out| out.first_chunk_mut()) {
                        S::store(v, to);
                    }
                }
            }
        }
    }

    /// Streams the lines of one more lane that waits, if any does.
    #[inline(always)]
    pub fn send<const W: usize, S: Simd<W>>(&mut self) {
        let lane = self.sent;
        if lane >= self.instances {
            return;
        }
        self.sent += 1;
        let (place, stage) = (&mut self.places[lane], &mut self.stages[lane]);
        let to = &mut self.out[*place..][..WORDS * TILE];
        let from = &floats(stage)[TILE - self.shifts[lane]..][..WORDS * TILE];
        for (to, from) in to.as_chunks_mut::<W>().0.iter_mut().zip(from.as_chunks::<W>().0) {
            S::stream(S::load(from), to);
        }
        *place += WORDS * TILE;
        stage[0] = stage[WORDS];
    }

    /// Writes what waits, then the rows of the vertices that are left over: `count` from `first` on, fewer than a tile.
    #[inline(always)]
    pub fn finish<const N: usize, const W: usize, S: Simd<W>>(
        &mut self,
        tile: &[[f32; N]],
        first: usize,
        count: usize,
    ) {
        while self.sent < self.instances {
            self.send::<W, S>();
        }
        for lane in 0..self.instances {
            let start = lane * self.instance_words + first * WORDS;
            if self.store == Store::Streamed && first > 0 {
                let shift = self.shifts[lane];
                self.out[start - shift..start].copy_from_slice(&self.stages[lane][0].0[TILE - shift..]);
            }
            for (to, row) in self.out[start..start + count * WORDS].iter_mut().zip(tile) {
                *to = row[lane];
            }
        }
    }
}

/// `W` rows' lanes of a group as `W` lanes' rows: sixteen rows are one line of each instance, `W` of them a part of it.
#[inline(always)]
fn turned<const N: usize, const W: usize, S: Simd<W>>(rows: &[[f32; N]; W], group: usize) -> [S::V; W] {
    let mut square = [S::splat(0.0); W];
    for (v, row) in square.iter_mut().zip(rows) {
        *v = load_group::<N, W, S>(row, group);
    }
    S::transpose(&mut square);
    square
}

#[inline(always)]
fn floats(stage: &mut [Line; MOST_WORDS + 1]) -> &mut [f32; TILE * (MOST_WORDS + 1)] {
    // SAFETY: `Line` is 64 bytes of floats without padding.
    unsafe { &mut *std::ptr::from_mut(stage).cast() }
}
