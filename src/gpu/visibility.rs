//! Visibility of a crowd's instances. A compute pass finds the instances in view and copies their players and
//! placements to a contiguous range, in the crowd's order. Every later kernel and draw takes its count from this pass
//! and processes only these instances.

use super::binding::{GroupLayout, pipeline_layout};
use super::counts::{filled_bytes, items_bytes, room_bytes};
use super::device_pose::DISPATCHES;
use super::layout::WORKGROUP;
use super::shader::{Edit, compute_pipeline, module};
use super::{Chunk, Commands, Gpu, chunk_contents, layout, wgsl};
use crate::crowd::Crowd;
use crate::frame::{Bytes, Purpose, Result, Stage};
use crate::frustum::Frustum;
use crate::model::Rows;
use std::mem::offset_of;
use std::rc::Rc;

/// Storage buffers of the kernel with the most bindings.
pub const STORAGE_BUFFERS: u32 = 7;

/// A kernel: its name, which is that of its file in shaders/, and whether a single workgroup does all of the work.
struct CullKernel {
    name: &'static str,
    alone: bool,
}

const KERNELS: [CullKernel; 3] = [
    CullKernel { name: "cull_count", alone: false },
    CullKernel { name: "cull_scan", alone: true },
    CullKernel { name: "cull_gather", alone: false },
];

/// Name and complete shader of every kernel; tests check them.
pub fn shaders() -> [(&'static str, String); 3] {
    KERNELS.map(|kernel| (kernel.name, wgsl::shader(&format!("{}.wgsl", kernel.name), &[])))
}

/// Bytes on the device.
pub fn bytes(crowd: &Crowd, chunks: &[Chunk]) -> Bytes {
    let of_chunk = |chunk: &Chunk| {
        let instances = chunk.instances.len();
        let players = size_of::<layout::Player>();
        let contents = items_bytes::<layout::Cull>(1)
            + items_bytes::<layout::Batch>(1)
            + items_bytes::<layout::Chunk>(1)
            + items_bytes::<[f32; 4]>(instances)
            + items_bytes::<layout::Dispatch>(DISPATCHES);
        let totals = instances.div_ceil(WORKGROUP as usize) * size_of::<[u32; 2]>();
        let written = [totals, instances * players, instances * size_of::<u32>(), DISPATCHES * size_of::<[u32; 3]>()];
        let written: u64 = written.map(|size| room_bytes(size as u64)).iter().sum();
        Bytes::of(Purpose::Scratch, contents + written) + Bytes::of(Purpose::Clips, filled_bytes(instances * players))
    };
    let placements = items_bytes::<Rows>(crowd.instance_count());
    Bytes::of(Purpose::Scratch, placements + room_bytes(placements)) + chunks.iter().map(of_chunk).sum()
}

/// Buffers that drawing needs for the instances in view.
pub struct Visible {
    /// Model to world. The instances in view of a chunk are at the beginning of its range.
    pub placements: wgpu::Buffer,
    /// For each chunk a buffer that begins with the number of instances in view.
    pub counts: Vec<wgpu::Buffer>,
}

/// A chunk's visible instances.
pub struct VisibleChunk {
    /// The batch of the instances in view; their number comes first.
    pub batch: wgpu::Buffer,
    /// Players of the instances in view.
    pub players: wgpu::Buffer,
    /// The chunk's numbers, with the number of instances in view.
    pub numbers: wgpu::Buffer,
    /// Workgroups of each dispatch, three numbers per dispatch.
    pub workgroups: wgpu::Buffer,
    visible: wgpu::Buffer,
    dispatches: wgpu::Buffer,
    groups: [wgpu::BindGroup; KERNELS.len()],
    instances: u32,
}

/// The kernels and their results.
pub struct Visibility {
    frustum: Frustum,
    layouts: [GroupLayout; KERNELS.len()],
    pipelines: [wgpu::ComputePipeline; KERNELS.len()],
    placements: wgpu::Buffer,
    visible: Rc<Visible>,
    chunks: Vec<VisibleChunk>,
}

impl Visibility {
    /// Creates the pass for a crowd, without chunks; `edit` changes the kernels.
    pub fn new(gpu: &Gpu, crowd: &Crowd, frustum: &Frustum, edit: Option<&Edit>) -> Self {
        let shaders = shaders();
        let layouts = shaders
            .each_ref()
            .map(|(name, wgsl)| GroupLayout::new(gpu, name, wgsl, 0, wgpu::ShaderStages::COMPUTE, None));
        let pipelines = std::array::from_fn(|index| {
            let (name, wgsl) = &shaders[index];
            let wgsl = if let Some(edit) = edit { edit(wgsl.clone()) } else { wgsl.clone() };
            let layout = pipeline_layout(gpu, name, &[&layouts[index]]);
            compute_pipeline(gpu, name, &layout, &module(gpu, name, wgsl, edit.is_none()), &[])
        });
        let placements = gpu.storage(Purpose::Scratch, "placements", bytemuck::cast_slice(crowd.placements()));
        let room = gpu.buffer(Purpose::Scratch, "placements in view", placements.size(), wgpu::BufferUsages::STORAGE);
        let visible = Rc::new(Visible { placements: room, counts: Vec::new() });
        Self { frustum: *frustum, layouts, pipelines, placements, visible, chunks: Vec::new() }
    }

    /// Adds a chunk: its batch and the layers of its instances as if all were in view, and the dispatches that follow.
    pub fn push(
        &mut self,
        gpu: &Gpu,
        crowd: &Crowd,
        chunk: &Chunk,
        batch: &layout::Batch,
        players: &[layout::Player],
        dispatches: &[layout::Dispatch],
    ) -> &VisibleChunk {
        let group = &crowd.groups()[chunk.group];
        let reach = crowd.reach(group);
        let standing = &crowd.placements()[chunk.instances.start as usize..chunk.instances.end as usize];
        let spheres: Vec<_> = standing.iter().map(|placement| reach.placed(placement)).collect();
        let instances = chunk.instances.len() as u32;
        let workgroups = instances.div_ceil(WORKGROUP);
        let cull = layout::Cull {
            planes: self.frustum.planes().map(|plane| plane.to_array()),
            first_instance: chunk.instances.start,
            instances,
            groups: workgroups,
            dispatches: dispatches.len() as u32,
            most: gpu.device().limits().max_compute_workgroups_per_dimension,
            padding_a: 0,
            padding_b: 0,
            padding_c: 0,
        };
        let room = |label, count: usize, bytes: usize, usage| {
            gpu.buffer(Purpose::Scratch, label, (count * bytes) as u64, usage)
        };
        let filled = |label, contents: &[u8], usage| gpu.filled(Purpose::Scratch, label, contents, usage);
        let (uniform, storing) = (wgpu::BufferUsages::UNIFORM, wgpu::BufferUsages::STORAGE);
        let (source, target) = (wgpu::BufferUsages::COPY_SRC, wgpu::BufferUsages::COPY_DST);
        let cull = filled("cull", bytemuck::bytes_of(&cull), uniform);
        let batch = filled("batch in view", bytemuck::bytes_of(batch), uniform | storing | source);
        let numbers = filled("chunk in view", bytemuck::bytes_of(&chunk_contents(crowd, chunk)), uniform | target);
        let spheres = gpu.storage(Purpose::Scratch, "spheres", bytemuck::cast_slice(&spheres));
        let everyone = gpu.storage(Purpose::Clips, "players", bytemuck::cast_slice(players));
        let totals = room("totals", workgroups as usize, size_of::<[u32; 2]>(), storing);
        let in_view = room("players in view", players.len(), size_of::<layout::Player>(), storing);
        let visible = room("visible", players.len(), size_of::<u32>(), storing | source);
        let indirect = storing | wgpu::BufferUsages::INDIRECT;
        let workgroups = room("workgroups", dispatches.len(), size_of::<[u32; 3]>(), indirect);
        let dispatches = filled("dispatches", bytemuck::cast_slice(dispatches), storing | target);
        let Self { placements, visible: drawn, layouts, .. } = self;
        let buffers = [
            ("cull", &cull),
            ("totals", &totals),
            ("spheres", &spheres),
            ("everyone", &everyone),
            ("visible_batch", &batch),
            ("dispatches", &dispatches),
            ("workgroups", &workgroups),
            ("players", &in_view),
            ("visible", &visible),
            ("placements", placements),
            ("visible_placements", &drawn.placements),
        ];
        let groups = std::array::from_fn(|index| layouts[index].bind_buffers(gpu, KERNELS[index].name, &buffers));
        let placements = drawn.placements.clone();
        let counts = drawn.counts.iter().chain([&batch]).cloned().collect();
        self.visible = Rc::new(Visible { placements, counts });
        let index = self.chunks.len();
        self.chunks.push(VisibleChunk {
            batch,
            players: in_view,
            numbers,
            workgroups,
            visible,
            dispatches,
            groups,
            instances,
        });
        &self.chunks[index]
    }

    /// The buffers that drawing needs.
    pub fn visible(&self) -> &Rc<Visible> {
        &self.visible
    }

    /// The visible instances of each chunk.
    pub fn chunks(&self) -> &[VisibleChunk] {
        &self.chunks
    }

    /// Sets the rule by which the device computes a chunk's dispatch.
    pub fn set_dispatch(&self, gpu: &Gpu, chunk: usize, index: usize, dispatch: &layout::Dispatch) {
        let offset = index * size_of::<layout::Dispatch>();
        gpu.queue().write_buffer(&self.chunks[chunk].dispatches, offset as u64, bytemuck::bytes_of(dispatch));
    }

    /// Records the pass.
    pub fn record(&self, gpu: &Gpu, commands: &mut Commands) {
        gpu.compute_pass(commands, Stage::Cull, |pass| {
            for (index, (kernel, pipeline)) in KERNELS.iter().zip(&self.pipelines).enumerate() {
                pass.set_pipeline(pipeline);
                for chunk in &self.chunks {
                    let groups = if kernel.alone { 1 } else { chunk.instances.div_ceil(WORKGROUP) };
                    let (x, y) = gpu.folded(groups);
                    pass.set_bind_group(0, &chunk.groups[index], &[]);
                    gpu.add_dispatch();
                    pass.dispatch_workgroups(x, y, 1);
                }
            }
        });
        for chunk in &self.chunks {
            let (from, to) = (offset_of!(layout::Batch, instances), offset_of!(layout::Chunk, instances));
            let bytes = size_of::<u32>() as u64;
            commands.encoder.copy_buffer_to_buffer(&chunk.batch, from as u64, &chunk.numbers, to as u64, bytes);
        }
    }

    /// The instances in view in the last frame: rising indices for each chunk.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    pub fn read(&self, gpu: &Rc<Gpu>) -> Result<Vec<Vec<u32>>> {
        let mut read = Vec::new();
        let chunks = self.chunks.iter().map(|chunk| {
            read.clear();
            gpu.read_back(&chunk.batch, 0, 1, &mut read)?;
            let count = read[0].to_bits().min(chunk.instances);
            read.clear();
            gpu.read_back(&chunk.visible, 0, count as usize, &mut read)?;
            Ok(read.iter().map(|bits| bits.to_bits()).collect())
        });
        chunks.collect()
    }
}
