//! Sends what differs after instances have been replaced or have changed, and writes it over what was there.

use crate::Gpu;
use crate::device::{BindGroup, Buffer, Command, Recorder, named};
use crate::kernel::{Constants, Kernel};
use crate::passes::tick::played;
use crate::passes::{Frame, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use skinbench_frame::{Bytes, Purpose, Result, Stage, StageTimer};
use skinbench_kernels::crowd::{Crowd, JointOverride};
use skinbench_kernels::model::Rows;
use std::ops::Range;

/// Content of the records of updated buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A layer of an instance.
    Layer,
    /// An instance's place in the world.
    Placement,
    /// A channel of a joint's local pose.
    Channel,
}

impl Record {
    fn words(self) -> usize {
        let bytes = match self {
            Self::Layer => size_of::<layout::Layer>(),
            Self::Placement => size_of::<Rows>(),
            Self::Channel => size_of::<[f32; 4]>(),
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

/// The pass: buffers with records of a crowd, brought from tick to tick.
pub struct Update {
    record: Record,
    kernel: Kernel,
    buffers: Vec<UpdatedBuffer>,
    /// Tick of the records.
    tick: u32,
    /// Number of changes of a live crowd's layers by then.
    changes: u64,
}

/// A buffer with the records of neighbouring instances.
struct UpdatedBuffer {
    instances: Range<u32>,
    /// For each of them the index of the first channel, of all joints' rotations; empty if records are no channels.
    first_channels: Vec<u32>,
    /// Room for all changes of a frame.
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
            changes: 0,
        })
    }

    /// Adds a buffer with the records of some instances at tick 0, after those of the instances before them; or their local
    /// poses, of which a frame replaces those that a live crowd gives. `first_channels` has the index of the first one of each
    /// instance.
    pub fn push(
        &mut self,
        gpu: &Gpu,
        crowd: &Crowd,
        instances: Range<u32>,
        records: &Buffer,
        first_channels: Vec<u32>,
    ) {
        let all = records.size as usize / size_of::<u32>() / self.record.words();
        let (purpose, most) = match self.record {
            Record::Layer => (Purpose::Scratch, all),
            Record::Placement => (Purpose::Targets, all),
            Record::Channel => (Purpose::Scratch, 3 * crowd.most_joint_overrides()),
        };
        let most = 1 + most * (1 + self.record.words());
        let bytes = (most * size_of::<u32>()) as u64;
        let changes = gpu.scratch(purpose, "changes", bytes);
        let resources = [named("changes", &changes), named("records", records)];
        self.buffers.push(UpdatedBuffer {
            instances,
            first_channels,
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
        if crowd.is_live() {
            let since = std::mem::replace(&mut self.changes, crowd.layer_changes());
            for buffer in &mut self.buffers {
                match self.record {
                    Record::Layer => buffer.push_layers(crowd, since),
                    Record::Channel => buffer.push_channels(crowd),
                    Record::Placement => {}
                }
            }
            return;
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
                Record::Channel => {}
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

    /// Adds the layers of a live crowd that changed after so many changes.
    fn push_layers(&mut self, crowd: &Crowd, since: u64) {
        let layers = crowd.layers();
        let first = layers.offsets()[self.instances.start as usize];
        for instance in self.instances.clone() {
            for layer in crowd.changed_layers(instance, since) {
                let played = played(&layers.all()[layer]);
                self.push(layer as u32 - first, bytemuck::cast_slice(&[played]));
            }
        }
    }

    /// Adds the local poses that a live crowd gives.
    fn push_channels(&mut self, crowd: &Crowd) {
        for (place, instance) in self.instances.clone().enumerate() {
            let group = &crowd.groups()[crowd.group_of(instance)];
            let joints = group.model.skeleton().len() as u32;
            for JointOverride { joint, local, .. } in crowd.joint_overrides(instance) {
                let first = self.first_channels[place] + u32::from(joint);
                let channels = [
                    local.rotation.to_array(),
                    local.translation.extend(0.0).to_array(),
                    local.scale.extend(0.0).to_array(),
                ];
                for (channel, numbers) in (0..).zip(&channels) {
                    self.push(first + channel * joints, bytemuck::cast_slice(numbers));
                }
            }
        }
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
