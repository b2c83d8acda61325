//! Passes on a device that another program owns, recorded in its own encoder.
//!
//! A program creates everything once: the device with [`Gpu::adopt`], then [`AdoptedMesh`] for one model whose matrices it
//! has in a buffer, or [`AdoptedCrowd`] for a crowd that the device poses, and binds its buffers of vertices. A frame only
//! records commands. Buffers begin with their data, so no alignment is asked for beyond that of wgpu's buffers.

use crate::crowd::chunk::Sharing;
use crate::crowd::table::CrowdTable;
use crate::device::adapter::Adapter;
use crate::device::command::{Command, Pass as OpenPass, PassEnds, Recorder};
use crate::device::{Buffer, Failures, named, needs, one_line};
use crate::passes::skin::{Skin, SkinKernel};
use crate::passes::{Frame, Plan, Posing, Skinning, Strategy, plan};
use crate::{Chunk, Gpu};
use skinbench_frame::{BackendError, Job, Result, StageTimer};
use skinbench_kernels::crowd::{Crowd, Layer, REST};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, Rows};
use skinbench_kernels::vertex::VertexFormat;
use std::sync::Arc;

impl Gpu {
    /// Uses a device of the caller's, with the limits and features that it was created with. Errors of wgpu go where the
    /// caller has them go; [`Gpu::check`] returns only those of this crate.
    pub fn adopt(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Arc<Self> {
        let known = Adapter::adopted(adapter, &device);
        Self::on(known, device, queue, Failures::default())
    }
}

/// An encoder of the caller's as the destination of commands. What the host writes goes through the queue, and is there
/// before the commands that are submitted next.
struct Encoding<'a> {
    queue: &'a wgpu::Queue,
    encoder: &'a mut wgpu::CommandEncoder,
    pass: OpenPass,
}

impl Recorder for Encoding<'_> {
    fn run(&mut self, command: Command) {
        match command {
            Command::Write { buffer, bytes } => {
                self.queue.write_buffer(buffer.object.get(), 0, bytes);
            }
            command => {
                let untimed = PassEnds::default();
                self.pass.run(self.encoder, &command, None, untimed);
            }
        }
    }
}

/// Runs what creates objects of wgpu. Those that wgpu refuses are errors of the result instead of the caller's handler.
fn created<T>(gpu: &Gpu, create: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some((device, _)) = gpu.device() else {
        return create();
    };
    let invalid = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let result = create();
    let refusals = [memory.pop(), invalid.pop()];
    // Read in any case, so that the next call does not find what this one was refused.
    let noted = gpu.check();
    // What wgpu refused is why later commands fail.
    for refusal in refusals {
        if let Some(error) = pollster::block_on(refusal) {
            return Err(BackendError::Device(one_line(&error.to_string())));
        }
    }
    let value = result?;
    noted?;
    Ok(value)
}

/// Checks that a kernel reads matrices of single models, and can do what the crowd asks for.
fn check_kernel(kernel: &SkinKernel, crowd: &Crowd) -> Result<()> {
    let name = kernel.name;
    needs(
        kernel.palette.is_rows() && !kernel.is_merged(),
        &format!("the kernel {name} does not read rows of 3x4 matrices model by model"),
    )?;
    for lack in kernel.lacks {
        if let Some(refusal) = lack.refusal(crowd, &Job::default()) {
            let message = format!("the kernel {name} {refusal}");
            return Err(BackendError::Unavailable(message));
        }
    }
    Ok(())
}

/// Checks a buffer of the caller's that shaders access from its beginning; `what` it holds.
fn check_buffer(what: &str, buffer: &wgpu::Buffer, bytes: u64) -> Result<()> {
    needs(
        buffer.usage().contains(wgpu::BufferUsages::STORAGE),
        &format!("the buffer of {what} lacks the usage STORAGE"),
    )?;
    if buffer.size() >= bytes {
        return Ok(());
    }
    Err(BackendError::TooLarge(format!(
        "{what} take {bytes} bytes; their buffer has {}",
        buffer.size()
    )))
}

/// Buffers of vertices that a mesh or a crowd is bound to.
pub struct Vertices(Vec<Buffer>);

/// Passes whose vertices go to buffers of the caller's.
struct Adopted {
    gpu: Arc<Gpu>,
    plan: Plan,
    /// Bytes of the vertices of each chunk.
    output_bytes: Vec<u64>,
}

impl Adopted {
    fn new(gpu: &Arc<Gpu>, crowd: &Crowd, plan: Plan) -> Self {
        let chunks = plan.table.chunks.iter();
        Self {
            gpu: Arc::clone(gpu),
            output_bytes: chunks.map(|chunk| chunk.output_bytes(crowd)).collect(),
            plan,
        }
    }

    fn bind(&mut self, vertices: &[wgpu::Buffer]) -> Result<Vertices> {
        let chunks = self.output_bytes.len();
        let message = format!("{} buffers of vertices for {chunks} chunks", vertices.len());
        needs(vertices.len() == chunks, &message)?;
        for (vertices, &bytes) in vertices.iter().zip(&self.output_bytes) {
            check_buffer("vertices", vertices, bytes)?;
        }
        let vertices: Vec<Buffer> = vertices.iter().cloned().map(Buffer::from).collect();
        created(&self.gpu, || {
            if let Some(skin) = self.plan.find_mut::<Skin>() {
                skin.bind(&self.gpu, &vertices);
            }
            Ok(())
        })?;
        Ok(Vertices(vertices))
    }

    fn record(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        vertices: &Vertices,
        encoder: &mut wgpu::CommandEncoder,
    ) {
        let Some((_, queue)) = self.gpu.device() else {
            return;
        };
        self.plan.record(&mut Frame {
            gpu: &self.gpu,
            crowd,
            tick,
            outputs: &vertices.0,
            kept: false,
            commands: &mut Encoding {
                queue,
                encoder,
                pass: OpenPass::Outside,
            },
            timer: &mut StageTimer::default(),
        });
    }
}

/// A model that is skinned from a buffer of matrices into a buffer of vertices.
pub struct AdoptedMesh {
    crowd: Crowd,
    adopted: Adopted,
}

impl AdoptedMesh {
    /// Uploads the mesh and compiles a kernel for vertices in a format. `palettes` holds `[instance][entry]`, 3x4
    /// matrices in rows of 48 bytes each; its usage contains `STORAGE`.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] or [`BackendError::TooLarge`], with what the device, the kernel or `palettes`
    /// lacks; or [`BackendError::Device`], with what wgpu refused to create.
    pub fn new(
        gpu: &Arc<Gpu>,
        model: Arc<Model>,
        format: VertexFormat,
        instances: u32,
        palettes: &wgpu::Buffer,
        kernel: &'static SkinKernel,
    ) -> Result<Self> {
        let entries = model.palette_joints().len();
        let bytes = u64::from(instances) * (entries * size_of::<Rows>()) as u64;
        check_buffer("palettes", palettes, bytes)?;
        let mut crowd = Crowd::with_format(format);
        let at_rest = (0..instances).map(|_| (IDENTITY_ROWS, Layer::held(REST, 0.0)));
        crowd
            .push_group(model, at_rest)
            .map_err(|error| BackendError::Unavailable(error.to_string()))?;
        check_kernel(kernel, &crowd)?;
        let message = "the model has morph targets, whose weights only a crowd has";
        needs(!crowd.has_targets(), message)?;
        let plan = created(gpu, || {
            let mut table = CrowdTable::new(gpu, &crowd, &Sharing::Nothing, None)?;
            let first = table.chunks.first();
            let most = first.map_or(0, |chunk| chunk.instances.len());
            let message = format!("the device binds {most} instances at once; not {instances}");
            needs(most == instances as usize, &message)?;
            table.bind_numbers(gpu, false);
            let palettes = Buffer::from(palettes.clone());
            for bindings in &mut table.bindings {
                bindings.push(named("palettes", &palettes));
            }
            let skin = Skin::new(gpu, &crowd, &mut table, &[kernel], None)?;
            let mut plan = Plan::new(table);
            plan.push(skin);
            Ok(plan)
        })?;
        let adopted = Adopted::new(gpu, &crowd, plan);
        Ok(Self { crowd, adopted })
    }

    /// Bytes of the vertices, `[instance][vertex][word]`.
    pub fn output_bytes(&self) -> u64 {
        self.adopted.output_bytes.iter().sum()
    }

    /// Binds a buffer for the vertices, whose usage contains `STORAGE`. Frames may take turns with several.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] or [`BackendError::TooLarge`], with what the buffer lacks.
    pub fn bind(&mut self, vertices: &wgpu::Buffer) -> Result<Vertices> {
        self.adopted.bind(std::slice::from_ref(vertices))
    }

    /// Records the skinning into bound vertices. It creates nothing.
    pub fn record(&mut self, vertices: &Vertices, encoder: &mut wgpu::CommandEncoder) {
        self.adopted.record(&self.crowd, 0, vertices, encoder);
    }
}

/// A crowd that the device poses and skins.
pub struct AdoptedCrowd(Adopted);

impl AdoptedCrowd {
    /// Uploads models and clips, and allocates poses and palettes. Of several kernels it takes the fastest, which it
    /// finds by submissions to the queue.
    ///
    /// # Errors
    /// As [`AdoptedMesh::new`] and [`plan()`].
    pub fn new(
        gpu: &Arc<Gpu>,
        crowd: &Crowd,
        kernels: &'static [&'static SkinKernel],
    ) -> Result<Self> {
        needs(!kernels.is_empty(), "no kernel is named")?;
        needs(crowd.instance_count() > 0, "the crowd has no instance")?;
        for kernel in kernels {
            check_kernel(kernel, crowd)?;
        }
        let strategy = Strategy {
            posing: Posing::Device,
            skin: Skinning::Compute(kernels),
        };
        let plan = created(gpu, || plan(gpu, crowd, strategy, &Job::default()))?;
        Ok(Self(Adopted::new(gpu, crowd, plan)))
    }

    /// The chunks that the crowd is divided into: neighbouring instances of one model.
    pub fn chunks(&self) -> &[Chunk] {
        &self.0.plan.table.chunks
    }

    /// Bytes of the vertices of each chunk, `[instance][vertex][word]`. Each has a buffer of its own.
    pub fn output_bytes(&self) -> &[u64] {
        &self.0.output_bytes
    }

    /// Binds a buffer for the vertices of each chunk. Frames may take turns with several sets of buffers.
    ///
    /// # Errors
    /// As [`AdoptedMesh::bind`], or there are fewer buffers than chunks.
    pub fn bind(&mut self, vertices: &[wgpu::Buffer]) -> Result<Vertices> {
        self.0.bind(vertices)
    }

    /// Records the posing of a tick and the skinning into bound vertices. It creates nothing. Once for each submission: the
    /// tick reaches the device before all commands of the next one.
    pub fn record(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        vertices: &Vertices,
        encoder: &mut wgpu::CommandEncoder,
    ) {
        self.0.record(crowd, tick, vertices, encoder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::pose::Pose;
    use crate::passes::pose_kernels::PoseKernel;
    use crate::passes::skin_kernels::{INSTANCES, MERGED, POSITIONS, SHARED};
    use skinbench_characters::face;
    use skinbench_characters::walker;
    use skinbench_characters::{chain_64, star_64};
    use skinbench_kernels::reference::reference_vertices;
    use skinbench_kernels::threads::lock;
    use skinbench_kernels::vertex::Encoding;

    /// A device with limits of the caller's; `None` on a machine without adapters.
    fn adopted(limit: impl FnOnce(&mut wgpu::Limits)) -> Option<(Arc<Gpu>, wgpu::Device)> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions::default();
        let Ok(adapter) = pollster::block_on(instance.request_adapter(&options)) else {
            let required = std::env::var_os("SKINBENCH_REQUIRE_GPU");
            assert!(required.is_none(), "there is no adapter");
            return None;
        };
        let mut required_limits = adapter.limits();
        limit(&mut required_limits);
        let descriptor = wgpu::DeviceDescriptor {
            required_limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        Some((Gpu::adopt(&adapter, device.clone(), queue), device))
    }

    fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// A crowd of two models, one instance each.
    fn two_walkers() -> Crowd {
        let mut crowd = Crowd::with_format(VertexFormat::default());
        for vertices in [500, 600] {
            let model = Arc::new(walker(vertices).unwrap());
            let at_rest = [(IDENTITY_ROWS, Layer::held(REST, 0.0))];
            crowd.push_group(model, at_rest).unwrap();
        }
        crowd
    }

    /// Why a mesh of the walker is refused.
    fn refusal(
        (gpu, device): &(Arc<Gpu>, wgpu::Device),
        format: VertexFormat,
        kernel: &'static SkinKernel,
    ) -> Option<String> {
        let model = Arc::new(walker(500).unwrap());
        let bytes = 2 * (model.palette_joints().len() * size_of::<Rows>()) as u64;
        let palettes = buffer(device, bytes, wgpu::BufferUsages::STORAGE);
        let mesh = AdoptedMesh::new(gpu, model, format, 2, &palettes, kernel);
        mesh.err().map(|error| error.to_string())
    }

    #[test]
    fn errors_name_what_the_device_or_a_kernel_lacks() {
        let floats = VertexFormat::default();
        let packed = VertexFormat {
            encoding: Encoding::Packed,
            ..floats
        };
        let Some(few_buffers) = adopted(|limits| limits.max_storage_buffers_per_shader_stage = 3)
        else {
            return;
        };
        let error = refusal(&few_buffers, floats, &INSTANCES).unwrap();
        assert!(
            error.starts_with("the device binds 3 storage buffers to a shader; needs "),
            "{error}"
        );
        let few_threads = adopted(|limits| limits.max_compute_invocations_per_workgroup = 128);
        let few_threads = few_threads.unwrap();
        assert_eq!(refusal(&few_threads, floats, &INSTANCES), None);
        let error = refusal(&few_threads, floats, &SHARED).unwrap();
        assert_eq!(
            error,
            "the device runs 128 threads in a workgroup; needs 256"
        );
        let small = adopted(|limits| limits.max_compute_workgroup_storage_size = 8_192).unwrap();
        let error = refusal(&small, floats, &SHARED).unwrap();
        assert_eq!(
            error,
            "a workgroup shares 12288 bytes at once; the device allows 8192"
        );
        assert_eq!(refusal(&small, packed, &INSTANCES), None);
        let error = refusal(&small, packed, &POSITIONS).unwrap();
        assert_eq!(
            error,
            "the kernel positions stores floats of one frame apart; needs --output f32"
        );
        let error = refusal(&small, floats, &MERGED).unwrap();
        assert!(
            error.starts_with("the kernel merged does not read rows"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_skinned_is_refused_and_forgotten() {
        let Some((gpu, device)) = adopted(|_| {}) else {
            return;
        };
        let format = VertexFormat::default();
        let palettes = buffer(&device, 1 << 20, wgpu::BufferUsages::STORAGE);
        let mesh =
            |model| AdoptedMesh::new(&gpu, Arc::new(model), format, 1, &palettes, &INSTANCES);
        let error = mesh(face(1_000, 1).unwrap()).err().unwrap().to_string();
        assert!(error.contains("morph targets"), "{error}");
        assert!(mesh(walker(500).unwrap()).is_ok(), "nothing is left of it");
        let crowd = Crowd::with_format(format);
        let error = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES])
            .err()
            .unwrap();
        assert!(error.to_string().contains("no instance"), "{error}");
        let error = AdoptedCrowd::new(&gpu, &crowd, &[]).err().unwrap();
        assert!(error.to_string().contains("no kernel"), "{error}");
    }

    #[test]
    fn buffers_are_checked_and_bound_once() {
        let Some((gpu, device)) = adopted(|_| {}) else {
            return;
        };
        let model = Arc::new(walker(500).unwrap());
        let bytes = (model.palette_joints().len() * size_of::<Rows>()) as u64;
        let mesh = |size, usage| {
            let palettes = buffer(&device, size, usage);
            let format = VertexFormat::default();
            AdoptedMesh::new(&gpu, Arc::clone(&model), format, 1, &palettes, &INSTANCES)
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let error = mesh(bytes - 16, storage).err().unwrap().to_string();
        let less = bytes - 16;
        assert_eq!(
            error,
            format!("palettes take {bytes} bytes; their buffer has {less}")
        );
        let error = mesh(bytes, wgpu::BufferUsages::VERTEX).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the buffer of palettes lacks the usage STORAGE"
        );
        let mut mesh = mesh(bytes, storage).unwrap();
        let small = buffer(&device, mesh.output_bytes() - 4, storage);
        assert!(mesh.bind(&small).is_err());
        let mut turns = Vec::new();
        for _ in 0..3 {
            let vertices = buffer(&device, mesh.output_bytes(), storage);
            turns.push(mesh.bind(&vertices).unwrap());
        }
        let created = *lock(&gpu.created);
        for vertices in turns.iter().cycle().take(9) {
            let mut encoder = device.create_command_encoder(&Default::default());
            mesh.record(vertices, &mut encoder);
            assert_eq!(
                mesh.adopted.plan.find::<Skin>().unwrap().bound(),
                turns.len()
            );
        }
        assert_eq!(*lock(&gpu.created), created);
    }

    #[test]
    fn sets_of_buffers_that_share_one_are_told_apart() {
        let Some((gpu, device)) = adopted(|_| {}) else {
            return;
        };
        let crowd = two_walkers();
        let mut adopted = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES]).unwrap();
        let bytes = adopted.output_bytes().to_vec();
        let storage = wgpu::BufferUsages::STORAGE;
        let first = buffer(&device, bytes[0], storage);
        for sets in 1..3 {
            let second = buffer(&device, bytes[1], storage);
            adopted.bind(&[first.clone(), second]).unwrap();
            let skin = adopted.0.plan.find::<Skin>().unwrap();
            assert_eq!(skin.bound(), sets);
        }
    }

    /// A trial chooses one of them, so that elsewhere most tests run the same one.
    #[test]
    fn every_way_from_local_to_model_poses_agrees() {
        let Some((gpu, device)) = adopted(|_| {}) else {
            return;
        };
        // Hierarchies of different depths.
        let all = [walker(500), chain_64(), star_64()].map(|model| Arc::new(model.unwrap()));
        for models in 1..=all.len() {
            let mut crowd = Crowd::with_format(VertexFormat::default());
            for model in &all[..models] {
                let walk =
                    |number: u32| (IDENTITY_ROWS, Layer::looping(model, 0, number << 29, 1.0));
                crowd
                    .push_group(Arc::clone(model), (0..5).map(walk))
                    .unwrap();
            }
            let mut adopted = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES]).unwrap();
            let mut buffers = Vec::new();
            for &bytes in adopted.output_bytes() {
                let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
                buffers.push(buffer(&device, bytes, usage));
            }
            let vertices = adopted.bind(&buffers).unwrap();
            let mut exact = Vec::new();
            for instance in 0..5 * models as u32 {
                exact.extend(reference_vertices(&crowd, instance, 7));
            }
            for walk in PoseKernel::WALKS {
                adopted.0.plan.find_mut::<Pose>().unwrap().walk = walk;
                let mut encoder = device.create_command_encoder(&Default::default());
                adopted.record(&crowd, 7, &vertices, &mut encoder);
                gpu.device().unwrap().1.submit([encoder.finish()]);
                let mut read = Vec::new();
                for buffer in &buffers {
                    let floats = buffer.size() as usize / size_of::<f32>();
                    gpu.read_back(&buffer.clone().into(), 0, floats, &mut read)
                        .unwrap();
                }
                assert_eq!(read.len(), exact.len());
                for (read, exact) in read.iter().zip(&exact) {
                    let off = (f64::from(*read) - exact).abs();
                    assert!(off < 1e-3, "{models} models, {walk:?}: {read} for {exact}");
                }
            }
        }
    }

    /// Its message is not that of a command which fails because of it.
    #[test]
    fn what_wgpu_refuses_is_named() {
        let small = |limits: &mut wgpu::Limits| limits.max_uniform_buffer_binding_size = 8_192;
        let Some((gpu, _)) = adopted(small) else {
            return;
        };
        let crowd = two_walkers();
        let error = AdoptedCrowd::new(&gpu, &crowd, &[&INSTANCES])
            .err()
            .unwrap();
        assert!(error.to_string().contains("8192"), "{error}");
    }
}
