//! Constant data on the device: a model's vertices and a chunk's numbers, uploaded once.

use super::counts::{filled_bytes, items_bytes};
use super::layout::{self, Influence, Vertex};
use super::packing::{self, Grid};
use super::{Chunk, Gpu};
use crate::crowd::{Crowd, Group};
use crate::frame::Purpose;
use crate::model::Mesh;
use crate::vertex::Attributes;

/// Influences that are stored in a vertex; further ones are in a stream of their own.
const INLINE: usize = 4;

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

/// A model's vertex and influence streams.
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
        let bytes = |group: &Group| {
            let mesh = group.model.mesh();
            let more = mesh.runs().iter().map(|r| r.vertex_count as usize * more_than_inline(r.influences));
            filled_bytes(mesh.vertex_count() * form.of(group).stride())
                + items_bytes::<Influence>(more.sum())
                + filled_bytes(size_of_val(tangents(group)))
        };
        crowd.groups().iter().map(bytes).sum()
    }

    /// Uploads a model's streams.
    pub fn new(gpu: &Gpu, group: &Group, form: MeshForm) -> Self {
        let mesh = group.model.mesh();
        let (inline, more) = influences(mesh);
        let vertices = inline.iter().enumerate().map(|(v, pairs)| (mesh.positions()[v], mesh.normals()[v], *pairs));
        let vertices = match form.of(group) {
            MeshForm::Plain => {
                let plain = |(position, normal, pairs): ([f32; 3], [f32; 3], [(u16, f32); INLINE])| Vertex {
                    position,
                    padding: 0,
                    normal,
                    more_padding: 0,
                    entries: pairs.map(|(entry, _)| entry.into()),
                    weights: pairs.map(|(_, weight)| weight),
                };
                gpu.storage(
                    Purpose::Mesh,
                    "mesh vertices",
                    bytemuck::cast_slice(&vertices.map(plain).collect::<Vec<_>>()),
                )
            }
            MeshForm::Packed => {
                let grid = Grid::of(mesh);
                let packed = vertices.map(|(position, normal, pairs)| packing::pack(&grid, position, normal, pairs));
                gpu.storage(Purpose::Mesh, "packed vertices", bytemuck::cast_slice(&packed.collect::<Vec<_>>()))
            }
        };
        Self {
            vertices,
            influences: gpu.storage(Purpose::Mesh, "influences", bytemuck::cast_slice(&more)),
            tangents: gpu.storage(Purpose::Mesh, "tangents", bytemuck::cast_slice(tangents(group))),
        }
    }
}

fn tangents(group: &Group) -> &[[f32; 4]] {
    let asked = group.format.attributes == Attributes::Pnt;
    group.model.mesh().tangents().filter(|_| asked).unwrap_or(&[[0.0; 4]])
}

fn more_than_inline(influences: u32) -> usize {
    (influences as usize).saturating_sub(INLINE)
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

/// The numbers of a chunk.
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
        ..bytemuck::Zeroable::zeroed()
    }
}

/// The numbers of a chunk in a uniform buffer.
pub fn chunk_uniform(gpu: &Gpu, purpose: Purpose, crowd: &Crowd, chunk: &Chunk) -> wgpu::Buffer {
    gpu.uniform(purpose, "chunk", bytemuck::bytes_of(&chunk_contents(crowd, chunk)))
}
