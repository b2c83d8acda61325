//! Finds the instances in view, chooses the level of each if the crowd has families, and copies their players and
//! placements to a contiguous range: level by level, and in the crowd's order within a level. Every later kernel and
//! draw takes its count from this pass and processes only these instances.

use crate::crowd::table::{CrowdTable, Dispatch, Family, MOST_RULES, Visible, placements};
use crate::device::{Buffer, Command, Recorder, Resource};
use crate::kernel::Kernel;
use crate::passes::{Call, Frame, Interface, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use crate::{Chunk, Gpu};
use bytemuck::Zeroable;
use skinbench_frame::frustum::{Eye, Frustum, placed_box};
use skinbench_frame::{Purpose, Result, Stage};
use skinbench_kernels::crowd::{Crowd, Reach};
use skinbench_kernels::reference::shown;
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
    /// Kernel by kernel, those of all families.
    calls: Vec<Call>,
    families: Vec<CulledFamily>,
}

/// Instances that are culled together.
struct CulledFamily {
    /// The numbers of each level.
    numbers: Buffer,
    /// Indices of the instances in view.
    visible: Buffer,
    instances: u32,
    levels: usize,
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
        let placements = gpu.storage(Purpose::Scratch, "placements", &placements(crowd));
        let mut kernels = Vec::new();
        for (name, wgsl) in shaders() {
            kernels.push(Kernel::new(gpu, name, wgsl, &[], true)?);
        }
        let mut families = Vec::with_capacity(table.families.len());
        let mut resources = Vec::with_capacity(table.families.len());
        let mut first_instance = 0;
        for (index, family) in table.families.iter().enumerate() {
            let chunks = table.family(index);
            let chunk = &visible.chunks[index * table.levels];
            let instances = family.instances.len() as u32;
            let culled = CulledFamily {
                numbers: chunk.numbers.clone(),
                visible: gpu.buffer(
                    Purpose::Scratch,
                    "visible",
                    u64::from(instances) * size_of::<u32>() as u64,
                    wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                ),
                instances,
                levels: chunks.len(),
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
            bound.extend(shapes(gpu, crowd, family, chunks, first_instance));
            resources.push(bound);
            families.push(culled);
            first_instance += instances;
        }
        let mut calls = Vec::new();
        for (name, kernel) in KERNELS.iter().zip(&kernels) {
            for (family, resources) in families.iter().zip(&resources) {
                let groups = if *name == SCAN {
                    1
                } else {
                    family.instances.div_ceil(WORKGROUP)
                };
                let dispatch = Dispatch::Fixed(gpu.workgroups(groups));
                calls.push(Call::new(gpu, kernel, resources, dispatch));
            }
        }
        Ok(Self {
            view,
            camera,
            calls,
            families,
        })
    }

    /// Moves the camera for the frames that follow.
    pub fn move_camera(&mut self, frustum: &Frustum, eye: &Eye) {
        self.view = camera(frustum, eye);
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
        let words = size_of::<layout::Numbers>() / 4;
        let mut chunks = Vec::new();
        let mut numbers = Vec::new();
        let mut read = Vec::new();
        for family in &self.families {
            numbers.clear();
            gpu.read_back(&family.numbers, 0, family.levels * words, &mut numbers)?;
            read.clear();
            gpu.read_back(&family.visible, 0, family.instances as usize, &mut read)?;
            let mut rest = &read[..];
            for level in numbers.chunks_exact(words) {
                // A broken kernel may count more than there are.
                let count = (level[0].to_bits() as usize).min(rest.len());
                let (in_view, later) = rest.split_at(count);
                chunks.push(in_view.iter().map(|bits| bits.to_bits()).collect());
                rest = later;
            }
        }
        Ok(chunks)
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
pub(crate) fn camera(frustum: &Frustum, eye: &Eye) -> layout::Camera {
    layout::Camera {
        planes: frustum.planes(),
        eye: *eye,
    }
}

/// What the kernels read of a family: its size, room for counts, and the shape of each instance.
fn shapes(
    gpu: &Gpu,
    crowd: &Crowd,
    family: &Family,
    chunks: &[Chunk],
    first_instance: u32,
) -> [(&'static str, Resource); 4] {
    let group = &crowd.groups()[chunks[0].group];
    let places =
        &crowd.placements()[family.instances.start as usize..family.instances.end as usize];
    // A sphere around the reach of every level: a limb that a level leaves out stays at rest.
    let centre = crowd.reach(group).centre;
    let mut radius = 0.0f64;
    for chunk in chunks {
        let reach = crowd.reach(&crowd.groups()[chunk.group]);
        radius = radius.max(reach.centre.distance(centre) + reach.radius);
    }
    let reach = Reach { centre, radius };
    let spheres: Vec<_> = places.iter().map(|place| reach.placed(place)).collect();
    let mut boxes = vec![[0.0; 4]];
    if chunks.len() > 1 {
        let bounds = shown(crowd, group).bounds;
        boxes.clear();
        boxes.extend(
            places
                .iter()
                .map(|place| placed_box(bounds, place).map(|v| v as f32)),
        );
    }
    let instances = places.len() as u32;
    let groups = instances.div_ceil(WORKGROUP);
    let mut sizes = [0.0; 3];
    let thresholds = &crowd.level_sizes()[..chunks.len() - 1];
    sizes[..thresholds.len()].copy_from_slice(thresholds);
    let cull = layout::Cull {
        sizes,
        levels: chunks.len() as u32,
        first_instance,
        instances,
        groups,
        dispatches: MOST_RULES as u32,
        most: gpu.adapter.workgroup_limit,
        ..Zeroable::zeroed()
    };
    let totals = chunks.len() as u64 * u64::from(groups) * size_of::<[u32; 2]>() as u64;
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
        (
            "boxes",
            gpu.storage(Purpose::Scratch, "boxes", &boxes).into(),
        ),
    ]
}
