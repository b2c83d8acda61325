//! Skinning kernels: free functions over slices. They read a palette and a mesh and write `[vertex][word]`; the words
//! are those of [`crate::vertex::VertexFormat`].
//!
//! `v' = sum w_k * palette_k * v`; normals use the 3x3 part. All but dual quaternions blend the matrices first and
//! transform once: 12 multiplications per influence and 18 per vertex with a normal. docs/cpu.md describes the idea,
//! the operation counts and the measurements of each kernel.

mod cluster;
mod clusters;
mod columns;
mod dual_quaternion;
mod job;
mod job_error;
mod lanes;
pub(crate) mod motion;
mod ordered;
mod scalar;
mod stream;
mod strided;
mod words;

pub use cluster::skin_clusters;
pub use clusters::Clusters;
pub use columns::skin_columns;
pub use dual_quaternion::{DualQuaternion, lane_dual_quaternions};
pub use job::{Joints, Palette, SkinningInput, SkinningJob, SkinningOutput, Weights};
pub use job_error::JobError;
pub use lanes::{LaneBlock, LanePalette, skin_lanes};
pub use scalar::{skin, skin_shape};
pub use stream::Store;
pub use strided::{Strided, StridedMut};
