//! Inputs of every skinning shader: chunk, vertices, influences, tangents and palettes, each in one of several forms.

use crate::bake::BakeFormat;
use crate::crowd::{Crowd, Group};
use crate::frame::Purpose;
use crate::gpu::device::objects::{BindGroup, Buffer, Resource};
use crate::gpu::pose::{Visibility, baked};
use crate::gpu::shader::{Constants, GroupLayout, Role, shader};
use crate::gpu::skin::morph::{MorphForm, Morphs};
use crate::gpu::{Chunk, Gpu, MeshBuffers, MeshForm, PaletteForm, Palettes, chunk_uniform};
use crate::vertex::{Normals, VertexFormat};

/// The shader that reads vertices back instead of drawing them.
pub(in crate::gpu) const CAPTURE: &str = "capture.wgsl";

/// Storage buffers that a skinning shader reads.
pub fn storage_buffers(palette: PaletteForm) -> u32 {
    match palette {
        PaletteForm::Baked(BakeFormat::Vertices) => 2,
        PaletteForm::Baked(_) => 5,
        _ => 4,
    }
}

/// Properties that select a group's shader. Groups of one kind share pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
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

impl Kind {
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
    pub fn all(crowd: &Crowd, mesh: MeshForm, palette: PaletteForm, morph: Option<MorphForm>) -> Vec<Self> {
        let of_group = |group: &Group| match palette {
            PaletteForm::Baked(_) => Self { layers: baked::width(crowd, group), morph, ..Self::of(group, mesh) },
            _ => Self { morph, ..Self::of(group, mesh) },
        };
        crowd.groups().iter().map(of_group).collect()
    }

    /// Values of the overrides in shaders/chunk.wgsl.
    pub fn constants(self) -> Constants {
        let normals = match self.format.normals {
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
pub(in crate::gpu) const ONE_CHUNK: Role = ("numbers", "numbers_uniform.wgsl");

/// The files that load and morph vertices and read palettes in these forms.
pub(in crate::gpu) fn roles(mesh: MeshForm, palette: PaletteForm, morph: Option<MorphForm>) -> Vec<Role> {
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
pub fn vertex_shader(mesh: MeshForm, palette: PaletteForm, morph: Option<MorphForm>, root: &str) -> String {
    let own = match mesh {
        MeshForm::Nothing => vec![("source", "gpu_vat.wgsl")],
        _ => [vec![("source", "gpu_vertex.wgsl")], self::roles(mesh, palette, morph)].concat(),
    };
    let drawn = (root != CAPTURE).then_some(("drawn", "drawn_chunk.wgsl"));
    shader(root, &own.into_iter().chain([ONE_CHUNK]).chain(drawn).collect::<Vec<_>>())
}

/// Inputs of skinning besides meshes.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Palettes of each chunk, or of each span of a merged kernel.
    pub palettes: &'a [Palettes],
    /// Morph targets, if any model of the crowd has some.
    pub morphs: Option<&'a Morphs>,
    /// Index there of the first chunk that is skinned.
    pub first: usize,
    /// The visibility pass, if only instances in view are skinned.
    pub visibility: Option<&'a Visibility>,
}

/// Creates group 0 for each chunk, from the mesh of each of the crowd's groups. Chunks write to `outputs` in turn; a
/// vertex shader has none.
pub fn bind_groups(
    gpu: &Gpu,
    crowd: &Crowd,
    chunks: &[Chunk],
    meshes: &[MeshBuffers],
    outputs: &[Buffer],
    inputs: Inputs,
    layout: &GroupLayout,
) -> Vec<BindGroup> {
    let Inputs { palettes, morphs, first, visibility } = inputs;
    let outputs = outputs.iter().map(Some).chain(outputs.is_empty().then_some(None)).cycle();
    let groups =
        chunks.iter().zip(&palettes[first..]).zip(outputs).enumerate().map(|(index, ((chunk, palettes), output))| {
            let mesh = &meshes[chunk.group];
            let own = visibility.is_none().then(|| chunk_uniform(gpu, Purpose::Scratch, crowd, chunk));
            let uniform = own.as_ref().map(Resource::from);
            let uniform = uniform.or(visibility.map(|visibility| visibility.visible.chunks[index].chunk()));
            let mut resources: Vec<(&str, Resource)> = vec![
                ("vertices", (&mesh.vertices).into()),
                ("influences", (&mesh.influences).into()),
                ("tangents", (&mesh.tangents).into()),
                ("palettes", palettes.binding()),
                // Posed chunks read none, but share a layout with baked ones.
                ("shown", palettes.shown.as_ref().unwrap_or(&mesh.tangents).into()),
            ];
            resources.extend(uniform.map(|uniform| ("chunk", uniform)));
            resources.extend(output.map(|output| ("output", output.into())));
            resources.extend(morphs.into_iter().flat_map(|morphs| morphs.resources(chunk, first + index)));
            layout.bind(gpu, "skinning", &resources)
        });
    groups.collect()
}
