//! Vectors of `W` floats: one trait, one small module for each instruction set, one place that chooses.
//!
//! A kernel is a struct with a generic body ([`Kernel`]); [`run`] compiles the body for each instruction set and calls
//! the one asked for. Only the modules below hold intrinsics, and only [`run`] enters code that they need.

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod baseline;
mod isa;
mod scalar;
mod vector;

pub use aligned::{Aligned, LINE};
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use baseline::Baseline;
pub use isa::{Isa, VARIABLE};
pub use scalar::Scalar;
pub use vector::{Simd, abs, dot3, dot3_add, load_group, prefetch};

/// A computation whose body compiles for every instruction set.
pub trait Kernel {
    /// Result of the kernel.
    type Out;
    /// The body. Must be `#[inline(always)]`, and so must all that it calls with `S`; closures (and what takes them,
    /// `array::from_fn` and `map` among them) do not take on the caller's instruction set unless they happen to be
    /// inlined, so none stands in a hot loop.
    fn run<const W: usize, S: Simd<W>>(self) -> Self::Out;
}

/// Runs a kernel on an instruction set; one that the machine lacks falls back to the baseline.
pub fn run<K: Kernel>(isa: Isa, kernel: K) -> K::Out {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => {
            // SAFETY: the features were detected.
            unsafe { run_avx512(kernel) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => {
            // SAFETY: the features were detected.
            unsafe { run_avx2(kernel) }
        }
        Isa::Scalar => kernel.run::<1, Scalar>(),
        _ => kernel.run::<4, Baseline>(),
    }
}

/// As [`run`], for kernels of 128-bit vectors alone: the instruction sets differ for them only in whether
/// multiplications and additions are fused.
pub fn run_128<K: Kernel>(isa: Isa, kernel: K) -> K::Out {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 if isa.is_available() => {
            // SAFETY: the features were detected.
            unsafe { run_avx2(kernel) }
        }
        _ => kernel.run::<4, Baseline>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Out {
    kernel.run::<16, Avx512>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Out {
    kernel.run::<8, Avx2>()
}

#[cfg(test)]
mod tests;
