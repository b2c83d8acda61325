//! The picture that a frame is drawn to.

/// How meshes are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Lit triangles.
    #[default]
    Skin,
    /// Edges of the triangles that can be seen.
    Wireframe,
    /// Lit triangles with their edges on top.
    SkinAndWireframe,
}

/// What the picture shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// World to clip space, depth 0 to 1 (1 far).
    pub view_projection: glam::Mat4,
    /// Direction towards the light, world space.
    pub light: glam::Vec3,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// How meshes are drawn.
    pub mode: Mode,
}
