//! Skinning of all models of a crowd at once. Chunks of many groups share buffers, and a table says where each begins.
//!
//! A crowd is divided into spans ([`Gpu::spans`]). A span takes one dispatch for each kind of its groups, whatever the
//! number of its models.

use super::binding::{GroupLayout, pipeline_layout};
use super::buffers::output_sizes;
use super::compute::{SkinKernel, ThreadLayout};
use super::counts::{items_bytes, room_bytes};
use super::layout::{self, WORKGROUP};
use super::shader::Edit;
use super::skinning::Kind;
use super::statics::more_influences;
use super::{Chunk, Gpu, MeshBuffers, Palettes, chunk_contents};
use crate::crowd::{Crowd, Group};
use crate::frame::{Bytes, Purpose, Result, Retention};
use crate::model::Model;
use crate::vertex::VertexFormat;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// Storage buffers that the kernel reads and writes.
pub const STORAGE_BUFFERS: u32 = 7;

/// Skinned vertices of a crowd whose models share buffers.
pub struct MergedVertices {
    spans: Vec<Vec<Chunk>>,
    models: Vec<Arc<Model>>,
    format: VertexFormat,
    /// Buffers that spans write to in turn; a second set if the last frame is kept.
    sets: Vec<Vec<wgpu::Buffer>>,
    current: Cell<usize>,
}

impl MergedVertices {
    /// Bytes of each buffer of a set: one per span, or those of a ring.
    fn sizes(crowd: &Crowd, spans: &[Vec<Chunk>], keep: Retention) -> Vec<u64> {
        let size = |span: &Vec<Chunk>| span.iter().map(|chunk| chunk.output_bytes(crowd)).sum();
        output_sizes(spans.iter().map(size), keep)
    }

    fn new(gpu: &Gpu, crowd: &Crowd, spans: Vec<Vec<Chunk>>, keep: Retention) -> Self {
        let sizes = Self::sizes(crowd, &spans, keep);
        let sets = (0..keep.frames()).map(|_| gpu.outputs(&sizes)).collect();
        let models = crowd.groups().iter().map(|group| Arc::clone(&group.model)).collect();
        Self { spans, models, format: crowd.format(), sets, current: Cell::new(0) }
    }

    /// The spans of the crowd, in its order.
    pub fn spans(&self) -> &[Vec<Chunk>] {
        &self.spans
    }

    /// The model of each of the crowd's groups.
    pub(super) fn models(&self) -> &[Arc<Model>] {
        &self.models
    }

    /// The format of all vertices.
    pub(super) fn format(&self) -> VertexFormat {
        self.format
    }

    /// Each set of buffers.
    pub fn sets(&self) -> &[Vec<wgpu::Buffer>] {
        &self.sets
    }

    /// Index of the set that holds the last frame.
    pub fn current(&self) -> usize {
        self.current.get()
    }

    /// The buffers of the last frame.
    pub fn buffers(&self) -> &[wgpu::Buffer] {
        &self.sets[self.current.get()]
    }

    /// For each chunk of a span the index of its first vertex in the span's buffer.
    pub fn places(&self, span: usize) -> impl Iterator<Item = (&Chunk, usize)> {
        let mut place = 0;
        self.spans[span].iter().map(move |chunk| {
            let first = place;
            place += chunk.instances.len() * self.models[chunk.group].mesh().vertex_count();
            (chunk, first)
        })
    }

    /// Makes the next frame overwrite the older set.
    pub fn swap(&self) {
        self.current.set((self.current.get() + 1) % self.sets.len());
    }
}

/// Work of one dispatch: the chunks of a span whose groups are of one kind.
struct Load<'a> {
    kind: Kind,
    groups: Vec<&'a Group>,
    chunks: Vec<layout::Chunk>,
    workgroups: Vec<layout::Workgroup>,
    /// Vertices and further influences of the groups so far.
    meshes: [usize; 2],
}

impl<'a> Load<'a> {
    /// The dispatches of a span, in the order in which their kinds occur.
    fn of(crowd: &'a Crowd, span: &[Chunk], kernel: &SkinKernel) -> Vec<Self> {
        let mut loads: Vec<Self> = Vec::new();
        let (mut first_entry, mut first_vertex) = (0, 0);
        for chunk in span {
            let group = &crowd.groups()[chunk.group];
            let kind = kind(group, kernel);
            let index = loads.iter().position(|load| load.kind == kind).unwrap_or_else(|| {
                loads.push(Self::none(kind));
                loads.len() - 1
            });
            let numbers = layout::Chunk { first_vertex, first_entry, ..chunk_contents(crowd, chunk) };
            loads[index].push(group, numbers, kernel);
            first_entry += numbers.instances * numbers.entries;
            first_vertex += numbers.instances * numbers.vertices;
        }
        loads
    }

    fn none(kind: Kind) -> Self {
        Self { kind, groups: Vec::new(), chunks: Vec::new(), workgroups: Vec::new(), meshes: [0; 2] }
    }

    /// Adds a chunk after those of other groups of the kind; its place among their meshes is set here.
    fn push(&mut self, group: &'a Group, numbers: layout::Chunk, kernel: &SkinKernel) {
        // Merged kernels assign threads in no other way.
        let ThreadLayout::Vertex(at_once) = kernel.threads else { return };
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

/// The kind of a group. The number of influences matters only beyond those of a stored vertex.
fn kind(group: &Group, kernel: &SkinKernel) -> Kind {
    let kind = Kind::of(group, kernel.mesh);
    Kind { influences: if kind.influences > 4 { 16 } else { 4 }, ..kind }
}

/// The pipelines and bindings that skin a crowd.
pub struct MergedSkin {
    kernel: &'static SkinKernel,
    pipelines: Vec<(Kind, wgpu::ComputePipeline)>,
    /// Those of each span.
    dispatches: Vec<Vec<Dispatch>>,
    vertices: Rc<MergedVertices>,
    memory: Bytes,
}

/// A dispatch of a span.
struct Dispatch {
    kind: Kind,
    workgroups: u32,
    /// Bindings for each set of output buffers.
    sets: Vec<wgpu::BindGroup>,
}

impl MergedSkin {
    /// Bytes on the device for a crowd, with its vertices.
    pub fn bytes(crowd: &Crowd, kernel: &SkinKernel, spans: &[Vec<Chunk>], keep: Retention) -> Bytes {
        let of_load = |load: Load| {
            let tables = items_bytes::<layout::Chunk>(load.chunks.len())
                + items_bytes::<layout::Workgroup>(load.workgroups.len());
            Bytes::of(Purpose::Scratch, tables)
                + Bytes::of(Purpose::Mesh, MeshBuffers::bytes_of(&load.groups, load.kind.mesh))
        };
        let loads = spans.iter().flat_map(|span| Load::of(crowd, span, kernel));
        let sizes = MergedVertices::sizes(crowd, spans, keep).into_iter().map(room_bytes);
        let output = sizes.sum::<u64>() * keep.frames() as u64;
        loads.map(of_load).fold(Bytes::of(Purpose::Output, output), |sum, bytes| sum + bytes)
    }

    /// Compiles the kernel, and creates tables, meshes and output for a crowd. `palettes` holds those of each span. An
    /// edited kernel runs with bounds checks.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        kernel: &'static SkinKernel,
        spans: Vec<Vec<Chunk>>,
        palettes: &[Palettes],
        keep: Retention,
        edit: Option<&Edit>,
    ) -> Self {
        let ((dispatches, vertices, pipelines), memory) = gpu.counted(|| {
            let vertices = MergedVertices::new(gpu, crowd, spans, keep);
            // The shaders of all kinds have the same bindings.
            let first = crowd.groups().first().map(|group| kernel.shader(kind(group, kernel))).unwrap_or_default();
            let layout = GroupLayout::new(gpu, kernel.name, &first, 0, wgpu::ShaderStages::COMPUTE, None);
            let pipeline_layout = pipeline_layout(gpu, kernel.name, &[&layout]);
            let kinds = crowd.groups().iter().map(|group| kind(group, kernel));
            let pipelines = kernel.pipelines(gpu, &pipeline_layout, kinds, edit);
            let of_span = |(index, (span, palettes)): (usize, (&Vec<Chunk>, &Palettes))| {
                let outputs: Vec<_> = vertices.sets.iter().map(|set| &set[index % set.len()]).collect();
                let loads = Load::of(crowd, span, kernel).into_iter();
                loads.map(|load| dispatch(gpu, &layout, &load, palettes, &outputs)).collect()
            };
            let dispatches = vertices.spans.iter().zip(palettes).enumerate().map(of_span).collect();
            (dispatches, vertices, pipelines)
        });
        Self { kernel, pipelines, dispatches, vertices: Rc::new(vertices), memory }
    }

    /// Bytes of its buffers.
    pub fn allocated(&self) -> Bytes {
        self.memory
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static SkinKernel {
        self.kernel
    }

    /// The skinned vertices.
    pub fn vertices(&self) -> &Rc<MergedVertices> {
        &self.vertices
    }

    /// Records the dispatches of a span.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut wgpu::ComputePass, span: usize) {
        for dispatch in &self.dispatches[span] {
            let Some((_, pipeline)) = self.pipelines.iter().find(|(kind, _)| *kind == dispatch.kind) else { continue };
            gpu.add_dispatch();
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &dispatch.sets[self.vertices.current()], &[]);
            let (x, y) = gpu.folded(dispatch.workgroups);
            pass.dispatch_workgroups(x, y, 1);
        }
    }
}

/// Uploads the tables and meshes of a dispatch and binds them.
fn dispatch(gpu: &Gpu, layout: &GroupLayout, load: &Load, palettes: &Palettes, outputs: &[&wgpu::Buffer]) -> Dispatch {
    let chunks = gpu.storage(Purpose::Scratch, "chunks", bytemuck::cast_slice(&load.chunks));
    let workgroups = gpu.storage(Purpose::Scratch, "workgroups", bytemuck::cast_slice(&load.workgroups));
    let mesh = MeshBuffers::merged(gpu, &load.groups, load.kind.mesh);
    let bind = |output: &&wgpu::Buffer| {
        let buffers = [
            ("chunks", &chunks),
            ("workgroups", &workgroups),
            ("vertices", &mesh.vertices),
            ("influences", &mesh.influences),
            ("tangents", &mesh.tangents),
            ("output", output),
        ];
        let buffers = buffers.map(|(name, buffer)| (name, buffer.as_entire_binding()));
        let resources: Vec<_> = buffers.into_iter().chain([("palettes", palettes.binding())]).collect();
        layout.bind(gpu, "merged", &resources)
    };
    let sets = outputs.iter().map(bind).collect();
    Dispatch { kind: load.kind, workgroups: load.workgroups.len() as u32, sets }
}

impl Gpu {
    /// Divides a crowd into spans that this adapter can bind.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](crate::frame::BackendError::TooLarge) if a single instance is larger than a binding.
    pub fn spans(&self, crowd: &Crowd) -> Result<Vec<Vec<Chunk>>> {
        super::chunks::spans(crowd, self.binding_bytes())
    }
}
