//! Skinning kernels: free functions over slices, palette and mesh in, `[vertex][floats]` out, where
//! [`crate::vertex::VertexFormat`] says which floats.
//!
//! `v' = sum w_k * palette_k * v`; normals take the 3x3 part. Both kernels blend the matrices first and transform
//! once: 12 multiplications an influence and 18 a vertex.

mod lanes;
mod scalar;
mod simd;

pub use lanes::skin_lanes;
pub use scalar::skin;
