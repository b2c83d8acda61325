//! 512-bit vectors.

use super::operators::operators;
use super::vector::Simd;
use glam::Vec4;
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// AVX-512F, BW, DQ and VL; entered only if they were detected.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct F32x16(__m512);

#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one argument covers all operations on registers: the type does not leave the crate, and only functions with \
              its target features use it, after `Isa::is_available` has detected them. Accesses to memory add their own."
)]
impl Simd<16> for F32x16 {
    #[inline(always)] // as all below: these are single instructions, and take on the caller's instruction set
    fn splat(value: f32) -> Self {
        unsafe { Self(_mm512_set1_ps(value)) }
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        // SAFETY: an array of 16 floats is valid for 64 bytes; the load needs no alignment.
        unsafe { Self(_mm512_loadu_ps(from.as_ptr())) }
    }
    #[inline(always)]
    fn pick(windows: [&[u8; 16]; 4], picks: Self, masks: Self) -> Self {
        // SAFETY: the windows are valid for 16 bytes; the loads need no alignment.
        unsafe {
            let [a, b, c, d] = windows;
            let mut all = _mm512_castsi128_si512(_mm_loadu_si128(a.as_ptr().cast()));
            all = _mm512_inserti32x4::<1>(all, _mm_loadu_si128(b.as_ptr().cast()));
            all = _mm512_inserti32x4::<2>(all, _mm_loadu_si128(c.as_ptr().cast()));
            all = _mm512_inserti32x4::<3>(all, _mm_loadu_si128(d.as_ptr().cast()));
            let bytes = _mm512_shuffle_epi8(all, _mm512_castps_si512(picks.0));
            Self(_mm512_cvtepi32_ps(_mm512_and_si512(
                bytes,
                _mm512_castps_si512(masks.0),
            )))
        }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        // SAFETY: the array is valid for 64 bytes and borrowed mutably; the store needs no alignment.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn stream(self, to: &mut [f32; 16]) {
        if to.as_ptr().cast::<__m512>().is_aligned() {
            // SAFETY: as for a store, and the pointer is aligned to 64 bytes. `fence` orders what follows.
            unsafe { _mm512_stream_ps(to.as_mut_ptr(), self.0) }
        } else {
            self.store(to);
        }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        unsafe { Self(_mm512_fmadd_ps(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        unsafe { Self(_mm512_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        unsafe { Self(_mm512_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn inverse_sqrt(self) -> Self {
        // 14 bits, then one Newton step: e * (1.5 - v/2 * e * e).
        unsafe {
            let e = _mm512_rsqrt14_ps(self.0);
            let half = _mm512_mul_ps(self.0, _mm512_set1_ps(0.5));
            let newton = _mm512_fnmadd_ps(_mm512_mul_ps(half, e), e, _mm512_set1_ps(1.5));
            Self(_mm512_mul_ps(e, newton))
        }
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        unsafe {
            let bit = _mm512_set1_ps(-0.0);
            let magnitude = _mm512_andnot_ps(bit, self.0);
            Self(_mm512_or_ps(magnitude, _mm512_and_ps(bit, sign.0)))
        }
    }
    #[inline(always)]
    fn select_negative(by: Self, a: Self, b: Self) -> Self {
        unsafe {
            let negative = _mm512_movepi32_mask(_mm512_castps_si512(by.0));
            Self(_mm512_mask_blend_ps(negative, b.0, a.0))
        }
    }
    #[inline(always)]
    fn pack_16(low: Self, high: Self) -> Self {
        unsafe {
            let low = _mm512_and_si512(_mm512_cvtps_epi32(low.0), _mm512_set1_epi32(0xffff));
            let high = _mm512_slli_epi32::<16>(_mm512_cvtps_epi32(high.0));
            Self(_mm512_castsi512_ps(_mm512_or_si512(low, high)))
        }
    }
    #[inline(always)]
    fn to_half(self) -> Self {
        unsafe {
            Self(_mm512_cvtph_ps(
                _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0),
            ))
        }
    }
    #[inline(always)]
    fn pack_half(low: Self, high: Self) -> Self {
        unsafe {
            let low = _mm512_cvtepu16_epi32(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(low.0));
            let high = _mm512_cvtepu16_epi32(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(high.0));
            Self(_mm512_castsi512_ps(_mm512_or_si512(
                low,
                _mm512_slli_epi32::<16>(high),
            )))
        }
    }
    #[inline(always)]
    fn transpose(r: &mut [Self; 16]) {
        // 64 shuffles: pairs, fours, then quarters of 128 bits twice.
        unsafe {
            for i in (0..16).step_by(2) {
                let [a, b] = [r[i].0, r[i + 1].0];
                r[i] = Self(_mm512_unpacklo_ps(a, b));
                r[i + 1] = Self(_mm512_unpackhi_ps(a, b));
            }
            for i in (0..16).step_by(4) {
                let [a, b, c, d] = [r[i].0, r[i + 1].0, r[i + 2].0, r[i + 3].0];
                r[i] = Self(_mm512_shuffle_ps::<0x44>(a, c));
                r[i + 1] = Self(_mm512_shuffle_ps::<0xee>(a, c));
                r[i + 2] = Self(_mm512_shuffle_ps::<0x44>(b, d));
                r[i + 3] = Self(_mm512_shuffle_ps::<0xee>(b, d));
            }
            // Here r[4g + c] holds, in quarter q, column 4q + c of rows 4g to 4g + 3.
            for c in 0..4 {
                let [w, x, y, z] = [r[c].0, r[4 + c].0, r[8 + c].0, r[12 + c].0];
                let even = _mm512_shuffle_f32x4::<0x88>(w, x);
                let odd = _mm512_shuffle_f32x4::<0xdd>(w, x);
                let more_even = _mm512_shuffle_f32x4::<0x88>(y, z);
                let more_odd = _mm512_shuffle_f32x4::<0xdd>(y, z);
                r[c] = Self(_mm512_shuffle_f32x4::<0x88>(even, more_even));
                r[4 + c] = Self(_mm512_shuffle_f32x4::<0x88>(odd, more_odd));
                r[8 + c] = Self(_mm512_shuffle_f32x4::<0xdd>(even, more_even));
                r[12 + c] = Self(_mm512_shuffle_f32x4::<0xdd>(odd, more_odd));
            }
        }
    }
    #[inline(always)]
    fn columns(rows: [Self; 4]) -> [Vec4; 16] {
        unsafe {
            let mut columns = [Vec4::ZERO; 16];
            for (column, v) in in_quarters(rows).into_iter().enumerate() {
                columns[column] = _mm512_castps512_ps128(v.0).into();
                columns[4 + column] = _mm512_extractf32x4_ps::<1>(v.0).into();
                columns[8 + column] = _mm512_extractf32x4_ps::<2>(v.0).into();
                columns[12 + column] = _mm512_extractf32x4_ps::<3>(v.0).into();
            }
            columns
        }
    }
    #[inline(always)]
    fn rows(columns: &[Vec4; 16]) -> [Self; 4] {
        unsafe {
            let mut quarters = [Self(_mm512_setzero_ps()); 4];
            for (column, v) in quarters.iter_mut().enumerate() {
                let mut all = _mm512_castps128_ps512(columns[column].into());
                all = _mm512_insertf32x4::<1>(all, columns[4 + column].into());
                all = _mm512_insertf32x4::<2>(all, columns[8 + column].into());
                all = _mm512_insertf32x4::<3>(all, columns[12 + column].into());
                *v = Self(all);
            }
            in_quarters(quarters)
        }
    }
    #[inline(always)]
    fn interleave<const N: usize>(rows: &[Self; N]) -> [Self; N] {
        let mut out = *rows;
        if !N.is_multiple_of(2) {
            merge::<N>(rows, &mut out);
            return out;
        }
        // Pairs of numbers: those of the first eight vertices, then those of the others.
        let mut pairs = *rows;
        unsafe {
            let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let others = _mm512_add_epi32(first, _mm512_set1_epi32(8));
            for (pair, numbers) in rows.as_chunks::<2>().0.iter().enumerate() {
                let [a, b] = *numbers;
                pairs[pair] = Self(_mm512_permutex2var_ps(a.0, first, b.0));
                pairs[N / 2 + pair] = Self(_mm512_permutex2var_ps(a.0, others, b.0));
            }
        }
        merge::<N>(&pairs[..N / 2], &mut out[..N / 2]);
        merge::<N>(&pairs[N / 2..], &mut out[N / 2..]);
        out
    }
    #[inline(always)]
    fn joined(before: Self, after: Self, count: usize) -> Self {
        unsafe {
            let all = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let places = _mm512_add_epi32(all, _mm512_set1_epi32(16 - count as i32));
            Self(_mm512_permutex2var_ps(before.0, places, after.0))
        }
    }
}

operators!(F32x16: _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps);

/// Interleaves rows of numbers, or of pairs of numbers if `N` is even.
#[inline(always)] // as above
fn merge<const N: usize>(rows: &[F32x16], out: &mut [F32x16]) {
    for (places, out) in Merge::<N>::PLACES.iter().zip(out) {
        let mut all = rows[0].0;
        for (places, row) in places.iter().zip(&rows[1..]) {
            // SAFETY: as for the operations above, which alone call it; an array of 16 integers is valid for 64 bytes.
            unsafe {
                let places = _mm512_loadu_si512(places.as_ptr().cast());
                all = _mm512_permutex2var_ps(all, places, row.0);
            }
        }
        *out = F32x16(all);
    }
}

/// Interleaving of vertices of `N` numbers.
struct Merge<const N: usize>;

impl<const N: usize> Merge<N> {
    /// `[output][step]`: for each lane its place in what was merged before and, from 16 on, in the next row.
    const PLACES: [[[i32; 16]; N]; N] = {
        let size = if N.is_multiple_of(2) { 2 } else { 1 };
        let rows = N / size;
        let mut all = [[[0; 16]; N]; N];
        let mut place = 0;
        while place < 16 * rows {
            let lane = place % 16;
            let item = place / size;
            let from = (item / rows * size + place % size) as i32;
            let mut step = 0;
            while step + 1 < rows {
                all[place / 16][step][lane] = if item % rows == step + 1 {
                    16 + from
                } else if step == 0 {
                    from
                } else {
                    lane as i32
                };
                step += 1;
            }
            place += 1;
        }
        all
    };
}

/// Transposes four rows of four in all quarters at once, by 8 shuffles: pairs, then fours.
#[inline(always)] // as above
fn in_quarters([F32x16(a), F32x16(b), F32x16(c), F32x16(d)]: [F32x16; 4]) -> [F32x16; 4] {
    // SAFETY: as for the operations above, which alone call it.
    unsafe {
        let ab = _mm512_unpacklo_ps(a, b);
        let cd = _mm512_unpacklo_ps(c, d);
        let more_ab = _mm512_unpackhi_ps(a, b);
        let more_cd = _mm512_unpackhi_ps(c, d);
        [
            F32x16(_mm512_shuffle_ps::<0x44>(ab, cd)),
            F32x16(_mm512_shuffle_ps::<0xee>(ab, cd)),
            F32x16(_mm512_shuffle_ps::<0x44>(more_ab, more_cd)),
            F32x16(_mm512_shuffle_ps::<0xee>(more_ab, more_cd)),
        ]
    }
}
