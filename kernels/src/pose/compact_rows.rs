//! A compact clip as `[frame][16 joints]`: the same numbers, in 16 bits each, decoded 16 joints at once.

use super::arc::ShortArc;
use super::joint_strip::{Row, STRIP, Vectors, line, row, strips_that_move, vectors};
use super::sample_compact::Frames;
use super::{Local, ROTATION};
use crate::model::Channel;
use crate::model::compact::{ANY, Compact, CompactTrack, Decoder, without, without_tiny};
use crate::simd::{Aligned, Simd, load_rows};

/// Value of a number's upper bit if that bit encodes the component that is left out.
const UPPER: f32 = 32_768.0;
/// Greater than any number, so that no bit counts as set.
const NEVER: f32 = 131_072.0;

/// Sixteen joints' numbers of one component.
type Numbers = [u16; STRIP];

/// Decoding parameters of a strip's rotations.
#[repr(C, align(64))] // rows on cache lines
struct RotationCoding {
    low: [Row; 3],
    step: [Row; 3],
    /// The component left out, in binary: one row per digit, negative for 0.
    dropped: [Row; 2],
    /// For joints whose keys encode the component in their upper bits: a row that is negative for these joints, and the
    /// number from which on the bit is set.
    any: Option<[Row; 2]>,
}

/// Translations and scales of a strip.
#[repr(C, align(64))] // as above
struct Moves {
    low: Vectors,
    step: Vectors,
    /// One item per frame.
    numbers: Aligned<[Numbers; 6]>,
}

/// Frames of a compact clip.
pub(super) struct CompactRows {
    frames: Frames,
    strips: usize,
    rotations: Vec<RotationCoding>,
    /// `[frame][strip]`.
    numbers: Aligned<[Numbers; 3]>,
    /// Translations and scales of each strip, if any of its joints moves or scales.
    moves: Vec<Option<Moves>>,
}

impl CompactRows {
    /// Bytes of the rows for this many strips of joints.
    pub fn bytes(compact: &Compact, strips: usize) -> u64 {
        let frames = (compact.frames as usize).max(2);
        let lists = strips * (size_of::<RotationCoding>() + size_of::<Option<Moves>>());
        let moved = strips_that_move(compact.tracks.iter().map(|t| (t.joint, t.channel)), strips);
        let moves = moved * Aligned::<[Numbers; 6]>::bytes(frames);
        Aligned::<[Numbers; 3]>::bytes(frames * strips) + moves + lists as u64
    }

    /// The clip's rows; joints without a track take their values from `base`.
    pub fn new(compact: &Compact, base: &[Local<1>]) -> Self {
        let strips = base.len().div_ceil(STRIP);
        // Every time falls between two frames. A single frame is stored twice.
        let frames = (compact.frames as usize).max(2);
        let mut rows = Self {
            frames: Frames::of(compact),
            strips,
            rotations: (0..strips)
                .map(|strip| still_rotations(base, strip))
                .collect(),
            numbers: Aligned::zeroed(frames * strips),
            moves: (0..strips).map(|_| None).collect(),
        };
        for track in &compact.tracks {
            let (strip, lane) = place(track);
            if track.channel == Channel::Rotation {
                rows.rotations[strip].set(lane, track);
                continue;
            }
            let moves = rows.moves[strip].get_or_insert_with(|| Moves {
                low: vectors(base, strip),
                step: [[0.0; STRIP]; 6],
                numbers: Aligned::zeroed(frames),
            });
            let (first, Decoder { low, step }) = (first_number(track), track.decoder());
            for c in 0..3 {
                (moves.low[first + c][lane], moves.step[first + c][lane]) = (low[c], step[c]);
            }
        }
        for f in 0..frames {
            for (track, key) in compact.frame(f.min(compact.frames as usize - 1)) {
                let (strip, lane) = place(track);
                if track.channel == Channel::Rotation {
                    let numbers = &mut rows.numbers[f * strips + strip];
                    numbers
                        .iter_mut()
                        .zip(key.numbers)
                        .for_each(|(row, number)| row[lane] = number);
                    if track.dropped == ANY {
                        (0..2).for_each(|digit| {
                            numbers[digit][lane] |= u16::from(key.dropped >> digit & 1) << 15
                        });
                    }
                } else if let Some(moves) = &mut rows.moves[strip] {
                    let numbers = moves.numbers[f].iter_mut().skip(first_number(track));
                    numbers
                        .zip(key.numbers)
                        .for_each(|(row, number)| row[lane] = number);
                }
            }
        }
        rows
    }

    /// The frame before a time and the fraction of the way to the next one.
    pub fn seek(&self, time: f32) -> (usize, f32) {
        self.frames.place(time)
    }

    /// Returns whether any joint of a strip moves or scales.
    pub fn moves(&self, strip: usize) -> bool {
        self.moves[strip].is_some()
    }

    /// Rotations of `W` joints, at the fraction `arc` of the way from a frame to the next.
    #[inline(always)] // to take on the caller's instruction set
    pub fn rotations_at<const W: usize, S: Simd<W>>(
        &self,
        strip: usize,
        frame: usize,
        arc: &ShortArc,
        group: usize,
    ) -> [S::V; 4] {
        let at = frame * self.strips + strip;
        let (a, b) = (&self.numbers[at], &self.numbers[at + self.strips]);
        let rotations = &self.rotations[strip];
        let dropped = load_rows::<STRIP, W, S, 2>(&rotations.dropped, group);
        match &rotations.any {
            // Both frames leave out the same components, so the interpolation can run before components are put in
            // order.
            None => {
                let a = rotations.stored::<W, S>(widened::<W, S, 3>(a, group), group);
                let b = rotations.stored::<W, S>(widened::<W, S, 3>(b, group), group);
                placed::<W, S>(arc.between::<W, S>(a, b), dropped)
            }
            Some(any) => {
                let a = rotations.with_upper_bits::<W, S>(
                    any,
                    widened::<W, S, 3>(a, group),
                    dropped,
                    group,
                );
                let b = rotations.with_upper_bits::<W, S>(
                    any,
                    widened::<W, S, 3>(b, group),
                    dropped,
                    group,
                );
                arc.between::<W, S>(a, b)
            }
        }
    }

    /// Translations and scales of `W` joints; `None` if no joint of the strip moves.
    #[inline(always)] // as above
    pub fn vectors<const W: usize, S: Simd<W>>(
        &self,
        strip: usize,
        (frame, fraction): (usize, f32),
        group: usize,
    ) -> Option<[S::V; 6]> {
        let Some(Moves { low, step, numbers }) = &self.moves[strip] else {
            return None;
        };
        let (low, step) = (
            load_rows::<STRIP, W, S, 6>(low, group),
            load_rows::<STRIP, W, S, 6>(step, group),
        );
        let a = decoded::<W, S, 6>(low, step, widened::<W, S, 6>(&numbers[frame], group));
        let b = decoded::<W, S, 6>(low, step, widened::<W, S, 6>(&numbers[frame + 1], group));
        Some(line::<W, S>(a, b, fraction))
    }
}

/// Strip and lane of a track's joint.
fn place(track: &CompactTrack) -> (usize, usize) {
    (
        usize::from(track.joint) / STRIP,
        usize::from(track.joint) % STRIP,
    )
}

/// Index of a track's first number among those of translations and scales.
fn first_number(track: &CompactTrack) -> usize {
    if track.channel == Channel::Translation {
        0
    } else {
        3
    }
}

/// Constant rotations, encoded as numbers of 0: the lowest value of the range is the value.
fn still_rotations(base: &[Local<1>], strip: usize) -> RotationCoding {
    let rotation = |pose: &Local<1>| -> [f32; 4] { std::array::from_fn(|c| pose[ROTATION + c][0]) };
    let largest = |pose: &Local<1>| {
        let q = rotation(pose);
        (0..4)
            .max_by(|&a, &b| q[a].abs().total_cmp(&q[b].abs()))
            .unwrap_or(3)
    };
    RotationCoding {
        low: std::array::from_fn(|c| {
            row(base, strip, |pose| {
                without_tiny(without(&rotation(pose), largest(pose))[c])
            })
        }),
        step: [[0.0; STRIP]; 3],
        dropped: std::array::from_fn(|digit| {
            row(base, strip, |pose| digit_of(largest(pose), digit))
        }),
        any: None,
    }
}

/// A binary digit of a component: 1 or -1.
fn digit_of(component: usize, digit: usize) -> f32 {
    if component >> digit & 1 == 1 {
        1.0
    } else {
        -1.0
    }
}

impl RotationCoding {
    fn set(&mut self, lane: usize, track: &CompactTrack) {
        let Decoder { low, step } = track.decoder();
        for c in 0..3 {
            (self.low[c][lane], self.step[c][lane]) = (low[c], step[c]);
        }
        if track.dropped == ANY {
            let [joints, upper] = self.any.get_or_insert([[1.0; STRIP], [NEVER; STRIP]]);
            (joints[lane], upper[lane]) = (-1.0, UPPER);
        } else {
            (0..2).for_each(|digit| {
                self.dropped[digit][lane] = digit_of(track.dropped.into(), digit)
            });
        }
    }

    /// A key's three stored components, then the one left out.
    #[inline(always)] // as above
    fn stored<const W: usize, S: Simd<W>>(&self, numbers: [S::V; 3], group: usize) -> [S::V; 4] {
        let (low, step) = (
            load_rows::<STRIP, W, S, 3>(&self.low, group),
            load_rows::<STRIP, W, S, 3>(&self.step, group),
        );
        let [a, b, c] = decoded::<W, S, 3>(low, step, numbers);
        let others = S::mul_add(a, a, S::mul_add(b, b, S::mul(c, c)));
        let square = S::max(S::sub(S::splat(1.0), others), S::splat(f32::MIN_POSITIVE));
        [a, b, c, S::mul(square, S::inverse_sqrt(square))]
    }

    /// A key whose upper bits may encode the component left out, in the order x y z w.
    #[inline(always)] // as above
    fn with_upper_bits<const W: usize, S: Simd<W>>(
        &self,
        any: &[Row; 2],
        mut numbers: [S::V; 3],
        mut dropped: [S::V; 2],
        group: usize,
    ) -> [S::V; 4] {
        let [joints, upper] = load_rows::<STRIP, W, S, 2>(any, group);
        for (number, digit) in numbers.iter_mut().zip(&mut dropped) {
            let over = S::sub(*number, upper);
            *number = S::select_negative(over, *number, over);
            *digit = S::select_negative(joints, over, *digit);
        }
        placed::<W, S>(self.stored::<W, S>(numbers, group), dropped)
    }
}

/// Numbers as floats.
#[inline(always)] // as above
fn widened<const W: usize, S: Simd<W>, const R: usize>(
    numbers: &[Numbers; R],
    group: usize,
) -> [S::V; R] {
    let mut floats = [S::splat(0.0); R];
    for (v, numbers) in floats.iter_mut().zip(numbers) {
        *v = S::widen(&numbers.as_chunks().0[group]);
    }
    floats
}

#[inline(always)] // as above
fn decoded<const W: usize, S: Simd<W>, const R: usize>(
    low: [S::V; R],
    step: [S::V; R],
    mut numbers: [S::V; R],
) -> [S::V; R] {
    for (v, (low, step)) in numbers.iter_mut().zip(low.into_iter().zip(step)) {
        *v = S::mul_add(*v, step, low);
    }
    numbers
}

/// Three components and the one left out, in the order x y z w.
#[inline(always)] // as above
fn placed<const W: usize, S: Simd<W>>(
    [a, b, c, left_out]: [S::V; 4],
    [ones, twos]: [S::V; 2],
) -> [S::V; 4] {
    [
        S::select_negative(twos, S::select_negative(ones, left_out, a), a),
        S::select_negative(twos, S::select_negative(ones, a, left_out), b),
        S::select_negative(twos, b, S::select_negative(ones, left_out, c)),
        S::select_negative(twos, c, S::select_negative(ones, c, left_out)),
    ]
}
