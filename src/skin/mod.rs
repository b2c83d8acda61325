//! Skinning kernels: free functions over slices, palette and mesh in, `[vertex][word]` out, where
//! [`crate::vertex::VertexFormat`] says which words.
//!
//! `v' = sum w_k * palette_k * v`; normals take the 3x3 part. All but dual quaternions blend the matrices first and
//! transform once: 12 multiplications an influence and 18 a vertex with a normal. docs/cpu.md holds each kernel's idea,
//! counts and measurements.

mod lanes;
mod scalar;
mod stream;
mod words;

pub use lanes::{skin_interleaved, skin_lanes};
pub use scalar::skin;
pub use stream::Store;
