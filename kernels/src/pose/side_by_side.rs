//! Poses of `N` instances side by side, number by number, and the kernels that compute them.

use crate::crowd::BLOCK;
use crate::model::Channel;
use crate::simd::{self, Isa, Kernel};

/// A joint's local pose in `N` instances: rotation x y z w, translation x y z, scale x y z.
pub type Local<const N: usize> = [[f32; N]; 10];
/// First row of the rotation in a [`Local`].
pub const ROTATION: usize = 0;
/// First row of the translation in a [`Local`].
pub const TRANSLATION: usize = 4;
/// First row of the scale in a [`Local`].
pub const SCALE: usize = 7;

/// First row of a channel in a [`Local`].
pub const fn first_row(channel: Channel) -> usize {
    match channel {
        Channel::Rotation => ROTATION,
        Channel::Translation => TRANSLATION,
        Channel::Scale => SCALE,
    }
}

/// An affine 3x4 matrix, row by row, in `N` instances. `Affine<1>` has the memory layout of [`crate::model::Rows`].
pub type Affine<const N: usize> = [[f32; N]; 12];

/// Runs a kernel for `N` instances: with vectors for whole blocks only.
pub(super) fn run_lanes<const N: usize, K: Kernel>(isa: Isa, kernel: K) {
    if const { N == BLOCK } {
        simd::run(isa, kernel)
    } else {
        kernel.run::<1, f32>()
    }
}
