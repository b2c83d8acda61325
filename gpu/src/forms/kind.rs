//! Skinning shaders: files for each form of meshes, palettes and morph targets, and values of overrides.

use crate::forms::baked;
use crate::forms::mesh::MeshForm;
use crate::forms::morph::MorphForm;
use crate::forms::palettes::PaletteForm;
use crate::kernel::Constants;
use crate::shader::{Role, shader};
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::vertex::{Encoding, Normals, VertexFormat};

/// The shader that reads vertices back instead of drawing them.
pub(crate) const CAPTURE: &str = "capture.wgsl";

/// Properties that select a group's shader. Groups of one kind share pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderVariant {
    /// Format of the skinned vertices.
    pub format: VertexFormat,
    /// Form of the mesh in memory.
    pub mesh: MeshForm,
    /// Most influences of a vertex, padding included.
    pub influences: u32,
    /// Baked frames that an instance blends; 1 unless clips are baked.
    pub layers: u32,
    /// Form of the crowd's morph targets, if any of its models has some.
    pub morph: Option<MorphForm>,
}

impl ShaderVariant {
    /// The kind of a group for the requested form of its mesh, without morph targets and if clips are not baked.
    pub fn of(group: &Group, mesh: MeshForm) -> Self {
        Self {
            format: group.format,
            mesh: mesh.of(group),
            influences: group.model.mesh().max_influences(),
            layers: 1,
            morph: None,
        }
    }

    /// The kinds of a crowd's groups, with its morph targets in a form, if any.
    pub fn all(
        crowd: &Crowd,
        mesh: MeshForm,
        palette: PaletteForm,
        morph: Option<MorphForm>,
    ) -> Vec<Self> {
        let mut kinds = Vec::with_capacity(crowd.groups().len());
        for group in crowd.groups() {
            let mut kind = Self::of(group, mesh);
            kind.morph = morph;
            if let PaletteForm::Baked(_) = palette {
                kind.layers = baked::width(crowd, group);
            }
            kinds.push(kind);
        }
        kinds
    }

    /// Values of the overrides in shaders/chunk.wgsl.
    pub fn constants(self) -> Constants {
        let normals = match self.format.normals {
            // Packing a direction takes no notice of its length.
            Normals::Unit if self.format.encoding == Encoding::Packed => 1.0,
            Normals::Unit => 0.0,
            Normals::Raw => 1.0,
            Normals::Exact => 2.0,
        };
        vec![
            ("FLOATS", self.format.floats() as f64),
            ("NORMALS", normals),
            ("INFLUENCES", self.influences.into()),
            ("LAYERS", self.layers.into()),
        ]
    }
}

/// Shaders of dispatches and draws of one chunk, whose numbers are in a uniform.
pub(crate) const ONE_CHUNK: Role = ("numbers", "numbers_uniform.wgsl");

/// The files that load and morph vertices and read palettes in these forms.
pub(crate) fn roles(mesh: MeshForm, palette: PaletteForm, morph: Option<MorphForm>) -> Vec<Role> {
    let mesh = match mesh {
        MeshForm::Plain => Some("mesh_plain.wgsl"),
        MeshForm::Packed => Some("mesh_packed.wgsl"),
        MeshForm::Own(_) | MeshForm::Nothing => None,
    };
    let mut roles = palette.roles();
    roles.extend(mesh.map(|file| ("mesh", file)));
    roles.extend_from_slice(MorphForm::roles(morph));
    roles
}

/// A shader that skins while it draws, from its root file in shaders/.
pub fn vertex_shader(
    mesh: MeshForm,
    palette: PaletteForm,
    morph: Option<MorphForm>,
    root: &str,
) -> String {
    let mut roles = vec![ONE_CHUNK];
    if mesh == MeshForm::Nothing {
        roles.push(("source", "gpu_vat.wgsl"));
    } else {
        roles.push(("source", "gpu_vertex.wgsl"));
        roles.extend(self::roles(mesh, palette, morph));
    }
    if root != CAPTURE {
        roles.push(("drawn", "drawn_chunk.wgsl"));
    }
    shader(root, &roles)
}
