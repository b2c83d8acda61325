//! Poses: from clips to palettes, in the stages `sample`, `blend`, `local_to_model` and `palette`.
//!
//! [`one`] and [`block`] hold the stages as free functions over slices, for one instance and for 16 in lanes.
//! [`CrowdPose`] takes a whole crowd through all of them. Inside, kernels are generic over `N`, the number of instances
//! that are side by side: 1 or [`BLOCK`](crate::crowd::BLOCK). Kernels with a second number `L` of lanes also pose a single instance with 16
//! neighbouring joints side by side: `N` is 1 there, and `L` is 16.

mod arc;
mod blend;
pub mod block;
mod block_poses;
mod block_sampler;
mod clock;
mod compact_rows;
mod crowd_pose;
mod error_points;
mod joint_strip;
mod lanes;
mod linear_rows;
mod local_to_model;
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
mod side_by_side;
mod strips_to_model;

pub use arc::sine_over_x;
pub use block_poses::BlockPoses;
pub use clock::{NoClock, PoseClock, PoseStage};
pub use crowd_pose::{CrowdPose, PoseData, PoseMemory, PoseOut, Width};
pub use error_points::ErrorPoints;
pub use palettes::{BlockPalettes, Palettes, is_sparse};
pub use rates::KeySpan;
pub use side_by_side::{Affine, Local, ROTATION, SCALE, TRANSLATION, first_row};
