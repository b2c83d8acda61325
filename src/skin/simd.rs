//! What differs between instruction sets: fused multiplication and the transpose of a square of lanes.

/// An instruction set's vectors of `W` floats.
pub(super) trait Simd<const W: usize> {
    /// `a * b + c`.
    fn multiply_add(a: f32, b: f32, c: f32) -> f32;
    /// Rows to columns.
    fn transpose(rows: [[f32; W]; W]) -> [[f32; W]; W];
}

/// What every target has; without fused multiplication, which would be a function call there.
pub(super) struct Baseline;

impl<const W: usize> Simd<W> for Baseline {
    #[inline(always)] // to take on the caller's instruction set
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }

    #[inline(always)] // as above
    fn transpose(rows: [[f32; W]; W]) -> [[f32; W]; W] {
        std::array::from_fn(|column| std::array::from_fn(|row| rows[row][column]))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Simd;
    use std::arch::x86_64::*;

    /// AVX2 and FMA; only called where both were detected.
    pub(in super::super) struct Avx2;
    /// AVX-512F; only called where it was detected.
    pub(in super::super) struct Avx512;

    impl Simd<8> for Avx2 {
        #[inline(always)] // to take on the caller's instruction set
        fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }

        #[inline(always)] // as above
        fn transpose(rows: [[f32; 8]; 8]) -> [[f32; 8]; 8] {
            // SAFETY: callers run with AVX2 enabled; see `Avx2`.
            unsafe { transpose_8(rows) }
        }
    }

    impl Simd<16> for Avx512 {
        #[inline(always)] // to take on the caller's instruction set
        fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
            a.mul_add(b, c)
        }

        #[inline(always)] // as above
        fn transpose(rows: [[f32; 16]; 16]) -> [[f32; 16]; 16] {
            // Quarters of eight: two half-width squares go across, two stay.
            let quarter = |r: usize, c: usize| {
                let square = std::array::from_fn(|i| std::array::from_fn(|j| rows[r + i][c + j]));
                // SAFETY: callers run with AVX-512F enabled, which brings AVX; see `Avx512`.
                unsafe { transpose_8(square) }
            };
            let [a, b, c, d] = [quarter(0, 0), quarter(8, 0), quarter(0, 8), quarter(8, 8)];
            std::array::from_fn(|i| {
                let (left, right) = if i < 8 { (a[i], b[i]) } else { (c[i - 8], d[i - 8]) };
                std::array::from_fn(|j| if j < 8 { left[j] } else { right[j - 8] })
            })
        }
    }

    /// 8 x 8 in 24 shuffles: pairs, then fours, then halves.
    #[target_feature(enable = "avx")]
    #[inline]
    fn transpose_8(rows: [[f32; 8]; 8]) -> [[f32; 8]; 8] {
        // SAFETY: both types are 256 bytes of floats, for which every bit pattern is valid.
        let r: [__m256; 8] = unsafe { std::mem::transmute(rows) };
        let pairs: [__m256; 8] = std::array::from_fn(|i| {
            let (a, b) = (r[i & !1], r[i | 1]);
            if i & 1 == 0 { _mm256_unpacklo_ps(a, b) } else { _mm256_unpackhi_ps(a, b) }
        });
        let fours: [__m256; 8] = std::array::from_fn(|i| {
            let base = i & 4;
            let (a, b) = (pairs[base + (i & 2) / 2], pairs[base + 2 + (i & 2) / 2]);
            if i & 1 == 0 { _mm256_shuffle_ps::<0x44>(a, b) } else { _mm256_shuffle_ps::<0xee>(a, b) }
        });
        let columns: [__m256; 8] = std::array::from_fn(|i| {
            let (a, b) = (fours[i & 3], fours[4 + (i & 3)]);
            if i < 4 { _mm256_permute2f128_ps::<0x20>(a, b) } else { _mm256_permute2f128_ps::<0x31>(a, b) }
        });
        // SAFETY: as above.
        unsafe { std::mem::transmute(columns) }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn squares_are_transposed() {
            if is_x86_feature_detected!("avx2") {
                let rows = std::array::from_fn(|r| std::array::from_fn(|c| (8 * r + c) as f32));
                assert_eq!(Avx2::transpose(rows), <super::super::Baseline as Simd<8>>::transpose(rows));
            }
            if is_x86_feature_detected!("avx512f") {
                let rows = std::array::from_fn(|r| std::array::from_fn(|c| (16 * r + c) as f32));
                assert_eq!(Avx512::transpose(rows), <super::super::Baseline as Simd<16>>::transpose(rows));
            }
        }
    }
}
