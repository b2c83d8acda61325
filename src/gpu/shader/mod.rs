//! Shaders: their text, what they bind, and structs shared with Rust.

pub mod layout;
pub mod reflection;
pub mod wgsl;

pub(in crate::gpu) use layout::WORKGROUP;
pub(in crate::gpu) use wgsl::{Role, shader};
