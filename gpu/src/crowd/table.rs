//! The table of a crowd: its chunks, and for each of them numbers, bindings and workgroups. It knows no kernels: these
//! give it the rules by which their dispatches are counted.

use crate::Gpu;
use crate::crowd::chunk::{Chunk, Sharing, batches, slots};
use crate::device::{Buffer, Command, Named, Resource, named};
use crate::forms::baked::BakedGroups;
use crate::forms::packing::Grid;
use crate::forms::posed_models::{depths, level_count};
use crate::shader::layout;
use bytemuck::Zeroable;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::crowd::Crowd;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// Most rules for dispatches of a chunk whose instances the device counts.
pub(crate) const MOST_RULES: usize = 8;

/// A crowd divided among bindings.
pub struct CrowdTable {
    /// The chunks.
    pub chunks: Vec<Chunk>,
    /// Ranges of chunks that share buffers and dispatches.
    pub batches: Vec<Range<usize>>,
    /// The numbers of each chunk, as if all instances were in view.
    pub numbers: Vec<layout::Numbers>,
    /// What kernels bind of each chunk, by the names of their variables.
    pub bindings: Vec<Vec<Named>>,
    /// The poses of each chunk, if the device computes them.
    pub poses: Vec<ChunkPoses>,
    /// The instances in view, if only those are posed.
    pub visible: Option<Arc<Visible>>,
    /// Number of rules for dispatches of each chunk, if the device counts them.
    rules: Vec<usize>,
}

/// A chunk's poses on the device, in the buffers of its batch.
pub struct ChunkPoses {
    /// Index of its first local pose, each of which takes one place per channel.
    pub first_local: u32,
    /// `true` if a model pose is a rotation and a translation.
    pub is_rigid: bool,
    /// Number of channels of an instance's joints that some clip moves.
    pub moving_channels: u64,
    /// Local poses, `[slot][channel][joint]`.
    pub locals: Buffer,
    /// Model poses, `[instance][joint]`.
    pub model: Buffer,
    /// Palettes, `[instance][entry]`.
    pub palettes: Buffer,
}

/// The instances in view, of which the device writes these buffers.
pub struct Visible {
    /// Model to world. The instances in view of a chunk are at the beginning of its range.
    pub placements: Buffer,
    /// The instances in view of each chunk.
    pub chunks: Vec<VisibleChunk>,
}

/// A chunk's visible instances, and the dispatches that the device counts for them.
pub struct VisibleChunk {
    /// Its numbers.
    pub numbers: Buffer,
    /// Indices of its instances in view, the first ones of the buffer.
    pub indices: Buffer,
    /// The rules by which the device counts workgroups.
    pub(crate) rules: Buffer,
    /// The workgroups that follow from the rules.
    pub(crate) workgroups: Buffer,
}

/// Workgroups of a dispatch.
#[derive(Clone)]
pub enum Dispatch {
    /// As many as the host counted.
    Fixed([u32; 3]),
    /// As many as the device counts.
    Counted {
        /// Holds three numbers.
        counts: Buffer,
        /// Their offset.
        offset: u64,
    },
}

impl Dispatch {
    /// The command.
    pub fn command(&self) -> Command<'_> {
        match self {
            Self::Fixed(workgroups) => Command::Dispatch {
                workgroups: *workgroups,
            },
            Self::Counted { counts, offset } => Command::DispatchIndirect {
                counts,
                offset: *offset,
            },
        }
    }
}

impl Gpu {
    /// The workgroups that a rule gives for so many instances and slots.
    pub(crate) fn workgroups_by(
        &self,
        rule: &layout::Dispatch,
        instances: u32,
        slots: u32,
    ) -> [u32; 3] {
        let groups = rule.count(instances, slots);
        let [x, y] = if rule.x == 0 {
            self.folded(groups)
        } else {
            [rule.x, groups]
        };
        [x, y, rule.z]
    }
}

impl CrowdTable {
    /// Divides a crowd. Of `baked` groups the device poses their frames.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if a single instance is larger than a binding.
    pub(crate) fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        sharing: &Sharing,
        baked: Option<&BakedGroups>,
    ) -> Result<Self> {
        let chunks = gpu.chunks(crowd)?;
        let batches = batches(crowd, &chunks, sharing, gpu.binding_bytes());
        let mut numbers = Vec::with_capacity(chunks.len());
        for chunk in &chunks {
            let mut posed = posed_contents(crowd, chunk);
            if let Some(baked) = baked {
                posed.joints = 0;
                posed.entries = baked.groups[chunk.group].entries;
            }
            numbers.push(layout::Numbers {
                posed,
                chunk: chunk_contents(crowd, chunk),
                ..Zeroable::zeroed()
            });
        }
        for chunks in &batches {
            place(&mut numbers[chunks.clone()], sharing);
        }
        Ok(Self {
            bindings: vec![Vec::new(); chunks.len()],
            rules: vec![0; chunks.len()],
            chunks,
            batches,
            numbers,
            poses: Vec::new(),
            visible: None,
        })
    }

    /// A table of the first instances of a chunk, with a uniform of its own.
    pub(crate) fn excerpt(&self, gpu: &Gpu, index: usize, instances: u32) -> Self {
        let mut chunk = self.chunks[index].clone();
        chunk.instances.end = chunk.instances.start + instances;
        let mut numbers = self.numbers[index];
        numbers.posed.instances = instances;
        numbers.chunk.instances = instances;
        let uniform = gpu.uniform(Purpose::Scratch, "chunk", &numbers.chunk);
        let mut bindings = self.bindings[index].clone();
        bindings.retain(|named| named.0 != "chunk");
        bindings.push(named("chunk", &uniform));
        Self {
            chunks: vec![chunk],
            batches: std::iter::once(0..1).collect(),
            numbers: vec![numbers],
            bindings: vec![bindings],
            poses: Vec::new(),
            visible: None,
            rules: Vec::new(),
        }
    }

    /// Binds the numbers that chunks are skinned by, and those that they are posed by if they are `posed`.
    pub(crate) fn bind_numbers(&mut self, gpu: &Gpu, posed: bool) {
        for (numbers, bindings) in self.numbers.iter().zip(&mut self.bindings) {
            let chunk = gpu.uniform(Purpose::Scratch, "chunk", &numbers.chunk);
            bindings.push(named("chunk", &chunk));
            if posed {
                let posed = gpu.uniform(Purpose::Scratch, "posed", &numbers.posed);
                bindings.push(named("posed", &posed));
            }
        }
    }

    /// The instances of a batch.
    pub(crate) fn instances(&self, batch: &Range<usize>) -> Range<u32> {
        let chunks = &self.chunks[batch.clone()];
        chunks[0].instances.start..chunks[chunks.len() - 1].instances.end
    }

    /// The dispatch of a kernel over a chunk, by a rule.
    pub fn dispatch(&mut self, gpu: &Gpu, chunk: usize, rule: &layout::Dispatch) -> Dispatch {
        if let Some(visible) = &self.visible {
            let index = self.rules[chunk];
            self.rules[chunk] += 1;
            return visible.chunks[chunk].dispatch(gpu, index, rule);
        }
        let layout::PosedChunk {
            instances, slots, ..
        } = self.numbers[chunk].posed;
        Dispatch::Fixed(gpu.workgroups_by(rule, instances, slots))
    }
}

impl VisibleChunk {
    /// Offset of the number of instances in view.
    pub const COUNT_OFFSET: u64 =
        (offset_of!(layout::Numbers, posed) + offset_of!(layout::PosedChunk, instances)) as u64;

    /// The numbers by which the instances in view are posed, as a uniform.
    pub fn posed(&self) -> Resource {
        self.numbers_at(
            offset_of!(layout::Numbers, posed),
            size_of::<layout::PosedChunk>(),
        )
    }

    /// The numbers by which they are skinned, as a uniform.
    pub fn chunk(&self) -> Resource {
        self.numbers_at(
            offset_of!(layout::Numbers, chunk),
            size_of::<layout::Chunk>(),
        )
    }

    fn numbers_at(&self, offset: usize, size: usize) -> Resource {
        Resource::Buffer {
            buffer: self.numbers.clone(),
            offset: offset as u64,
            size: Some(size as u64),
        }
    }

    /// Sets a rule by which the device counts a dispatch.
    fn dispatch(&self, gpu: &Gpu, index: usize, rule: &layout::Dispatch) -> Dispatch {
        let offset = (index * size_of::<layout::Dispatch>()) as u64;
        gpu.write_buffer(&self.rules, offset, bytemuck::bytes_of(rule));
        Dispatch::Counted {
            counts: self.workgroups.clone(),
            offset: (index * size_of::<[u32; 3]>()) as u64,
        }
    }
}

/// The numbers that a chunk is posed by, alone in its buffers.
fn posed_contents(crowd: &Crowd, chunk: &Chunk) -> layout::PosedChunk {
    let model = &crowd.groups()[chunk.group].model;
    layout::PosedChunk {
        instances: chunk.instances.len() as u32,
        joints: model.skeleton().len() as u32,
        entries: model.palette_joints().len() as u32,
        slots: all_slots(crowd, chunk.instances.clone()),
        clips: model.clips().len() as u32 + 1,
        levels: level_count(&depths(model.skeleton())),
        ..Zeroable::zeroed()
    }
}

/// Slots of neighbouring instances.
pub(crate) fn all_slots(crowd: &Crowd, instances: Range<u32>) -> u32 {
    instances.map(|instance| slots(crowd, instance)).sum()
}

/// Places the chunks of a batch one after the other in the buffers that they share.
fn place(chunks: &mut [layout::Numbers], sharing: &Sharing) {
    let mut next = layout::Numbers::zeroed();
    for layout::Numbers { posed, chunk, .. } in chunks {
        posed.first_instance = next.posed.first_instance;
        posed.first_joint = next.posed.first_joint;
        posed.first_entry = next.posed.first_entry;
        chunk.first_entry = next.posed.first_entry;
        chunk.first_vertex = next.chunk.first_vertex;
        next.posed.first_instance += posed.instances;
        next.posed.first_joint += posed.instances * posed.joints;
        next.posed.first_entry += posed.instances * chunk.entries;
        if let Sharing::Vertices = sharing {
            next.chunk.first_vertex += posed.instances * chunk.vertices;
        }
    }
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
