//! The trait of vectors, and arithmetic on top of it.

use super::aligned::LINE;
use glam::Vec4;
use std::ops::{Add, Div, Mul, Sub};

/// `W` floats in a register of an instruction set.
///
/// Implementations are entered only through [`super::run`] (or after the same detection), which makes their intrinsics
/// sound.
pub trait Simd<const W: usize>:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The same float in all lanes.
    fn splat(value: f32) -> Self;
    /// Loads `W` floats, unaligned.
    fn load(from: &[f32; W]) -> Self;
    /// Numbers that do not fill bytes, as floats. Each lane takes three bytes from the window of its quad of lanes: those
    /// whose indices, at most 7 for the first, are the three lower bytes of its bits in `picks`. It keeps the bits that
    /// are set in `masks`.
    fn pick(windows: [&[u8; 16]; 4], picks: Self, masks: Self) -> Self;
    /// Stores `W` floats, unaligned.
    fn store(self, to: &mut [f32; W]);
    /// Stores past the caches if the instruction set can and `to` is aligned to the vector, otherwise as
    /// [`Simd::store`].
    #[inline(always)] // to take on the caller's instruction set
    fn stream(self, to: &mut [f32; W]) {
        self.store(to);
    }
    /// Loads lanes `W * chunk..` of a row of `N`.
    #[inline(always)] // to take on the caller's instruction set
    fn load_chunk<const N: usize>(row: &[f32; N], chunk: usize) -> Self {
        Self::load(&row.as_chunks().0[chunk])
    }
    /// Loads lanes `W * chunk..` of each row.
    #[inline(always)] // to take on the caller's instruction set
    fn load_rows<const N: usize, const R: usize>(rows: &[[f32; N]; R], chunk: usize) -> [Self; R] {
        let mut loaded = [Self::splat(0.0); R];
        for (v, row) in loaded.iter_mut().zip(rows) {
            *v = Self::load_chunk(row, chunk);
        }
        loaded
    }
    /// Stores vectors to lanes `W * chunk..` of the rows, as many as there are of both.
    #[inline(always)] // to take on the caller's instruction set
    fn store_rows<const N: usize>(values: &[Self], rows: &mut [[f32; N]], chunk: usize) {
        for (row, v) in rows.iter_mut().zip(values) {
            v.store(&mut row.as_chunks_mut().0[chunk]);
        }
    }
    /// `self * b + c`, fused where the instruction set does that.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// The larger one.
    fn max(self, other: Self) -> Self;
    /// The smaller one.
    fn min(self, other: Self) -> Self;
    /// `1 / sqrt(self)` within 4e-7 for normal numbers.
    fn inverse_sqrt(self) -> Self;
    /// The magnitude with the sign of another number.
    fn copysign(self, sign: Self) -> Self;
    /// Magnitude.
    #[inline(always)] // to take on the caller's instruction set
    fn abs(self) -> Self {
        self.copysign(Self::splat(1.0))
    }
    /// `a` in lanes where the sign bit of `by` is set, otherwise `b`.
    fn select_negative(by: Self, a: Self, b: Self) -> Self;
    /// Two numbers within +-32767 as rounded 16-bit integers, `low` in the lower half of each lane's bits.
    fn pack_16(low: Self, high: Self) -> Self;
    /// The nearest 16-bit floats, as floats; of two equally near the even one.
    fn to_half(self) -> Self;
    /// The bits of the nearest 16-bit floats, those of `low` in the lower half of each lane's bits.
    fn pack_half(low: Self, high: Self) -> Self;
    /// Transposes `W` rows of `W` floats.
    fn transpose(rows: &mut [Self; W]);
    /// Four numbers of each lane, as a vector for each lane.
    fn columns(rows: [Self; 4]) -> [Vec4; W];
    /// The reverse of [`Simd::columns`].
    fn rows(columns: &[Vec4; W]) -> [Self; 4];
    /// The numbers of `W` vertices, given number by number, one vertex after the other.
    #[inline(always)] // to take on the caller's instruction set
    fn interleave<const N: usize>(rows: &[Self; N]) -> [Self; N] {
        let mut numbers = [[0.0; W]; N];
        for (numbers, row) in numbers.iter_mut().zip(rows) {
            row.store(numbers);
        }
        let mut out = *rows;
        for (index, out) in out.iter_mut().enumerate() {
            let mut all = [0.0; W];
            for (lane, number) in all.iter_mut().enumerate() {
                let place = index * W + lane;
                *number = numbers[place % N][place / N];
            }
            *out = Self::load(&all);
        }
        out
    }
    /// The last `count` lanes of `before`, at most `W`, and after them the first ones of `after`.
    #[inline(always)] // to take on the caller's instruction set
    fn joined(before: Self, after: Self, count: usize) -> Self {
        let mut both = [[0.0; W]; 2];
        before.store(&mut both[0]);
        after.store(&mut both[1]);
        let mut all = [0.0; W];
        all.copy_from_slice(&both.as_flattened()[W - count..][..W]);
        Self::load(&all)
    }
    /// `a * b + c` in 128 bits, for kernels that hold a matrix in columns: those of [`super::run_128`].
    #[inline(always)] // to take on the caller's instruction set
    fn mul_add_128(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        a * b + c
    }
    /// `a * b` of matrices of three rows, whose fourth is 0 0 0 1, for kernels of [`super::run_128`].
    #[inline(always)] // to take on the caller's instruction set
    fn product_128(a: &[f32; 12], b: &[Vec4; 3]) -> [Vec4; 3] {
        let mut rows = *b;
        for (row, [x, y, z, t]) in rows.iter_mut().zip(a.as_chunks::<4>().0) {
            let sum = Vec4::new(0.0, 0.0, 0.0, *t);
            let sum = Self::mul_add_128(Vec4::splat(*z), b[2], sum);
            let sum = Self::mul_add_128(Vec4::splat(*y), b[1], sum);
            *row = Self::mul_add_128(Vec4::splat(*x), b[0], sum);
        }
        rows
    }
    /// `weight * rows`, plus `sum` if there is one: the rows of a matrix in 128 bits.
    #[inline(always)] // to take on the caller's instruction set
    fn add_rows(weight: f32, rows: &[f32; 12], sum: Option<[Vec4; 3]>) -> [Vec4; 3] {
        let weight = Vec4::splat(weight);
        let mut out = [Vec4::ZERO; 3];
        for (row, (out, from)) in out.iter_mut().zip(rows.as_chunks::<4>().0).enumerate() {
            let from = Vec4::from_array(*from);
            *out = sum.map_or(weight * from, |sum| {
                Self::mul_add_128(weight, from, sum[row])
            });
        }
        out
    }
}

/// `x * v[0] + y * v[1] + z * v[2] + t`.
#[inline(always)] // to take on the caller's instruction set
pub fn dot3_add<const W: usize, V: Simd<W>>([x, y, z]: [V; 3], v: [V; 3], t: V) -> V {
    x.mul_add(v[0], y.mul_add(v[1], z.mul_add(v[2], t)))
}

/// `x * v[0] + y * v[1] + z * v[2]`.
#[inline(always)] // as above
pub fn dot3<const W: usize, V: Simd<W>>([x, y, z]: [V; 3], v: [V; 3]) -> V {
    x.mul_add(v[0], y.mul_add(v[1], z * v[2]))
}

/// Prefetches an item's cache lines.
#[inline(always)] // as above
pub fn prefetch<T>(item: &T) {
    for line in 0..size_of::<T>().div_ceil(LINE) {
        prefetch_at(
            std::ptr::from_ref(item)
                .cast::<u8>()
                .wrapping_add(LINE * line),
        );
    }
}

/// Prefetches the cache line of an address, which may be any.
#[inline(always)] // as above
pub fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has SSE; a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Makes streamed stores visible before the stores that follow.
#[inline(always)] // as above
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 has SSE.
        unsafe { std::arch::x86_64::_mm_sfence() }
    }
}
