//! 128-bit vectors by glam: SSE2 on x86-64, NEON on aarch64, plain floats elsewhere.

use super::vector::Simd;
use glam::{BVec4A, UVec4, Vec4};
use half::f16;

/// 128-bit vectors, which every target has. No fused multiply-add: it would be a function call on some targets.
impl Simd<4> for Vec4 {
    #[inline(always)] // as all below: these are single instructions
    fn splat(value: f32) -> Vec4 {
        Vec4::splat(value)
    }
    #[inline(always)]
    fn load(from: &[f32; 4]) -> Vec4 {
        Vec4::from_array(*from)
    }
    #[inline(always)]
    fn pick(windows: [&[u8; 16]; 4], picks: Vec4, masks: Vec4) -> Vec4 {
        let window = windows[0];
        let mut numbers = [0; 4];
        for ((number, pick), mask) in numbers
            .iter_mut()
            .zip(picks.to_array())
            .zip(masks.to_array())
        {
            let first = (pick.to_bits() & 7) as usize;
            let bytes = [
                window[first],
                window[first + 1],
                window[first + 2],
                window[first + 3],
            ];
            *number = i32::from_le_bytes(bytes) & mask.to_bits() as i32;
        }
        let [a, b, c, d] = numbers;
        Vec4::new(a as f32, b as f32, c as f32, d as f32)
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 4]) {
        *to = self.to_array();
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn stream(self, to: &mut [f32; 4]) {
        use std::arch::x86_64::{__m128, _mm_stream_ps};
        if to.as_ptr().cast::<__m128>().is_aligned() {
            // SAFETY: the pointer is aligned and valid for 16 bytes; every x86-64 has SSE.
            unsafe { _mm_stream_ps(to.as_mut_ptr(), self.into()) }
        } else {
            self.store(to);
        }
    }
    #[inline(always)]
    fn mul_add(self, b: Vec4, c: Vec4) -> Vec4 {
        self * b + c
    }
    #[inline(always)]
    fn max(self, other: Vec4) -> Vec4 {
        Self::max(self, other)
    }
    #[inline(always)]
    fn min(self, other: Vec4) -> Vec4 {
        Self::min(self, other)
    }
    #[inline(always)]
    fn inverse_sqrt(self) -> Vec4 {
        let root = self.to_array().map(f32::sqrt);
        Vec4::ONE / Vec4::from_array(root)
    }
    #[inline(always)]
    fn copysign(self, sign: Vec4) -> Vec4 {
        Self::copysign(self, sign)
    }
    #[inline(always)]
    fn select_negative(by: Vec4, a: Vec4, b: Vec4) -> Vec4 {
        let negative: BVec4A = by.cmplt(Vec4::ZERO);
        Vec4::select(negative, a, b)
    }
    #[inline(always)]
    fn pack_16(low: Vec4, high: Vec4) -> Vec4 {
        // Adding 1.5 * 2^23 leaves the rounded integer in the low bits of the sum.
        let shift = Vec4::splat(12_582_912.0);
        let [low, high] =
            [low, high].map(|v| UVec4::from_array((v + shift).to_array().map(f32::to_bits)));
        let packed = (low & UVec4::splat(0xffff)) | (high << UVec4::splat(16));
        Vec4::from_array(packed.to_array().map(f32::from_bits))
    }
    /// As the default, whose loads of one number for all lanes take two instructions each without AVX. Here one shuffle of
    /// integers spreads a number, for which shuffles of floats would need a copy of the register.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn product_128(a: &[f32; 12], b: &[Vec4; 3]) -> [Vec4; 3] {
        use std::arch::x86_64::{
            __m128i, _mm_and_si128, _mm_castsi128_ps, _mm_loadu_si128, _mm_set_epi32,
            _mm_shuffle_epi32,
        };
        let mut rows = *b;
        for (row, a) in rows.iter_mut().zip(a.as_chunks::<4>().0) {
            // SAFETY: the pointer is valid for 16 bytes; every x86-64 has SSE2.
            let [x, y, z, t] = unsafe {
                let a = _mm_loadu_si128(a.as_ptr().cast::<__m128i>());
                [
                    _mm_castsi128_ps(_mm_shuffle_epi32::<0b00_00_00_00>(a)),
                    _mm_castsi128_ps(_mm_shuffle_epi32::<0b01_01_01_01>(a)),
                    _mm_castsi128_ps(_mm_shuffle_epi32::<0b10_10_10_10>(a)),
                    _mm_castsi128_ps(_mm_and_si128(a, _mm_set_epi32(-1, 0, 0, 0))),
                ]
            };
            let sum = Vec4::from(z) * b[2] + Vec4::from(t);
            *row = Vec4::from(x) * b[0] + (Vec4::from(y) * b[1] + sum);
        }
        rows
    }
    #[inline(always)]
    fn to_half(self) -> Vec4 {
        Vec4::from_array(self.to_array().map(|number| f16::from_f32(number).to_f32()))
    }
    #[inline(always)]
    fn pack_half(low: Vec4, high: Vec4) -> Vec4 {
        let [low, high] = [low, high].map(|v| {
            UVec4::from_array(
                v.to_array()
                    .map(|number| f16::from_f32(number).to_bits().into()),
            )
        });
        let packed = low | (high << UVec4::splat(16));
        Vec4::from_array(packed.to_array().map(f32::from_bits))
    }
    #[inline(always)]
    fn transpose(rows: &mut [Vec4; 4]) {
        let [a, b, c, d] = *rows;
        let t = glam::Mat4::from_cols(a, b, c, d).transpose();
        *rows = [t.x_axis, t.y_axis, t.z_axis, t.w_axis];
    }
    #[inline(always)]
    fn columns(mut rows: [Vec4; 4]) -> [Vec4; 4] {
        Self::transpose(&mut rows);
        rows
    }
    #[inline(always)]
    fn rows(columns: &[Vec4; 4]) -> [Vec4; 4] {
        Self::columns(*columns)
    }
}
