//! Inputs of every skinning shader: chunk, vertices, influences, tangents and palettes, each in one of several forms
//! (shaders/mesh_*.wgsl, shaders/palette_*.wgsl), and the shared arithmetic (shaders/skinning.wgsl).

use super::binding::{READ_ONLY, WRITTEN, bind_group_layout, layout_entry};
use super::counts::items_bytes;
use super::shader::Constants;
use super::visibility::Visibility;
use super::{Chunk, Gpu, MeshBuffers, MeshForm, PaletteForm, Palettes, chunk_uniform, layout};
use crate::crowd::{Crowd, Group};
use crate::frame::Purpose;
use crate::vertex::{Normals, VertexFormat};

/// Storage buffers that a skinning shader reads.
pub fn storage_buffers(palette: PaletteForm) -> u32 {
    4 + u32::from(matches!(palette, PaletteForm::Baked(_)))
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
}

impl Kind {
    /// The kind of a group for the requested form of its mesh.
    pub fn of(group: &Group, mesh: MeshForm) -> Self {
        Self { format: group.format, mesh: mesh.of(group), influences: group.model.mesh().max_influences() }
    }

    /// The kinds of a crowd's groups.
    pub fn all(crowd: &Crowd, mesh: MeshForm) -> Vec<Self> {
        crowd.groups().iter().map(|group| Self::of(group, mesh)).collect()
    }

    /// Values of the overrides in shaders/chunk.wgsl.
    pub fn constants(self) -> Constants {
        let normals = match self.format.normals {
            Normals::Unit => 0.0,
            Normals::Raw => 1.0,
            Normals::Exact => 2.0,
        };
        vec![("FLOATS", self.format.floats() as f64), ("NORMALS", normals), ("INFLUENCES", self.influences.into())]
    }
}

/// The shared WGSL for these forms, to be followed by a kernel's own.
pub fn wgsl(mesh: MeshForm, palette: PaletteForm) -> String {
    let mesh = match mesh {
        MeshForm::Plain => include_str!("../../shaders/mesh_plain.wgsl"),
        MeshForm::Packed => {
            concat!(include_str!("../../shaders/octahedral.wgsl"), include_str!("../../shaders/mesh_packed.wgsl"))
        }
    };
    let blending = match palette {
        // The file defines its own blending.
        PaletteForm::DualQuaternions => "",
        _ => include_str!("../../shaders/blend_linear.wgsl"),
    };
    let parts = [
        include_str!("../../shaders/chunk.wgsl"),
        include_str!("../../shaders/skinning.wgsl"),
        mesh,
        palette.wgsl(),
        blending,
    ];
    parts.concat()
}

/// Layout of group 0 of a skinning shader, with a last binding for its output if `output` is set.
pub fn layout(gpu: &Gpu, stage: wgpu::ShaderStages, palette: PaletteForm, output: bool) -> wgpu::BindGroupLayout {
    let mut entries = vec![
        layout_entry(0, stage, wgpu::BufferBindingType::Uniform),
        layout_entry(1, stage, READ_ONLY),
        layout_entry(2, stage, READ_ONLY),
        layout_entry(3, stage, READ_ONLY),
        wgpu::BindGroupLayoutEntry { binding: 4, visibility: stage, ty: palette.binding_type(), count: None },
    ];
    if let PaletteForm::Baked(_) = palette {
        entries.push(layout_entry(6, stage, READ_ONLY));
    }
    if output {
        entries.push(layout_entry(5, stage, WRITTEN));
    }
    bind_group_layout(gpu, "skinning", &entries)
}

/// Buffers that skinning reads and writes.
pub struct SkinBindings<'a> {
    /// Mesh of each of the crowd's groups.
    pub meshes: &'a [MeshBuffers],
    /// Palettes of each chunk.
    pub palettes: &'a [Palettes],
    /// Buffers that chunks write to in turn; empty for a vertex shader.
    pub outputs: &'a [wgpu::Buffer],
    /// The visibility pass, if only instances in view are skinned.
    pub visibility: Option<&'a Visibility>,
}

/// Bytes of the uniforms that [`bind_groups`] creates; none if only instances in view are skinned.
pub fn uniform_bytes(chunks: usize) -> u64 {
    chunks as u64 * items_bytes::<layout::Chunk>(1)
}

/// Creates group 0 for each chunk.
pub fn bind_groups(
    gpu: &Gpu,
    crowd: &Crowd,
    chunks: &[Chunk],
    layout: &wgpu::BindGroupLayout,
    bound: &SkinBindings,
) -> Vec<wgpu::BindGroup> {
    let &SkinBindings { meshes, palettes, outputs, visibility } = bound;
    let outputs = outputs.iter().map(Some).chain(outputs.is_empty().then_some(None)).cycle();
    let groups = chunks.iter().zip(palettes).zip(outputs).enumerate().map(|(index, ((chunk, palettes), output))| {
        let mesh = &meshes[chunk.group];
        let uniform = match visibility {
            Some(visibility) => visibility.chunks()[index].numbers.clone(),
            None => chunk_uniform(gpu, Purpose::Scratch, crowd, chunk),
        };
        let buffers = [&uniform, &mesh.vertices, &mesh.influences, &mesh.tangents];
        let mut resources: Vec<_> = (0..).zip(buffers.map(wgpu::Buffer::as_entire_binding)).collect();
        resources.push((4, palettes.binding()));
        resources.extend(output.map(|output| (5, output.as_entire_binding())));
        resources.extend(palettes.shown().map(|shown| (6, shown)));
        let entries: Vec<_> =
            resources.into_iter().map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("skinning"),
            layout,
            entries: &entries,
        })
    });
    groups.collect()
}
