//! A compact clip for kernels that decode 16 joints at once: where its frames have the joints' numbers, and the values
//! that they stand for. The frames themselves are read where the clip stores them.

use super::arc::ShortArc;
use super::joint_strip::{Row, STRIP, Vectors, row, vectors};
use super::sample_compact::Frames;
use super::{Local, ROTATION};
use crate::model::Channel;
use crate::model::compact::{
    ANY, Compact, CompactTrack, KeyPlace, SPARE, largest_component, without, without_tiny,
};
use crate::simd::Simd;
use std::sync::Arc;

/// Lanes that pick their bytes from one window.
const QUAD: usize = 4;
/// The highest byte of a pick, which no number reaches. It makes a float of it whose sign is free.
const SIGN_BYTE: u32 = 0x4000_0000;

/// Places of `N` numbers of each joint of a strip.
#[repr(C)]
struct Fields<const N: usize> {
    /// For each lane, the bytes that contain its number, as [`Simd::pick`] takes them.
    picks: [Row; N],
    /// The bits of these bytes that are the number.
    masks: [Row; N],
    /// Byte of a frame at which the window of a quad of lanes begins.
    windows: [[u32; STRIP / QUAD]; N],
}

/// A channel of a strip's joints: each component is `low + number * step`.
#[repr(C, align(64))] // rows on cache lines
struct Coding {
    low: [Row; 3],
    /// Of numbers that keep their place within a byte.
    step: [Row; 3],
    /// The signs of the first two picks are the binary digits of the component that a rotation leaves out, negative for
    /// 0. That of the third is negative if each key has these digits.
    fields: Fields<3>,
    /// Binary digits of the components that keys leave out, if those of any joint choose one.
    choices: Option<Box<Choices>>,
}

#[repr(align(64))] // as above
struct Choices(Fields<2>);

/// How the frames of a compact clip are decoded.
pub(super) struct CompactRows {
    frames: Frames,
    row: usize,
    /// The clip's own.
    numbers: Arc<[u8]>,
    /// One item per strip.
    rotations: Vec<Coding>,
    /// Translations and scales of each strip, if any of its joints moves or scales.
    moves: Vec<[Option<Box<Coding>>; 2]>,
}

impl CompactRows {
    /// Bytes of the rows, without the clip's own.
    pub fn bytes(&self) -> u64 {
        let mut bytes = size_of_val(&self.rotations[..]) + size_of_val(&self.moves[..]);
        for coding in &self.rotations {
            bytes += coding.choices.iter().len() * size_of::<Choices>();
        }
        bytes += self.moves.iter().flatten().flatten().count() * size_of::<Coding>();
        bytes as u64
    }

    /// The clip's rows; joints without a track take their values from `base`.
    pub fn new(compact: &Compact, base: &[Local<1>]) -> Self {
        let strips = base.len().div_ceil(STRIP);
        let mut rows = Self {
            frames: Frames::of(compact),
            row: compact.row,
            numbers: compact.numbers.clone(),
            rotations: (0..strips)
                .map(|strip| still_rotations(base, strip))
                .collect(),
            moves: (0..strips).map(|_| [None, None]).collect(),
        };
        if rows.numbers.is_empty() {
            rows.numbers = Arc::new([0; SPARE]);
        }
        let places: Vec<_> = compact.places().collect();
        let quads = places.chunk_by(|(a, _), (b, _)| {
            a.joint / QUAD as u16 == b.joint / QUAD as u16 && a.channel == b.channel
        });
        for quad in quads {
            // The first joint's numbers come first.
            let window = quad[0].1;
            for (track, place) in quad {
                rows.set(base, track, *place, window);
            }
        }
        rows
    }

    /// Sets how a track is decoded; `window` is the place of the first track of its quad.
    fn set(&mut self, base: &[Local<1>], track: &CompactTrack, place: KeyPlace, window: KeyPlace) {
        let strip = track.strip();
        let lane = usize::from(track.joint) % STRIP;
        let [translations, scales] = &mut self.moves[strip];
        let coding = match track.channel {
            Channel::Rotation => &mut self.rotations[strip],
            Channel::Translation => {
                let [x, y, z, ..] = vectors(base, strip);
                translations.get_or_insert_with(|| Box::new(Coding::still([x, y, z])))
            }
            Channel::Scale => {
                let [.., x, y, z] = vectors(base, strip);
                scales.get_or_insert_with(|| Box::new(Coding::still([x, y, z])))
            }
        };
        let decoder = track.decoder();
        for c in 0..3 {
            coding
                .fields
                .set(c, lane, place[c], track.bits[c], window[c]);
            coding.low[c][lane] = decoder.low[c];
            coding.step[c][lane] = decoder.step[c] / (1 << (place[c] % 8)) as f32;
        }
        if track.dropped == ANY {
            coding.fields.sign(2, lane, -1.0);
            let choices = &mut coding.choices;
            let choices = choices.get_or_insert_with(|| Box::new(Choices(Fields::none())));
            for digit in 0..2 {
                choices.0.set(digit, lane, place[3] + digit, 1, window[3]);
            }
        } else if track.channel == Channel::Rotation {
            coding.leave_out(lane, track.dropped.into());
        }
    }

    /// Returns whether any joint of a strip moves or scales.
    pub fn moves(&self, strip: usize) -> bool {
        self.moves[strip].iter().any(Option::is_some)
    }

    /// The frames around a time.
    #[inline(always)] // to take on the caller's instruction set
    pub fn at<const W: usize, V: Simd<W>>(&self, time: f32) -> CompactPair<'_> {
        let (first, fraction) = self.frames.place(time);
        let next = self.frames.after(first);
        CompactPair {
            rows: self,
            before: &self.numbers[first * self.row..][..self.row + SPARE],
            after: &self.numbers[next * self.row..][..self.row + SPARE],
            fraction,
            arc: ShortArc::new::<W, V>(fraction),
        }
    }
}

/// Two neighbouring frames, and a time between them.
#[derive(Clone)]
pub(super) struct CompactPair<'a> {
    rows: &'a CompactRows,
    before: &'a [u8],
    after: &'a [u8],
    /// Part of the way to the later frame, 0 to 1.
    fraction: f32,
    arc: ShortArc,
}

impl CompactPair<'_> {
    /// Rotations of `W` joints.
    #[inline(always)] // as above
    pub fn rotations<const W: usize, V: Simd<W>>(&self, strip: usize, chunk: usize) -> [V; 4] {
        let coding = &self.rows.rotations[strip];
        // SAFETY: both frames are of the clip that the rows were made for.
        let a = unsafe { coding.rotations::<W, V>(self.before, chunk) };
        // SAFETY: as above.
        let b = unsafe { coding.rotations::<W, V>(self.after, chunk) };
        let [ones, twos, choosing] = V::load_rows(&coding.fields.picks, chunk);
        let Some(choices) = &coding.choices else {
            // Both frames leave out the same components, so the interpolation can run before components are put in
            // order.
            return placed(self.arc.between(a, b), [ones, twos]);
        };
        let mut ordered = [a, b];
        for (q, frame) in ordered.iter_mut().zip([self.before, self.after]) {
            let mut digits = [ones, twos];
            // SAFETY: as above.
            let chosen = unsafe { choices.0.read::<W, V>(frame, chunk) };
            for (digit, chosen) in digits.iter_mut().zip(chosen) {
                // A digit that is set is more than 0.
                let chosen = chosen - V::splat(0.5);
                *digit = V::select_negative(choosing, chosen, *digit);
            }
            *q = placed(*q, digits);
        }
        self.arc.between(ordered[0], ordered[1])
    }

    /// Translations and scales of `W` joints; those of channels that no joint of the strip changes are `still`.
    #[inline(always)] // as above
    pub fn vectors<const W: usize, V: Simd<W>>(
        &self,
        strip: usize,
        chunk: usize,
        still: &Vectors,
    ) -> [V; 6] {
        let mut vectors = V::load_rows(still, chunk);
        let channels = vectors.as_chunks_mut::<3>().0.iter_mut();
        for (v, coding) in channels.zip(&self.rows.moves[strip]) {
            let Some(coding) = coding else { continue };
            // SAFETY: both frames are of the clip that the rows were made for.
            let a = unsafe { coding.values::<W, V>(self.before, chunk) };
            // SAFETY: as above.
            let b = unsafe { coding.values::<W, V>(self.after, chunk) };
            for (v, (a, b)) in v.iter_mut().zip(a.into_iter().zip(b)) {
                *v = V::splat(self.fraction).mul_add(b - a, a);
            }
        }
        vectors
    }
}

impl<const N: usize> Fields<N> {
    /// Numbers of no bits, which are 0.
    fn none() -> Self {
        Self {
            picks: [[f32::from_bits(SIGN_BYTE); STRIP]; N],
            masks: [[0.0; STRIP]; N],
            windows: [[0; STRIP / QUAD]; N],
        }
    }

    /// Sets the place of a lane's number of `width` bits in a frame. `first` is that of its quad's first lane.
    fn set(&mut self, number: usize, lane: usize, place: usize, width: u8, first: usize) {
        let byte = (place / 8 - first / 8) as u32;
        let pick = byte | (byte + 1) << 8 | (byte + 2) << 16 | SIGN_BYTE;
        let mask = ((1u32 << width) - 1) << (place % 8);
        self.windows[number][lane / QUAD] = (first / 8) as u32;
        self.picks[number][lane] = f32::from_bits(pick);
        self.masks[number][lane] = f32::from_bits(mask);
    }

    /// Gives a lane's pick a sign.
    fn sign(&mut self, number: usize, lane: usize, sign: f32) {
        let pick = &mut self.picks[number][lane];
        *pick = pick.copysign(sign);
    }

    /// The numbers of `W` joints, each times 2 to the power of its place within a byte.
    ///
    /// # Safety
    /// `frame` must be a frame of the clip whose places were set, and the [`SPARE`] bytes after it.
    #[inline(always)] // as above
    unsafe fn read<const W: usize, V: Simd<W>>(&self, frame: &[u8], chunk: usize) -> [V; N] {
        let mut numbers = [V::splat(0.0); N];
        for (index, v) in numbers.iter_mut().enumerate() {
            let mut windows = [&[0; SPARE]; STRIP / QUAD];
            for (quad, window) in windows.iter_mut().enumerate() {
                let first = self.windows[index][(chunk * W / QUAD + quad) % (STRIP / QUAD)];
                // SAFETY: windows begin within a frame, and `SPARE` bytes follow it.
                *window = unsafe { &*frame.as_ptr().add(first as usize).cast() };
            }
            let pick = V::load_chunk(&self.picks[index], chunk);
            let mask = V::load_chunk(&self.masks[index], chunk);
            *v = V::pick(windows, pick, mask);
        }
        numbers
    }
}

impl Coding {
    /// Constant values.
    fn still(low: [Row; 3]) -> Self {
        Self {
            fields: Fields::none(),
            choices: None,
            low,
            step: [[0.0; STRIP]; 3],
        }
    }

    /// Sets the component that a lane's rotations leave out.
    fn leave_out(&mut self, lane: usize, component: usize) {
        for digit in 0..2 {
            let is_set = component >> digit & 1 == 1;
            self.fields
                .sign(digit, lane, if is_set { 1.0 } else { -1.0 });
        }
    }

    /// The three components of `W` joints' keys.
    ///
    /// # Safety
    /// As for [`Fields::read`].
    #[inline(always)] // as above
    unsafe fn values<const W: usize, V: Simd<W>>(&self, frame: &[u8], chunk: usize) -> [V; 3] {
        // SAFETY: the caller's promise.
        let mut values = unsafe { self.fields.read::<W, V>(frame, chunk) };
        let low = V::load_rows(&self.low, chunk);
        let step = V::load_rows(&self.step, chunk);
        for (v, (low, step)) in values.iter_mut().zip(low.into_iter().zip(step)) {
            *v = v.mul_add(step, low);
        }
        values
    }

    /// The three stored components of `W` joints' rotations, then the one left out.
    ///
    /// # Safety
    /// As for [`Fields::read`].
    #[inline(always)] // as above
    unsafe fn rotations<const W: usize, V: Simd<W>>(&self, frame: &[u8], chunk: usize) -> [V; 4] {
        // SAFETY: the caller's promise.
        let [a, b, c] = unsafe { self.values::<W, V>(frame, chunk) };
        let others = a.mul_add(a, b.mul_add(b, c * c));
        let square = (V::splat(1.0) - others).max(V::splat(f32::MIN_POSITIVE));
        [a, b, c, square * square.inverse_sqrt()]
    }
}

fn rotation_of(pose: &Local<1>) -> [f32; 4] {
    std::array::from_fn(|c| pose[ROTATION + c][0])
}

/// Constant rotations, encoded as numbers of 0: the lowest value of the range is the value.
fn still_rotations(base: &[Local<1>], strip: usize) -> Coding {
    let mut coding = Coding::still(std::array::from_fn(|c| {
        row(base, strip, |pose| {
            let q = rotation_of(pose);
            without_tiny(without(&q, largest_component(&q))[c])
        })
    }));
    let left_out = row(base, strip, |pose| {
        largest_component(&rotation_of(pose)) as f32
    });
    for (lane, component) in left_out.into_iter().enumerate() {
        coding.leave_out(lane, component as usize);
    }
    coding
}

/// Three components and the one left out, in the order x y z w.
#[inline(always)] // as above
fn placed<const W: usize, V: Simd<W>>([a, b, c, left_out]: [V; 4], [ones, twos]: [V; 2]) -> [V; 4] {
    [
        V::select_negative(twos, V::select_negative(ones, left_out, a), a),
        V::select_negative(twos, V::select_negative(ones, a, left_out), b),
        V::select_negative(twos, b, V::select_negative(ones, left_out, c)),
        V::select_negative(twos, c, V::select_negative(ones, c, left_out)),
    ]
}
