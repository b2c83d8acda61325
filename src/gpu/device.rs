//! Adapter, device and queue, their limits, and how a frame's commands are finished.

use super::bandwidth::Bandwidth;
use super::chunks::{Chunk, chunks};
use super::timestamps::{GpuSpan, Timestamps};
use crate::backend::{Arena, BackendError, Keep, Result, Stage, StageTimer};
use crate::crowd::Crowd;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::util::StagingBelt;

/// Most bytes of a binding where the adapter allows more: indices stay within 32 bits, and a ring within memory.
const BINDING_LIMIT: u64 = 1 << 30;
/// Buffers of a ring.
const RING: usize = 3;
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
    timing: Cell<bool>,
    binding_limit: Cell<u64>,
    pipeline_cache: Option<wgpu::PipelineCache>,
    downlevel: wgpu::DownlevelFlags,
    captures: bool,
    pub(super) bandwidth: OnceCell<Bandwidth>,
    failure: Arc<Mutex<Failure>>,
}

/// What went wrong on the device.
#[derive(Default)]
struct Failure {
    /// A command that it refused, until somebody is told.
    refused: Option<String>,
    /// Why it is gone for good.
    lost: Option<String>,
}

/// A frame's commands before submission.
pub struct Commands {
    gpu: Rc<Gpu>,
    /// Where they are recorded.
    pub encoder: wgpu::CommandEncoder,
}

/// Commands that the device works on.
pub struct Flight {
    gpu: Rc<Gpu>,
    submission: wgpu::SubmissionIndex,
}

impl Flight {
    /// Blocks until the device is done.
    ///
    /// # Errors
    /// The device was lost or refused a command.
    pub fn land(self) -> Result<()> {
        self.gpu.poll(wgpu::PollType::Wait { submission_index: Some(self.submission), timeout: None })
    }
}

impl Commands {
    /// Submits without waiting.
    pub fn launch(mut self) -> Flight {
        let gpu = Rc::clone(&self.gpu);
        gpu.mark_end(&mut self);
        if let Some(timestamps) = &gpu.timestamps {
            timestamps.borrow().resolve(&mut self.encoder);
        }
        let submission = self.submit_so_far();
        Flight { gpu, submission }
    }

    /// Submits and blocks until the device is done.
    ///
    /// # Errors
    /// The device was lost or refused a command.
    pub fn finish(self) -> Result<()> {
        self.launch().land()
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
        let features = adapter.features() & (timing | wgpu::Features::PIPELINE_CACHE);
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("skinbench"),
            required_features: features,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|error| BackendError::Device(error.to_string()))?;
        let failure = Arc::new(Mutex::new(Failure::default()));
        let (refusals, losses) = (Arc::clone(&failure), Arc::clone(&failure));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut failure = refusals.lock().unwrap_or_else(PoisonError::into_inner);
            failure.refused.get_or_insert_with(|| one_line(&error.to_string()));
        }));
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                let mut failure = losses.lock().unwrap_or_else(PoisonError::into_inner);
                failure.lost.get_or_insert_with(|| format!("device lost: {}", one_line(&message)));
            }
        });
        Ok(Rc::new(Self {
            summary: summary(index, adapter),
            belt: RefCell::new(StagingBelt::new(device.clone(), STAGING_BYTES)),
            timestamps: features
                .contains(wgpu::Features::TIMESTAMP_QUERY)
                .then(|| RefCell::new(Timestamps::new(&device, &queue))),
            timestamps_in_encoder: features.contains(timing),
            timing: Cell::new(true),
            binding_limit: Cell::new(BINDING_LIMIT),
            bandwidth: OnceCell::new(),
            captures: adapter
                .get_texture_format_features(super::Capture::FORMAT)
                .allowed_usages
                .contains(wgpu::TextureUsages::RENDER_ATTACHMENT),
            downlevel: adapter.get_downlevel_capabilities().flags,
            pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE).then(|| pipeline_cache(&device)),
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
    /// Spares drivers to compile a pipeline twice in a process, where the adapter has one.
    pub fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        self.pipeline_cache.as_ref()
    }
    /// The wgpu queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Says what the adapter lacks of a stage that reads and writes so many storage buffers; nothing if it lacks nothing.
    ///
    /// # Errors
    /// What it lacks: old GL drivers have no compute shaders, or few storage buffers.
    pub fn has(&self, stage: wgpu::ShaderStages, storage_buffers: u32) -> Result<()> {
        let (name, flag) = match stage {
            wgpu::ShaderStages::COMPUTE => ("compute shaders", wgpu::DownlevelFlags::COMPUTE_SHADERS),
            _ => ("storage buffers in vertex shaders", wgpu::DownlevelFlags::VERTEX_STORAGE),
        };
        let most = self.device.limits().max_storage_buffers_per_shader_stage;
        if !self.downlevel.contains(flag) {
            return Err(BackendError::Unavailable(format!("the adapter has no {name}")));
        }
        if most < storage_buffers {
            let message = format!("the adapter binds {most} storage buffers to a shader; needs {storage_buffers}");
            return Err(BackendError::Unavailable(message));
        }
        Ok(())
    }

    /// The first error that the device reported since the last time, if any. A device that is lost stays lost.
    ///
    /// # Errors
    /// That error.
    pub fn check(&self) -> Result<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = failure.refused.take();
        match failure.lost.clone().or(refused) {
            Some(message) => Err(BackendError::Device(message)),
            None => Ok(()),
        }
    }

    /// Whether depth images can be read back: old GL cannot.
    pub fn reads_depth(&self) -> bool {
        self.downlevel.contains(wgpu::DownlevelFlags::DEPTH_TEXTURE_AND_BUFFER_COPIES)
    }

    /// Whether what vertex shaders skin can be read back: by drawing it to float textures.
    ///
    /// # Errors
    /// The adapter cannot draw to them.
    pub fn has_captures(&self) -> Result<()> {
        if self.captures {
            return Ok(());
        }
        let message = "the adapter cannot draw to float textures, by which vertex shaders are verified";
        Err(BackendError::Unavailable(message.into()))
    }

    /// Starts recording a frame whose stages are timed: the outer pair of timestamps begins.
    pub fn frame(self: &Rc<Self>, label: &str) -> Commands {
        let mut commands = self.commands(label);
        if self.timestamps_in_encoder
            && self.timing.get()
            && let Some(timestamps) = &self.timestamps
        {
            let index = timestamps.borrow_mut().begin_outer();
            self.mark(&mut commands, index);
        }
        commands
    }

    /// Ends the outer pair of timestamps, if it began.
    fn mark_end(&self, commands: &mut Commands) {
        let end = self.timestamps.as_ref().and_then(|t| t.borrow_mut().end_outer());
        if let Some(index) = end {
            self.mark(commands, index);
        }
    }

    /// Switches timestamps on or off: a query serves one frame at a time.
    pub fn set_timing(&self, on: bool) {
        self.timing.set(on);
    }

    /// Starts recording.
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

    /// Makes bindings as small as on another adapter.
    pub fn limit_bindings(&self, bytes: u64) {
        self.binding_limit.set(bytes);
    }

    /// Cuts a crowd into chunks that this adapter can bind and dispatch.
    pub fn chunks(&self, crowd: &Crowd) -> Result<Vec<Chunk>> {
        let limits = self.device.limits();
        let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(self.binding_limit.get());
        chunks(crowd, bytes, limits.max_compute_workgroups_per_dimension.into())
    }

    /// Sizes of the arena's device side: a buffer a chunk, or those that take turns.
    fn arena_sizes(&self, crowd: &Crowd, keep: Keep) -> Result<Vec<u64>> {
        let mut sizes: Vec<u64> = self.chunks(crowd)?.iter().map(|c| c.output_bytes(crowd)).collect();
        if keep == Keep::Ring && sizes.len() > RING {
            let largest = sizes.iter().copied().max().unwrap_or(0);
            sizes = vec![largest; RING];
        }
        Ok(sizes)
    }

    /// Bytes of the arena's device side.
    pub fn arena_bytes(&self, crowd: &Crowd, keep: Keep) -> Result<u64> {
        let frames = if keep == Keep::TwoFrames { 2 } else { 1 };
        Ok(frames * self.arena_sizes(crowd, keep)?.into_iter().sum::<u64>())
    }

    /// Makes the arena's device side, one buffer a chunk, or a few that chunks write to in turn.
    pub fn allocate_arena(&self, crowd: &Crowd, keep: Keep, arena: &mut Arena) -> Result<()> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let sizes = self.arena_sizes(crowd, keep)?;
        let buffers = || sizes.iter().map(|&size| self.buffer("vertices", size, usage)).collect();
        arena.device = buffers();
        arena.previous = if keep == Keep::TwoFrames { buffers() } else { Vec::new() };
        self.check()
    }

    /// Fills the arena's device side with NaN.
    pub fn poison_arena(self: &Rc<Self>, arena: &Arena) -> Result<()> {
        self.poison(&arena.device)
    }

    /// Fills buffers with NaN.
    pub fn poison(self: &Rc<Self>, buffers: &[wgpu::Buffer]) -> Result<()> {
        let mut commands = self.commands("poison");
        let largest = buffers.iter().map(wgpu::Buffer::size).max().unwrap_or(0).min(STAGING_BYTES);
        let nan = self.buffer("NaN", largest, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST);
        self.upload(&mut commands, &nan, bytemuck::cast_slice(&vec![f32::NAN; (nan.size() / 4) as usize]));
        for buffer in buffers {
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
        if !self.timing.get() {
            return None;
        }
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
        if let Some(span) = span {
            self.mark(commands, span.begin());
        }
        record(commands);
        if let Some(span) = span {
            self.mark(commands, span.end());
        }
    }

    fn mark(&self, commands: &mut Commands, index: u32) {
        if self.summary.software {
            commands.submit_so_far();
        }
        if let Some(timestamps) = &self.timestamps {
            commands.encoder.write_timestamp(timestamps.borrow().set(), index);
        }
        if self.summary.software {
            commands.submit_so_far();
        }
    }

    /// Moves the finished frame's GPU spans into the timer: untimed, after `Backend::wait`.
    pub fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        match &self.timestamps {
            Some(timestamps) => timestamps.borrow_mut().collect(self, timer),
            None => Ok(()),
        }
    }

    fn poll(&self, how: wgpu::PollType) -> Result<()> {
        let polled = self.device.poll(how);
        self.check()?;
        polled.map(|_| ()).map_err(|error| BackendError::Device(error.to_string()))
    }
}

fn pipeline_cache(device: &wgpu::Device) -> wgpu::PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor { label: Some("skinbench"), data: None, fallback: true };
    // SAFETY: the cache starts empty; only data from elsewhere could be wrong.
    unsafe { device.create_pipeline_cache(&descriptor) }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
