//! Constant data on the device: a model's vertices and a chunk's numbers, uploaded once.

use crate::Gpu;
use crate::device::{Named, named};
use crate::forms::packing::{self, Grid};
use crate::shader::layout::{INLINE, Influence, Vertex};
use bytemuck::Zeroable;
use skinbench_frame::Purpose;
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::model::{Mesh, VertexRun};
use skinbench_kernels::vertex::Attributes;

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
    let (_, bytes) = gpu.counted(|| {
        for group in crowd.groups() {
            upload_meshes(&gpu, &[group], form);
        }
    });
    bytes.total()
}

/// Uploads the streams of groups whose meshes have one form, one group after the other. Vertices are [`Vertex`] or
/// [`PackedVertex`](crate::shader::layout::PackedVertex), influences are [`Influence`], those after a vertex's fourth;
/// both may be those of an [`OwnMesh`]. Tangents are a single zero if the format has none.
pub fn upload_meshes(gpu: &Gpu, groups: &[&Group], form: MeshForm) -> [Named; 3] {
    let mut vertices = Vec::new();
    let mut influences = Vec::new();
    let mut tangents = Vec::new();
    for group in groups {
        push_vertices(group, form, &mut vertices, &mut influences);
        if form != MeshForm::Nothing {
            tangents.extend_from_slice(bytemuck::cast_slice(self::tangents(group)));
        }
    }
    let streams = [
        ("vertices", vertices),
        ("influences", influences),
        ("tangents", tangents),
    ];
    streams.map(|(name, stream)| named(name, &gpu.storage(Purpose::Mesh, name, &stream)))
}

/// Appends a group's vertices in a form, and the influences beside them.
fn push_vertices(group: &Group, form: MeshForm, out: &mut Vec<u8>, beside: &mut Vec<u8>) {
    let mesh = group.model.mesh();
    match form.of(group) {
        MeshForm::Plain => {
            for (vertex, pairs) in inline_influences(mesh).iter().enumerate() {
                out.extend_from_slice(bytemuck::bytes_of(&Vertex {
                    position: mesh.positions()[vertex],
                    normal: mesh.normals()[vertex],
                    entries: pairs.map(|(entry, _)| entry.into()),
                    weights: pairs.map(|(_, weight)| weight),
                    ..Zeroable::zeroed()
                }));
            }
        }
        MeshForm::Packed => {
            let grid = Grid::of(mesh);
            for (vertex, pairs) in inline_influences(mesh).iter().enumerate() {
                let position = mesh.positions()[vertex];
                let normal = mesh.normals()[vertex];
                let packed = packing::pack(&grid, position, normal, *pairs);
                out.extend_from_slice(bytemuck::bytes_of(&packed));
            }
        }
        MeshForm::Nothing => return,
        MeshForm::Own(own) => {
            let [vertices, influences] = (own.streams)(group);
            out.extend(vertices);
            return beside.extend(influences);
        }
    }
    for vertex in 0..mesh.vertex_count() {
        for &(entry, weight) in sorted_influences(mesh, vertex).iter().skip(INLINE) {
            beside.extend_from_slice(bytemuck::bytes_of(&Influence {
                entry: entry.into(),
                weight,
            }));
        }
    }
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
pub fn more_influences(mesh: &Mesh) -> usize {
    let more = |run: &VertexRun| {
        run.vertex_count as usize * (run.influences as usize).saturating_sub(INLINE)
    };
    mesh.runs().iter().map(more).sum()
}

/// The influences of a vertex, the largest first.
fn sorted_influences(mesh: &Mesh, vertex: usize) -> Vec<(u16, f32)> {
    let mut pairs: Vec<_> = mesh.influences_of(vertex).collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    pairs
}

/// Each vertex's four largest influences.
fn inline_influences(mesh: &Mesh) -> Vec<[(u16, f32); INLINE]> {
    let mut inline = Vec::with_capacity(mesh.vertex_count());
    for vertex in 0..mesh.vertex_count() {
        let pairs = sorted_influences(mesh, vertex);
        // Pad with the heaviest entry at weight 0: it is fetched anyway.
        let padding = (pairs[0].0, 0.0);
        inline.push(std::array::from_fn(|k| {
            pairs.get(k).copied().unwrap_or(padding)
        }));
    }
    inline
}
