//! Camera, resolution and mode of a picture.

/// Drawing mode of meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Lit triangles.
    #[default]
    Skin,
    /// Edges of the visible triangles.
    Wireframe,
    /// Lit triangles with their edges on top.
    SkinAndWireframe,
}

/// Camera, resolution and drawing mode of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// World to clip space, depth 0 to 1 (1 far).
    pub view_projection: glam::Mat4,
    /// Direction towards the light, world space.
    pub light: glam::Vec3,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Drawing mode of meshes.
    pub mode: Mode,
}
