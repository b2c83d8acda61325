//! Shaders: their text, what they bind, and structs shared with Rust.

pub mod layout;
pub mod reflection;
pub mod wgsl;

pub(crate) use layout::WORKGROUP;
pub(crate) use wgsl::{Role, shader};
