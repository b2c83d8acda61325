//! Backends: complete ways to turn a crowd into skinned vertices. One file each, one line of [`REGISTRY`] each.

mod arena;
mod cpu;
mod cpu_rayon;
mod cpu_scalar;
mod cpu_simd;
#[cfg(feature = "gpu")]
pub mod gpu_baked;
#[cfg(feature = "gpu")]
pub mod gpu_compute;
#[cfg(feature = "gpu")]
pub mod gpu_full;
#[cfg(feature = "gpu")]
pub mod gpu_vertex;
mod timer;
mod traffic;

pub use arena::Arena;
pub use timer::{Clock, Group, Span, Stage, StageTimer};
pub use traffic::{Memory, Traffic};

use crate::crowd::Crowd;
use crate::frustum::Frustum;
use crate::simd::Isa;
use crate::threads::Threads;
#[cfg(feature = "gpu")]
use crate::vertex::Encoding;
use std::ops::Range;

/// Why a backend cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The machine lacks what the backend needs: it is skipped.
    #[error("{0}")]
    Unavailable(String),
    /// The crowd does not fit: the estimate and the limit.
    #[error("{0}")]
    TooLarge(String),
    /// The device was lost or refused a command.
    #[error("device error: {0}")]
    Device(String),
}

impl BackendError {
    pub(crate) fn unprepared() -> Self {
        Self::Unavailable("used before it was prepared".into())
    }
}

/// Shorthand for this module's results.
pub type Result<T> = std::result::Result<T, BackendError>;

/// Who a backend is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendInfo {
    /// Name as in the registry.
    pub name: &'static str,
    /// Variant as in the registry; empty for the plain one.
    pub variant: &'static str,
    /// Instruction set or adapter that it runs on.
    pub device: String,
}

/// What a run asks of every backend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Job {
    /// How many times `draw` renders the crowd; 0 draws nothing.
    pub passes: u32,
    /// Which vertices stay on the device.
    pub keep: Keep,
    /// What can be seen: backends may leave out who is beyond it.
    pub frustum: Frustum,
}

/// Which skinned vertices stay on the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// All of the frame's.
    #[default]
    Frame,
    /// The last chunks': all take turns in a ring of buffers, so that a crowd may be larger than memory. Nothing can be
    /// drawn then.
    Ring,
    /// The frame's and those of the frame before: two outputs that swap, for motion vectors.
    TwoFrames,
}

/// Bytes that a backend will allocate for a crowd, besides the shared [`Arena`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Footprint {
    /// In main memory.
    pub host: u64,
    /// In device memory.
    pub device: u64,
    /// Whether vertices go to the arena's host side.
    pub host_output: bool,
    /// Whether vertices go to the arena's device side.
    pub device_output: bool,
}

/// One frame's input.
pub struct FrameInput<'a> {
    /// The crowd given to `prepare`.
    pub crowd: &'a Crowd,
    /// Simulation time in ticks.
    pub tick: u32,
    /// Where skinned vertices go.
    pub arena: &'a mut Arena,
}

/// What `submit` leaves to be finished.
#[derive(Default)]
pub struct Ticket {
    /// Commands recorded but not yet submitted, so that drawing joins the same submission.
    #[cfg(feature = "gpu")]
    pub commands: Option<crate::gpu::Commands>,
    /// Commands that the device works on.
    #[cfg(feature = "gpu")]
    pub flight: Option<crate::gpu::Flight>,
}

impl Ticket {
    /// A frame whose commands are still to be submitted.
    #[cfg(feature = "gpu")]
    pub fn recorded(commands: crate::gpu::Commands) -> Self {
        Self { commands: Some(commands), flight: None }
    }

    /// Submits what is recorded without waiting for it. Says whether there is anything to wait for.
    pub fn launch(&mut self) -> bool {
        #[cfg(feature = "gpu")]
        {
            if let Some(commands) = self.commands.take() {
                self.flight = Some(commands.launch());
            }
            self.flight.is_some()
        }
        #[cfg(not(feature = "gpu"))]
        false
    }

    /// Submits what is recorded and blocks until the device is done.
    pub fn finish(mut self) -> Result<()> {
        self.launch();
        #[cfg(feature = "gpu")]
        if let Some(flight) = self.flight {
            return flight.land();
        }
        Ok(())
    }
}

/// Values copied out of a backend, instance by instance.
#[derive(Debug, Default)]
pub struct ReadBack {
    /// `[instance][joint][10]` for `sample` (rotation x y z w, translation, scale), `[instance][joint][12]` for
    /// `local_to_model`, `[instance][entry][12]` for `palette`, `[instance][vertex][word]` for `skin`: floats, or the bits
    /// of packed words.
    pub values: Vec<f32>,
}

/// Where a backend leaves its vertices, for `gpu/present.rs` to draw.
pub enum Skinned {
    /// In the arena's host side.
    Host,
    /// There too, instances interleaved block by block, which nothing draws.
    HostInBlocks,
    /// In the arena's device side.
    Device,
    /// In the arena's device side, those in view alone, each chunk's at its beginning.
    #[cfg(feature = "gpu")]
    VisibleOnDevice(std::rc::Rc<crate::gpu::visibility::Visible>),
    /// Nowhere: the vertex shader skins while drawing.
    #[cfg(feature = "gpu")]
    InVertexShader(std::rc::Rc<crate::gpu::source::VertexSource>),
}

/// How vertices follow several joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blending {
    /// A weighted sum of matrices.
    Linear,
    /// A weighted sum of dual quaternions (Kavan and others 2008): joints must not scale unevenly.
    DualQuaternion,
}

/// What a backend is off by to be faster, beyond rounding. It leaves vertices, but no poses, to be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Approximation {
    /// What a vertex may be off by, over the diagonal of the model's bounds.
    pub position: f64,
    /// What normals and tangents may be off by, in radians.
    pub normal: f64,
    /// What joints' ends are off by at worst, over the skeleton's size.
    pub clip_error: f64,
}

/// One complete way to turn a crowd into skinned vertices.
pub trait Backend {
    /// Name, variant, instruction set or adapter.
    fn info(&self) -> BackendInfo;
    /// Bytes that `prepare` would allocate; allocates nothing.
    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint>;
    /// Allocates and uploads what does not change from frame to frame: untimed.
    fn prepare(&mut self, crowd: &Crowd, job: &Job) -> Result<()>;
    /// How vertices follow several joints: which reference they are held to.
    fn blending(&self) -> Blending {
        Blending::Linear
    }
    /// What it is off by on purpose, once it is prepared.
    fn approximation(&self) -> Option<Approximation> {
        None
    }
    /// What the stages of a frame must move, for those whose bandwidth is measured.
    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        let _ = crowd;
        Vec::new()
    }
    /// Poses and skins one frame, or records the commands that will.
    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket>;
    /// Blocks until the frame is done.
    fn wait(&mut self, ticket: Ticket) -> Result<()> {
        ticket.finish()
    }
    /// Where the vertices of the last frame are.
    fn skinned(&self) -> Skinned;
    /// The instances that the last frame did not leave out, rising; none if it left out nobody: untimed.
    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
    /// Appends poses, palettes or vertices of neighbouring instances of one group that are not left out, as the last
    /// frame left them: untimed.
    fn read_back(
        &mut self,
        crowd: &Crowd,
        arena: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()>;
    /// Frees what `prepare` allocated.
    fn release(&mut self);
}

/// What backends are made from.
#[derive(Clone, Default)]
pub struct Context {
    /// Instruction set of the CPU kernels; by default the strongest that this machine has.
    pub isa: Isa,
    /// Threads of the parallel backends.
    pub threads: Threads,
    /// The adapter in use, if there is one.
    #[cfg(feature = "gpu")]
    pub gpu: Option<std::rc::Rc<crate::gpu::Gpu>>,
}

impl Context {
    /// Without an adapter.
    pub fn host(isa: Isa, threads: Threads) -> Self {
        Self {
            isa,
            threads,
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }

    #[cfg(feature = "gpu")]
    fn gpu(&self) -> Result<std::rc::Rc<crate::gpu::Gpu>> {
        self.gpu.clone().ok_or_else(|| BackendError::Unavailable("no adapter".into()))
    }
}

/// A line of the registry.
pub struct Entry {
    /// Name, with the variant after a colon.
    pub name: &'static str,
    /// One line for `skinbench list`.
    pub summary: &'static str,
    /// Makes the backend, or says why this machine cannot run it.
    pub create: fn(&Context) -> Result<Box<dyn Backend>>,
}

/// Every backend there is.
pub const REGISTRY: &[Entry] = &[
    Entry {
        name: "cpu-scalar",
        summary: "scalar pose and skin, one thread: the readable one",
        create: cpu_scalar::create,
    },
    Entry {
        name: "cpu-simd",
        summary: "SIMD, one thread: the variant that suits the crowd's size",
        create: cpu_simd::create,
    },
    Entry {
        name: "cpu-simd:columns",
        summary: "one vertex at a time, matrix columns in 128-bit registers: the classic",
        create: cpu_simd::columns,
    },
    Entry {
        name: "cpu-simd:lanes",
        summary: "16 instances in lanes, one contiguous output an instance",
        create: cpu_simd::lanes,
    },
    Entry {
        name: "cpu-simd:lanes-interleaved",
        summary: "16 instances in lanes, and in the output: [vertex][word][instance]",
        create: cpu_simd::lanes_interleaved,
    },
    #[cfg(target_arch = "x86_64")]
    Entry {
        name: "cpu-simd:cluster",
        summary: "a lone character: 16 vertices in lanes, joints looked up within registers (AVX-512)",
        create: cpu_simd::cluster,
    },
    Entry {
        name: "cpu-simd:fused",
        summary: "as lanes, each block posed and skinned while it is in the cache",
        create: cpu_simd::fused,
    },
    Entry {
        name: "cpu-simd:dual-quaternion",
        summary: "16 instances in lanes, joints blended as dual quaternions: keeps volume, takes no uneven scale",
        create: cpu_simd::dual_quaternion,
    },
    Entry {
        name: "cpu-rayon",
        summary: "pose and skin with 16 instances in lanes, all threads",
        create: cpu_rayon::create,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex",
        summary: "pose as cpu-rayon; the vertex shader skins, in every pass",
        create: gpu_vertex::packed,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex:mat4",
        summary: "4x4 palettes in a storage buffer (Bevy's way)",
        create: gpu_vertex::mat4,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex:uniform",
        summary: "4x4 palettes of up to 96 entries in a uniform block a character (the DirectX 12 book's way)",
        create: gpu_vertex::uniform,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-vertex:texture",
        summary: "3x4 palettes in a float texture (the way of many web engines)",
        create: gpu_vertex::texture,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute",
        summary: "pose as cpu-rayon; the fastest of the compute kernels skins once, passes read it",
        create: gpu_compute::best,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:per-character",
        summary: "a dispatch a character, 4x4 palettes (what naive ports do)",
        create: gpu_compute::per_character,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:naive",
        summary: "a thread a vertex of an instance, 3x4 palettes",
        create: gpu_compute::naive,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:shared",
        summary: "a workgroup a character, palette in workgroup memory (Unity Kinemation's idea)",
        create: gpu_compute::shared,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:instances",
        summary: "a thread a vertex of sixteen instances, vertex in registers",
        create: gpu_compute::instances,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-compute:dual-quaternion",
        summary: "as instances, joints blended as dual quaternions: keeps volume, takes no uneven scale",
        create: gpu_compute::dual_quaternion,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full",
        summary: "poses on the device too: a frame sends its tick; skins as gpu-compute",
        create: gpu_full::compute,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full:vertex",
        summary: "poses on the device; the vertex shader skins, in every pass",
        create: gpu_full::vertex,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full:culled",
        summary: "as gpu-full, those in view alone: a compute pass finds them, dispatches and draws are indirect",
        create: gpu_full::culled,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-full:vertex-culled",
        summary: "as gpu-full:vertex, those in view alone",
        create: gpu_full::vertex_culled,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-baked",
        summary: "clips baked as rotations and translations; the vertex shader blends two frames and skins",
        create: gpu_baked::motions,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-baked:matrices",
        summary: "clips baked as 3x4 matrices; the vertex shader blends two frames and skins",
        create: gpu_baked::matrices,
    },
    #[cfg(feature = "gpu")]
    Entry {
        name: "gpu-baked:compute",
        summary: "clips baked as rotations and translations; a compute kernel blends two frames and skins once",
        create: gpu_baked::compute,
    },
];

/// Refuses a crowd whose vertices are to be packed.
#[cfg(feature = "gpu")]
fn floats_only(crowd: &Crowd) -> Result<()> {
    match crowd.format().encoding {
        Encoding::F32 => Ok(()),
        Encoding::Packed => Err(BackendError::Unavailable("writes plain floats; needs --output f32".into())),
    }
}
