//! Visibility of a crowd's instances, and their levels of detail. A compute pass finds the instances in view, chooses
//! the level of each if the crowd has families, and copies their players and placements to a contiguous range: level by
//! level, and in the crowd's order within a level. Every later kernel and draw takes its count from this pass and
//! processes only these instances.

use super::binding::{GroupLayout, pipeline_layout};
use super::counts::{filled_bytes, items_bytes, room_bytes};
use super::device_pose::DISPATCHES;
use super::layout::{self, WORKGROUP};
use super::shader::{Edit, compute_pipeline, module};
use super::{Chunk, Commands, Gpu, chunk_contents, wgsl};
use crate::crowd::{Crowd, Reach};
use crate::frame::{Bytes, Purpose, Result, Stage};
use crate::frustum::{Eye, Frustum, placed_box};
use crate::model::{Model, Rows};
use std::mem::offset_of;
use std::rc::Rc;
use std::sync::Arc;

/// Storage buffers of the kernel with the most bindings.
pub const STORAGE_BUFFERS: u32 = 8;

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
    let levels = crowd.levels();
    let of_family = |family: &[Chunk]| {
        let instances = family[0].instances.len();
        let players = size_of::<layout::Player>();
        let boxes = if levels > 1 { instances } else { 1 };
        let contents = items_bytes::<layout::Cull>(1)
            + items_bytes::<layout::Numbers>(levels)
            + items_bytes::<[f32; 4]>(instances)
            + items_bytes::<[f32; 4]>(boxes)
            + items_bytes::<layout::Dispatch>(levels * DISPATCHES);
        let totals = levels * instances.div_ceil(WORKGROUP as usize) * size_of::<[u32; 2]>();
        let workgroups = levels * DISPATCHES * size_of::<[u32; 3]>();
        let written = [totals, instances * players, instances * size_of::<u32>(), workgroups];
        let written: u64 = written.map(|size| room_bytes(size as u64)).iter().sum();
        Bytes::of(Purpose::Scratch, contents + written) + Bytes::of(Purpose::Clips, filled_bytes(instances * players))
    };
    let placements = items_bytes::<Rows>(crowd.instance_count() / levels);
    let shared = items_bytes::<layout::Camera>(1) + placements + room_bytes(placements);
    Bytes::of(Purpose::Scratch, shared) + chunks.chunks(levels).map(of_family).sum()
}

/// Buffers that drawing needs for the instances in view.
pub struct Visible {
    /// Model to world. The instances in view of a chunk are at the beginning of its range; those of a family's chunks
    /// follow each other.
    pub placements: wgpu::Buffer,
    /// For each chunk a buffer with the number of instances in view, and where it is there.
    pub counts: Vec<(wgpu::Buffer, u64)>,
    /// The crowd that is drawn, if it has families.
    pub families: Option<DrawnFamilies>,
}

/// A crowd of families, as far as drawing needs it.
pub struct DrawnFamilies {
    /// The model of each group.
    pub models: Vec<Arc<Model>>,
    /// The group of each chunk.
    pub groups: Vec<usize>,
}

/// A chunk's visible instances.
pub struct VisibleChunk {
    numbers: wgpu::Buffer,
    workgroups: wgpu::Buffer,
    level: usize,
}

impl VisibleChunk {
    /// The batch of the instances in view, as a uniform.
    pub fn batch(&self) -> wgpu::BindingResource<'_> {
        self.part(offset_of!(layout::Numbers, batch), size_of::<layout::Batch>())
    }

    /// The chunk's numbers with those of the instances in view, as a uniform.
    pub fn chunk(&self) -> wgpu::BindingResource<'_> {
        self.part(offset_of!(layout::Numbers, chunk), size_of::<layout::Chunk>())
    }

    fn part(&self, offset: usize, size: usize) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.numbers,
            offset: (self.level * size_of::<layout::Numbers>() + offset) as u64,
            size: wgpu::BufferSize::new(size as u64),
        })
    }

    /// The workgroups of dispatches, three numbers for each, and the index there of the chunk's first dispatch.
    pub fn workgroups(&self) -> (wgpu::Buffer, usize) {
        (self.workgroups.clone(), self.level * DISPATCHES)
    }
}

/// Chunks whose instances are culled together: those of a family, or a single one.
struct CulledFamily {
    numbers: wgpu::Buffer,
    visible: wgpu::Buffer,
    dispatches: wgpu::Buffer,
    groups: [wgpu::BindGroup; KERNELS.len()],
    instances: u32,
}

/// The kernels and their results.
pub struct Visibility {
    frustum: Frustum,
    eye: Eye,
    camera: wgpu::Buffer,
    levels: usize,
    layouts: [GroupLayout; KERNELS.len()],
    pipelines: [wgpu::ComputePipeline; KERNELS.len()],
    placements: wgpu::Buffer,
    visible: Rc<Visible>,
    /// Instances of all families so far.
    instances: u32,
    families: Vec<CulledFamily>,
    chunks: Vec<VisibleChunk>,
}

impl Visibility {
    /// Creates the pass for a crowd, without chunks; `edit` changes the kernels.
    pub fn new(gpu: &Gpu, crowd: &Crowd, frustum: &Frustum, eye: &Eye, edit: Option<&Edit>) -> Self {
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
        let levels = crowd.levels();
        // The groups of a family have the same placements.
        let placements = crowd
            .groups()
            .iter()
            .step_by(levels)
            .flat_map(|group| &crowd.placements()[group.instances.start as usize..group.instances.end as usize]);
        let placements: Vec<Rows> = placements.copied().collect();
        let placements = gpu.storage(Purpose::Scratch, "placements", bytemuck::cast_slice(&placements));
        let room = gpu.buffer(Purpose::Scratch, "placements in view", placements.size(), wgpu::BufferUsages::STORAGE);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let camera = gpu.filled(Purpose::Scratch, "camera", bytemuck::bytes_of(&camera(frustum, eye)), usage);
        let families = (levels > 1).then(|| DrawnFamilies {
            models: crowd.groups().iter().map(|group| Arc::clone(&group.model)).collect(),
            groups: Vec::new(),
        });
        let visible = Rc::new(Visible { placements: room, counts: Vec::new(), families });
        Self {
            frustum: *frustum,
            eye: *eye,
            camera,
            levels,
            layouts,
            pipelines,
            placements,
            visible,
            instances: 0,
            families: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// Adds the chunks of a family, or a single one: their batches and the players of their instances as if all were in
    /// view, and the dispatches that follow for each. Returns the players of those in view.
    pub fn push(
        &mut self,
        gpu: &Gpu,
        crowd: &Crowd,
        family: &[Chunk],
        batches: &[layout::Batch],
        players: &[layout::Player],
        dispatches: &[layout::Dispatch],
    ) -> wgpu::Buffer {
        let finest = &family[0];
        let group = &crowd.groups()[finest.group];
        let standing = &crowd.placements()[finest.instances.start as usize..finest.instances.end as usize];
        // A sphere around the reach of every level: a limb that a level leaves out stays at rest.
        let centre = crowd.reach(group).centre;
        let reaches = family.iter().map(|chunk| crowd.reach(&crowd.groups()[chunk.group]));
        let radius = reaches.map(|reach| reach.centre.distance(centre) + reach.radius).fold(0.0, f64::max);
        let reach = Reach { centre, radius };
        let spheres: Vec<_> = standing.iter().map(|placement| reach.placed(placement)).collect();
        let boxes: Vec<[f32; 4]> = match family.len() {
            1 => vec![[0.0; 4]],
            _ => standing.iter().map(|place| placed_box(group.model.bounds(), place).map(|v| v as f32)).collect(),
        };
        let instances = standing.len() as u32;
        let workgroups = instances.div_ceil(WORKGROUP);
        let mut sizes = [0.0; 3];
        sizes[..self.levels - 1].copy_from_slice(crowd.level_sizes());
        let cull = layout::Cull {
            sizes,
            levels: family.len() as u32,
            first_instance: self.instances,
            instances,
            groups: workgroups,
            dispatches: DISPATCHES as u32,
            most: gpu.device().limits().max_compute_workgroups_per_dimension,
            padding_a: 0,
            padding_b: 0,
            padding_c: 0,
        };
        let numbers: Vec<_> = family.iter().zip(batches).map(|(chunk, batch)| numbers(crowd, chunk, batch)).collect();
        let room = |label, count: usize, bytes: usize, usage| {
            gpu.buffer(Purpose::Scratch, label, (count * bytes) as u64, usage)
        };
        let filled = |label, contents: &[u8], usage| gpu.filled(Purpose::Scratch, label, contents, usage);
        let (uniform, storing) = (wgpu::BufferUsages::UNIFORM, wgpu::BufferUsages::STORAGE);
        let (source, target) = (wgpu::BufferUsages::COPY_SRC, wgpu::BufferUsages::COPY_DST);
        let cull = filled("cull", bytemuck::bytes_of(&cull), uniform);
        let numbers = filled("numbers in view", bytemuck::cast_slice(&numbers), uniform | storing | source);
        let spheres = gpu.storage(Purpose::Scratch, "spheres", bytemuck::cast_slice(&spheres));
        let boxes = gpu.storage(Purpose::Scratch, "boxes", bytemuck::cast_slice(&boxes));
        let everyone = gpu.storage(Purpose::Clips, "players", bytemuck::cast_slice(players));
        let totals = room("totals", family.len() * workgroups as usize, size_of::<[u32; 2]>(), storing);
        let in_view = room("players in view", players.len(), size_of::<layout::Player>(), storing);
        let visible = room("visible", players.len(), size_of::<u32>(), storing | source);
        let indirect = storing | wgpu::BufferUsages::INDIRECT;
        let workgroups = room("workgroups", dispatches.len(), size_of::<[u32; 3]>(), indirect);
        let dispatches = filled("dispatches", bytemuck::cast_slice(dispatches), storing | target);
        let Self { camera, placements, visible: drawn, layouts, .. } = self;
        let buffers = [
            ("camera", &*camera),
            ("cull", &cull),
            ("totals", &totals),
            ("spheres", &spheres),
            ("boxes", &boxes),
            ("everyone", &everyone),
            ("numbers", &numbers),
            ("dispatches", &dispatches),
            ("workgroups", &workgroups),
            ("players", &in_view),
            ("visible", &visible),
            ("placements", placements),
            ("visible_placements", &drawn.placements),
        ];
        let groups = std::array::from_fn(|index| layouts[index].bind_buffers(gpu, KERNELS[index].name, &buffers));
        let count = |level: usize| {
            let offset = offset_of!(layout::Numbers, batch) + offset_of!(layout::Batch, instances);
            (numbers.clone(), (level * size_of::<layout::Numbers>() + offset) as u64)
        };
        self.visible = Rc::new(Visible {
            placements: drawn.placements.clone(),
            counts: drawn.counts.iter().cloned().chain((0..family.len()).map(count)).collect(),
            families: drawn.families.as_ref().map(|drawn| DrawnFamilies {
                models: drawn.models.clone(),
                groups: drawn.groups.iter().copied().chain(family.iter().map(|chunk| chunk.group)).collect(),
            }),
        });
        let chunk = |level| VisibleChunk { numbers: numbers.clone(), workgroups: workgroups.clone(), level };
        self.chunks.extend((0..family.len()).map(chunk));
        self.families.push(CulledFamily { numbers, visible, dispatches, groups, instances });
        self.instances += instances;
        in_view
    }

    /// The buffers that drawing needs.
    pub fn visible(&self) -> &Rc<Visible> {
        &self.visible
    }

    /// The visible instances of each chunk.
    pub fn chunks(&self) -> &[VisibleChunk] {
        &self.chunks
    }

    /// Looks from elsewhere in the frames that follow.
    pub fn look(&mut self, frustum: &Frustum, eye: &Eye) {
        (self.frustum, self.eye) = (*frustum, *eye);
    }

    /// Sets the rule by which the device computes a chunk's dispatch.
    pub fn set_dispatch(&self, gpu: &Gpu, chunk: usize, index: usize, dispatch: &layout::Dispatch) {
        let (family, level) = (&self.families[chunk / self.levels], chunk % self.levels);
        let offset = (level * DISPATCHES + index) * size_of::<layout::Dispatch>();
        gpu.queue().write_buffer(&family.dispatches, offset as u64, bytemuck::bytes_of(dispatch));
    }

    /// Records the upload of the camera, and the pass.
    pub fn record(&self, gpu: &Gpu, commands: &mut Commands) {
        gpu.upload(commands, &self.camera, bytemuck::bytes_of(&camera(&self.frustum, &self.eye)));
        gpu.compute_pass(commands, Stage::Cull, |pass| {
            for (index, (kernel, pipeline)) in KERNELS.iter().zip(&self.pipelines).enumerate() {
                pass.set_pipeline(pipeline);
                for family in &self.families {
                    let groups = if kernel.alone { 1 } else { family.instances.div_ceil(WORKGROUP) };
                    let (x, y) = gpu.folded(groups);
                    pass.set_bind_group(0, &family.groups[index], &[]);
                    gpu.add_dispatch();
                    pass.dispatch_workgroups(x, y, 1);
                }
            }
        });
    }

    /// The instances in view in the last frame: rising indices for each chunk.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    pub fn read(&self, gpu: &Rc<Gpu>) -> Result<Vec<Vec<u32>>> {
        let mut chunks = Vec::with_capacity(self.chunks.len());
        let (mut numbers, mut read) = (Vec::new(), Vec::new());
        for family in &self.families {
            numbers.clear();
            gpu.read_back(&family.numbers, 0, self.levels * size_of::<layout::Numbers>() / 4, &mut numbers)?;
            let counts = numbers.chunks_exact(size_of::<layout::Numbers>() / 4).map(|n| n[0].to_bits() as usize);
            read.clear();
            gpu.read_back(&family.visible, 0, family.instances as usize, &mut read)?;
            let mut rest = &read[..];
            for count in counts {
                // A broken kernel may count more than there are.
                let (own, later) = rest.split_at(count.min(rest.len()));
                chunks.push(own.iter().map(|bits| bits.to_bits()).collect());
                rest = later;
            }
        }
        Ok(chunks)
    }
}

/// A camera as the kernels read it.
fn camera(frustum: &Frustum, eye: &Eye) -> layout::Camera {
    layout::Camera {
        planes: frustum.planes().map(|plane| plane.to_array()),
        eye: eye.place.to_array(),
        scale: eye.scale,
    }
}

/// A level's numbers as if all instances were in view.
fn numbers(crowd: &Crowd, chunk: &Chunk, batch: &layout::Batch) -> layout::Numbers {
    layout::Numbers { batch: *batch, chunk: chunk_contents(crowd, chunk), ..bytemuck::Zeroable::zeroed() }
}
