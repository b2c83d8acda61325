//! The open device: a place where objects and commands go, and what is known of its adapter.

use crate::device::arithmetic::Arithmetic;
use crate::device::staging::STAGING_BYTES;
use crate::device::timestamps::{CAPACITY, QueriedStages, Queries};
use crate::device::{Adapter, ComputePipeline, Entry, Failures, ShaderModule, Tape, needs};
use arrayvec::ArrayVec;
use skinbench_frame::{
    Api, BackendError, Bytes, ClockMeter, DeviceBandwidth, DeviceClock, FrameWork, Purpose, Result,
    StageTime, UploadBandwidth,
};
use skinbench_kernels::threads::lock;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use wgpu::util::StagingBelt;

/// Longest wait for hardware, and for a software adapter, which is slow but does not hang.
const PATIENCE: Duration = Duration::from_secs(60);
const SOFTWARE_PATIENCE: Duration = Duration::from_secs(3_600);

/// An open device.
pub struct Gpu {
    /// The adapter, with its limits and features. Tests lower limits to simulate another adapter.
    pub adapter: Adapter,
    pub(crate) medium: Medium,
    /// Bytes of all buffers and textures created so far.
    pub(crate) created: Mutex<Bytes>,
    /// Work of the frames since it was last taken.
    pub(crate) work: Mutex<FrameWork>,
    pub(crate) timing: Mutex<Timing>,
    pub(crate) failures: Failures,
    /// Longest wait for the device: a minute for hardware, and an hour for a software adapter, unless another is set.
    pub patience: Duration,
    user: Mutex<&'static str>,
    /// The shaders read so far, by their WGSL and whether it is trusted.
    pub(crate) modules: Mutex<HashMap<(String, bool), ShaderModule>>,
    /// The kernels compiled so far, by their module and the values of its overrides.
    pub(crate) pipelines: Mutex<Vec<CompiledKernel>>,
    /// Bandwidths that were measured, by the bytes of the buffer.
    pub(crate) bandwidths: Mutex<BTreeMap<u64, DeviceBandwidth>>,
    /// Bandwidths from the host that were measured, by the number of threads.
    pub(crate) upload_bandwidths: Mutex<BTreeMap<usize, UploadBandwidth>>,
    /// Clock of the device.
    pub(crate) clock_meter: ClockMeter,
    /// What measures it, once it was used.
    pub(crate) arithmetic: OnceLock<Arithmetic>,
    /// A change to shaders that are compiled from now on: tests break shaders with it and check that parity fails.
    pub edit: Mutex<Option<Edit>>,
}

/// A change to a shader's WGSL.
pub type Edit = Arc<dyn Fn(String) -> String + Send + Sync>;

/// A compiled kernel.
pub struct CompiledKernel {
    pub module: ShaderModule,
    /// Values of the module's overrides.
    pub constants: Vec<(&'static str, f64)>,
    pub pipeline: ComputePipeline,
}

/// State of the timing of stages.
#[derive(Default)]
pub struct Timing {
    pub off: bool,
    /// Clock of the stages.
    pub clock: DeviceClock,
    /// Of the last frame whose stages are timed.
    pub last: FrameTimes,
}

/// Times of a frame's stages on the device.
#[derive(Default)]
pub struct FrameTimes {
    /// Those that fences took.
    pub fences: ArrayVec<StageTime, { CAPACITY as usize }>,
    /// Stages whose times are still to be read.
    pub queried: QueriedStages,
}

/// Place where objects and commands go.
pub enum Medium {
    /// A device of wgpu, which executes them.
    Device(Box<WgpuDevice>),
    /// A tape that records them.
    Tape(Mutex<Tape>),
    /// Nothing is allocated: only the bytes of buffers and textures are counted.
    CountsOnly,
}

/// A device of wgpu and what belongs to it.
pub struct WgpuDevice {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub belt: Mutex<StagingBelt>,
    /// The queries that time the stages of a frame.
    pub queries: Option<Queries>,
    /// Avoids compiling a pipeline twice in a process, if the adapter supports it.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
    /// Checks of this crate's shaders; those of others are always checked.
    pub checks: ShaderChecks,
}

/// What this crate's shaders check while they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShaderChecks {
    /// Nothing. Indices and counts were checked when models, meshes and crowds were created.
    Unchecked,
    /// What wgpu lets all shaders check: indices into buffers, and that loops end. It costs time.
    Checked,
}

impl Gpu {
    /// Opens the adapter with this name (part of the name, any case) or number, or the first.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if there is no adapter, or none with that name or number; or
    /// [`BackendError::Device`] if it does not open.
    pub fn open(wanted: Option<&str>) -> Result<Arc<Self>> {
        Self::open_by(None, wanted)
    }

    /// As [`Gpu::open`], by one graphics API.
    ///
    /// # Errors
    /// As [`Gpu::open`], of the adapters that this API has.
    pub fn open_by(api: Option<Api>, wanted: Option<&str>) -> Result<Arc<Self>> {
        let (adapter, device, queue) = Adapter::open(api, wanted)?;
        let failures = Failures::of(&device);
        Ok(Self::on(
            adapter,
            device,
            queue,
            failures,
            ShaderChecks::Unchecked,
        ))
    }

    /// Opens the first adapter; `None` if there is none.
    ///
    /// # Panics
    /// There is none, and SKINBENCH_REQUIRE_GPU is set.
    #[cfg(test)]
    pub(crate) fn open_to_test() -> Option<Arc<Self>> {
        let gpu = Self::open(None).ok();
        let required = std::env::var_os("SKINBENCH_REQUIRE_GPU").is_some();
        assert!(gpu.is_some() || !required, "no adapter opens");
        gpu
    }

    /// Uses an open device.
    pub(crate) fn on(
        adapter: Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        failures: Failures,
        checks: ShaderChecks,
    ) -> Arc<Self> {
        let features = adapter.features;
        let timestamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
        let caches = features.contains(wgpu::Features::PIPELINE_CACHE);
        let medium = WgpuDevice {
            belt: Mutex::new(StagingBelt::new(device.clone(), STAGING_BYTES)),
            queries: timestamps.then(|| Queries::new(&device, &queue, "timestamps", CAPACITY)),
            pipeline_cache: caches.then(|| pipeline_cache(&device)),
            checks,
            device,
            queue,
        };
        Self::new(adapter, Medium::Device(Box::new(medium)), failures)
    }

    /// A device that records objects and commands instead of executing them, with all that WebGPU guarantees. Of
    /// several kernels, backends take the first instead of trying which one is fastest.
    pub fn recording() -> Arc<Self> {
        Self::new(
            Adapter::webgpu(),
            Medium::Tape(Mutex::default()),
            Failures::default(),
        )
    }

    /// A device with the limits of this one that only counts what is allocated.
    pub fn counting(&self) -> Arc<Self> {
        Self::new(
            self.adapter.clone(),
            Medium::CountsOnly,
            Failures::default(),
        )
    }

    fn new(adapter: Adapter, medium: Medium, failures: Failures) -> Arc<Self> {
        Arc::new(Self {
            patience: if adapter.summary.software {
                SOFTWARE_PATIENCE
            } else {
                PATIENCE
            },
            adapter,
            medium,
            created: Mutex::default(),
            work: Mutex::default(),
            timing: Mutex::default(),
            failures,
            user: Mutex::default(),
            modules: Mutex::default(),
            pipelines: Mutex::default(),
            bandwidths: Mutex::default(),
            upload_bandwidths: Mutex::default(),
            clock_meter: ClockMeter::default(),
            arithmetic: OnceLock::new(),
            edit: Mutex::default(),
        })
    }

    /// The wgpu device and its queue; `None` if nothing is executed.
    pub fn device(&self) -> Option<(&wgpu::Device, &wgpu::Queue)> {
        self.wgpu().map(|open| (&open.device, &open.queue))
    }

    pub(crate) fn wgpu(&self) -> Option<&WgpuDevice> {
        let Medium::Device(open) = &self.medium else {
            return None;
        };
        Some(open)
    }

    /// The tape of a device that records; `None` for others.
    pub fn tape(&self) -> Option<MutexGuard<'_, Tape>> {
        let Medium::Tape(tape) = &self.medium else {
            return None;
        };
        Some(lock(tape))
    }

    /// Commands recorded on the tape since the last call; none without a tape.
    pub fn take_commands(&self) -> Vec<Entry> {
        let tape = self.tape();
        tape.map_or(Vec::new(), |mut tape| std::mem::take(&mut tape.commands))
    }

    pub(crate) fn queries(&self) -> Option<&Queries> {
        self.wgpu()?.queries.as_ref()
    }

    /// Names the backend that the device works for from now on, for messages.
    pub fn work_for(&self, user: &'static str) {
        *lock(&self.user) = user;
    }

    /// Returns whether buffers and textures are counted but do not exist.
    pub fn only_counts(&self) -> bool {
        matches!(self.medium, Medium::CountsOnly)
    }

    /// The result of `create`, and the bytes of the buffers and textures that were created meanwhile.
    pub fn counted<T>(&self, create: impl FnOnce() -> T) -> (T, Bytes) {
        let before = std::mem::take(&mut *lock(&self.created));
        let result = create();
        let mut created = lock(&self.created);
        let bytes = *created;
        *created += before;
        (result, bytes)
    }

    /// The result of `create`; the bytes of the buffers and textures that it created count for another purpose.
    pub fn counted_as<T>(&self, purpose: Purpose, create: impl FnOnce() -> T) -> T {
        let before = *lock(&self.created);
        let (result, bytes) = self.counted(create);
        *lock(&self.created) = before + Bytes::of(purpose, bytes.total());
        result
    }

    /// Work submitted since the last call.
    pub fn take_work(&self) -> FrameWork {
        std::mem::take(&mut *lock(&self.work))
    }

    /// Checks that the adapter supports a stage with the storage buffers of some complete shaders, which share a layout.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if a feature is missing: old GL drivers have no compute shaders, or few storage
    /// buffers.
    pub fn has(&self, stage: wgpu::ShaderStages, shaders: &[impl AsRef<str>]) -> Result<()> {
        let (name, flag) = match stage {
            wgpu::ShaderStages::COMPUTE => {
                ("compute shaders", wgpu::DownlevelFlags::COMPUTE_SHADERS)
            }
            _ => (
                "storage buffers in vertex shaders",
                wgpu::DownlevelFlags::VERTEX_STORAGE,
            ),
        };
        let most = self.adapter.limits.max_storage_buffers_per_shader_stage;
        needs!(
            self.adapter.downlevel.contains(flag),
            "the device has no {name}"
        );
        // The declarations of a variable agree up to its type.
        let lines = shaders
            .iter()
            .flat_map(|wgsl| wgsl.as_ref().lines())
            .filter(|line| line.contains("var<storage"));
        let storage_buffers = lines
            .filter_map(|line| line.split(':').next())
            .collect::<HashSet<_>>()
            .len() as u32;
        needs!(
            most >= storage_buffers,
            "the device binds {most} storage buffers to a shader; needs {storage_buffers}"
        );
        Ok(())
    }

    /// Checks that vertices of vertex shaders can be read back, by drawing them to float textures.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter cannot draw to such textures.
    pub fn has_captures(&self) -> Result<()> {
        needs!(
            self.adapter.captures,
            "the device cannot draw to float textures, by which vertex shaders are verified"
        );
        Ok(())
    }

    /// Returns whether depth images can be read back, which old GL does not support.
    pub fn reads_depth(&self) -> bool {
        self.adapter
            .downlevel
            .contains(wgpu::DownlevelFlags::DEPTH_TEXTURE_AND_BUFFER_COPIES)
    }

    /// Largest size of a storage binding.
    pub(crate) fn binding_bytes(&self) -> u64 {
        let limits = &self.adapter.limits;
        limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            .min(self.adapter.binding_limit)
    }

    /// Workgroups in x and in another dimension, if x alone cannot hold as many; the last ones have nothing to do.
    pub(crate) fn folded(&self, groups: u32) -> [u32; 2] {
        let rows = groups.div_ceil(self.adapter.workgroup_limit).max(1);
        [groups.div_ceil(rows), rows]
    }

    /// Checks for the first error that the device reported since the last call. A lost device stays lost.
    ///
    /// # Errors
    /// [`BackendError::Device`] with the first error that the device reported.
    pub fn check(&self) -> Result<()> {
        self.failures.check()
    }

    /// The reason why the device is lost for good; none if it is not.
    pub fn lost(&self) -> Option<String> {
        self.failures.lost()
    }

    /// Lets the device report what it has finished, without waiting.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub(crate) fn poll(&self) -> Result<()> {
        self.polled(wgpu::PollType::Poll, "")
    }

    /// Waits for a submission, or for all; `what` names its work in messages. A device that does not finish in time is
    /// lost from then on.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost, refused a command, or did not finish in time.
    pub(crate) fn wait(
        &self,
        submission_index: Option<wgpu::SubmissionIndex>,
        what: &str,
    ) -> Result<()> {
        self.polled(
            wgpu::PollType::Wait {
                submission_index,
                timeout: Some(self.patience),
            },
            what,
        )
    }

    fn polled(&self, poll: wgpu::PollType, what: &str) -> Result<()> {
        let Some(WgpuDevice { device, queue, .. }) = self.wgpu() else {
            return self.check();
        };
        let polled = device.poll(poll);
        if let Err(wgpu::PollError::Timeout) = polled {
            let mut user = lock(&self.user).to_owned();
            if !user.is_empty() {
                user += ": ";
            }
            self.failures.lose(format!(
                "{user}{} did not finish {what} within {} s; the run gives up on it",
                self.adapter.summary.name,
                self.patience.as_secs_f64()
            ));
            // Dropped queues wait for the device: one reference stays forever, so that the process can end.
            std::mem::forget(queue.clone());
        }
        self.check()?;
        polled
            .map(|_| ())
            .map_err(|error| BackendError::Device(error.to_string()))
    }
}

fn pipeline_cache(device: &wgpu::Device) -> wgpu::PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor {
        label: Some("skinbench"),
        data: None,
        fallback: true,
    };
    // SAFETY: the cache starts empty; only data from elsewhere could be invalid.
    unsafe { device.create_pipeline_cache(&descriptor) }
}
