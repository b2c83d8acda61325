//! Bounds and sockets of a crowd that is posed on the device: computed there, and read back through a ring of buffers
//! without waiting for the device.

use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, Purpose, Result, Stage, StageTimer};
use crate::gameplay::{Bounds, Gameplay, GameplayData, ModelReads};
use crate::gpu::device::{BindGroup, Buffer, Command, Named, Recorder, one_line};
use crate::gpu::shader::{Kernel, WORKGROUP, layout, wgsl};
use crate::gpu::skin::skinning::{Kind, ONE_CHUNK};
use crate::gpu::{Chunk, Commands, Gpu, MeshForm, PaletteForm};
use crate::model::Rows;
use crate::reference::shown;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Buffers of the ring: two frames in flight, and one that is being read.
const RING: usize = 3;

/// Stages whose kernels compute a box per instance, and poses of joints.
pub const STAGES: [Stage; 2] = [Stage::Bounds, Stage::Sockets];

/// The complete shader of a stage's kernel, for palettes in a form.
pub fn shader(stage: Stage, form: PaletteForm) -> String {
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
fn part(stage: Stage, gpu: &Gpu, reads: &ModelReads, margin: f32) -> Buffer {
    if stage == Stage::Bounds {
        let boxes = reads.boxes.iter().map(|&own| layout::EntryBox {
            own,
            margin: reads.margin + margin,
        });
        return gpu.storage(Purpose::Scratch, "boxes", &boxes.collect::<Vec<_>>());
    }
    gpu.storage(Purpose::Scratch, "sockets", &reads.sockets)
}

/// Bounds and sockets of a crowd on the device.
pub struct DeviceGameplay {
    readbacks: Vec<Readback>,
    data: GameplayData,
    /// Bytes on the host.
    pub host_memory: Bytes,
    /// Frames submitted so far.
    frame: u32,
    /// Frames after which the host had what it reads, at most; `None` before anything has arrived.
    pub delay: Option<u32>,
}

/// A kernel with its outputs and the ring that they are copied to.
struct Readback {
    stage: Stage,
    chunks: Vec<ChunkRead>,
    ring: Vec<Staging>,
}

struct ChunkRead {
    kernel: Rc<Kernel>,
    group: BindGroup,
    workgroups: u32,
    output: Buffer,
    bytes: u64,
}

/// A mappable buffer.
struct Staging {
    buffer: Buffer,
    /// The frame that was copied here and not read yet.
    frame: Option<u32>,
    mapped: Arc<AtomicBool>,
}

impl DeviceGameplay {
    /// Creates kernels and buffers. `inputs` has what kernels read of each chunk, and `form` the form of the palettes
    /// there. `approximation` is the error of positions that the backend states, over the
    /// diagonal of a model's bounds; boxes contain the exact vertices all the same.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter binds too few buffers.
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        chunks: &[Chunk],
        (inputs, form): (&[Vec<Named>], PaletteForm),
        gameplay: &Gameplay,
        approximation: f64,
    ) -> Result<Self> {
        // With the bytes and threads of an instance.
        let wanted = [
            (
                Stage::Bounds,
                usize::from(gameplay.bounds) * size_of::<Bounds>(),
                WORKGROUP as usize,
            ),
            (
                Stage::Sockets,
                gameplay.sockets * size_of::<Rows>(),
                gameplay.sockets,
            ),
        ];
        let wanted = wanted.into_iter().filter(|(_, bytes, _)| *bytes > 0);
        let readback = |(stage, each, threads): (Stage, usize, usize)| {
            let of_kind = |kind: Kind| {
                Kernel::new(
                    gpu,
                    stage.name(),
                    shader(stage, form),
                    &kind.constants(),
                    true,
                )
            };
            let kinds = Kind::all(crowd, MeshForm::Plain, form, None).into_iter();
            let kernels: Vec<Rc<Kernel>> = kinds
                .map(|kind| of_kind(kind).map(Rc::new))
                .collect::<Result<_>>()?;
            let parts: Vec<_> = (crowd.groups().iter().zip(&gameplay.groups))
                .map(|(group, reads)| {
                    part(
                        stage,
                        gpu,
                        reads,
                        (approximation * shown(crowd, group).diagonal) as f32,
                    )
                })
                .collect();
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
            let of_chunk = |(chunk, inputs): (&Chunk, &Vec<Named>)| {
                let bytes = (each * chunk.instances.len()) as u64;
                let output = gpu.buffer(Purpose::Scratch, stage.name(), bytes, usage);
                let part = &parts[chunk.group];
                let own = [
                    ("entry_boxes", part.into()),
                    ("joint_sockets", part.into()),
                    ("found", (&output).into()),
                ];
                let kernel = &kernels[chunk.group];
                ChunkRead {
                    kernel: Rc::clone(kernel),
                    group: kernel.bind(gpu, 0, &[inputs, &own[..]].concat()),
                    workgroups: (threads * chunk.instances.len()).div_ceil(WORKGROUP as usize)
                        as u32,
                    output,
                    bytes,
                }
            };
            let chunks = chunks.iter().zip(inputs).map(of_chunk).collect();
            let bytes = (each * crowd.instance_count()) as u64;
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            let staging = |_| Staging {
                buffer: gpu.buffer(Purpose::Scratch, "read back", bytes, usage),
                frame: None,
                mapped: Arc::default(),
            };
            Ok(Readback {
                stage,
                chunks,
                ring: (0..RING).map(staging).collect(),
            })
        };
        let readbacks = wanted.map(readback).collect::<Result<_>>()?;
        let host_memory = Bytes::of(Purpose::Scratch, gameplay.bytes(crowd.instance_count()));
        Ok(Self {
            readbacks,
            data: GameplayData::new(crowd, gameplay),
            host_memory,
            frame: 0,
            delay: None,
        })
    }

    /// Begins a frame: takes what has arrived of earlier ones, without waiting.
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

    /// Records the kernels after a frame's palettes, and the copies.
    pub fn record(&mut self, gpu: &Gpu, commands: &mut Commands) {
        for Readback {
            stage,
            chunks,
            ring,
        } in &mut self.readbacks
        {
            let label = stage.name();
            commands.run(Command::Compute { label });
            for chunk in &*chunks {
                let workgroups = gpu.workgroups(chunk.workgroups);
                commands.dispatch(&chunk.kernel.pipeline, &chunk.group, workgroups);
            }
            commands.run(Command::End);
            let Some(staging) = ring.iter_mut().find(|staging| staging.frame.is_none()) else {
                continue;
            };
            commands.run(Command::Stage(label));
            let mut offset = 0;
            for chunk in &*chunks {
                commands.run(Command::Copy {
                    from: &chunk.output,
                    from_offset: 0,
                    to: &staging.buffer,
                    to_offset: offset,
                    bytes: chunk.bytes,
                });
                offset += chunk.bytes;
            }
            commands.run(Command::Map {
                buffer: &staging.buffer,
                mapped: &staging.mapped,
            });
            commands.run(Command::EndStage);
            staging.frame = Some(self.frame);
        }
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

impl Readback {
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
