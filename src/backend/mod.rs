//! Backends: complete ways to turn a crowd into skinned vertices. Each has a file here and a line in
//! [`crate::registry`].

mod cpu;
pub mod cpu_rayon;
pub mod cpu_scalar;
pub mod cpu_simd;
#[cfg(feature = "gpu")]
pub mod gpu_baked;
#[cfg(feature = "gpu")]
pub mod gpu_compute;
#[cfg(feature = "gpu")]
pub mod gpu_full;
#[cfg(feature = "gpu")]
pub mod gpu_vertex;
mod traffic;

use crate::crowd::Crowd;
use crate::frame::{
    Approximation, Arena, BackendError, Blending, Footprint, FrameInput, Job, ReadBack, Result, Stage, StageTimer,
    Traffic,
};
use crate::simd::Isa;
use crate::threads::Threads;
#[cfg(feature = "gpu")]
use crate::vertex::Encoding;
use std::ops::Range;

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

/// Refuses a crowd whose vertices are to be packed.
#[cfg(feature = "gpu")]
fn floats_only(crowd: &Crowd) -> Result<()> {
    match crowd.format().encoding {
        Encoding::F32 => Ok(()),
        Encoding::Packed => Err(BackendError::Unavailable("writes plain floats; needs --output f32".into())),
    }
}
