//! Constant data on the device: a model's vertices and a chunk's numbers, uploaded once.

use super::counts::{filled_bytes, items_bytes};
use super::layout::{self, INLINE, Influence, Vertex};
use super::packing::{self, Grid};
use super::{Chunk, Gpu};
use crate::crowd::{Crowd, Group};
use crate::frame::Purpose;
use crate::model::{Mesh, VertexRun};
use crate::vertex::Attributes;

/// Form of a mesh in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeshForm {
    /// 64 bytes per vertex, in full precision.
    Plain,
    /// 20 bytes per vertex if the model allows it, otherwise as [`MeshForm::Plain`].
    Packed,
}

impl MeshForm {
    /// The form of a group's mesh: packed only if the model allows it.
    pub fn of(self, group: &Group) -> Self {
        if self == Self::Packed && packing::fits(group) { Self::Packed } else { Self::Plain }
    }

    fn stride(self) -> usize {
        match self {
            Self::Plain => size_of::<Vertex>(),
            Self::Packed => size_of::<layout::PackedVertex>(),
        }
    }
}

/// The vertex and influence streams of a model, or of several, one after the other.
pub struct MeshBuffers {
    /// Items are [`layout::Vertex`] or [`layout::PackedVertex`].
    pub vertices: wgpu::Buffer,
    /// Items are [`Influence`]: those after a vertex's fourth.
    pub influences: wgpu::Buffer,
    /// Tangents, or a single zero if the format has none.
    pub tangents: wgpu::Buffer,
}

impl MeshBuffers {
    /// Bytes on the device of the meshes of all groups.
    pub fn bytes(crowd: &Crowd, form: MeshForm) -> u64 {
        crowd.groups().iter().map(|group| Self::bytes_of(&[group], form)).sum()
    }

    /// Bytes of the meshes of groups whose meshes have one form.
    pub fn bytes_of(groups: &[&Group], form: MeshForm) -> u64 {
        let [vertices, more, tangents] = groups.iter().fold([0; 3], |[vertices, more, tangents], group| {
            let mesh = group.model.mesh();
            let bytes = mesh.vertex_count() * form.of(group).stride();
            [vertices + bytes, more + more_influences(mesh), tangents + size_of_val(self::tangents(group))]
        });
        filled_bytes(vertices) + items_bytes::<Influence>(more) + filled_bytes(tangents)
    }

    /// Uploads a model's streams.
    pub fn new(gpu: &Gpu, group: &Group, form: MeshForm) -> Self {
        Self::merged(gpu, &[group], form)
    }

    /// Uploads the streams of groups whose meshes have one form, one group after the other.
    pub fn merged(gpu: &Gpu, groups: &[&Group], form: MeshForm) -> Self {
        let [mut vertices, mut influences, mut tangents] = [const { Vec::new() }; 3];
        for group in groups {
            let more = push_vertices(group, form, &mut vertices);
            influences.extend_from_slice(bytemuck::cast_slice(&more));
            tangents.extend_from_slice(bytemuck::cast_slice(self::tangents(group)));
        }
        Self {
            vertices: gpu.storage(Purpose::Mesh, "mesh vertices", &vertices),
            influences: gpu.storage(Purpose::Mesh, "influences", &influences),
            tangents: gpu.storage(Purpose::Mesh, "tangents", &tangents),
        }
    }
}

/// Appends a group's vertices in a form; returns the influences after each vertex's fourth.
fn push_vertices(group: &Group, form: MeshForm, out: &mut Vec<u8>) -> Vec<Influence> {
    let mesh = group.model.mesh();
    let (inline, more) = influences(mesh);
    let vertices = inline.iter().enumerate().map(|(v, pairs)| (mesh.positions()[v], mesh.normals()[v], *pairs));
    match form.of(group) {
        MeshForm::Plain => {
            let plain = |(position, normal, pairs): ([f32; 3], [f32; 3], [(u16, f32); INLINE])| Vertex {
                position,
                padding: 0,
                normal,
                more_padding: 0,
                entries: pairs.map(|(entry, _)| entry.into()),
                weights: pairs.map(|(_, weight)| weight),
            };
            vertices.for_each(|vertex| out.extend_from_slice(bytemuck::bytes_of(&plain(vertex))));
        }
        MeshForm::Packed => {
            let grid = Grid::of(mesh);
            let packed = vertices.map(|(position, normal, pairs)| packing::pack(&grid, position, normal, pairs));
            packed.for_each(|vertex| out.extend_from_slice(bytemuck::bytes_of(&vertex)));
        }
    }
    more
}

fn tangents(group: &Group) -> &[[f32; 4]] {
    let asked = group.format.attributes == Attributes::Pnt;
    group.model.mesh().tangents().filter(|_| asked).unwrap_or(&[[0.0; 4]])
}

/// Number of influences after a vertex's fourth, of all vertices.
pub(super) fn more_influences(mesh: &Mesh) -> usize {
    let more = |run: &VertexRun| run.vertex_count as usize * (run.influences as usize).saturating_sub(INLINE);
    mesh.runs().iter().map(more).sum()
}

/// Each vertex's four largest influences, and the remaining influences of all vertices that have more.
fn influences(mesh: &Mesh) -> (Vec<[(u16, f32); INLINE]>, Vec<Influence>) {
    let mut inline = Vec::with_capacity(mesh.vertex_count());
    let mut more = Vec::new();
    let mut pairs = Vec::new();
    for vertex in 0..mesh.vertex_count() {
        pairs.clear();
        pairs.extend(mesh.influences_of(vertex));
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
        // Pad with the heaviest entry at weight 0: it is fetched anyway.
        let padding = (pairs[0].0, 0.0);
        inline.push(std::array::from_fn(|k| pairs.get(k).copied().unwrap_or(padding)));
        more.extend(pairs.iter().skip(INLINE).map(|&(entry, weight)| Influence { entry: entry.into(), weight }));
    }
    (inline, more)
}

/// The numbers of a chunk that shares no buffers.
pub fn chunk_contents(crowd: &Crowd, chunk: &Chunk) -> layout::Chunk {
    let model = &crowd.groups()[chunk.group].model;
    let mesh = model.mesh();
    let first_with = |influences| {
        let run = mesh.runs().iter().find(|r| r.influences >= influences);
        run.map_or(mesh.vertex_count() as u32, |r| r.first_vertex)
    };
    let grid = Grid::of(mesh);
    layout::Chunk {
        first_instance: chunk.instances.start,
        instances: chunk.instances.len() as u32,
        vertices: mesh.vertex_count() as u32,
        entries: model.palette_joints().len() as u32,
        origin: grid.origin.to_array(),
        eights: first_with(8),
        step: grid.step.to_array(),
        sixteens: first_with(16),
        centre: mesh.cube().centre,
        half: mesh.cube().half,
        first_vertex: 0,
        first_entry: 0,
        mesh_vertex: 0,
        mesh_influence: 0,
    }
}

/// The numbers of a chunk in a uniform buffer.
pub fn chunk_uniform(gpu: &Gpu, purpose: Purpose, crowd: &Crowd, chunk: &Chunk) -> wgpu::Buffer {
    gpu.uniform(purpose, "chunk", bytemuck::bytes_of(&chunk_contents(crowd, chunk)))
}
