//! Vertices before skinning: those of a mesh, or those that morph targets made of them.

use super::Mesh;

/// Vertex streams in mesh space that skinning reads, one item per vertex of a mesh.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a> {
    /// Positions.
    pub positions: &'a [[f32; 3]],
    /// Normals.
    pub normals: &'a [[f32; 3]],
    /// Tangents x y z with handedness in w, if the mesh has them.
    pub tangents: Option<&'a [[f32; 4]]>,
}

impl Mesh {
    /// The mesh without morph targets.
    pub fn shape(&self) -> Shape<'_> {
        Shape {
            positions: self.positions(),
            normals: self.normals(),
            tangents: self.tangents(),
        }
    }
}
