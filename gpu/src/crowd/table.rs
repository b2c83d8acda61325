//! The table of a crowd: its chunks, and for each of them ranges, uniforms and numbers of workgroups. It knows no
//! kernels: these give it the rules by which their dispatches are counted.

use crate::Gpu;
use crate::crowd::chunk::{Chunk, families, slots, spans};
use crate::device::{Buffer, Command, Named, Resource};
use crate::forms::baked::{BakedGroup, BakedGroups};
use crate::forms::clips::ClipStore;
use crate::forms::packing::Grid;
use crate::forms::posed_models::{depths, level_count};
use crate::shader::layout::{self, NONE};
use bytemuck::Zeroable;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::crowd::{Crowd, Fade, UpdateRate};
use skinbench_kernels::model::Rows;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// Most rules for dispatches of a chunk whose instances the device counts.
pub(crate) const MOST_RULES: usize = 8;

/// A crowd divided among bindings.
pub struct CrowdTable {
    /// The chunks.
    pub chunks: Vec<Chunk>,
    /// Ranges of chunks that share buffers and are dispatched together: each by itself, or those of several models.
    pub spans: Vec<Range<usize>>,
    /// What kernels bind of each span, by the names of their variables: first its uniforms, then what passes add.
    pub bindings: Vec<Vec<Named>>,
    /// The instances that the device poses, family by family; empty if it poses none.
    pub families: Vec<Family>,
    /// The numbers of each chunk for posing, as if all instances were in view.
    pub batches: Vec<layout::Batch>,
    /// The instances in view, if only those are posed.
    pub visible: Option<Arc<Visible>>,
    /// Number of rules for dispatches of each chunk whose instances the device counts.
    rules: Vec<usize>,
    /// The tick, if the device poses; [`layout::Now`].
    pub now: Option<Buffer>,
}

/// Instances that the device poses: those of neighbouring chunks of any models, or those of one chunk if the device
/// counts them.
pub struct Family {
    /// The chunks.
    pub chunks: Range<usize>,
    /// The instances.
    pub instances: Range<u32>,
    /// Their layers.
    pub layers: Buffer,
    /// Their players.
    pub players: Buffer,
    /// The players of those in view, one after the other; `players` if all are posed.
    pub posed: Buffer,
}

/// Buffers that drawing needs for the instances in view.
#[derive(Clone)]
pub struct Visible {
    /// Model to world. The instances in view of a chunk are at the beginning of its range.
    pub placements: Buffer,
    /// The instances in view of each chunk.
    pub chunks: Vec<VisibleChunk>,
}

/// A chunk's visible instances, and the dispatches that the device counts for them.
#[derive(Clone)]
pub struct VisibleChunk {
    /// Its numbers.
    pub(crate) numbers: Buffer,
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

impl layout::Dispatch {
    /// The number of workgroups for so many instances and slots.
    pub(crate) fn count(&self, instances: u32, slots: u32) -> u32 {
        let counted = if self.slots == 1 { slots } else { instances };
        let threads = u64::from(counted.div_ceil(self.at_once)) * u64::from(self.threads);
        threads.div_ceil(self.workgroup.into()) as u32
    }

    /// The workgroups for so many instances and slots.
    pub(crate) fn workgroups(&self, gpu: &Gpu, instances: u32, slots: u32) -> [u32; 3] {
        let groups = self.count(instances, slots);
        let [x, y] = if self.x == 0 {
            gpu.folded(groups)
        } else {
            [self.x, groups]
        };
        [x, y, self.z]
    }

    /// One thread per instance, in workgroups of this size.
    pub fn by_instance(workgroup: u32) -> Self {
        Self {
            slots: 0,
            at_once: 1,
            threads: 1,
            workgroup,
            x: 0,
            z: 1,
        }
    }
}

impl CrowdTable {
    /// Divides a crowd, and writes the uniforms of its chunks.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if a single instance is larger than a binding.
    pub fn new(gpu: &Gpu, crowd: &Crowd) -> Result<Self> {
        let mut table = Self::of_chunks(gpu, crowd)?;
        for (chunk, bindings) in table.chunks.iter().zip(&mut table.bindings) {
            let numbers = chunk_uniform(gpu, Purpose::Scratch, crowd, chunk);
            bindings.push(("chunk", numbers.into()));
        }
        Ok(table)
    }

    /// Divides a crowd into spans of any models, whose numbers a merged kernel keeps in tables of its own.
    ///
    /// # Errors
    /// As [`CrowdTable::new`].
    pub fn merged(gpu: &Gpu, crowd: &Crowd) -> Result<Self> {
        let spans = spans(crowd, gpu.binding_bytes())?;
        let mut end = 0;
        let ranges = spans.iter().map(|span| {
            let begin = end;
            end += span.len();
            begin..end
        });
        let ranges: Vec<_> = ranges.collect();
        Ok(Self::divided(spans.concat(), ranges))
    }

    /// Divides a crowd that the device poses, and uploads what its instances play: `baked` frames, or the `clips` of each
    /// group. If the crowd is `culled`, the device counts the instances of each chunk.
    ///
    /// # Errors
    /// As [`CrowdTable::new`].
    pub(crate) fn posed_on_device(
        gpu: &Gpu,
        crowd: &Crowd,
        baked: Option<&BakedGroups>,
        clips: &[ClipStore],
        culled: bool,
    ) -> Result<Self> {
        let mut table = Self::of_chunks(gpu, crowd)?;
        for chunk in &table.chunks {
            let baked = baked.map(|baked| &baked.groups[chunk.group]);
            table.batches.push(batch(crowd, chunk, baked));
        }
        let families = if culled {
            table.visible = Some(Arc::new(table.visible_chunks(gpu, crowd)));
            (0..table.chunks.len())
                .map(|chunk| chunk..chunk + 1)
                .collect()
        } else {
            families(crowd, &table.chunks, clips, gpu.binding_bytes())
        };
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let bytes = size_of::<layout::Now>() as u64;
        let now = gpu.buffer(Purpose::Scratch, "now", bytes, usage);
        for chunks in families {
            if !culled {
                place(&mut table.batches[chunks.clone()]);
            }
            let family = Family::new(gpu, crowd, &table.chunks, chunks.clone(), culled);
            for index in chunks {
                let [chunk, batch] = table.numbers(gpu, crowd, index);
                table.bindings[index].extend([
                    ("chunk", chunk),
                    ("layers", (&family.layers).into()),
                    ("players", (&family.posed).into()),
                    ("batch", batch),
                    ("now", (&now).into()),
                ]);
            }
            table.families.push(family);
        }
        table.now = Some(now);
        Ok(table)
    }

    /// The uniforms of a chunk that the device poses: its numbers for skinning, and those for posing.
    fn numbers(&self, gpu: &Gpu, crowd: &Crowd, index: usize) -> [Resource; 2] {
        if let Some(visible) = &self.visible {
            return [visible.chunks[index].chunk(), visible.chunks[index].batch()];
        }
        let batch = self.batches[index];
        let chunk = layout::Chunk {
            first_entry: batch.first_entry,
            ..chunk_contents(crowd, &self.chunks[index])
        };
        [
            gpu.uniform(Purpose::Scratch, "chunk", &chunk).into(),
            gpu.uniform(Purpose::Scratch, "batch", &batch).into(),
        ]
    }

    fn of_chunks(gpu: &Gpu, crowd: &Crowd) -> Result<Self> {
        let chunks = gpu.chunks(crowd)?;
        let spans = (0..chunks.len()).map(|chunk| chunk..chunk + 1).collect();
        Ok(Self::divided(chunks, spans))
    }

    fn divided(chunks: Vec<Chunk>, spans: Vec<Range<usize>>) -> Self {
        Self {
            bindings: vec![Vec::new(); spans.len()],
            rules: vec![0; chunks.len()],
            chunks,
            spans,
            families: Vec::new(),
            batches: Vec::new(),
            visible: None,
            now: None,
        }
    }

    /// The numbers of each chunk, and room for what the device counts.
    fn visible_chunks(&self, gpu: &Gpu, crowd: &Crowd) -> Visible {
        let storage = wgpu::BufferUsages::STORAGE;
        let mut chunks = Vec::with_capacity(self.chunks.len());
        for (chunk, batch) in self.chunks.iter().zip(&self.batches) {
            let numbers = layout::Numbers {
                batch: *batch,
                chunk: chunk_contents(crowd, chunk),
                ..Zeroable::zeroed()
            };
            // A rule that no kernel has set is counted all the same.
            let rules = [layout::Dispatch::by_instance(1); MOST_RULES];
            let workgroups = (rules.len() * size_of::<[u32; 3]>()) as u64;
            chunks.push(VisibleChunk {
                numbers: gpu.buffer_with(
                    Purpose::Scratch,
                    "numbers in view",
                    bytemuck::bytes_of(&numbers),
                    wgpu::BufferUsages::UNIFORM | storage | wgpu::BufferUsages::COPY_SRC,
                ),
                rules: gpu.buffer_with(
                    Purpose::Scratch,
                    "dispatches",
                    bytemuck::cast_slice(&rules),
                    storage | wgpu::BufferUsages::COPY_DST,
                ),
                workgroups: gpu.buffer(
                    Purpose::Scratch,
                    "workgroups",
                    workgroups,
                    storage | wgpu::BufferUsages::INDIRECT,
                ),
            });
        }
        let bytes = (crowd.instance_count() * size_of::<Rows>()) as u64;
        Visible {
            placements: gpu.buffer(Purpose::Scratch, "placements in view", bytes, storage),
            chunks,
        }
    }

    /// A table of the first instances of a chunk, with a uniform of its own.
    pub(crate) fn excerpt(&self, gpu: &Gpu, crowd: &Crowd, index: usize, instances: u32) -> Self {
        let Chunk {
            group,
            instances: all,
        } = self.chunks[index].clone();
        let chunk = Chunk {
            group,
            instances: all.start..all.start + instances,
        };
        // It is found before the numbers of the whole chunk.
        let numbers = chunk_uniform(gpu, Purpose::Scratch, crowd, &chunk).into();
        let bindings = [&[("chunk", numbers)], &self.bindings[index][..]].concat();
        let mut excerpt = Self::divided(vec![chunk], std::iter::once(0..1).collect());
        excerpt.bindings = vec![bindings];
        excerpt
    }

    /// The chunks of a span.
    pub fn span(&self, index: usize) -> &[Chunk] {
        &self.chunks[self.spans[index].clone()]
    }

    /// The dispatch of a kernel over a chunk, by a rule.
    pub fn dispatch(&mut self, gpu: &Gpu, chunk: usize, rule: &layout::Dispatch) -> Dispatch {
        if let Some(visible) = &self.visible {
            let number = self.rules[chunk];
            self.rules[chunk] += 1;
            return visible.chunks[chunk].dispatch(gpu, number, rule);
        }
        let instances = self.chunks[chunk].instances.len() as u32;
        let slots = self.batches.get(chunk).map_or(0, |batch| batch.slots);
        Dispatch::Fixed(rule.workgroups(gpu, instances, slots))
    }
}

impl Family {
    fn new(gpu: &Gpu, crowd: &Crowd, all: &[Chunk], chunks: Range<usize>, culled: bool) -> Self {
        let instances = all[chunks.start].instances.start..all[chunks.end - 1].instances.end;
        let (listed, layers) = listed(crowd, instances.clone());
        let players = gpu.storage(Purpose::Clips, "players", &listed);
        let posed = if culled {
            let bytes = size_of_val(&listed[..]) as u64;
            let usage = wgpu::BufferUsages::STORAGE;
            gpu.buffer(Purpose::Scratch, "players in view", bytes, usage)
        } else {
            players.clone()
        };
        Self {
            chunks,
            instances,
            layers: gpu.storage(Purpose::Clips, "layers", &layers),
            players,
            posed,
        }
    }
}

impl VisibleChunk {
    /// Offset of the number of instances in view.
    pub const COUNT_OFFSET: u64 =
        (offset_of!(layout::Numbers, batch) + offset_of!(layout::Batch, instances)) as u64;

    /// The batch of the instances in view, as a uniform.
    pub fn batch(&self) -> Resource {
        self.numbers_at(
            offset_of!(layout::Numbers, batch),
            size_of::<layout::Batch>(),
        )
    }

    /// The chunk's numbers with those of the instances in view, as a uniform.
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

    /// Adds a rule by which the device counts a dispatch.
    fn dispatch(&self, gpu: &Gpu, index: usize, rule: &layout::Dispatch) -> Dispatch {
        let offset = (index * size_of::<layout::Dispatch>()) as u64;
        gpu.write_buffer(&self.rules, offset, bytemuck::bytes_of(rule));
        Dispatch::Counted {
            counts: self.workgroups.clone(),
            offset: (index * size_of::<[u32; 3]>()) as u64,
        }
    }
}

/// Players and layers of some instances in the kernels' layout. Layers and slots are relative to those of the first
/// instance.
fn listed(crowd: &Crowd, instances: Range<u32>) -> (Vec<layout::Player>, Vec<layout::Layer>) {
    let mut players = Vec::with_capacity(instances.len());
    let mut all: Vec<layout::Layer> = Vec::new();
    let mut first_slot = 0;
    for instance in instances {
        let layers = crowd.layers().of(instance as usize);
        let inertial = layers.iter().position(|l| l.fade == Fade::Inertial);
        let UpdateRate { every, offset } = crowd.update_rate(instance);
        players.push(layout::Player {
            first_layer: all.len() as u32,
            layers: layers.len() as u32,
            first_slot,
            inertial: inertial.map_or(NONE, |layer| layer as u32),
            every,
            offset,
        });
        all.extend(layers.iter().map(layout::Layer::from));
        first_slot += slots(crowd, instance);
    }
    (players, all)
}

/// The numbers of a chunk for posing, as if all instances were in view.
fn batch(crowd: &Crowd, chunk: &Chunk, baked: Option<&BakedGroup>) -> layout::Batch {
    let instances = chunk.instances.len() as u32;
    let slots = all_slots(crowd, chunk.instances.clone());
    if let Some(baked) = baked {
        return layout::Batch {
            instances,
            entries: baked.entries,
            slots,
            ..Default::default()
        };
    }
    let model = &crowd.groups()[chunk.group].model;
    layout::Batch {
        instances,
        joints: model.skeleton().len() as u32,
        entries: model.palette_joints().len() as u32,
        slots,
        clips: model.clips().len() as u32 + 1,
        levels: level_count(&depths(model.skeleton())),
        ..Default::default()
    }
}

/// Slots of neighbouring instances.
pub(crate) fn all_slots(crowd: &Crowd, instances: Range<u32>) -> u32 {
    instances.map(|instance| slots(crowd, instance)).sum()
}

/// Places batches one after the other in the buffers of their instances.
fn place(batches: &mut [layout::Batch]) {
    let mut next = layout::Batch::default();
    for batch in batches {
        batch.first_instance = next.first_instance;
        batch.first_joint = next.first_joint;
        batch.first_entry = next.first_entry;
        next.first_instance += batch.instances;
        next.first_joint += batch.instances * batch.joints;
        // Entries of baked frames are not among palettes.
        if batch.joints > 0 {
            next.first_entry += batch.instances * batch.entries;
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
