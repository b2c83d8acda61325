//! skinbench: which way of skinning a crowd of animated characters is fastest on this machine, and do all ways agree?
pub mod asset;
pub mod backend;
pub mod frustum;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod harness;
pub mod report;
#[cfg(feature = "cli")]
pub mod results;
pub mod scene;
pub mod text;

pub use skinbench_kernels::{bake, blocks, compact, crowd, model, pose, probe, simd, skin, threads, vertex};
