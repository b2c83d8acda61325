//! Finds the instances in view, and copies their players and placements to a contiguous range in the crowd's order. Every
//! later kernel and draw takes its count from this pass and processes only these instances.

use crate::crowd::table::{CrowdTable, Dispatch, MOST_RULES, Visible};
use crate::device::{Buffer, Command, Recorder, Resource};
use crate::kernel::Kernel;
use crate::passes::{Call, Frame, Interface, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use crate::{Chunk, Gpu};
use bytemuck::Zeroable;
use skinbench_frame::frustum::Frustum;
use skinbench_frame::{Purpose, Result, Stage};
use skinbench_kernels::crowd::Crowd;
use std::ops::Range;
use std::sync::Arc;

/// The kernel of which a single workgroup does all of the work.
const SCAN: &str = "cull_scan";
/// The kernels, by the names of their files in shaders/.
const KERNELS: [&str; 3] = ["cull_count", SCAN, "cull_gather"];

/// Name and complete shader of every kernel; tests check them.
pub fn shaders() -> [(&'static str, String); 3] {
    KERNELS.map(|name| (name, wgsl::shader(&format!("{name}.wgsl"), &[])))
}

/// The pass.
pub struct Cull {
    view: layout::Camera,
    camera: Buffer,
    /// Kernel by kernel, those of all chunks.
    calls: Vec<Call>,
    chunks: Vec<CulledChunk>,
}

/// Instances that are culled together.
struct CulledChunk {
    numbers: Buffer,
    /// Indices of the instances in view.
    visible: Buffer,
    instances: u32,
}

impl Cull {
    /// Creates the pass for a table whose instances the device counts.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &CrowdTable,
        visible: &Visible,
        view: layout::Camera,
    ) -> Result<Self> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let camera = gpu.buffer_with(Purpose::Scratch, "camera", bytemuck::bytes_of(&view), usage);
        let placements = gpu.storage(Purpose::Scratch, "placements", crowd.placements());
        let mut kernels = Vec::new();
        for (name, wgsl) in shaders() {
            kernels.push(Kernel::new(gpu, name, wgsl, &[], true)?);
        }
        let mut chunks = Vec::with_capacity(table.chunks.len());
        let mut resources = Vec::with_capacity(table.chunks.len());
        // A family has one chunk.
        for (index, family) in table.families.iter().enumerate() {
            let chunk = &visible.chunks[index];
            let instances = family.instances.len() as u32;
            let culled = CulledChunk {
                numbers: chunk.numbers.clone(),
                visible: gpu.buffer(
                    Purpose::Scratch,
                    "visible",
                    u64::from(instances) * size_of::<u32>() as u64,
                    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                ),
                instances,
            };
            let mut bound: Vec<(&str, Resource)> = vec![
                ("camera", (&camera).into()),
                ("placements", (&placements).into()),
                ("visible_placements", (&visible.placements).into()),
                ("everyone", (&family.players).into()),
                ("players", (&family.posed).into()),
                ("numbers", (&chunk.numbers).into()),
                ("dispatches", (&chunk.rules).into()),
                ("workgroups", (&chunk.workgroups).into()),
                ("visible", (&culled.visible).into()),
            ];
            bound.extend(shapes(gpu, crowd, &table.chunks[index]));
            resources.push(bound);
            chunks.push(culled);
        }
        let mut calls = Vec::new();
        for (name, kernel) in KERNELS.iter().zip(&kernels) {
            for (chunk, resources) in chunks.iter().zip(&resources) {
                let groups = if *name == SCAN {
                    1
                } else {
                    chunk.instances.div_ceil(WORKGROUP)
                };
                let dispatch = Dispatch::Fixed(gpu.workgroups(groups));
                calls.push(Call::new(gpu, kernel, resources, dispatch));
            }
        }
        Ok(Self {
            view,
            camera,
            calls,
            chunks,
        })
    }

    /// Moves the camera for the frames that follow.
    pub fn move_camera(&mut self, frustum: &Frustum) {
        self.view = camera(frustum);
    }

    /// Records the pass without moving the camera.
    pub fn count(&self, commands: &mut dyn Recorder) {
        let label = Stage::Cull.name();
        commands.run(Command::Compute { label });
        for call in &self.calls {
            call.record(commands);
        }
        commands.run(Command::End);
    }

    /// The instances in view in the last frame: rising indices for each chunk.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or refused a command.
    pub fn read(&self, gpu: &Arc<Gpu>) -> Result<Vec<Vec<u32>>> {
        let mut all = Vec::with_capacity(self.chunks.len());
        let mut count = Vec::new();
        let mut visible = Vec::new();
        for chunk in &self.chunks {
            count.clear();
            gpu.read_back(&chunk.numbers, 0, 1, &mut count)?;
            visible.clear();
            gpu.read_back(&chunk.visible, 0, chunk.instances as usize, &mut visible)?;
            // A broken kernel may count more than there are.
            visible.truncate(count[0].to_bits() as usize);
            all.push(visible.iter().map(|bits| bits.to_bits()).collect());
        }
        Ok(all)
    }
}

impl Pass for Cull {
    fn interface(&self) -> Interface {
        Interface {
            stages: &[Stage::Cull],
            inputs: &[],
            outputs: &["players", "batch", "chunk"],
        }
    }

    fn record(&mut self, frame: &mut Frame) {
        let view = bytemuck::bytes_of(&self.view);
        frame.commands.upload(&self.camera, view);
        self.count(frame.commands);
    }
}

/// A camera as shaders read it.
pub(crate) fn camera(frustum: &Frustum) -> layout::Camera {
    layout::Camera {
        planes: frustum.planes(),
    }
}

/// What the kernels read of a chunk: its size, room for counts, and a sphere around each instance.
fn shapes(gpu: &Gpu, crowd: &Crowd, chunk: &Chunk) -> [(&'static str, Resource); 3] {
    let reach = crowd.reach(&crowd.groups()[chunk.group]);
    let Range { start, end } = chunk.instances;
    let places = &crowd.placements()[start as usize..end as usize];
    let spheres: Vec<_> = places.iter().map(|place| reach.placed(place)).collect();
    let instances = places.len() as u32;
    let groups = instances.div_ceil(WORKGROUP);
    let cull = layout::Cull {
        first_instance: start,
        instances,
        groups,
        dispatches: MOST_RULES as u32,
        most: gpu.adapter.workgroup_limit,
        ..Zeroable::zeroed()
    };
    let totals = u64::from(groups) * size_of::<[u32; 2]>() as u64;
    let storage = wgpu::BufferUsages::STORAGE;
    [
        ("cull", gpu.uniform(Purpose::Scratch, "cull", &cull).into()),
        (
            "totals",
            gpu.buffer(Purpose::Scratch, "totals", totals, storage)
                .into(),
        ),
        (
            "spheres",
            gpu.storage(Purpose::Scratch, "spheres", &spheres).into(),
        ),
    ]
}
