//! Instruction sets, chosen at run time, and aligned memory.
//!
//! Behind them are vectors of `W` floats: one trait, one small module per instruction set, one function that chooses. A
//! kernel is a struct with a generic body (`Kernel`). `run` compiles the body for each instruction set and calls the
//! requested one. Only the modules below hold intrinsics, and only `run` enters code that needs them. All of this stays
//! inside the crate: an operation is sound only after its instruction set was detected.

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod baseline;
mod isa;
#[cfg(target_arch = "x86_64")]
mod operators;
mod scalar;
mod vector;

pub use aligned::{Aligned, LINE};
pub use isa::{Isa, VARIABLE};
pub(crate) use vector::{Simd, dot3, dot3_add, fence, prefetch, prefetch_at};

#[cfg(target_arch = "x86_64")]
use avx2::F32x8;
#[cfg(target_arch = "x86_64")]
use avx512::F32x16;
use glam::Vec4;

/// A computation whose body compiles for every instruction set. A kernel of several sizes has a type, and so a body, for
/// each: the compiler takes disproportionately long for a body that contains several.
pub(crate) trait Kernel {
    /// The body. It must be `#[inline(always)]`, and so must everything that it calls with `V`. Closures (and functions
    /// that take them, such as `array::from_fn` and `map`) do not take on the caller's instruction set unless they
    /// happen to be inlined, so hot loops use none.
    fn run<const W: usize, V: Simd<W>>(self);
}

/// Runs a kernel on an instruction set; the baseline, or scalars in a build without it, replace one that is not
/// available.
pub(crate) fn run<K: Kernel>(isa: Isa, kernel: K) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if const { Isa::Avx512.is_built() } && isa.is_available() => {
            // SAFETY: `is_available` detected every feature that `run_avx512` enables.
            unsafe { run_avx512(kernel) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if const { Isa::Avx2.is_built() } && isa.is_available() => {
            // SAFETY: `is_available` detected every feature that `run_avx2` enables.
            unsafe { run_avx2(kernel) }
        }
        Isa::Baseline | Isa::Avx2 | Isa::Avx512 if const { Isa::Baseline.is_built() } => {
            kernel.run::<4, Vec4>()
        }
        _ => kernel.run::<1, f32>(),
    }
}

/// Lanes of the vectors that [`run`] gives a kernel.
pub(crate) fn lanes(isa: Isa) -> usize {
    struct Lanes<'a>(&'a mut usize);
    impl Kernel for Lanes<'_> {
        #[inline(always)]
        fn run<const W: usize, V: Simd<W>>(self) {
            *self.0 = W;
        }
    }
    let mut lanes = 0;
    run(isa, Lanes(&mut lanes));
    lanes
}

/// As [`run`], for kernels of 128-bit vectors: for them instruction sets differ only in whether multiplications and
/// additions are fused.
pub(crate) fn run_128<K: Kernel>(isa: Isa, kernel: K) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 if isa.is_available() => {
            // SAFETY: `is_available` detected every feature that `run_avx2` enables.
            unsafe { run_avx2(kernel) }
        }
        _ => kernel.run::<4, Vec4>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
fn run_avx512<K: Kernel>(kernel: K) {
    kernel.run::<16, F32x16>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn run_avx2<K: Kernel>(kernel: K) {
    kernel.run::<8, F32x8>()
}

#[cfg(test)]
mod operation_tests;
