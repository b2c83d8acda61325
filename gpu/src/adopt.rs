//! Passes on a device that another program owns, recorded in its own encoder.
//!
//! A program creates everything once: the device with [`Gpu::adopt`], then [`AdoptedMesh`] for one model whose matrices it
//! has in a buffer, or [`AdoptedCrowd`] for a crowd that the device poses. A frame only records commands.
//! `examples/adopt_gpu.rs` does so and draws the vertices with a pipeline of its own.

use crate::crowd::table::CrowdTable;
use crate::device::adapter::Adapter;
use crate::device::command::{Command, Pass as OpenPass, PassEnds, Recorder};
use crate::device::{Buffer, Failures, fits, needs};
use crate::passes::skin::{Skin, SkinKernel};
use crate::passes::{Frame, Pass, Plan, Posing, Skinning, Strategy, plan};
use crate::{Chunk, Gpu};
use skinbench_frame::{BackendError, Job, Result, StageTimer};
use skinbench_kernels::crowd::{Crowd, Layer, REST};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, Rows};
use skinbench_kernels::vertex::VertexFormat;
use std::rc::Rc;
use std::sync::Arc;

impl Gpu {
    /// Uses a device of the caller's, with the limits and features that it was created with. Errors of wgpu go where the
    /// caller has them go; [`Gpu::check`] returns only those of this crate.
    pub fn adopt(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Rc<Self> {
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

/// Records passes of a tick in an encoder of the caller's.
fn record(
    gpu: &Gpu,
    passes: &mut [&mut dyn Pass],
    crowd: &Crowd,
    tick: u32,
    outputs: &[Buffer],
    encoder: &mut wgpu::CommandEncoder,
) {
    let Some((_, queue)) = gpu.device() else {
        return;
    };
    let mut commands = Encoding {
        queue,
        encoder,
        pass: OpenPass::Outside,
    };
    let mut frame = Frame {
        gpu,
        crowd,
        tick,
        outputs,
        kept: false,
        commands: &mut commands,
        timer: &mut StageTimer::default(),
    };
    for pass in passes {
        pass.record(&mut frame);
    }
}

/// A model that is skinned from a buffer of matrices into a buffer of vertices.
pub struct AdoptedMesh {
    gpu: Rc<Gpu>,
    crowd: Crowd,
    skin: Skin,
}

impl AdoptedMesh {
    /// Uploads the mesh and compiles a kernel for vertices in a format. `palettes` holds `[instance][entry]`, 3x4
    /// matrices in rows of 48 bytes each; its usage contains `STORAGE`.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] or [`BackendError::TooLarge`], with what the device lacks or `palettes` does not
    /// hold.
    pub fn new(
        gpu: &Rc<Gpu>,
        model: Arc<Model>,
        format: VertexFormat,
        instances: u32,
        palettes: &wgpu::Buffer,
        kernel: &'static SkinKernel,
    ) -> Result<Self> {
        let bytes =
            u64::from(instances) * (model.palette_joints().len() * size_of::<Rows>()) as u64;
        fits("palettes take", bytes, "in one buffer", palettes.size())?;
        let is_bound = palettes.usage().contains(wgpu::BufferUsages::STORAGE);
        needs(is_bound, "the buffer of palettes lacks the usage STORAGE")?;
        let mut crowd = Crowd::with_format(format);
        let at_rest = (0..instances).map(|_| (IDENTITY_ROWS, Layer::held(REST, 0.0)));
        crowd
            .push_group(model, at_rest)
            .map_err(|error| BackendError::Unavailable(error.to_string()))?;
        let mut table = CrowdTable::new(gpu, &crowd)?;
        let palettes = Buffer::from(palettes.clone());
        for bindings in &mut table.bindings {
            bindings.push(("palettes", (&palettes).into()));
            bindings.push(("shown", (&palettes).into()));
        }
        let chunks = table.chunks.len();
        needs(
            chunks == 1,
            "the device binds too few bytes for all instances at once",
        )?;
        let skin = Skin::new(gpu, &crowd, &table, &[kernel], None)?;
        gpu.check()?;
        Ok(Self {
            gpu: Rc::clone(gpu),
            crowd,
            skin,
        })
    }

    /// Bytes of the vertices, `[instance][vertex][word]`.
    pub fn output_bytes(&self) -> u64 {
        self.crowd.output_words() * size_of::<f32>() as u64
    }

    /// Records the skinning. `vertices` has at least [`AdoptedMesh::output_bytes`] and the usage `STORAGE`; the next
    /// call with the same buffer creates nothing.
    pub fn record(&mut self, vertices: &Buffer, encoder: &mut wgpu::CommandEncoder) {
        let passes: &mut [&mut dyn Pass] = &mut [&mut self.skin];
        let outputs = std::slice::from_ref(vertices);
        record(&self.gpu, passes, &self.crowd, 0, outputs, encoder);
    }
}

/// A crowd that the device poses and skins.
pub struct AdoptedCrowd {
    gpu: Rc<Gpu>,
    plan: Plan,
}

impl AdoptedCrowd {
    /// Uploads models and clips, and allocates poses and palettes. The kernel is the fastest of some.
    ///
    /// # Errors
    /// As [`plan()`].
    pub fn new(
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        kernels: &'static [&'static SkinKernel],
    ) -> Result<Self> {
        let strategy = Strategy {
            posing: Posing::Device,
            skin: Skinning::Compute(kernels),
        };
        Ok(Self {
            gpu: Rc::clone(gpu),
            plan: plan(gpu, crowd, strategy, &Job::default())?,
        })
    }

    /// The chunks that the crowd is divided into. Each has a buffer for its vertices, `[instance][vertex][word]`.
    pub fn chunks(&self) -> &[Chunk] {
        &self.plan.table.chunks
    }

    /// Records the posing and skinning of a tick. `vertices` has a buffer for each chunk, as large as
    /// [`Chunk::output_bytes`] says and with the usage `STORAGE`; the next call with the same ones creates nothing.
    pub fn record(
        &mut self,
        crowd: &Crowd,
        tick: u32,
        vertices: &[Buffer],
        encoder: &mut wgpu::CommandEncoder,
    ) {
        for pass in &self.plan.passes {
            let passes: &mut [&mut dyn Pass] = &mut [&mut *pass.borrow_mut()];
            record(&self.gpu, passes, crowd, tick, vertices, encoder);
        }
    }
}
