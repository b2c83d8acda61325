//! Drawing: sources of vertices, pictures, overlays.

pub(in crate::gpu) mod capture;
pub(in crate::gpu) mod draws;
pub(in crate::gpu) mod ground;
pub(in crate::gpu) mod overlay;
pub mod present;
pub(in crate::gpu) mod scaling;
pub(in crate::gpu) mod surfaces;
