//! Sends what differs after instances have been replaced, and writes it over what was there.

use crate::Gpu;
use crate::device::{BindGroup, Buffer, Command, Recorder, named};
use crate::kernel::{Constants, Kernel};
use crate::passes::tick::played;
use crate::passes::{Frame, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use skinbench_frame::{Bytes, Purpose, Result, Stage, StageTimer};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::model::Rows;
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

/// The pass: buffers with a record for each layer or instance of a crowd, brought from tick to tick.
pub struct Update {
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

impl Update {
    /// Updates of buffers, which [`Update::push`] adds.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(gpu: &Gpu, record: Record) -> Result<Self> {
        Ok(Self {
            record,
            kernel: Kernel::new(gpu, "update", shader(), &record.constants(), true)?,
            buffers: Vec::new(),
            tick: 0,
        })
    }

    /// Adds a buffer with the records of some instances at tick 0, after those of the instances before them.
    pub fn push(&mut self, gpu: &Gpu, instances: Range<u32>, records: &Buffer) {
        let purpose = match self.record {
            Record::Layer => Purpose::Scratch,
            Record::Placement => Purpose::Targets,
        };
        let words = records.size as usize / size_of::<u32>();
        let most = 1 + words / self.record.words() * (1 + self.record.words());
        let bytes = (most * size_of::<u32>()) as u64;
        let changes = gpu.scratch(purpose, "changes", bytes);
        let resources = [named("changes", &changes), named("records", records)];
        self.buffers.push(UpdatedBuffer {
            instances,
            staged: if gpu.only_counts() {
                Vec::new()
            } else {
                Vec::with_capacity(most)
            },
            group: self.kernel.bind(gpu, 0, &resources),
            changes,
        });
    }

    /// Records what brings the buffers to a tick.
    pub fn submit(
        &mut self,
        gpu: &Gpu,
        crowd: &Crowd,
        tick: u32,
        timer: &mut StageTimer,
        commands: &mut dyn Recorder,
    ) {
        timer.wall(Stage::Update, || self.stage(crowd, tick));
        let changed = || self.buffers.iter().filter(|buffer| buffer.staged[0] > 0);
        if changed().next().is_none() {
            return;
        }
        timer.wall(Stage::Update, || {
            for buffer in changed() {
                commands.upload(&buffer.changes, bytemuck::cast_slice(&buffer.staged));
            }
        });
        let label = Stage::Update.name();
        commands.run(Command::Compute { label });
        for buffer in changed() {
            let threads = buffer.staged[0] * self.record.words() as u32;
            let workgroups = gpu.workgroups(threads.div_ceil(WORKGROUP));
            let workgroups = Command::Dispatch { workgroups };
            commands.dispatch(&self.kernel.pipeline, &buffer.group, workgroups);
        }
        commands.run(Command::End);
    }

    /// Lists the changes since the last tick.
    fn stage(&mut self, crowd: &Crowd, tick: u32) {
        for buffer in &mut self.buffers {
            buffer.staged.clear();
            buffer.staged.push(0);
        }
        let before = std::mem::replace(&mut self.tick, tick);
        let Some(turnover) = crowd.turnover() else {
            return;
        };
        for instance in turnover.changed(before, tick) {
            let buffers = &mut self.buffers;
            let index = buffers.partition_point(|buffer| buffer.instances.end <= instance);
            let buffer = &mut buffers[index];
            let first = buffer.instances.start;
            match self.record {
                Record::Placement => {
                    let placement = crowd.placement_at(instance, tick);
                    buffer.push(instance - first, bytemuck::cast_slice(placement));
                }
                Record::Layer => {
                    let offsets = crowd.layers().offsets();
                    let place = offsets[instance as usize] - offsets[first as usize];
                    for (place, layer) in (place..).zip(&crowd.layers_at(instance, tick)) {
                        buffer.push(place, bytemuck::cast_slice(&[played(layer)]));
                    }
                }
            }
        }
    }
}

impl UpdatedBuffer {
    fn push(&mut self, place: u32, words: &[u32]) {
        self.staged[0] += 1;
        self.staged.push(place);
        self.staged.extend_from_slice(words);
    }
}

impl Pass for Update {
    fn record(&mut self, frame: &mut Frame) {
        let Frame { crowd, tick, .. } = *frame;
        self.submit(frame.gpu, crowd, tick, frame.timer, frame.commands);
    }

    fn host_memory(&self) -> Bytes {
        let bytes = self.buffers.iter().map(|buffer| buffer.changes.size);
        Bytes::of(Purpose::Scratch, bytes.sum())
    }
}
