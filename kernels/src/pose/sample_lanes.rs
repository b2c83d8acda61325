//! Stage `sample` for whole blocks: joints are side by side while a clip is read, instances are side by side when poses
//! are written.
//!
//! A clip whose joints share their key times is stored once as `[key][16 joints]`. An instance's position in the clip
//! is then found once and 16 joints are interpolated at once, whichever clip the instance plays at whichever time. A
//! transpose of 16 instances by 16 joints then gives the memory layout of a [`Local`].

use super::arc::arc;
use super::compact_rows::{CompactPair, CompactRows};
use super::joint_strip::{STRIP, Vectors, line, vectors};
use super::lanes::Lanes;
use super::linear_rows::{LinearPair, LinearRows};
use super::sample::constants;
use super::{Local, ROTATION, SCALE, TRANSLATION};
use crate::crowd::BLOCK;
use crate::model::{Clip, ClipKeys, RawKeys, RotationBlend, Skeleton};
use crate::simd::{self, Isa, Kernel, Simd, prefetch};
use arrayvec::ArrayVec;
use std::marker::PhantomData;

/// A clip with 16 joints side by side.
pub(super) struct ClipRows {
    keys: LaneKeys,
    /// A strip's place in [`Stills`], used when it neither moves nor scales.
    still: Vec<u32>,
}

enum LaneKeys {
    Linear(LinearRows),
    Compact(CompactRows),
}

/// Constant translations and scales. Most clips of a model share them, and then all lanes of a block do.
#[derive(Default)]
pub(super) struct Stills(Vec<Vectors>);

/// A clip and a time in it for each lane that plays one.
pub(super) type Plays<'a> = [Option<(&'a ClipRows, f32)>; BLOCK];

impl ClipRows {
    /// A clip's rows, or those of the rest pose without a clip. `None` if its tracks differ in their key times, or are
    /// not all linear and spherical.
    pub fn new(skeleton: &Skeleton, clip: Option<&Clip>, stills: &mut Stills) -> Option<Self> {
        let base = base(skeleton, clip);
        let keys = match clip.map(|clip| (clip.keys(), clip.rotation_blend())) {
            None => LaneKeys::Linear(LinearRows::new(
                &RawKeys::default(),
                RotationBlend::Slerp,
                &base,
            )?),
            Some((ClipKeys::Raw(raw), blend)) => {
                LaneKeys::Linear(LinearRows::new(raw, blend, &base)?)
            }
            Some((ClipKeys::Compact(compact), _)) => {
                LaneKeys::Compact(CompactRows::new(compact, &base))
            }
        };
        Some(Self {
            keys,
            still: stills.of(&base),
        })
    }

    /// Bytes of the rows, without the constants that clips share.
    pub fn bytes(&self) -> u64 {
        let keys = match &self.keys {
            LaneKeys::Linear(rows) => rows.bytes(),
            LaneKeys::Compact(rows) => rows.bytes(),
        };
        keys + size_of_val(&self.still[..]) as u64
    }

    /// Translations and scales of a strip in which no joint moves or scales.
    pub fn still<'a>(&self, stills: &'a Stills, strip: usize) -> &'a Vectors {
        &stills.0[self.still[strip] as usize]
    }

    /// The rows of a clip that is not compact.
    ///
    /// # Panics
    /// The clip is compact.
    pub fn linear(&self) -> &LinearRows {
        match &self.keys {
            LaneKeys::Linear(rows) => rows,
            LaneKeys::Compact(_) => unreachable!("a compact clip has an `AnyPair`"),
        }
    }

    /// Returns whether any joint of a strip moves or scales.
    fn moves(&self, strip: usize) -> bool {
        match &self.keys {
            LaneKeys::Linear(rows) => rows.moves(strip),
            LaneKeys::Compact(rows) => rows.moves(strip),
        }
    }
}

impl Stills {
    /// Places of the constants of each strip.
    fn of(&mut self, base: &[Local<1>]) -> Vec<u32> {
        (0..base.len().div_ceil(STRIP))
            .map(|strip| self.place(vectors(base, strip)) as u32)
            .collect()
    }

    /// Bytes of the constants.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.0[..]) as u64
    }

    fn place(&mut self, vectors: Vectors) -> usize {
        let known = self.0.iter().position(|v| *v == vectors);
        known.unwrap_or_else(|| {
            self.0.push(vectors);
            self.0.len() - 1
        })
    }
}

/// Values of channels without a track.
fn base(skeleton: &Skeleton, clip: Option<&Clip>) -> Vec<Local<1>> {
    let mut base = vec![[[0.0]; 10]; skeleton.len()];
    constants(skeleton, clip, Lanes::Instance(0), &mut base);
    base
}

/// The keys around the time that a lane plays.
pub(super) trait KeyPair<'a>: Clone {
    /// The keys of a clip around a time.
    fn new<const W: usize, V: Simd<W>>(clip: &'a ClipRows, time: f32) -> Self;

    /// Rotations of `W` joints of a strip.
    fn rotations<const W: usize, V: Simd<W>>(&self, strip: usize, chunk: usize) -> [V; 4];

    /// Translations and scales of `W` joints; those that the clip does not change are `still`.
    fn vectors<const W: usize, V: Simd<W>>(
        &self,
        strip: usize,
        chunk: usize,
        still: &Vectors,
    ) -> [V; 6];
}

/// A pair of either kind.
#[derive(Clone)]
pub(super) enum AnyPair<'a> {
    Linear(LinearPair<'a>),
    Compact(CompactPair<'a>),
}

impl<'a> KeyPair<'a> for LinearPair<'a> {
    #[inline(always)] // to take on the caller's instruction set
    fn new<const W: usize, V: Simd<W>>(clip: &'a ClipRows, time: f32) -> Self {
        clip.linear().at(time)
    }

    /// As [`super::sample`]'s slerp.
    #[inline(always)] // as above
    fn rotations<const W: usize, V: Simd<W>>(&self, strip: usize, chunk: usize) -> [V; 4] {
        let [x, y, z, w, square, scale] = V::load_rows(&self.before[strip], chunk);
        let [u, v, s, t, ..] = V::load_rows(&self.after[strip], chunk);
        arc(
            [x, y, z, w],
            [u, v, s, t],
            V::splat(self.fraction),
            square,
            scale,
        )
    }

    #[inline(always)] // as above
    fn vectors<const W: usize, V: Simd<W>>(
        &self,
        strip: usize,
        chunk: usize,
        still: &Vectors,
    ) -> [V; 6] {
        let Some(rows) = &self.vectors[strip] else {
            return V::load_rows(still, chunk);
        };
        let a = V::load_rows(&rows[self.key], chunk);
        let b = V::load_rows(&rows[self.key + 1], chunk);
        line(a, b, self.fraction)
    }
}

impl<'a> KeyPair<'a> for AnyPair<'a> {
    #[inline(always)] // to take on the caller's instruction set
    fn new<const W: usize, V: Simd<W>>(clip: &'a ClipRows, time: f32) -> Self {
        match &clip.keys {
            LaneKeys::Linear(rows) => Self::Linear(rows.at(time)),
            LaneKeys::Compact(rows) => Self::Compact(rows.at::<W, V>(time)),
        }
    }

    #[inline(always)] // as above
    fn rotations<const W: usize, V: Simd<W>>(&self, strip: usize, chunk: usize) -> [V; 4] {
        match self {
            Self::Linear(pair) => pair.rotations::<W, V>(strip, chunk),
            Self::Compact(pair) => pair.rotations::<W, V>(strip, chunk),
        }
    }

    #[inline(always)] // as above
    fn vectors<const W: usize, V: Simd<W>>(
        &self,
        strip: usize,
        chunk: usize,
        still: &Vectors,
    ) -> [V; 6] {
        match self {
            Self::Linear(pair) => pair.vectors::<W, V>(strip, chunk, still),
            Self::Compact(pair) => pair.vectors::<W, V>(strip, chunk, still),
        }
    }
}

/// Writes the local poses of a block's lanes. Those that play nothing hold an arbitrary pose afterwards.
pub(super) fn sample_lanes(isa: Isa, stills: &Stills, plays: &Plays, local: &mut [Local<BLOCK>]) {
    let mut clips = plays.iter().flatten();
    // The code that decodes compact clips makes loops so large that the compiler does not unroll them for linear ones.
    if clips.any(|(clip, _)| matches!(clip.keys, LaneKeys::Compact(_))) {
        let pair = PhantomData::<AnyPair>;
        simd::run(
            isa,
            SampleLanes {
                pair,
                stills,
                plays,
                local,
            },
        );
    } else {
        let pair = PhantomData::<LinearPair>;
        simd::run(
            isa,
            SampleLanes {
                pair,
                stills,
                plays,
                local,
            },
        );
    }
}

struct SampleLanes<'a, P> {
    pair: PhantomData<P>,
    stills: &'a Stills,
    plays: &'a Plays<'a>,
    local: &'a mut [Local<BLOCK>],
}

impl<'a, P: KeyPair<'a>> Kernel for SampleLanes<'a, P> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let Self {
            stills,
            plays,
            local,
            ..
        } = self;
        let Some((first, time)) = plays.iter().flatten().next() else {
            return;
        };
        let any = P::new::<W, V>(first, *time);
        let mut pairs = ArrayVec::<P, BLOCK>::new();
        for play in plays {
            pairs.push(match play {
                Some((clip, time)) => P::new::<W, V>(clip, *time),
                None => any.clone(),
            });
        }
        // `[number][instance]` of `W` joints each.
        let mut rotations = [[V::splat(0.0); W]; 4];
        let mut vectors = [[V::splat(0.0); W]; 6];
        for (strip, local) in local.chunks_mut(STRIP).enumerate() {
            let chunks = local.len().div_ceil(W);
            for (lanes, (pairs, plays)) in pairs
                .as_chunks::<W>()
                .0
                .iter()
                .zip(plays.as_chunks::<W>().0)
                .enumerate()
            {
                if plays.iter().all(Option::is_none) {
                    continue;
                }
                // Poses are written across joints, a pattern that no prefetcher predicts. Loops over four lanes are unrolled
                // only without the prefetches.
                if const { W <= 4 } {
                    for joint in local.iter().skip(lanes * W).take(W) {
                        prefetch(joint);
                    }
                }
                for chunk in 0..chunks {
                    for (lane, (pair, play)) in pairs.iter().zip(plays).enumerate() {
                        // Numbers of four lanes stay in registers, if none of the lanes is left out.
                        if const { W > 4 } && play.is_none() {
                            continue;
                        }
                        for (square, v) in rotations
                            .iter_mut()
                            .zip(pair.rotations::<W, V>(strip, chunk))
                        {
                            square[lane] = v;
                        }
                        if const { W > 4 }
                            && chunk == 0
                            && let Some(joint) = local.get(lanes * W + lane)
                        {
                            prefetch(joint);
                        }
                    }
                    spread(&rotations, ROTATION, lanes, chunk, local);
                }
            }
            let mut moving = false;
            for (clip, _) in plays.iter().flatten() {
                moving |= clip.moves(strip) || clip.still[strip] != first.still[strip];
            }
            if !moving {
                let still = first.still(stills, strip);
                for (j, local) in local.iter_mut().enumerate() {
                    for (row, numbers) in local[TRANSLATION..SCALE + 3].iter_mut().zip(still) {
                        *row = [numbers[j]; BLOCK];
                    }
                }
                continue;
            }
            for (lanes, (pairs, plays)) in pairs
                .as_chunks::<W>()
                .0
                .iter()
                .zip(plays.as_chunks::<W>().0)
                .enumerate()
            {
                if plays.iter().all(Option::is_none) {
                    continue;
                }
                for chunk in 0..chunks {
                    for (lane, (pair, play)) in pairs.iter().zip(plays).enumerate() {
                        if const { W > 4 } && play.is_none() {
                            continue;
                        }
                        let clip = play.map_or(*first, |(clip, _)| clip);
                        let still = clip.still(stills, strip);
                        let v = pair.vectors::<W, V>(strip, chunk, still);
                        for (square, v) in vectors.iter_mut().zip(v) {
                            square[lane] = v;
                        }
                    }
                    spread(&vectors, TRANSLATION, lanes, chunk, local);
                }
            }
        }
    }
}

/// Transposes `[row][instance][joint]` of `W` instances and joints to `[joint][first + row][instance]`.
#[inline(always)]
fn spread<const W: usize, V: Simd<W>, const R: usize>(
    rows: &[[V; W]; R],
    first: usize,
    lanes: usize,
    chunk: usize,
    local: &mut [Local<BLOCK>],
) {
    for (row, square) in rows.iter().enumerate() {
        let mut square = *square;
        V::transpose(&mut square);
        for (local, v) in local.iter_mut().skip(chunk * W).zip(square) {
            v.store(&mut local[first + row].as_chunks_mut().0[lanes]);
        }
    }
}
