//! Loops that measure the limits of a processor: writing, reading, and multiply-add.

use crate::simd::{self, Isa, Kernel, Simd};
use crate::skin::Store;
use std::hint::black_box;

/// Independent multiplications in [`multiply_add`]: enough to hide their latency on two units.
pub const CHAINS: usize = 12;

/// Writes every float of `out`. Its length must be a multiple of 16; floats after the last multiple are left out.
pub fn fill(isa: Isa, store: Store, out: &mut [f32]) {
    simd::run(isa, Fill { out, store });
}

/// Reads every float of `values` and adds them up. The length must be a multiple of 64; floats after the last multiple
/// are left out.
pub fn sum(isa: Isa, values: &[f32]) -> f32 {
    let mut total = 0.0;
    simd::run(
        isa,
        Sum {
            values,
            total: &mut total,
        },
    );
    total
}

/// Multiplies and adds [`CHAINS`] vectors `rounds` times. Returns the number of lanes of a vector.
pub fn multiply_add(isa: Isa, rounds: usize) -> usize {
    simd::run(isa, Multiply { rounds });
    simd::lanes(isa)
}

struct Fill<'a> {
    out: &'a mut [f32],
    store: Store,
}

impl Kernel for Fill<'_> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let v = V::splat(black_box(1.0));
        for to in self.out.as_chunks_mut::<W>().0 {
            self.store.put(v, to);
        }
        simd::fence();
    }
}

struct Sum<'a> {
    values: &'a [f32],
    total: &'a mut f32,
}

impl Kernel for Sum<'_> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let mut sums = [V::splat(0.0); 4];
        for four in self.values.as_chunks::<W>().0.as_chunks::<4>().0 {
            for (sum, values) in sums.iter_mut().zip(four) {
                *sum = *sum + V::load(values);
            }
        }
        let mut total = [0.0; W];
        (sums[0] + sums[1] + (sums[2] + sums[3])).store(&mut total);
        *self.total = total.iter().sum();
    }
}

struct Multiply {
    rounds: usize,
}

impl Kernel for Multiply {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let factor = V::splat(black_box(0.999));
        let offset = V::splat(black_box(0.001));
        let mut values: [V; CHAINS] = std::array::from_fn(|i| V::splat(i as f32));
        for _ in 0..self.rounds {
            for v in &mut values {
                *v = v.mul_add(factor, offset);
            }
        }
        let mut out = [0.0; W];
        for v in values {
            v.store(&mut out);
            black_box(&out);
        }
    }
}
