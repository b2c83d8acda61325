//! Forms of what a crowd is made of, in device memory: meshes, palettes, morph targets, clips and vertices.

pub(in crate::gpu) mod baked;
pub(in crate::gpu) mod clips;
pub(in crate::gpu) mod half_palette;
pub mod kind;
pub(in crate::gpu) mod mesh;
pub mod morph;
pub mod output;
pub(in crate::gpu) mod packing;
pub(in crate::gpu) mod palettes;
