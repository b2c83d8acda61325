//! 256-bit vectors.

use super::operators::operators;
use super::vector::Simd;
use glam::Vec4;
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// AVX2 and FMA; entered only if both were detected.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct F32x8(__m256);

#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "one argument covers all operations on registers: the type does not leave the crate, and only functions with \
              its target features use it, after `Isa::is_available` has detected them. Accesses to memory add their own."
)]
impl Simd<8> for F32x8 {
    #[inline(always)] // as all below: these are single instructions, and take on the caller's instruction set
    fn splat(value: f32) -> Self {
        unsafe { Self(_mm256_set1_ps(value)) }
    }
    #[inline(always)]
    fn load(from: &[f32; 8]) -> Self {
        // SAFETY: an array of 8 floats is valid for 32 bytes; the load needs no alignment.
        unsafe { Self(_mm256_loadu_ps(from.as_ptr())) }
    }
    #[inline(always)]
    fn pick(windows: [&[u8; 16]; 4], picks: Self, masks: Self) -> Self {
        // SAFETY: the windows are valid for 16 bytes; the loads need no alignment.
        unsafe {
            let low = _mm_loadu_si128(windows[0].as_ptr().cast());
            let high = _mm_loadu_si128(windows[1].as_ptr().cast());
            let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
            let bytes = _mm256_shuffle_epi8(both, _mm256_castps_si256(picks.0));
            Self(_mm256_cvtepi32_ps(_mm256_and_si256(
                bytes,
                _mm256_castps_si256(masks.0),
            )))
        }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 8]) {
        // SAFETY: the array is valid for 32 bytes and borrowed mutably; the store needs no alignment.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn stream(self, to: &mut [f32; 8]) {
        if to.as_ptr().cast::<__m256>().is_aligned() {
            // SAFETY: as for a store, and the pointer is aligned to 32 bytes. `fence` orders what follows.
            unsafe { _mm256_stream_ps(to.as_mut_ptr(), self.0) }
        } else {
            self.store(to);
        }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        unsafe { Self(_mm256_fmadd_ps(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        unsafe { Self(_mm256_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        unsafe { Self(_mm256_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn inverse_sqrt(self) -> Self {
        // 12 bits, then one Newton step: e * (1.5 - v/2 * e * e).
        unsafe {
            let e = _mm256_rsqrt_ps(self.0);
            let half = _mm256_mul_ps(self.0, _mm256_set1_ps(0.5));
            let newton = _mm256_fnmadd_ps(_mm256_mul_ps(half, e), e, _mm256_set1_ps(1.5));
            Self(_mm256_mul_ps(e, newton))
        }
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        unsafe {
            let bit = _mm256_set1_ps(-0.0);
            let magnitude = _mm256_andnot_ps(bit, self.0);
            Self(_mm256_or_ps(magnitude, _mm256_and_ps(bit, sign.0)))
        }
    }
    #[inline(always)]
    fn select_negative(by: Self, a: Self, b: Self) -> Self {
        unsafe { Self(_mm256_blendv_ps(b.0, a.0, by.0)) }
    }
    #[inline(always)]
    fn pack_16(low: Self, high: Self) -> Self {
        unsafe {
            let low = _mm256_and_si256(_mm256_cvtps_epi32(low.0), _mm256_set1_epi32(0xffff));
            let high = _mm256_slli_epi32::<16>(_mm256_cvtps_epi32(high.0));
            Self(_mm256_castsi256_ps(_mm256_or_si256(low, high)))
        }
    }
    #[inline(always)]
    fn to_half(self) -> Self {
        unsafe {
            Self(_mm256_cvtph_ps(
                _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0),
            ))
        }
    }
    #[inline(always)]
    fn pack_half(low: Self, high: Self) -> Self {
        unsafe {
            let low = _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(low.0));
            let high = _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(high.0));
            Self(_mm256_castsi256_ps(_mm256_or_si256(
                low,
                _mm256_slli_epi32::<16>(high),
            )))
        }
    }
    #[inline(always)]
    fn transpose(r: &mut [Self; 8]) {
        // 24 shuffles: pairs, then fours, then halves.
        unsafe {
            for i in (0..8).step_by(2) {
                let [a, b] = [r[i].0, r[i + 1].0];
                r[i] = Self(_mm256_unpacklo_ps(a, b));
                r[i + 1] = Self(_mm256_unpackhi_ps(a, b));
            }
            for i in [0, 4] {
                let [a, b, c, d] = [r[i].0, r[i + 1].0, r[i + 2].0, r[i + 3].0];
                r[i] = Self(_mm256_shuffle_ps::<0x44>(a, c));
                r[i + 1] = Self(_mm256_shuffle_ps::<0xee>(a, c));
                r[i + 2] = Self(_mm256_shuffle_ps::<0x44>(b, d));
                r[i + 3] = Self(_mm256_shuffle_ps::<0xee>(b, d));
            }
            for i in 0..4 {
                let [a, b] = [r[i].0, r[i + 4].0];
                r[i] = Self(_mm256_permute2f128_ps::<0x20>(a, b));
                r[i + 4] = Self(_mm256_permute2f128_ps::<0x31>(a, b));
            }
        }
    }
    #[inline(always)]
    fn columns(rows: [Self; 4]) -> [Vec4; 8] {
        unsafe {
            let mut columns = [Vec4::ZERO; 8];
            for (column, v) in in_halves(rows).into_iter().enumerate() {
                columns[column] = _mm256_castps256_ps128(v.0).into();
                columns[4 + column] = _mm256_extractf128_ps::<1>(v.0).into();
            }
            columns
        }
    }
    #[inline(always)]
    fn rows(columns: &[Vec4; 8]) -> [Self; 4] {
        unsafe {
            let mut halves = [Self(_mm256_setzero_ps()); 4];
            for (column, v) in halves.iter_mut().enumerate() {
                *v = Self(_mm256_set_m128(
                    columns[4 + column].into(),
                    columns[column].into(),
                ));
            }
            in_halves(halves)
        }
    }
    #[inline(always)]
    fn mul_add_128(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        unsafe { _mm_fmadd_ps(a.into(), b.into(), c.into()).into() }
    }
    #[inline(always)]
    fn product_128(a: &[f32; 12], b: &[Vec4; 3]) -> [Vec4; 3] {
        // The first two rows side by side.
        let [first @ .., x, y, z, t] = *a;
        let first = Self::load(&first).0;
        let last = Vec4::new(0.0, 0.0, 0.0, t);
        let last = Self::mul_add_128(Vec4::splat(z), b[2], last);
        let last = Self::mul_add_128(Vec4::splat(y), b[1], last);
        let last = Self::mul_add_128(Vec4::splat(x), b[0], last);
        unsafe {
            let moved = _mm256_blend_ps::<0b1000_1000>(_mm256_setzero_ps(), first);
            let twice = b.map(|row| _mm256_set_m128(row.into(), row.into()));
            let sum = _mm256_fmadd_ps(_mm256_permute_ps::<0b10_10_10_10>(first), twice[2], moved);
            let sum = _mm256_fmadd_ps(_mm256_permute_ps::<0b01_01_01_01>(first), twice[1], sum);
            let pair = _mm256_fmadd_ps(_mm256_permute_ps::<0b00_00_00_00>(first), twice[0], sum);
            [
                _mm256_castps256_ps128(pair).into(),
                _mm256_extractf128_ps::<1>(pair).into(),
                last,
            ]
        }
    }
    #[inline(always)]
    fn add_rows(weight: f32, rows: &[f32; 12], sum: Option<[Vec4; 3]>) -> [Vec4; 3] {
        // The first two rows side by side.
        let [a, b, c, d, e, f, g, h, third @ ..] = *rows;
        let mut pair = Self::load(&[a, b, c, d, e, f, g, h]).0;
        let mut third = Vec4::from_array(third);
        let weights = Self::splat(weight).0;
        let weight = Vec4::splat(weight);
        unsafe {
            if let Some([x, y, z]) = sum {
                let sum = _mm256_set_m128(y.into(), x.into());
                pair = _mm256_fmadd_ps(weights, pair, sum);
                third = Self::mul_add_128(weight, third, z);
            } else {
                pair = _mm256_mul_ps(weights, pair);
                third = weight * third;
            }
            [
                _mm256_castps256_ps128(pair).into(),
                _mm256_extractf128_ps::<1>(pair).into(),
                third,
            ]
        }
    }
}

operators!(F32x8: _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps);

/// Transposes four rows of four in both halves at once, by 8 shuffles: pairs, then fours.
#[inline(always)] // as above
fn in_halves([F32x8(a), F32x8(b), F32x8(c), F32x8(d)]: [F32x8; 4]) -> [F32x8; 4] {
    // SAFETY: as for the operations above, which alone call it.
    unsafe {
        let ab = _mm256_unpacklo_ps(a, b);
        let cd = _mm256_unpacklo_ps(c, d);
        let more_ab = _mm256_unpackhi_ps(a, b);
        let more_cd = _mm256_unpackhi_ps(c, d);
        [
            F32x8(_mm256_shuffle_ps::<0x44>(ab, cd)),
            F32x8(_mm256_shuffle_ps::<0xee>(ab, cd)),
            F32x8(_mm256_shuffle_ps::<0x44>(more_ab, more_cd)),
            F32x8(_mm256_shuffle_ps::<0xee>(more_ab, more_cd)),
        ]
    }
}
