//! Finds the instances in view, and copies their players and placements to a contiguous range in the crowd's order. Every
//! later kernel and draw takes its count from this pass and processes only these instances.

use crate::crowd::table::{CrowdTable, Dispatch, MOST_RULES, Visible, VisibleChunk};
use crate::device::{Buffer, Command, Named, Recorder, named};
use crate::kernel::Kernel;
use crate::passes::{Call, Frame, Pass};
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
}

impl Cull {
    /// Creates the pass, and lets the device count the instances of each chunk of a table.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &mut CrowdTable,
        frustum: &Frustum,
    ) -> Result<Self> {
        let view = camera(frustum);
        let camera = gpu.uniform(Purpose::Scratch, "camera", &view);
        let placements = gpu.storage(Purpose::Scratch, "placements", crowd.placements());
        let mut visible = Visible {
            placements: gpu.scratch(Purpose::Scratch, "placements in view", placements.size),
            chunks: Vec::with_capacity(table.chunks.len()),
        };
        let mut resources = Vec::with_capacity(table.chunks.len());
        for (index, chunk) in table.chunks.iter().enumerate() {
            let own = visible_chunk(gpu, &table.numbers[index]);
            let bytes = (chunk.instances.len() * size_of::<layout::Player>()) as u64;
            let players = gpu.scratch(Purpose::Scratch, "players in view", bytes);
            let bindings = &mut table.bindings[index];
            bindings.extend([
                named("players", &players),
                ("chunk", own.chunk()),
                ("posed", own.posed()),
            ]);
            let mut bound = bindings.clone();
            bound.extend([
                named("camera", &camera),
                named("placements", &placements),
                named("visible_placements", &visible.placements),
                named("numbers", &own.numbers),
                named("dispatches", &own.rules),
                named("workgroups", &own.workgroups),
                named("visible", &own.indices),
            ]);
            bound.extend(shapes(gpu, crowd, chunk));
            resources.push(bound);
            visible.chunks.push(own);
        }
        table.visible = Some(Arc::new(visible));
        let mut calls = Vec::new();
        for (name, wgsl) in shaders() {
            let kernel = Kernel::new(gpu, name, wgsl, &[], true)?;
            for (chunk, resources) in table.chunks.iter().zip(&resources) {
                let groups = if name == SCAN {
                    1
                } else {
                    (chunk.instances.len() as u32).div_ceil(WORKGROUP)
                };
                let dispatch = Dispatch::Fixed(gpu.workgroups(groups));
                calls.push(Call::new(gpu, &kernel, resources, dispatch));
            }
        }
        Ok(Self {
            view,
            camera,
            calls,
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
}

impl Pass for Cull {
    fn record(&mut self, frame: &mut Frame) {
        let view = bytemuck::bytes_of(&self.view);
        frame.commands.upload(&self.camera, view);
        self.count(frame.commands);
    }
}

/// A camera as shaders read it.
fn camera(frustum: &Frustum) -> layout::Camera {
    layout::Camera {
        planes: frustum.planes().map(|plane| plane.to_array()),
    }
}

/// The numbers of a chunk, and room for what the device counts.
fn visible_chunk(gpu: &Gpu, numbers: &layout::Numbers) -> VisibleChunk {
    let purpose = Purpose::Scratch;
    // A rule that no kernel has set is counted all the same.
    let rules = [layout::Dispatch::by_instance(1); MOST_RULES];
    let workgroups = (rules.len() * size_of::<[u32; 3]>()) as u64;
    let indices = u64::from(numbers.chunk.instances) * size_of::<u32>() as u64;
    let counted = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT;
    let uniforms =
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC;
    let contents = bytemuck::bytes_of(numbers);
    VisibleChunk {
        numbers: gpu.buffer_with(purpose, "numbers in view", contents, uniforms),
        indices: gpu.scratch(purpose, "visible", indices),
        rules: gpu.storage(purpose, "dispatches", &rules),
        workgroups: gpu.buffer(purpose, "workgroups", workgroups, counted),
    }
}

/// What the kernels read of a chunk: its size, room for counts, and a sphere around each instance.
fn shapes(gpu: &Gpu, crowd: &Crowd, chunk: &Chunk) -> [Named; 3] {
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
    let purpose = Purpose::Scratch;
    [
        named("cull", &gpu.uniform(purpose, "cull", &cull)),
        named("totals", &gpu.scratch(purpose, "totals", totals)),
        named("spheres", &gpu.storage(purpose, "spheres", &spheres)),
    ]
}
