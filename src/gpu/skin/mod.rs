//! Skinning: meshes, morph targets and kernels.

pub(in crate::gpu) mod chunks;
pub mod compute;
pub mod merged;
pub mod morph;
pub mod output;
pub(in crate::gpu) mod packing;
pub mod skin_kernels;
pub mod skinning;
pub(in crate::gpu) mod statics;
