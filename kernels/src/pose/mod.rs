//! Poses: from clips to palettes, in the stages `sample`, `blend`, `local_to_model` and `palette`.
//!
//! [`one`] and [`block`] hold the stages as free functions over slices, for one instance and for 16 in lanes.
//! [`CrowdPose`] takes a whole crowd through all of them. Inside, kernels are generic over `N`, the number of instances
//! that are side by side: 1 or [`BLOCK`]. Kernels with a second number `L` of lanes also pose a single instance with 16
//! neighbouring joints side by side: `N` is 1 there, and `L` is 16.

mod arc;
mod blend;
pub mod block;
mod block_sampler;
mod block_source;
mod clock;
mod compact_rows;
mod crowd_pose;
mod ends;
mod joint_strip;
mod lanes;
mod linear_rows;
mod local_to_model;
mod merge;
pub mod one;
mod palette;
mod palettes;
mod pose_cache;
mod rates;
mod recipe;
mod registers;
mod sample;
mod sample_compact;
mod sample_lanes;
mod sample_strips;
mod shares;
mod strips_to_model;

pub use arc::sine_over_x;
pub use clock::{NoClock, PoseClock, PoseStage};
pub use crowd_pose::{CrowdPose, PaletteOut, PoseData, PoseMemory, SkinBlock, TakeBlock, Width};
pub use ends::Ends;
pub use palettes::{BlockPalettes, Palettes, is_sparse};
pub use rates::KeySpan;

use crate::crowd::BLOCK;
use crate::model::Channel;
use crate::simd::{self, Isa, Kernel, Scalar};

/// Runs a kernel for `N` instances: with vectors for whole blocks only.
fn run_lanes<const N: usize, K: Kernel>(isa: Isa, kernel: K) {
    if const { N == BLOCK } {
        simd::run(isa, kernel)
    } else {
        kernel.run::<1, Scalar>()
    }
}

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
