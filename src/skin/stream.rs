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

/// The outputs of a block's instances, filled tile by tile.
///
/// Where every instance begins on a cache line, lines go out straight from the transpose. Elsewhere each lane has a
/// stage that is shifted to its line boundaries: the end of a tile waits there for the next.
pub(super) struct Streams<'a> {
    pub out: &'a mut [f32],
    instance_words: usize,
    pub store: Store,
    aligned: bool,
    stages: [[Line; MOST_WORDS + 1]; TILE],
}

impl<'a> Streams<'a> {
    #[inline(always)]
    pub fn new(out: &'a mut [f32], instance_words: usize, store: Store) -> Self {
        let line_words = LINE / size_of::<f32>();
        let aligned = out.as_ptr().cast::<Line>().is_aligned() && instance_words.is_multiple_of(line_words);
        Self {
            out,
            instance_words,
            store,
            aligned: aligned || store == Store::Cached,
            stages: [[Line([0.0; TILE]); MOST_WORDS + 1]; TILE],
        }
    }

    /// Writes the tile of vertices `first..first + TILE`.
    #[inline(always)]
    pub fn tile<const N: usize, const W: usize, S: Simd<W>, const WORDS: usize>(
        &mut self,
        tile: &[[[f32; N]; WORDS]; TILE],
        first: usize,
    ) {
        // Sixteen rows are one line of each instance, W of them a part of it.
        for (part, rows) in tile.as_flattened().as_chunks::<W>().0.iter().enumerate() {
            for group in 0..N / W {
                let mut square = [S::splat(0.0); W];
                for (v, row) in square.iter_mut().zip(rows) {
                    *v = load_group::<N, W, S>(row, group);
                }
                S::transpose(&mut square);
                for (lane, v) in (group * W..).zip(square) {
                    self.part::<W, S>(lane, first * WORDS, part * W, v);
                }
            }
        }
        if !self.aligned {
            self.send::<W, S, WORDS>(first);
        }
    }

    /// A part of a lane's line, to its place or to its stage; lanes that hold no instance have no place.
    #[inline(always)]
    fn part<const W: usize, S: Simd<W>>(&mut self, lane: usize, first_word: usize, offset: usize, v: S::V) {
        if self.aligned {
            let at = lane * self.instance_words + first_word + offset;
            if let Some(to) = self.out.get_mut(at..).and_then(|out| out.first_chunk_mut()) {
                put::<W, S>(self.store, v, to);
            }
        } else if lane * self.instance_words < self.out.len() {
            let stage = floats(&mut self.stages[lane]);
            if let Some(to) = stage[TILE + offset..].first_chunk_mut() {
                S::store(v, to);
            }
        }
    }

    /// Streams the whole lines of every stage; `first` is the tile's first vertex.
    #[inline(always)]
    fn send<const W: usize, S: Simd<W>, const WORDS: usize>(&mut self, first: usize) {
        for lane in 0..self.out.len() / self.instance_words {
            let shift = self.shift(lane);
            let start = lane * self.instance_words + first * WORDS;
            let lines = &floats(&mut self.stages[lane])[TILE - shift..][..WORDS * TILE];
            for (index, line) in lines.as_chunks::<TILE>().0.iter().enumerate() {
                if first == 0 && index == 0 && shift > 0 {
                    // The line's beginning is the previous instance's.
                    self.out[start..start + TILE - shift].copy_from_slice(&line[shift..]);
                    continue;
                }
                let to = &mut self.out[start + index * TILE - shift..][..TILE];
                for (to, from) in to.as_chunks_mut::<W>().0.iter_mut().zip(line.as_chunks::<W>().0) {
                    S::stream(S::load(from), to);
                }
            }
            self.stages[lane][0] = self.stages[lane][WORDS];
        }
    }

    /// Writes the vertices that are left over: `count` from `first` on, fewer than a tile.
    #[inline(always)]
    pub fn finish<const N: usize, const WORDS: usize>(
        &mut self,
        tile: &[[[f32; N]; WORDS]; TILE],
        first: usize,
        count: usize,
    ) {
        for lane in 0..self.out.len() / self.instance_words {
            let start = lane * self.instance_words + first * WORDS;
            let shift = self.shift(lane);
            if !self.aligned && first > 0 {
                let waiting = &self.stages[lane][0].0[TILE - shift..];
                self.out[start - shift..start].copy_from_slice(waiting);
            }
            for (to, row) in self.out[start..start + count * WORDS].iter_mut().zip(tile.as_flattened()) {
                *to = row[lane];
            }
        }
    }

    /// Vertices of an instance.
    #[inline(always)]
    pub fn vertices<const WORDS: usize>(&self) -> usize {
        self.instance_words / WORDS
    }

    /// Words of a lane's first line that belong to the instance before it.
    #[inline(always)]
    fn shift(&self, lane: usize) -> usize {
        (self.out.as_ptr() as usize / size_of::<f32>() + lane * self.instance_words) % TILE
    }
}

#[inline(always)]
fn floats(stage: &mut [Line; MOST_WORDS + 1]) -> &mut [f32; TILE * (MOST_WORDS + 1)] {
    // SAFETY: `Line` is 64 bytes of floats without padding.
    unsafe { &mut *std::ptr::from_mut(stage).cast() }
}
