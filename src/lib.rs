//! skinbench: which way of skinning a crowd of animated characters is fastest on this machine, and do all ways agree?
pub mod asset;
pub mod backend;
pub mod blocks;
pub mod crowd;
pub mod frustum;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod harness;
pub mod model;
pub mod pose;
pub mod report;
pub mod scene;
pub mod simd;
pub mod skin;
pub mod text;
pub mod threads;
pub mod vertex;
