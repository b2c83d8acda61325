//! Skinning kernels: free functions over slices, palette and mesh in, `[vertex][word]` out, where
//! [`crate::vertex::VertexFormat`] says which words.
//!
//! `v' = sum w_k * palette_k * v`; normals take the 3x3 part. All but dual quaternions blend the matrices first and
//! transform once: 12 multiplications an influence and 18 a vertex with a normal. docs/cpu.md holds each kernel's idea,
//! counts and measurements.

#[cfg(target_arch = "x86_64")]
mod cluster;
mod columns;
mod dual_quaternion;
mod lanes;
mod scalar;
mod stream;
mod words;

#[cfg(target_arch = "x86_64")]
pub use cluster::{Clusters, skin_clusters};
pub use columns::skin_columns;
pub use dual_quaternion::{DualQuaternion, dual_quaternions};
pub use lanes::{skin_dual_quaternions, skin_interleaved, skin_lanes};
pub use scalar::skin;
pub use stream::Store;
