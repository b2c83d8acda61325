//! Drawing: sources of vertices, pictures, overlays.

pub(crate) mod capture;
pub(crate) mod draws;
pub(crate) mod ground;
pub(crate) mod overlay;
pub mod present;
pub(crate) mod scaling;
pub(crate) mod surfaces;
