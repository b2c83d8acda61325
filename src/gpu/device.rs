//! Adapter, device and queue, their limits, and how a frame's commands are finished.

use super::chunks::{Chunk, chunks};
use super::timestamps::{GpuSpan, Timestamps};
use crate::backend::{Arena, BackendError, Result, Stage, StageTimer};
use crate::crowd::Crowd;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::util::StagingBelt;

/// Instances that one thread of a compute kernel skins, holding the vertex in registers.
pub const INSTANCES_PER_THREAD: u32 = 8;
/// Threads of a compute workgroup, along the vertices.
pub const WORKGROUP: u32 = 64;
/// Piece in which uploads and read-backs go through staging memory.
const STAGING_BYTES: u64 = 16 << 20;

/// An adapter, for `list`, tables and CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterSummary {
    /// Position in [`Gpu::adapters`].
    pub index: usize,
    /// Marketing name.
    pub name: String,
    /// API: Vulkan, Metal, Dx12, Gl.
    pub api: String,
    /// Driver name and version.
    pub driver: String,
    /// Whether the adapter is emulated on the CPU.
    pub software: bool,
}

/// An open device.
pub struct Gpu {
    summary: AdapterSummary,
    device: wgpu::Device,
    queue: wgpu::Queue,
    belt: RefCell<StagingBelt>,
    timestamps: Option<RefCell<Timestamps>>,
    timestamps_in_encoder: bool,
    failure: Arc<Mutex<Option<String>>>,
}

/// A frame's commands before submission.
pub struct Commands {
    gpu: Rc<Gpu>,
    /// Where they are recorded.
    pub encoder: wgpu::CommandEncoder,
}

impl Commands {
    /// Submits and blocks until the device is done.
    ///
    /// # Errors
    /// The device was lost or refused a command.
    pub fn finish(mut self) -> Result<()> {
        if let Some(timestamps) = &self.gpu.timestamps {
            timestamps.borrow().resolve(&mut self.encoder);
        }
        let submission = self.submit_so_far();
        self.gpu.wait(submission)
    }

    /// Submits what is recorded and goes on recording the same frame.
    fn submit_so_far(&mut self) -> wgpu::SubmissionIndex {
        let next = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("next") });
        let mut belt = self.gpu.belt.borrow_mut();
        belt.finish();
        let submission = self.gpu.queue.submit([std::mem::replace(&mut self.encoder, next).finish()]);
        belt.recall();
        submission
    }
}

fn adapters() -> Vec<wgpu::Adapter> {
    let of = |backends| {
        let descriptor =
            wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
        pollster::block_on(wgpu::Instance::new(descriptor.with_env()).enumerate_adapters(backends))
    };
    // GL only where there is nothing else: on most machines it names the same adapters once more.
    let mut adapters = of(wgpu::Backends::PRIMARY);
    if adapters.is_empty() {
        adapters = of(wgpu::Backends::GL);
    }
    // Hardware before software; the sort is stable, so indices mean the same in every run.
    adapters.sort_by_key(|a| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

fn summary(index: usize, adapter: &wgpu::Adapter) -> AdapterSummary {
    let info = adapter.get_info();
    AdapterSummary {
        index,
        name: info.name,
        api: format!("{:?}", info.backend),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        software: info.device_type == wgpu::DeviceType::Cpu,
    }
}

impl Gpu {
    /// All adapters that this machine has, the one used by default first.
    pub fn adapters() -> Vec<AdapterSummary> {
        adapters().iter().enumerate().map(|(index, adapter)| summary(index, adapter)).collect()
    }

    /// Opens the adapter named (part of the name, any case) or numbered, or the first.
    ///
    /// # Errors
    /// No adapter at all, none of that name or number, or one that will not open.
    pub fn open(wanted: Option<&str>) -> Result<Rc<Self>> {
        let adapters = adapters();
        let summaries: Vec<_> = adapters.iter().enumerate().map(|(index, adapter)| summary(index, adapter)).collect();
        if adapters.is_empty() {
            return Err(BackendError::Unavailable("no adapter".into()));
        }
        let chosen = match wanted {
            None => Some(0),
            Some(wanted) => match wanted.parse::<usize>() {
                Ok(index) => (index < adapters.len()).then_some(index),
                Err(_) => summaries.iter().position(|s| s.name.to_lowercase().contains(&wanted.to_lowercase())),
            },
        };
        let Some(index) = chosen else {
            let known: Vec<_> = summaries.iter().map(|s| format!("{} {}", s.index, s.name)).collect();
            return Err(BackendError::Unavailable(format!(
                "no adapter {:?}; there are: {}",
                wanted.unwrap_or_default(),
                known.join(", ")
            )));
        };
        let adapter = &adapters[index];
        let timing = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let features = adapter.features() & timing;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("skinbench"),
            required_features: features,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|error| BackendError::Device(error.to_string()))?;
        let failure = Arc::new(Mutex::new(None));
        let first = |slot: &Arc<Mutex<Option<String>>>| {
            let slot = Arc::clone(slot);
            move |message: String| {
                slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
            }
        };
        let (on_error, on_loss) = (first(&failure), first(&failure));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| on_error(one_line(&error.to_string()))));
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                on_loss(format!("device lost: {}", one_line(&message)));
            }
        });
        Ok(Rc::new(Self {
            summary: summary(index, adapter),
            belt: RefCell::new(StagingBelt::new(device.clone(), STAGING_BYTES)),
            timestamps: features
                .contains(wgpu::Features::TIMESTAMP_QUERY)
                .then(|| RefCell::new(Timestamps::new(&device, &queue))),
            timestamps_in_encoder: features.contains(timing),
            device,
            queue,
            failure,
        }))
    }

    /// Which adapter this is.
    pub fn summary(&self) -> &AdapterSummary {
        &self.summary
    }
    /// The wgpu device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }
    /// The wgpu queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The first error that the device reported, if any: it stays.
    ///
    /// # Errors
    /// That error.
    pub fn check(&self) -> Result<()> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(message) => Err(BackendError::Device(message.clone())),
            None => Ok(()),
        }
    }

    /// Starts recording a frame.
    pub fn commands(self: &Rc<Self>, label: &str) -> Commands {
        let encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });
        Commands { gpu: Rc::clone(self), encoder }
    }

    /// A buffer; `size` is rounded up to what copies and bindings need.
    pub fn buffer(&self, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = size.max(16).next_multiple_of(16);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Records a copy from host to device through recycled staging memory.
    pub fn upload(&self, commands: &mut Commands, target: &wgpu::Buffer, data: &[u8]) {
        let mut belt = self.belt.borrow_mut();
        for (piece, offset) in data.chunks(STAGING_BYTES as usize).zip((0..).step_by(STAGING_BYTES as usize)) {
            if let Some(size) = wgpu::BufferSize::new(piece.len() as u64) {
                belt.write_buffer(&mut commands.encoder, target, offset, size).copy_from_slice(piece);
            }
        }
    }

    /// Cuts a crowd into chunks that this adapter can bind and dispatch.
    pub fn chunks(&self, crowd: &Crowd) -> Result<Vec<Chunk>> {
        let limits = self.device.limits();
        let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let groups = u64::from(limits.max_compute_workgroups_per_dimension);
        if let Some(group) =
            crowd.groups().iter().find(|g| g.model.mesh().vertex_count() as u64 > groups * u64::from(WORKGROUP))
        {
            return Err(BackendError::TooLarge(format!(
                "{:?} has {} vertices; the adapter dispatches at most {}",
                group.model.name(),
                group.model.mesh().vertex_count(),
                groups * u64::from(WORKGROUP)
            )));
        }
        chunks(crowd, bytes, groups * u64::from(INSTANCES_PER_THREAD))
    }

    /// Makes the arena's device side, one buffer a chunk.
    pub fn allocate_arena(&self, crowd: &Crowd, arena: &mut Arena) -> Result<()> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        arena.device =
            self.chunks(crowd)?.iter().map(|c| self.buffer("vertices", c.output_bytes(crowd), usage)).collect();
        self.check()
    }

    /// Fills the arena's device side with NaN.
    pub fn poison_arena(self: &Rc<Self>, arena: &Arena) -> Result<()> {
        let mut commands = self.commands("poison");
        let largest = arena.device.iter().map(wgpu::Buffer::size).max().unwrap_or(0).min(STAGING_BYTES);
        let nan = self.buffer("NaN", largest, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST);
        self.upload(&mut commands, &nan, bytemuck::cast_slice(&vec![f32::NAN; (nan.size() / 4) as usize]));
        for buffer in &arena.device {
            for offset in (0..buffer.size()).step_by(nan.size() as usize) {
                let size = nan.size().min(buffer.size() - offset);
                commands.encoder.copy_buffer_to_buffer(&nan, 0, buffer, offset, size);
            }
        }
        commands.finish()
    }

    /// First and last instances of every chunk: what a sampled verification must cover.
    pub fn chunk_ends(&self, crowd: &Crowd) -> Result<Vec<u32>> {
        Ok(self.chunks(crowd)?.into_iter().flat_map(|c| [c.instances.start, c.instances.end - 1]).collect())
    }

    /// Appends floats of a buffer, from `first`: untimed.
    pub fn read_back(
        self: &Rc<Self>,
        buffer: &wgpu::Buffer,
        first: u64,
        count: usize,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let staging = self.buffer(
            "read back",
            (count as u64 * 4).min(STAGING_BYTES),
            wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        );
        let start = out.len();
        out.resize(start + count, 0.0);
        let mut offset = first * 4;
        for piece in out[start..].chunks_mut((staging.size() / 4) as usize) {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(piece);
            let mut commands = self.commands("read back");
            commands.encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes.len() as u64);
            commands.finish()?;
            self.read_mapped(&staging, bytes)?;
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads a mappable buffer's first bytes.
    pub(super) fn read_mapped(&self, buffer: &wgpu::Buffer, out: &mut [u8]) -> Result<()> {
        let slice = buffer.slice(..out.len() as u64);
        slice.map_async(wgpu::MapMode::Read, |_| {});
        self.poll(wgpu::PollType::wait_indefinitely())?;
        match slice.get_mapped_range() {
            Ok(mapped) => out.copy_from_slice(&mapped),
            Err(error) => return Err(BackendError::Device(one_line(&error.to_string()))),
        }
        buffer.unmap();
        Ok(())
    }

    /// Queries for a stage, if the adapter has them.
    pub(super) fn span(&self, stage: Stage) -> Option<GpuSpan> {
        self.timestamps.as_ref().and_then(|t| t.borrow_mut().span(stage))
    }

    /// Runs `record` in a compute pass timed as `stage`.
    pub fn compute_pass(&self, commands: &mut Commands, stage: Stage, record: impl FnOnce(&mut wgpu::ComputePass)) {
        if self.summary.software && self.timestamps_in_encoder {
            return self.timed(commands, stage, |commands| {
                let descriptor = wgpu::ComputePassDescriptor { label: Some(stage.name()), timestamp_writes: None };
                record(&mut commands.encoder.begin_compute_pass(&descriptor));
            });
        }
        let span = self.span(stage);
        let timestamps = self.timestamps.as_ref().map(|t| t.borrow());
        let mut pass = commands.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(stage.name()),
            timestamp_writes: timestamps.as_ref().zip(span).map(|(t, span)| wgpu::ComputePassTimestampWrites {
                query_set: t.set(),
                beginning_of_pass_write_index: Some(span.begin()),
                end_of_pass_write_index: Some(span.end()),
            }),
        });
        record(&mut pass);
    }

    /// Runs `record` in a render pass; `begin` and `end` say which ends of `span` this pass marks.
    pub(super) fn render_pass(
        &self,
        commands: &mut Commands,
        descriptor: wgpu::RenderPassDescriptor,
        (begin, end): (Option<GpuSpan>, Option<GpuSpan>),
        record: impl FnOnce(&mut wgpu::RenderPass),
    ) {
        let timestamps = self.timestamps.as_ref().map(|t| t.borrow());
        let marked = begin.is_some() || end.is_some();
        let mut pass = commands.encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            timestamp_writes: timestamps.as_ref().filter(|_| marked).map(|t| wgpu::RenderPassTimestampWrites {
                query_set: t.set(),
                beginning_of_pass_write_index: begin.map(GpuSpan::begin),
                end_of_pass_write_index: end.map(GpuSpan::end),
            }),
            ..descriptor
        });
        record(&mut pass);
    }

    /// Records commands other than passes timed as `stage`, where the adapter can time them.
    ///
    /// A software adapter gets a submission for each mark: llvmpipe runs dispatches and copies at once but takes
    /// timestamps when it next flushes, so that in one submission 130 ms of skinning read as 0.1 ms.
    pub fn timed(&self, commands: &mut Commands, stage: Stage, record: impl FnOnce(&mut Commands)) {
        let span = if self.timestamps_in_encoder { self.span(stage) } else { None };
        let mark = |commands: &mut Commands, index: u32| {
            if self.summary.software {
                commands.submit_so_far();
            }
            if let Some(timestamps) = &self.timestamps {
                commands.encoder.write_timestamp(timestamps.borrow().set(), index);
            }
            if self.summary.software {
                commands.submit_so_far();
            }
        };
        if let Some(span) = span {
            mark(commands, span.begin());
        }
        record(commands);
        if let Some(span) = span {
            mark(commands, span.end());
        }
    }

    /// Moves the finished frame's GPU spans into the timer: untimed, after `Backend::wait`.
    pub fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        match &self.timestamps {
            Some(timestamps) => timestamps.borrow_mut().collect(self, timer),
            None => Ok(()),
        }
    }

    fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        self.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: None })
    }

    fn poll(&self, how: wgpu::PollType) -> Result<()> {
        let polled = self.device.poll(how);
        self.check()?;
        polled.map(|_| ()).map_err(|error| BackendError::Device(error.to_string()))
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
