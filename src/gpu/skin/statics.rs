//! Constant data on the device: a model's vertices and a chunk's numbers, uploaded once.

use crate::crowd::{Crowd, Group};
use crate::frame::Purpose;
use crate::gpu::device::objects::{Buffer, Named};
use crate::gpu::shader::layout::{self, INLINE, Influence, Vertex};
use crate::gpu::skin::packing::{self, Grid};
use crate::gpu::{Chunk, Gpu};
use crate::model::{Mesh, VertexRun};
use crate::vertex::Attributes;
use bytemuck::Zeroable;

/// Form of a mesh in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeshForm {
    /// 64 bytes per vertex, in full precision.
    Plain,
    /// 20 bytes per vertex if the model allows it, otherwise as [`MeshForm::Plain`].
    Packed,
    /// Nothing: its vertices are baked.
    Nothing,
    /// The form of a kernel from outside this crate, which reads it itself.
    Own(&'static OwnMesh),
}

/// A form of meshes for a kernel from outside this crate.
#[derive(Debug)]
pub struct OwnMesh {
    /// Name by which forms are told apart.
    pub name: &'static str,
    /// Returns the contents of the buffers that are bound to the kernel's variables `vertices` and `influences`.
    pub streams: fn(&Group) -> [Vec<u8>; 2],
}

impl PartialEq for OwnMesh {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OwnMesh {}

impl MeshForm {
    /// The form of a group's mesh: packed only if the model allows it.
    pub fn of(self, group: &Group) -> Self {
        if self == Self::Packed && !packing::fits(group) {
            Self::Plain
        } else {
            self
        }
    }
}

/// Bytes on the device of the meshes of all groups.
pub fn mesh_bytes(crowd: &Crowd, form: MeshForm) -> u64 {
    let gpu = Gpu::recording().counting();
    let upload = || {
        crowd
            .groups()
            .iter()
            .for_each(|group| drop(upload_meshes(&gpu, &[group], form)))
    };
    gpu.counted(upload).1.total()
}

/// Uploads the streams of groups whose meshes have one form, one group after the other. Vertices are
/// [`layout::Vertex`] or [`layout::PackedVertex`], influences are [`Influence`], those after a vertex's fourth; both may
/// be those of an [`OwnMesh`]. Tangents are a single zero if the format has none.
pub fn upload_meshes(gpu: &Gpu, groups: &[&Group], form: MeshForm) -> [Named; 3] {
    let [mut vertices, mut influences, mut tangents] = [const { Vec::new() }; 3];
    for group in groups {
        push_vertices(group, form, &mut vertices, &mut influences);
        if form != MeshForm::Nothing {
            tangents.extend_from_slice(bytemuck::cast_slice(self::tangents(group)));
        }
    }
    [
        ("vertices", vertices),
        ("influences", influences),
        ("tangents", tangents),
    ]
    .map(|(name, stream)| (name, gpu.storage(Purpose::Mesh, name, &stream).into()))
}

/// Appends a group's vertices in a form, and the influences beside them.
fn push_vertices(group: &Group, form: MeshForm, out: &mut Vec<u8>, beside: &mut Vec<u8>) {
    let mesh = group.model.mesh();
    let (inline, more) = influences(mesh);
    let vertices = inline
        .iter()
        .enumerate()
        .map(|(v, pairs)| (mesh.positions()[v], mesh.normals()[v], *pairs));
    match form.of(group) {
        MeshForm::Plain => {
            let plain =
                |(position, normal, pairs): ([f32; 3], [f32; 3], [(u16, f32); INLINE])| Vertex {
                    position,
                    normal,
                    entries: pairs.map(|(entry, _)| entry.into()),
                    weights: pairs.map(|(_, weight)| weight),
                    ..Zeroable::zeroed()
                };
            vertices.for_each(|vertex| out.extend_from_slice(bytemuck::bytes_of(&plain(vertex))));
        }
        MeshForm::Packed => {
            let grid = Grid::of(mesh);
            let packed = vertices
                .map(|(position, normal, pairs)| packing::pack(&grid, position, normal, pairs));
            packed.for_each(|vertex| out.extend_from_slice(bytemuck::bytes_of(&vertex)));
        }
        MeshForm::Nothing => return,
        MeshForm::Own(own) => {
            let [vertices, influences] = (own.streams)(group);
            out.extend(vertices);
            return beside.extend(influences);
        }
    }
    beside.extend_from_slice(bytemuck::cast_slice(&more));
}

fn tangents(group: &Group) -> &[[f32; 4]] {
    let asked = group.format.attributes == Attributes::Pnt;
    group
        .model
        .mesh()
        .tangents()
        .filter(|_| asked)
        .unwrap_or(&[[0.0; 4]])
}

/// Number of influences after a vertex's fourth, of all vertices.
pub(in crate::gpu) fn more_influences(mesh: &Mesh) -> usize {
    let more = |run: &VertexRun| {
        run.vertex_count as usize * (run.influences as usize).saturating_sub(INLINE)
    };
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
        inline.push(std::array::from_fn(|k| {
            pairs.get(k).copied().unwrap_or(padding)
        }));
        more.extend(pairs.iter().skip(INLINE).map(|&(entry, weight)| Influence {
            entry: entry.into(),
            weight,
        }));
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
        ..Zeroable::zeroed()
    }
}

/// The numbers of a chunk in a uniform buffer.
pub fn chunk_uniform(gpu: &Gpu, purpose: Purpose, crowd: &Crowd, chunk: &Chunk) -> Buffer {
    gpu.uniform(purpose, "chunk", &chunk_contents(crowd, chunk))
}
