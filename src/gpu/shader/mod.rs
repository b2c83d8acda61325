//! Shaders: their text, what they bind, and structs shared with Rust.

pub mod binding;
pub mod kernel;
pub mod layout;
pub mod reflection;
pub mod wgsl;
