//! Stage `update` on the device: what differs after instances have been replaced is sent, and a kernel writes it over
//! what was there.

use crate::crowd::Crowd;
use crate::frame::{Bytes, Purpose, Result, Stage, StageTimer};
use crate::gpu::device::objects::{BindGroup, Buffer};
use crate::gpu::device::{Command, Recorder};
use crate::gpu::shader::{Constants, Kernel, WORKGROUP, layout, wgsl};
use crate::gpu::{Commands, Gpu};
use crate::model::Rows;
use std::ops::Range;

/// Content of the records of updated buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A layer of an instance.
    Layer,
    /// An instance's place in the world.
    Placement,
}

impl Record {
    fn words(self) -> usize {
        let bytes = if self == Self::Layer {
            size_of::<layout::Layer>()
        } else {
            size_of::<Rows>()
        };
        bytes / size_of::<u32>()
    }

    /// Values of the kernel's overrides.
    pub fn constants(self) -> Constants {
        vec![("WORDS", self.words() as f64)]
    }
}

/// The complete shader of the kernel.
pub fn shader() -> String {
    wgsl::shader("update.wgsl", &[])
}

/// Buffers with a record for each layer or instance of a crowd, brought from tick to tick.
pub struct Updates {
    record: Record,
    kernel: Kernel,
    buffers: Vec<UpdatedBuffer>,
    /// Tick of the records.
    tick: u32,
}

/// A buffer with the records of neighbouring instances.
struct UpdatedBuffer {
    instances: Range<u32>,
    /// Room for a change of every record.
    changes: Buffer,
    /// The changes of a frame, as the kernel reads them.
    staged: Vec<u32>,
    group: BindGroup,
}

impl Updates {
    /// Updates of buffers, each with the records of some instances at tick 0, in rising order; `None` if no instance of
    /// the crowd is replaced.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new<'a>(
        gpu: &Gpu,
        crowd: &Crowd,
        record: Record,
        buffers: impl IntoIterator<Item = (Range<u32>, &'a Buffer)>,
    ) -> Result<Option<Self>> {
        if crowd.turnover().is_none() {
            return Ok(None);
        }
        let purpose = if record == Record::Layer {
            Purpose::Scratch
        } else {
            Purpose::Targets
        };
        let kernel = Kernel::new(gpu, "update", shader(), &record.constants(), true)?;
        let buffer = |(instances, records): (Range<u32>, &Buffer)| {
            let words = records.size as usize / size_of::<u32>();
            let most = 1 + words / record.words() * (1 + record.words());
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let changes = gpu.buffer(purpose, "changes", (most * size_of::<u32>()) as u64, usage);
            let group = kernel.bind(
                gpu,
                0,
                &[("changes", (&changes).into()), ("records", records.into())],
            );
            let staged = if gpu.only_counts() {
                Vec::new()
            } else {
                Vec::with_capacity(most)
            };
            UpdatedBuffer {
                instances,
                changes,
                staged,
                group,
            }
        };
        let buffers = buffers.into_iter().map(buffer).collect();
        Ok(Some(Self {
            record,
            kernel,
            buffers,
            tick: 0,
        }))
    }

    /// Bytes on the host.
    pub fn host_memory(&self) -> Bytes {
        Bytes::of(
            Purpose::Scratch,
            self.buffers.iter().map(|buffer| buffer.changes.size).sum(),
        )
    }

    /// Records what brings the buffers to a tick.
    pub fn submit(
        &mut self,
        gpu: &Gpu,
        crowd: &Crowd,
        tick: u32,
        timer: &mut StageTimer,
        commands: &mut Commands,
    ) {
        timer.wall(Stage::Update, || self.stage(crowd, tick));
        let Self {
            record,
            kernel,
            buffers,
            ..
        } = self;
        let changed = || buffers.iter().filter(|buffer| buffer.staged[0] > 0);
        if changed().next().is_none() {
            return;
        }
        timer.wall(Stage::Update, || {
            changed().for_each(|buffer| {
                commands.upload(&buffer.changes, bytemuck::cast_slice(&buffer.staged))
            });
        });
        let label = Stage::Update.name();
        commands.run(Command::Compute { label });
        for UpdatedBuffer { staged, group, .. } in changed() {
            let threads = staged[0] * record.words() as u32;
            let workgroups = gpu.workgroups(threads.div_ceil(WORKGROUP));
            commands.dispatch(&kernel.pipeline, group, workgroups);
        }
        commands.run(Command::End);
    }

    fn stage(&mut self, crowd: &Crowd, tick: u32) {
        let Self {
            record,
            buffers,
            tick: before,
            ..
        } = self;
        for UpdatedBuffer { staged, .. } in buffers.iter_mut() {
            staged.clear();
            staged.push(0);
        }
        let before = std::mem::replace(before, tick);
        for instance in crowd
            .turnover()
            .into_iter()
            .flat_map(|turnover| turnover.changed(before, tick))
        {
            let index = buffers.partition_point(|buffer| buffer.instances.end <= instance);
            let UpdatedBuffer {
                instances, staged, ..
            } = &mut buffers[index];
            let mut push = |place: u32, words: &[u32]| {
                staged[0] += 1;
                staged.push(place);
                staged.extend_from_slice(words);
            };
            let first = instances.start;
            match record {
                Record::Placement => push(
                    instance - first,
                    bytemuck::cast_slice(crowd.placement_at(instance, tick)),
                ),
                Record::Layer => {
                    let offsets = crowd.layers().offsets();
                    let place = offsets[instance as usize] - offsets[first as usize];
                    for (place, layer) in (place..).zip(&crowd.layers_at(instance, tick)) {
                        push(place, bytemuck::cast_slice(&[layout::Layer::from(layer)]));
                    }
                }
            }
        }
    }
}
