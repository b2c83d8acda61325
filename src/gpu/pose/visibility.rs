//! Visibility of a crowd's instances, and their levels of detail. A compute pass finds the instances in view, chooses
//! the level of each if the crowd has families, and copies their players and placements to a contiguous range: level by
//! level, and in the crowd's order within a level. Every later kernel and draw takes its count from this pass and
//! processes only these instances.

use crate::crowd::{Crowd, Reach};
use crate::frame::{Purpose, Result, Stage};
use crate::frustum::{Eye, Frustum, placed_box};
use crate::gpu::device::objects::{BindGroup, Buffer, Resource};
use crate::gpu::device::{Command, Recorder};
use crate::gpu::pose::device_pose::DISPATCHES;
use crate::gpu::shader::{Kernel, WORKGROUP, layout, wgsl};
use crate::gpu::{Chunk, Commands, Gpu, chunk_contents};
use crate::model::{Model, Rows};
use crate::reference::shown;
use bytemuck::Zeroable;
use std::mem::offset_of;
use std::rc::Rc;
use std::sync::Arc;

/// The kernel of which a single workgroup does all of the work.
const SCAN: &str = "cull_scan";
/// The kernels, by the names of their files in shaders/.
const KERNELS: [&str; 3] = ["cull_count", SCAN, "cull_gather"];

/// Name and complete shader of every kernel; tests check them.
pub fn shaders() -> [(&'static str, String); 3] {
    KERNELS.map(|name| (name, wgsl::shader(&format!("{name}.wgsl"), &[])))
}

/// Buffers that drawing needs for the instances in view.
#[derive(Clone)]
pub struct Visible {
    /// Model to world. The instances in view of a chunk are at the beginning of its range; those of a family's chunks
    /// follow each other.
    pub placements: Buffer,
    /// The instances in view of each chunk.
    pub chunks: Vec<VisibleChunk>,
    /// The model of each group of the crowd that is drawn, if it has families.
    pub families: Option<Vec<Arc<Model>>>,
}

/// A chunk's visible instances.
#[derive(Clone)]
pub struct VisibleChunk {
    numbers: Buffer,
    dispatches: Buffer,
    workgroups: Buffer,
    level: usize,
}

impl VisibleChunk {
    /// The batch of the instances in view, as a uniform.
    pub fn batch(&self) -> Resource {
        self.part(
            offset_of!(layout::Numbers, batch),
            size_of::<layout::Batch>(),
        )
    }

    /// The chunk's numbers with those of the instances in view, as a uniform.
    pub fn chunk(&self) -> Resource {
        self.part(
            offset_of!(layout::Numbers, chunk),
            size_of::<layout::Chunk>(),
        )
    }

    /// The number of instances in view, and where it is.
    pub fn count(&self) -> (&Buffer, u64) {
        let offset = offset_of!(layout::Numbers, batch) + offset_of!(layout::Batch, instances);
        (
            &self.numbers,
            (self.level * size_of::<layout::Numbers>() + offset) as u64,
        )
    }

    fn part(&self, offset: usize, size: usize) -> Resource {
        Resource::Buffer {
            buffer: self.numbers.clone(),
            offset: (self.level * size_of::<layout::Numbers>() + offset) as u64,
            size: Some(size as u64),
        }
    }

    /// Sets the rule by which the device computes a dispatch of the chunk; returns its workgroups: a buffer, and the
    /// index of the dispatch there.
    pub fn set_dispatch(
        &self,
        gpu: &Gpu,
        index: usize,
        dispatch: &layout::Dispatch,
    ) -> (Buffer, usize) {
        let (workgroups, first) = self.workgroups();
        let offset = (first + index) * size_of::<layout::Dispatch>();
        gpu.write_buffer(
            &self.dispatches,
            offset as u64,
            bytemuck::bytes_of(dispatch),
        );
        (workgroups, first + index)
    }

    /// The workgroups of dispatches, three numbers for each, and the index there of the chunk's first dispatch.
    pub fn workgroups(&self) -> (Buffer, usize) {
        (self.workgroups.clone(), self.level * DISPATCHES)
    }
}

/// Chunks whose instances are culled together: those of a family, or a single one.
struct CulledFamily {
    numbers: Buffer,
    visible: Buffer,
    groups: Vec<BindGroup>,
    instances: u32,
}

/// The kernels and their results.
pub struct Visibility {
    view: layout::Camera,
    camera: Buffer,
    levels: usize,
    kernels: Vec<Kernel>,
    placements: Buffer,
    /// Buffers that drawing needs.
    pub visible: Visible,
    /// Instances of all families so far.
    instances: u32,
    families: Vec<CulledFamily>,
}

impl Visibility {
    /// Creates the pass for a crowd, without chunks.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(gpu: &Gpu, crowd: &Crowd, frustum: &Frustum, eye: &Eye) -> Result<Self> {
        let kernels = shaders()
            .into_iter()
            .map(|(name, wgsl)| Kernel::new(gpu, name, wgsl, &[], true));
        let kernels = kernels.collect::<Result<_>>()?;
        let levels = crowd.levels();
        // The groups of a family have the same placements.
        let placements = crowd.groups().iter().step_by(levels).flat_map(|group| {
            &crowd.placements()[group.instances.start as usize..group.instances.end as usize]
        });
        let placements: Vec<Rows> = placements.copied().collect();
        let placements = gpu.storage(Purpose::Scratch, "placements", &placements);
        let room = gpu.buffer(
            Purpose::Scratch,
            "placements in view",
            placements.size,
            wgpu::BufferUsages::STORAGE,
        );
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let view = layout::Camera {
            planes: frustum.planes(),
            eye: *eye,
        };
        let camera = gpu.buffer_with(Purpose::Scratch, "camera", bytemuck::bytes_of(&view), usage);
        let families = (levels > 1).then(|| {
            crowd
                .groups()
                .iter()
                .map(|group| Arc::clone(&group.model))
                .collect()
        });
        let visible = Visible {
            placements: room,
            chunks: Vec::new(),
            families,
        };
        Ok(Self {
            view,
            camera,
            levels,
            kernels,
            placements,
            visible,
            instances: 0,
            families: Vec::new(),
        })
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
    ) -> Buffer {
        let finest = &family[0];
        let group = &crowd.groups()[finest.group];
        let standing =
            &crowd.placements()[finest.instances.start as usize..finest.instances.end as usize];
        // A sphere around the reach of every level: a limb that a level leaves out stays at rest.
        let centre = crowd.reach(group).centre;
        let reaches = family
            .iter()
            .map(|chunk| crowd.reach(&crowd.groups()[chunk.group]));
        let radius = reaches
            .map(|reach| reach.centre.distance(centre) + reach.radius)
            .fold(0.0, f64::max);
        let reach = Reach { centre, radius };
        let spheres: Vec<_> = standing
            .iter()
            .map(|placement| reach.placed(placement))
            .collect();
        let boxes: Vec<[f32; 4]> = match family.len() {
            1 => vec![[0.0; 4]],
            _ => standing
                .iter()
                .map(|place| placed_box(shown(crowd, group).bounds, place).map(|v| v as f32))
                .collect(),
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
            most: gpu.adapter.workgroup_limit.get(),
            ..Zeroable::zeroed()
        };
        let numbers: Vec<_> = family
            .iter()
            .zip(batches)
            .map(|(chunk, batch)| numbers(crowd, chunk, batch))
            .collect();
        let room = |label, count: usize, bytes: usize, usage| {
            gpu.buffer(Purpose::Scratch, label, (count * bytes) as u64, usage)
        };
        let filled = |label, contents: &[u8], usage| {
            gpu.buffer_with(Purpose::Scratch, label, contents, usage)
        };
        let (uniform, storing) = (wgpu::BufferUsages::UNIFORM, wgpu::BufferUsages::STORAGE);
        let (source, target) = (wgpu::BufferUsages::COPY_SRC, wgpu::BufferUsages::COPY_DST);
        let numbers = filled(
            "numbers in view",
            bytemuck::cast_slice(&numbers),
            uniform | storing | source,
        );
        let totals = family.len() * workgroups as usize;
        let in_view = room(
            "players in view",
            players.len(),
            size_of::<layout::Player>(),
            storing,
        );
        let visible = room("visible", players.len(), size_of::<u32>(), storing | source);
        let indirect = storing | wgpu::BufferUsages::INDIRECT;
        let workgroups = room(
            "workgroups",
            dispatches.len(),
            size_of::<[u32; 3]>(),
            indirect,
        );
        let dispatches = filled(
            "dispatches",
            bytemuck::cast_slice(dispatches),
            storing | target,
        );
        let Self {
            camera,
            placements,
            visible: drawn,
            kernels,
            ..
        } = self;
        let buffers = [
            ("camera", &*camera),
            ("cull", &filled("cull", bytemuck::bytes_of(&cull), uniform)),
            (
                "totals",
                &room("totals", totals, size_of::<[u32; 2]>(), storing),
            ),
            (
                "spheres",
                &gpu.storage(Purpose::Scratch, "spheres", &spheres),
            ),
            ("boxes", &gpu.storage(Purpose::Scratch, "boxes", &boxes)),
            ("everyone", &gpu.storage(Purpose::Clips, "players", players)),
            ("numbers", &numbers),
            ("dispatches", &dispatches),
            ("workgroups", &workgroups),
            ("players", &in_view),
            ("visible", &visible),
            ("placements", placements),
            ("visible_placements", &drawn.placements),
        ];
        let buffers = buffers.map(|(name, buffer)| (name, buffer.into()));
        let groups = kernels
            .iter()
            .map(|kernel| kernel.bind(gpu, 0, &buffers))
            .collect();
        let chunk = VisibleChunk {
            numbers: numbers.clone(),
            dispatches,
            workgroups,
            level: 0,
        };
        self.visible
            .chunks
            .extend((0..family.len()).map(|level| VisibleChunk {
                level,
                ..chunk.clone()
            }));
        self.families.push(CulledFamily {
            numbers,
            visible,
            groups,
            instances,
        });
        self.instances += instances;
        in_view
    }

    /// Moves the camera for the frames that follow.
    pub fn move_camera(&mut self, frustum: &Frustum, eye: &Eye) {
        self.view = layout::Camera {
            planes: frustum.planes(),
            eye: *eye,
        };
    }

    /// Records the upload of the camera, and the pass.
    pub fn record(&self, gpu: &Gpu, commands: &mut Commands) {
        commands.upload(&self.camera, bytemuck::bytes_of(&self.view));
        let label = Stage::Cull.name();
        commands.run(Command::Compute { label });
        for (index, (name, kernel)) in KERNELS.iter().zip(&self.kernels).enumerate() {
            for family in &self.families {
                let groups = if *name == SCAN {
                    1
                } else {
                    family.instances.div_ceil(WORKGROUP)
                };
                let workgroups = gpu.workgroups(groups);
                commands.dispatch(&kernel.pipeline, &family.groups[index], workgroups);
            }
        }
        commands.run(Command::End);
    }

    /// The instances in view in the last frame: rising indices for each chunk.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    pub fn read(&self, gpu: &Rc<Gpu>) -> Result<Vec<Vec<u32>>> {
        let mut chunks = Vec::with_capacity(self.visible.chunks.len());
        let (mut numbers, mut read) = (Vec::new(), Vec::new());
        for family in &self.families {
            numbers.clear();
            gpu.read_back(
                &family.numbers,
                0,
                self.levels * size_of::<layout::Numbers>() / 4,
                &mut numbers,
            )?;
            let counts = numbers
                .chunks_exact(size_of::<layout::Numbers>() / 4)
                .map(|n| n[0].to_bits() as usize);
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

/// A level's numbers as if all instances were in view.
fn numbers(crowd: &Crowd, chunk: &Chunk, batch: &layout::Batch) -> layout::Numbers {
    layout::Numbers {
        batch: *batch,
        chunk: chunk_contents(crowd, chunk),
        ..Zeroable::zeroed()
    }
}
