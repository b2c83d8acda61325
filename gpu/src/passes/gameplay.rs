//! Computes bounds and sockets of a crowd that is posed on the device, and reads them back through a ring of buffers
//! without waiting for the device.

use crate::Gpu;
use crate::crowd::table::{CrowdTable, Dispatch};
use crate::device::{Buffer, Command, named, one_line};
use crate::forms::kind::{ONE_CHUNK, ShaderVariant};
use crate::forms::mesh::MeshForm;
use crate::forms::palettes::PaletteForm;
use crate::kernel::Kernel;
use crate::passes::{Call, Frame, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use skinbench_frame::{BackendError, Bytes, Purpose, Result, Stage, StageTimer};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::gameplay::{Bounds, Gameplay as GameplayReads, GameplayData, ModelReads};
use skinbench_kernels::model::Rows;
use skinbench_kernels::reference::shown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Buffers of the ring: two frames in flight, and one that is being read.
const RING: usize = 3;

/// Stages whose kernels compute a box per instance, and poses of joints.
pub const STAGES: [Stage; 2] = [Stage::Bounds, Stage::Sockets];

/// The complete shader of a stage's kernel, for palettes in a form.
pub fn shader(stage: Stage, form: PaletteForm) -> String {
    // Kernels that copy palettes to workgroup memory do so for the mesh that they skin.
    let form = match form {
        PaletteForm::Workgroup => PaletteForm::Rows,
        form => form,
    };
    // Nothing is blended here.
    let palette = form
        .roles()
        .into_iter()
        .filter(|(role, _)| *role != "blend");
    wgsl::shader(
        &format!("{}.wgsl", stage.name()),
        &palette.chain([ONE_CHUNK]).collect::<Vec<_>>(),
    )
}

/// Input of a stage's kernel for a model; boxes grow by `margin` besides their own.
fn read_of_model(stage: Stage, gpu: &Gpu, reads: &ModelReads, margin: f32) -> Buffer {
    if stage == Stage::Bounds {
        let boxes = reads.boxes.iter().map(|own| layout::EntryBox {
            centre: own.centre,
            entry: own.entry,
            half: own.half,
            margin: reads.margin + margin,
        });
        return gpu.storage(Purpose::Scratch, "boxes", &boxes.collect::<Vec<_>>());
    }
    let sockets = reads.sockets.iter().map(|socket| layout::Socket {
        bind: socket.bind,
        entry: socket.entry,
        padding: socket.padding,
    });
    gpu.storage(Purpose::Scratch, "sockets", &sockets.collect::<Vec<_>>())
}

/// The pass.
pub struct Gameplay {
    readbacks: Vec<Readback>,
    data: GameplayData,
    /// Frames submitted so far.
    frame: u32,
    /// Frames after which the host had what it reads, at most; `None` before anything has arrived.
    pub delay: Option<u32>,
}

/// A kernel with its outputs and the ring that they are copied to.
struct Readback {
    stage: Stage,
    calls: Vec<Call>,
    outputs: Vec<GameplayOutput>,
    ring: Vec<ReadBack>,
}

/// What a kernel writes for a chunk.
struct GameplayOutput {
    buffer: Buffer,
    bytes: u64,
}

/// A mappable buffer.
struct ReadBack {
    buffer: Buffer,
    /// The frame that was copied here and not read yet.
    frame: Option<u32>,
    mapped: Arc<AtomicBool>,
}

impl Gameplay {
    /// Creates kernels and buffers for palettes in a form. `approximation` is the error of positions that the backend
    /// states, over the diagonal of a model's bounds; boxes contain the exact vertices all the same.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter binds too few buffers.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &CrowdTable,
        form: PaletteForm,
        reads: &GameplayReads,
        approximation: f64,
    ) -> Result<Self> {
        let mut readbacks = Vec::new();
        for (stage, wanted) in STAGES.into_iter().zip([reads.bounds, reads.sockets > 0]) {
            if wanted {
                let readback = Readback::new(gpu, crowd, table, form, reads, stage, approximation);
                readbacks.push(readback?);
            }
        }
        Ok(Self {
            readbacks,
            data: GameplayData::new(crowd, reads),
            frame: 0,
            delay: None,
        })
    }

    /// Takes what has arrived of earlier frames, without waiting.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn arrive(&mut self, gpu: &Gpu, timer: &mut StageTimer) -> Result<()> {
        self.frame = self.frame.wrapping_add(1);
        gpu.poll()?;
        for readback in &mut self.readbacks {
            let data = &mut self.data;
            let arrived = timer.wall(readback.stage, || readback.take(data))?;
            let delay = arrived.map(|frame| self.frame.wrapping_sub(frame));
            self.delay = self.delay.max(delay);
        }
        Ok(())
    }

    /// Waits for the frames that were submitted, and returns what was read of the last one.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read(&mut self, gpu: &Gpu) -> Result<&GameplayData> {
        gpu.wait(None, "bounds and sockets")?;
        for readback in &mut self.readbacks {
            readback.take(&mut self.data)?;
        }
        Ok(&self.data)
    }
}

impl Pass for Gameplay {
    fn record(&mut self, frame: &mut Frame) {
        for readback in &mut self.readbacks {
            frame.compute(readback.stage, &readback.calls);
            let Some(staging) = readback.ring.iter_mut().find(|s| s.frame.is_none()) else {
                continue;
            };
            frame.commands.run(Command::Stage(readback.stage));
            let mut offset = 0;
            for output in &readback.outputs {
                frame.commands.run(Command::Copy {
                    from: &output.buffer,
                    from_offset: 0,
                    to: &staging.buffer,
                    to_offset: offset,
                    bytes: output.bytes,
                });
                offset += output.bytes;
            }
            frame.commands.run(Command::Map {
                buffer: &staging.buffer,
                mapped: &staging.mapped,
            });
            frame.commands.run(Command::EndStage);
            staging.frame = Some(self.frame);
        }
    }

    fn host_memory(&self) -> Bytes {
        let GameplayData { bounds, sockets } = &self.data;
        let bytes = size_of_val(&bounds[..]) + size_of_val(&sockets[..]);
        Bytes::of(Purpose::Scratch, bytes as u64)
    }
}

impl Readback {
    fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &CrowdTable,
        form: PaletteForm,
        reads: &GameplayReads,
        stage: Stage,
        approximation: f64,
    ) -> Result<Self> {
        let (instance_bytes, threads) = match stage {
            Stage::Bounds => (size_of::<Bounds>(), WORKGROUP as usize),
            _ => (reads.sockets * size_of::<Rows>(), reads.sockets),
        };
        let mut kernels = Vec::new();
        for kind in ShaderVariant::all(crowd, MeshForm::Plain, form, None) {
            let constants = kind.constants();
            let wgsl = shader(stage, form);
            kernels.push(Kernel::new(gpu, stage.name(), wgsl, &constants, true)?);
        }
        let mut models = Vec::new();
        for (group, reads) in crowd.groups().iter().zip(&reads.groups) {
            let margin = approximation * shown(crowd, group).diagonal;
            models.push(read_of_model(stage, gpu, reads, margin as f32));
        }
        let mut calls = Vec::with_capacity(table.chunks.len());
        let mut outputs = Vec::with_capacity(table.chunks.len());
        for (chunk, inputs) in table.chunks.iter().zip(&table.bindings) {
            let bytes = (instance_bytes * chunk.instances.len()) as u64;
            let buffer = gpu.scratch(Purpose::Scratch, stage.name(), bytes);
            let model = &models[chunk.group];
            let mut resources = inputs.clone();
            resources.extend([
                named("entry_boxes", model),
                named("joint_sockets", model),
                named("found", &buffer),
            ]);
            let groups = (threads * chunk.instances.len()).div_ceil(WORKGROUP as usize);
            let dispatch = Dispatch::Fixed(gpu.workgroups(groups as u32));
            calls.push(Call::new(gpu, &kernels[chunk.group], &resources, dispatch));
            outputs.push(GameplayOutput { buffer, bytes });
        }
        let bytes = (instance_bytes * crowd.instance_count()) as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = |_| ReadBack {
            buffer: gpu.buffer(Purpose::Scratch, "read back", bytes, usage),
            frame: None,
            mapped: Arc::default(),
        };
        Ok(Self {
            stage,
            calls,
            outputs,
            ring: (0..RING).map(staging).collect(),
        })
    }

    /// Copies the latest frame that has arrived, and frees the buffers of all that have; `None` if none has.
    fn take(&mut self, data: &mut GameplayData) -> Result<Option<u32>> {
        let out: &mut [u8] = match self.stage {
            Stage::Bounds => bytemuck::cast_slice_mut(&mut data.bounds),
            _ => bytemuck::cast_slice_mut(&mut data.sockets),
        };
        let mut latest = None;
        for staging in &mut self.ring {
            if !staging.mapped.swap(false, Ordering::Acquire) {
                continue;
            }
            if latest < staging.frame {
                match staging
                    .buffer
                    .object
                    .get()
                    .slice(..out.len() as u64)
                    .get_mapped_range()
                {
                    Ok(mapped) => out.copy_from_slice(&mapped),
                    Err(error) => return Err(BackendError::Device(one_line(&error.to_string()))),
                }
                latest = staging.frame;
            }
            staging.buffer.object.get().unmap();
            staging.frame = None;
        }
        Ok(latest)
    }
}
