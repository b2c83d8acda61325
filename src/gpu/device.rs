//! Adapter, device and queue: enumeration, features and errors.

use super::layout;
use super::timestamps::{CAPACITY, Timestamps};
use crate::frame::{BackendError, Bytes, DeviceClock, FrameWork, Result, Span};
use arrayvec::ArrayVec;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wgpu::util::StagingBelt;

/// Limit on the bytes of a binding if the adapter allows more: keeps indices within 32 bits, and a ring within memory.
const BINDING_LIMIT: u64 = 1 << 30;
/// Size of the pieces in which uploads and read-backs go through staging memory.
pub(super) const STAGING_BYTES: u64 = 16 << 20;

/// Longest wait for hardware, and for a software adapter, which is slow but does not hang.
const PATIENCE: Duration = Duration::from_secs(60);
const SOFTWARE_PATIENCE: Duration = Duration::from_secs(3_600);

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
    /// `true` if the adapter is emulated on the CPU.
    pub software: bool,
}

/// Bandwidths of a device, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceBandwidth {
    /// Bytes per second that a compute shader writes.
    pub write: u64,
    /// Bytes per second copied from one buffer to another; each byte is read once and written once.
    pub copy: u64,
    /// Bytes per second copied from staging memory, which the host can map.
    pub upload: u64,
}

/// Format of the textures through which vertices of a vertex shader are read back.
pub(super) const CAPTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;

/// An open device.
pub struct Gpu {
    pub(super) summary: AdapterSummary,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) belt: RefCell<StagingBelt>,
    pub(super) timestamps: Option<RefCell<Timestamps>>,
    pub(super) timestamps_in_encoder: bool,
    pub(super) timing: Cell<bool>,
    /// Clock of the stages.
    pub(super) clock: Cell<DeviceClock>,
    /// The frame's stages that were timed by fences.
    pub(super) fences: RefCell<ArrayVec<Span, { CAPACITY as usize }>>,
    /// Longest wait for the device.
    patience: Cell<Duration>,
    /// Name of the backend that the device works for, for messages.
    user: Cell<&'static str>,
    pub(super) binding_limit: Cell<u64>,
    /// Bytes of all buffers and textures created so far.
    pub(super) created: Cell<Bytes>,
    /// Work of the frame that is being recorded.
    pub(super) work: Cell<FrameWork>,
    pipeline_cache: Option<wgpu::PipelineCache>,
    /// The shaders read so far, by their WGSL and whether it is trusted.
    pub(super) modules: RefCell<HashMap<(String, bool), wgpu::ShaderModule>>,
    downlevel: wgpu::DownlevelFlags,
    captures: bool,
    /// `true` if it takes several draws, of instances that begin anywhere, as one command.
    pub(super) multi_draws: Cell<bool>,
    /// Most workgroups of a dispatch in one dimension.
    pub(super) workgroup_limit: Cell<u32>,
    pub(super) bandwidth: OnceCell<DeviceBandwidth>,
    /// `true` if commands are executed, so that their time means something.
    pub(super) executes: bool,
    failure: Arc<Mutex<Failure>>,
}

/// Failure of the device.
#[derive(Default)]
struct Failure {
    /// A command that the device rejected and that has not been reported yet.
    refused: Option<String>,
    /// Reason why the device is lost.
    lost: Option<String>,
}

fn adapters() -> Vec<wgpu::Adapter> {
    let of = |backends| {
        let mut descriptor =
            wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
        // Our own kernels compute workgroup counts; validation would add a dispatch before each.
        descriptor.flags.remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
        pollster::block_on(wgpu::Instance::new(descriptor.with_env()).enumerate_adapters(backends))
    };
    // GL only if there is nothing else: on most machines it lists the same adapters again.
    let mut adapters = of(wgpu::Backends::PRIMARY);
    if adapters.is_empty() {
        adapters = of(wgpu::Backends::GL);
    }
    // Hardware before software; the sort is stable, so indices are the same in every run.
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
    /// All adapters of this machine, with the default one first.
    pub fn adapters() -> Vec<AdapterSummary> {
        adapters().iter().enumerate().map(|(index, adapter)| summary(index, adapter)).collect()
    }

    /// Opens the adapter with this name (part of the name, any case) or number, or the first.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if there is no adapter, or none with that name or number; or
    /// [`BackendError::Device`] if it does not open.
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
        // With draws counted on the device come several draws in one command; wgpu would otherwise issue them one by
        // one.
        let multi_draws = wgpu::Features::MULTI_DRAW_INDIRECT_COUNT | wgpu::Features::INDIRECT_FIRST_INSTANCE;
        let optional = wgpu::Features::PIPELINE_CACHE | wgpu::Features::SUBGROUP | multi_draws;
        let features = adapter.features() & (timing | optional);
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
        let summary = summary(index, adapter);
        Ok(Rc::new(Self {
            patience: Cell::new(if summary.software { SOFTWARE_PATIENCE } else { PATIENCE }),
            summary,
            belt: RefCell::new(StagingBelt::new(device.clone(), STAGING_BYTES)),
            timestamps: features
                .contains(wgpu::Features::TIMESTAMP_QUERY)
                .then(|| RefCell::new(Timestamps::new(&device, &queue))),
            timestamps_in_encoder: features.contains(timing),
            timing: Cell::new(true),
            clock: Cell::default(),
            fences: RefCell::default(),
            user: Cell::default(),
            binding_limit: Cell::new(BINDING_LIMIT),
            created: Cell::default(),
            work: Cell::default(),
            bandwidth: OnceCell::new(),
            executes: true,
            multi_draws: Cell::new(
                features.contains(multi_draws)
                    && adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::INDIRECT_EXECUTION),
            ),
            workgroup_limit: Cell::new(device.limits().max_compute_workgroups_per_dimension),
            captures: adapter
                .get_texture_format_features(CAPTURE_FORMAT)
                .allowed_usages
                .contains(wgpu::TextureUsages::RENDER_ATTACHMENT),
            downlevel: adapter.get_downlevel_capabilities().flags,
            pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE).then(|| pipeline_cache(&device)),
            modules: RefCell::default(),
            device,
            queue,
            failure,
        }))
    }

    /// A device that records commands instead of executing them. It counts as hardware with all that WebGPU guarantees;
    /// of several kernels, backends take the first instead of trying which one is fastest.
    pub fn recording(device: wgpu::Device, queue: wgpu::Queue) -> Rc<Self> {
        let name = "WebGPU".to_owned();
        Rc::new(Self {
            summary: AdapterSummary { index: 0, api: name.clone(), name, driver: String::new(), software: false },
            belt: RefCell::new(StagingBelt::new(device.clone(), STAGING_BYTES)),
            timestamps: None,
            timestamps_in_encoder: false,
            timing: Cell::new(false),
            clock: Cell::default(),
            fences: RefCell::default(),
            patience: Cell::new(PATIENCE),
            user: Cell::default(),
            binding_limit: Cell::new(BINDING_LIMIT),
            created: Cell::default(),
            work: Cell::default(),
            bandwidth: OnceCell::new(),
            executes: false,
            captures: true,
            // WebGPU has no such command.
            multi_draws: Cell::new(false),
            workgroup_limit: Cell::new(device.limits().max_compute_workgroups_per_dimension),
            downlevel: wgpu::DownlevelFlags::all(),
            pipeline_cache: None,
            modules: RefCell::default(),
            device,
            queue,
            failure: Arc::default(),
        })
    }

    /// Description of the adapter.
    pub fn summary(&self) -> &AdapterSummary {
        &self.summary
    }
    /// The wgpu device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }
    /// Pipeline cache that avoids compiling a pipeline twice in a process, if the adapter supports it.
    pub fn pipeline_cache(&self) -> Option<&wgpu::PipelineCache> {
        self.pipeline_cache.as_ref()
    }
    /// The wgpu queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Checks that the adapter supports a stage that reads and writes this many storage buffers.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if a feature is missing: old GL drivers have no compute shaders, or few storage
    /// buffers.
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

    /// Checks that shaders may convert 16-bit floats.
    ///
    /// # Errors
    /// The adapter cannot convert them.
    pub(super) fn has_half_floats(&self) -> Result<()> {
        match self.downlevel.contains(wgpu::DownlevelFlags::SHADER_F16_IN_F32) {
            true => Ok(()),
            false => Err(BackendError::Unavailable("the adapter converts no 16-bit floats in shaders".into())),
        }
    }

    /// Checks that the threads of a subgroup may exchange values.
    ///
    /// # Errors
    /// The adapter has no such operations.
    pub(super) fn has_subgroups(&self) -> Result<()> {
        match self.device.features().contains(wgpu::Features::SUBGROUP) {
            true => Ok(()),
            false => Err(BackendError::Unavailable("the adapter has no subgroup operations".into())),
        }
    }

    /// Checks that kernels may compute the workgroup and instance counts of others.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter lacks this feature, like old GL drivers and Apple's first GPUs.
    pub fn has_indirect(&self) -> Result<()> {
        match self.downlevel.contains(wgpu::DownlevelFlags::INDIRECT_EXECUTION) {
            true => Ok(()),
            false => Err(BackendError::Unavailable("the adapter has no indirect dispatches and draws".into())),
        }
    }

    /// Workgroups in x and in another dimension, if x alone cannot hold as many; the last ones have nothing to do.
    pub(super) fn folded(&self, groups: u32) -> (u32, u32) {
        let rows = groups.div_ceil(self.workgroup_limit.get()).max(1);
        (groups.div_ceil(rows), rows)
    }

    /// Dispatches for this many instances and slots, or indirectly with the workgroup counts that the device computed.
    pub(super) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass,
        counted: Option<(&wgpu::Buffer, usize)>,
        dispatch: &layout::Dispatch,
        instances: u32,
        slots: u32,
    ) {
        self.add_dispatch();
        if let Some((workgroups, index)) = counted {
            return pass.dispatch_workgroups_indirect(workgroups, (index * size_of::<[u32; 3]>()) as u64);
        }
        let &layout::Dispatch { slots: of_slots, at_once, threads, workgroup, x, z } = dispatch;
        let parts = if of_slots == 1 { slots } else { instances }.div_ceil(at_once);
        let all = u64::from(parts) * u64::from(threads);
        let groups = all.div_ceil(workgroup.into()) as u32;
        let (x, y) = if x == 0 { self.folded(groups) } else { (x, groups) };
        pass.dispatch_workgroups(x, y, z);
    }

    /// Checks for the first error that the device reported since the last call. A lost device stays lost.
    ///
    /// # Errors
    /// [`BackendError::Device`] with the first error that the device reported.
    pub fn check(&self) -> Result<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = failure.refused.take();
        match failure.lost.clone().or(refused) {
            Some(message) => Err(BackendError::Device(message)),
            None => Ok(()),
        }
    }

    /// Reports an error at the next check, unless an earlier one waits there.
    pub(super) fn refuse(&self, message: String) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.refused.get_or_insert(message);
    }

    /// The reason why the device is lost for good; none if it is not.
    pub fn lost(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).lost.clone()
    }

    /// Returns whether depth images can be read back, which old GL does not support.
    pub fn reads_depth(&self) -> bool {
        self.downlevel.contains(wgpu::DownlevelFlags::DEPTH_TEXTURE_AND_BUFFER_COPIES)
    }

    /// Checks that vertices of vertex shaders can be read back, by drawing them to float textures.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter cannot draw to such textures.
    pub fn has_captures(&self) -> Result<()> {
        if self.captures {
            return Ok(());
        }
        let message = "the adapter cannot draw to float textures, by which vertex shaders are verified";
        Err(BackendError::Unavailable(message.into()))
    }

    /// Names the backend that the device works for from now on, for messages.
    pub fn work_for(&self, backend: &'static str) {
        self.user.set(backend);
    }

    /// Limits how long to wait for the device, in place of a minute for hardware and an hour for a software adapter.
    pub fn set_patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// Lets the device report what it has finished, without waiting.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub(super) fn poll(&self) -> Result<()> {
        let polled = self.device.poll(wgpu::PollType::Poll);
        self.check()?;
        polled.map(|_| ()).map_err(|error| BackendError::Device(error.to_string()))
    }

    /// Waits for a submission, or for all; `what` names its work in messages. A device that does not finish in time is
    /// lost from then on.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost, refused a command, or did not finish in time.
    pub(super) fn wait(&self, submission_index: Option<wgpu::SubmissionIndex>, what: &str) -> Result<()> {
        let patience = self.patience.get();
        let polled = self.device.poll(wgpu::PollType::Wait { submission_index, timeout: Some(patience) });
        if let Err(wgpu::PollError::Timeout) = polled {
            let user = Some(self.user.get()).filter(|user| !user.is_empty()).map(|user| format!("{user}: "));
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.lost.get_or_insert_with(|| {
                format!(
                    "{}{} did not finish {what} within {} s, and is given up",
                    user.unwrap_or_default(),
                    self.summary.name,
                    patience.as_secs_f64()
                )
            });
            // Dropped queues wait for the device: one reference stays forever, so that the process can end.
            std::mem::forget(self.queue.clone());
        }
        self.check()?;
        polled.map(|_| ()).map_err(|error| BackendError::Device(error.to_string()))
    }
}

fn pipeline_cache(device: &wgpu::Device) -> wgpu::PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor { label: Some("skinbench"), data: None, fallback: true };
    // SAFETY: the cache starts empty; only data from elsewhere could be invalid.
    unsafe { device.create_pipeline_cache(&descriptor) }
}

pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
