//! Forms of what a crowd is made of, in device memory: meshes, palettes, morph targets, clips and vertices.

pub(crate) mod baked;
pub(crate) mod clips;
pub(crate) mod half_palette;
pub mod kind;
pub(crate) mod mesh;
pub mod morph;
pub mod output;
pub(crate) mod packing;
pub(crate) mod palettes;
pub(crate) mod posed_models;
