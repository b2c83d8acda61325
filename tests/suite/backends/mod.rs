//! Backends against the f64 reference: parity, mutants, pictures, shader layouts, kernels.

mod abilities;
mod benches;
#[cfg(feature = "gpu")]
mod clocks;
#[cfg(feature = "cli")]
mod combinations;
pub mod common;
mod crowds;
#[cfg(feature = "gpu")]
mod culling;
#[cfg(feature = "gpu")]
mod device;
#[cfg(feature = "gpu")]
mod draw;
mod economy;
mod field_numerics;
mod gameplay;
mod kernels;
mod layers;
mod levels;
mod memory;
mod morph;
mod mutants;
mod parity;
#[cfg(feature = "gpu")]
mod pictures;
#[cfg(feature = "gpu")]
mod shader_layout;
#[cfg(feature = "gpu")]
mod shaders;
mod turnover;
mod unchecked;
