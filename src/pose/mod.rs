//! From clips to palettes: `sample`, `blend`, `local_to_model`, `palette`, each a free function over slices.
//!
//! Kernels are generic over `N`, the instances that sit side by side in the lanes of a block: 1 is the plain scalar
//! form, 16 the crowd form whose inner loops over lanes compile to vector instructions.

mod arc;
mod bake;
mod blend;
mod block_sampler;
mod compact_rows;
mod crowd_pose;
mod ends;
mod kept_poses;
mod linear_rows;
mod local_to_model;
mod merge;
mod palette;
mod rates;
mod recipe;
mod sample;
mod sample_compact;
mod sample_lanes;
mod shared_palettes;

pub use arc::sine_over_x;
pub use bake::{BakeError, Baker, DIRECTION, Keeping, POSITION, Rate, motion};
pub use blend::{Mask, Momentum, Recipe, Share, Shares, blend, quintics};
pub use block_sampler::BlockSampler;
pub use crowd_pose::{CrowdPose, PaletteOut, lane_of, read_lanes};
pub use ends::Ends;
pub use local_to_model::local_to_model;
pub use palette::{palette_lanes, palette_rows};
pub use rates::KeySpan;
pub use recipe::{blend_between, blend_layers};
pub use sample::sample;

use crate::crowd::BLOCK;
use crate::model::Channel;
use crate::simd::Isa;

/// The instruction set for blocks of `N` lanes: vectors are for whole blocks.
fn lanes_isa<const N: usize>(isa: Isa) -> Isa {
    if N.is_multiple_of(BLOCK) { isa } else { Isa::Scalar }
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

/// An affine 3x4 matrix, row by row, in `N` instances. `Affine<1>` has the bytes of [`crate::model::Rows`].
pub type Affine<const N: usize> = [[f32; N]; 12];
