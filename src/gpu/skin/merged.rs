//! Skinning of all models of a crowd at once. Chunks of many groups share buffers, and a table says where each begins.
//!
//! A crowd is divided into spans ([`Gpu::spans`]). A span takes one dispatch for each kind of its groups, whatever the
//! number of its models.

use crate::crowd::{Crowd, Group};
use crate::frame::{Bytes, Purpose, Result, Retention};
use crate::gpu::device::buffers::{RING, output_sizes};
use crate::gpu::device::commands::ComputePass;
use crate::gpu::device::objects::{BindGroup, Buffer, ComputePipeline};
use crate::gpu::draw::source::{ArenaForm, StoredPart, StoredVertices};
use crate::gpu::shader::kernel::{Edit, Kernel};
use crate::gpu::shader::layout::{self, WORKGROUP};
use crate::gpu::skin::compute::{SkinKernel, ThreadLayout};
use crate::gpu::skin::skinning::Kind;
use crate::gpu::skin::statics::more_influences;
use crate::gpu::{Chunk, Gpu, MeshBuffers, MeshForm, PaletteForm, Palettes, chunk_contents};
use std::rc::Rc;

/// Storage buffers that the kernel reads and writes.
pub const STORAGE_BUFFERS: u32 = 7;

/// Vertices of a crowd whose spans have buffers of their own, or share those of a ring. There is a second set if the
/// last frame is kept.
fn stored(gpu: &Gpu, crowd: &Crowd, spans: &[Vec<Chunk>], keep: Retention) -> Vec<Rc<StoredVertices>> {
    let size = |span: &Vec<Chunk>| span.iter().map(|chunk| chunk.output_bytes(crowd)).sum();
    let sizes = output_sizes(spans.iter().map(size), keep);
    let sets: Vec<Vec<Buffer>> = (0..keep.frames()).map(|_| gpu.outputs(&sizes)).collect();
    let of_set = |index: usize| {
        let part = |(span, chunks): (usize, &Vec<Chunk>)| {
            let place = span % sizes.len();
            let previous = sets.get(1 - index).filter(|_| sets.len() > 1).map(|set| set[place].clone());
            StoredPart { chunks: chunks.clone(), buffer: sets[index][place].clone(), previous }
        };
        let parts = spans.iter().enumerate().map(part).collect();
        let kinds = Kind::all(crowd, MeshForm::Plain, PaletteForm::Rows);
        Rc::new(StoredVertices { parts, kinds, merged: true, form: ArenaForm::default() })
    };
    (0..sets.len()).map(of_set).collect()
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

/// The dispatches that skin a crowd.
pub struct MergedSkin {
    kernel: &'static SkinKernel,
    /// Those of each span.
    dispatches: Vec<Vec<Dispatch>>,
    sets: Vec<Rc<StoredVertices>>,
    /// Index of the set that holds the last frame.
    current: usize,
    /// Number of buffers that spans write to in turn.
    buffers: usize,
    memory: Bytes,
}

/// A dispatch of a span.
struct Dispatch {
    pipeline: ComputePipeline,
    workgroups: u32,
    /// Bindings for each set of output buffers.
    sets: Vec<BindGroup>,
}

impl MergedSkin {
    /// Compiles the kernel, and creates tables, meshes and output for a crowd. `palettes` holds those of each span. An
    /// edited kernel runs with bounds checks.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        kernel: &'static SkinKernel,
        spans: &[Vec<Chunk>],
        palettes: &[Palettes],
        keep: Retention,
        edit: Option<&Edit>,
    ) -> Self {
        let ((dispatches, sets), memory) = gpu.counted(|| {
            let sets = stored(gpu, crowd, spans, keep);
            let kinds: Vec<_> = crowd.groups().iter().map(|group| kind(group, kernel)).collect();
            let compiled = kernel.compiled(gpu, &kinds, edit);
            let of_span = |(index, (span, palettes)): (usize, (&Vec<Chunk>, &Palettes))| {
                let outputs: Vec<_> = sets.iter().map(|set| &set.parts[index].buffer).collect();
                let dispatched = |load: &Load| Some(&compiled[kinds.iter().position(|kind| *kind == load.kind)?]);
                let dispatch = |load: Load| Some(dispatch(gpu, dispatched(&load)?, &load, palettes, &outputs));
                Load::of(crowd, span, kernel).into_iter().filter_map(dispatch).collect()
            };
            let dispatches = spans.iter().zip(palettes).enumerate().map(of_span).collect();
            (dispatches, sets)
        });
        let buffers = if keep == Retention::Ring { spans.len().min(RING) } else { spans.len() };
        Self { kernel, dispatches, sets, current: 0, buffers, memory }
    }

    /// Bytes of its buffers.
    pub fn allocated(&self) -> Bytes {
        self.memory
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static SkinKernel {
        self.kernel
    }

    /// The skinned vertices of the last frame, span by span.
    pub fn vertices(&self) -> &Rc<StoredVertices> {
        &self.sets[self.current]
    }

    /// Number of buffers that spans write to in turn.
    pub fn buffers(&self) -> usize {
        self.buffers
    }

    /// Makes the next frame overwrite the older set.
    pub fn swap(&mut self) {
        self.current = (self.current + 1) % self.sets.len();
    }

    /// Records the dispatches of a span.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut ComputePass, span: usize) {
        for Dispatch { pipeline, workgroups, sets } in &self.dispatches[span] {
            gpu.dispatch(pass, pipeline, &sets[self.current], *workgroups);
        }
    }
}

/// Uploads the tables and meshes of a dispatch and binds them.
fn dispatch(
    gpu: &Gpu,
    (kernel, pipeline): &(Rc<Kernel>, ComputePipeline),
    load: &Load,
    palettes: &Palettes,
    outputs: &[&Buffer],
) -> Dispatch {
    let chunks = gpu.storage(Purpose::Scratch, "chunks", &load.chunks);
    let workgroups = gpu.storage(Purpose::Scratch, "workgroups", &load.workgroups);
    let mesh = MeshBuffers::merged(gpu, &load.groups, load.kind.mesh);
    let bind = |output: &&Buffer| {
        let buffers = [
            ("chunks", &chunks),
            ("workgroups", &workgroups),
            ("vertices", &mesh.vertices),
            ("influences", &mesh.influences),
            ("tangents", &mesh.tangents),
            ("output", *output),
        ];
        let buffers = buffers.into_iter().map(|(name, buffer)| (name, buffer.into()));
        kernel.bind(gpu, 0, buffers.chain([("palettes", palettes.binding())]))
    };
    let sets = outputs.iter().map(bind).collect();
    Dispatch { pipeline: pipeline.clone(), workgroups: load.workgroups.len() as u32, sets }
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
