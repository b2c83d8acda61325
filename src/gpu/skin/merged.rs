//! Skinning of all models of a crowd at once. Chunks of many groups share buffers, and a table says where each begins.
//!
//! A crowd is divided into spans ([`Gpu::spans`]). A span takes one dispatch for each kind of its groups, whatever the
//! number of its models.

use crate::crowd::{Crowd, Group};
use crate::frame::{Purpose, Result};
use crate::gpu::device::objects::{BindGroup, Buffer};
use crate::gpu::shader::{Kernel, WORKGROUP, layout};
use crate::gpu::skin::skinning::Kind;
use crate::gpu::skin::statics::more_influences;
use crate::gpu::{Chunk, Gpu, MeshBuffers, MeshForm, Palettes, chunk_contents};

/// Storage buffers that a merged kernel reads besides those of others.
pub const MORE_STORAGE_BUFFERS: u32 = 2;

/// Work of one dispatch: the chunks of a span whose groups are of one kind.
struct Load<'a> {
    kind: Kind,
    /// The first of the groups.
    group: usize,
    groups: Vec<&'a Group>,
    chunks: Vec<layout::Chunk>,
    workgroups: Vec<layout::Workgroup>,
    /// Vertices and further influences of the groups so far.
    meshes: [usize; 2],
}

impl<'a> Load<'a> {
    /// The dispatches of a span, in the order in which their kinds occur.
    fn of(crowd: &'a Crowd, span: &[Chunk], mesh: MeshForm, at_once: u32) -> Vec<Self> {
        let mut loads: Vec<Self> = Vec::new();
        let (mut first_entry, mut first_vertex) = (0, 0);
        for chunk in span {
            let group = &crowd.groups()[chunk.group];
            let kind = kind(Kind::of(group, mesh));
            let index = loads.iter().position(|load| load.kind == kind).unwrap_or_else(|| {
                loads.push(Self::none(kind, chunk.group));
                loads.len() - 1
            });
            let numbers = layout::Chunk { first_vertex, first_entry, ..chunk_contents(crowd, chunk) };
            loads[index].push(group, numbers, at_once);
            first_entry += numbers.instances * numbers.entries;
            first_vertex += numbers.instances * numbers.vertices;
        }
        loads
    }

    fn none(kind: Kind, group: usize) -> Self {
        Self { kind, group, groups: Vec::new(), chunks: Vec::new(), workgroups: Vec::new(), meshes: [0; 2] }
    }

    /// Adds a chunk after those of other groups of the kind; its place among their meshes is set here.
    fn push(&mut self, group: &'a Group, numbers: layout::Chunk, at_once: u32) {
        let index = self.chunks.len() as u32;
        for instance in (0..numbers.instances).step_by(at_once as usize) {
            let first = (0..numbers.vertices).step_by(WORKGROUP as usize);
            self.workgroups.extend(first.map(|vertex| layout::Workgroup { chunk: index, vertex, instance }));
        }
        let [mesh_vertex, mesh_influence] = self.meshes.map(|first| first as u32);
        self.chunks.push(layout::Chunk { mesh_vertex, mesh_influence, ..numbers });
        self.groups.push(group);
        let mesh = group.model.mesh();
        self.meshes = [self.meshes[0] + mesh.vertex_count(), self.meshes[1] + more_influences(mesh)];
    }
}

/// The kind of a group for a merged kernel. The number of influences matters only beyond those of a stored vertex.
pub(in crate::gpu) fn kind(kind: Kind) -> Kind {
    Kind { influences: if kind.influences > 4 { 16 } else { 4 }, ..kind }
}

/// A dispatch of a span, with its tables and meshes on the device.
pub(in crate::gpu) struct SpanDispatch {
    /// Index of the span.
    pub span: usize,
    /// A group of the kind that it skins.
    pub group: usize,
    pub workgroups: u32,
    /// By the names of the kernel's variables.
    buffers: [(&'static str, Buffer); 5],
}

impl SpanDispatch {
    /// Uploads the tables and meshes of all dispatches, span after span. A thread skins `at_once` neighbouring
    /// instances.
    pub fn all(gpu: &Gpu, crowd: &Crowd, spans: &[Vec<Chunk>], mesh: MeshForm, at_once: u32) -> Vec<Self> {
        let of_span = |(span, chunks): (usize, &Vec<Chunk>)| {
            Load::of(crowd, chunks, mesh, at_once).into_iter().map(move |load| Self::new(gpu, span, load))
        };
        spans.iter().enumerate().flat_map(of_span).collect()
    }

    fn new(gpu: &Gpu, span: usize, load: Load) -> Self {
        let mesh = MeshBuffers::merged(gpu, &load.groups, load.kind.mesh);
        let buffers = [
            ("chunks", gpu.storage(Purpose::Scratch, "chunks", &load.chunks)),
            ("workgroups", gpu.storage(Purpose::Scratch, "workgroups", &load.workgroups)),
            ("vertices", mesh.vertices),
            ("influences", mesh.influences),
            ("tangents", mesh.tangents),
        ];
        Self { span, group: load.group, workgroups: load.workgroups.len() as u32, buffers }
    }

    /// Binds it to the palettes and the output of its span.
    pub fn bind(&self, gpu: &Gpu, kernel: &Kernel, palettes: &Palettes, output: &Buffer) -> BindGroup {
        let mut resources: Vec<_> = self.buffers.iter().map(|(name, buffer)| (*name, buffer.into())).collect();
        resources.extend([("palettes", palettes.binding()), ("output", output.into())]);
        kernel.bind(gpu, 0, &resources)
    }
}

impl Gpu {
    /// Divides a crowd into spans that this adapter can bind.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](crate::frame::BackendError::TooLarge) if a single instance is larger than a binding.
    pub fn spans(&self, crowd: &Crowd) -> Result<Vec<Vec<Chunk>>> {
        crate::gpu::skin::chunks::spans(crowd, self.binding_bytes())
    }
}
