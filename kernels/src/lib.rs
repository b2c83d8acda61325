//! Stores, poses and skinning kernels: all of skinbench that an engine may want for itself.
//!
//! Nothing here reads a file, measures time or knows a graphics API. Kernels are free functions over slices; functions
//! that a frame calls are compiled here, once, for every instruction set, so that a crate that calls them compiles none
//! of their bodies again.
//!
//! # Floor plan
//!
//! Modules from the ground up. Each one imports only what stands above it in this table.
//!
//! | module | holds |
//! | --- | --- |
//! | `simd` | vectors of floats on every instruction set, aligned memory |
//! | `threads` | pools of threads |
//! | `vertex` | the formats of skinned vertices |
//! | `model` | skeleton, clips, skins and mesh, validated once and then immutable |
//! | `crowd` | instances of models, their layers, integer time |
//! | `blocks` | a crowd cut into blocks of 16 instances |
//! | `pose` | from clips to palettes |
//! | `skin` | from palettes to vertices |
//! | `compact` | smaller clips, to a stated error |
//! | `bake` | clips baked as palettes, to a stated error |
//! | `probe` | loops that show the limits of a processor |
//! | `fixture` | a model for unit tests |

pub mod bake;
pub mod blocks;
pub mod compact;
pub mod crowd;
#[cfg(test)]
mod fixture;
pub mod model;
pub mod pose;
pub mod probe;
pub mod simd;
pub mod skin;
pub mod threads;
pub mod vertex;
