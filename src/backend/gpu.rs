//! Shared part of all GPU backends: a crowd divided into chunks, the source of its palettes, and the frame's commands.
//! A [`Strategy`] says how a backend poses and skins; `GpuSkinner` is the interface
//! of the two kinds of skinning.

use super::even_scale::require_even_scale;
use super::gpu_compute::ComputeSkinner;
use super::gpu_merged::MergedSkinner;
use super::gpu_skinner::{GpuSkinner, Posed};
use super::gpu_vertex::{VertexSkinner, morph_form};
use super::stage_bytes::posed;
use super::targets::require_no_targets;
use super::{Backend, Context, Joints, LaterPasses, Prepared, Skinned, Ticket, Traits};
use crate::crowd::Crowd;
use crate::frame::{
    Approximation, Arena, BackendError, Blending, Bytes, Footprint, FrameInput, HostGameplay, Job, Result, StageTimer,
    Traffic, clips_in_place,
};
use crate::frustum::{Eye, Frustum};
use crate::gameplay::GameplayData;
use crate::gpu::compute::SkinKernel;
use crate::gpu::gameplay::DeviceGameplay;
use crate::gpu::morph::{MorphForm, Morphs};
use crate::gpu::shader::Edit;
use crate::gpu::{Chunk, Gpu, MeshForm, PaletteForm, PaletteSource, PosedPalettes, Posing};
use crate::pose::PoseData;
use std::ops::Range;
use std::rc::Rc;

/// Choice of posing and skinning of a GPU backend.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// Place and method of computing palettes.
    pub posing: Posing,
    /// Place and method of skinning vertices.
    pub skin: Skinning,
}

/// Place and method of skinning vertices.
#[derive(Debug, Clone, Copy)]
pub enum Skinning {
    /// In the vertex shader, in every pass, from a mesh and palettes in these forms.
    Vertex(MeshForm, PaletteForm),
    /// Once, by the fastest of some compute kernels. All of them read palettes in one form.
    Compute(&'static [&'static SkinKernel]),
    /// Once, by a kernel that skins all models in one dispatch. Palettes are computed on the host.
    Merged(&'static SkinKernel),
}

impl Strategy {
    /// Checks what a crowd must be like on any adapter.
    ///
    /// # Errors
    /// The backend does not support the crowd; the message says why.
    pub fn accepts(self, crowd: &Crowd) -> Result<()> {
        if !self.skin.palette().scales_unevenly() {
            require_even_scale(crowd)?;
        }
        let palette = self.skin.palette();
        let unmorphed = matches!(palette, PaletteForm::Baked(_) | PaletteForm::Half);
        if self.posing.culls() || unmorphed || matches!(self.skin, Skinning::Merged(_)) {
            require_no_targets(crowd)?;
        }
        self.posing.accepts(crowd, palette)
    }

    /// Returns whether the backend chooses levels of detail among those of a crowd of families.
    pub fn chooses_levels(self) -> bool {
        self.posing == Posing::Levels
    }

    /// The strategy for crowds without levels to choose from, which is otherwise the same.
    pub fn without_levels(self) -> Self {
        let posing = if self.posing == Posing::Levels { Posing::Visible } else { self.posing };
        Self { posing, ..self }
    }

    /// The abilities of the backend.
    pub fn traits(self) -> Traits {
        let joints = match (self.posing, self.skin.palette()) {
            (_, PaletteForm::Baked(_)) => Joints::Nowhere,
            (Posing::Host, _) => Joints::Host,
            (Posing::Device, _) => Joints::Device,
            (Posing::Visible | Posing::Levels, _) => Joints::DeviceInView,
        };
        let later_passes = match self.skin {
            Skinning::Vertex(..) => LaterPasses::SkinAgain,
            Skinning::Compute(_) | Skinning::Merged(_) => LaterPasses::Free,
        };
        Traits { joints, later_passes }
    }

    /// The rule by which vertices follow several joints.
    fn blending(self) -> Blending {
        match self.skin.palette() {
            PaletteForm::DualQuaternions => Blending::DualQuaternion,
            _ => Blending::Linear,
        }
    }

    /// Bytes that frames read from the models' stores.
    fn in_place(self, crowd: &Crowd) -> Bytes {
        if self.posing == Posing::Host { clips_in_place(crowd) } else { Bytes::default() }
    }
}

impl Skinning {
    fn palette(self) -> PaletteForm {
        match self {
            Self::Vertex(_, palette) => palette,
            Self::Compute(kernels) => kernels[0].palette,
            Self::Merged(kernel) => kernel.palette,
        }
    }

    fn morph(self) -> MorphForm {
        match self {
            Self::Vertex(_, palette) => morph_form(palette),
            Self::Compute(kernels) => kernels[0].morph,
            Self::Merged(kernel) => kernel.morph,
        }
    }
}

/// Edits of shader sources, with which tests break shaders and check that parity fails.
#[derive(Clone, Default)]
pub struct Edits {
    /// Edit of the kernels that pose.
    pub pose: Option<Edit>,
    /// Edit of the kernels that skin.
    pub skin: Option<Edit>,
}

/// A GPU backend.
struct GpuBackend {
    gpu: Rc<Gpu>,
    strategy: Strategy,
    edits: Edits,
}

/// Creates the backend of a strategy.
///
/// # Errors
/// [`BackendError::Unavailable`] if there is no adapter.
pub fn create(context: &Context, strategy: Strategy, edits: Edits) -> Result<Box<dyn Backend>> {
    Ok(Box::new(GpuBackend { gpu: context.gpu()?, strategy, edits }))
}

impl GpuBackend {
    /// The spans of a crowd that is skinned by merged dispatches; other kinds of skinning have none.
    fn spans(&self, crowd: &Crowd) -> Result<Vec<Vec<Chunk>>> {
        if let Skinning::Merged(_) = self.strategy.skin { self.gpu.spans(crowd) } else { Ok(Vec::new()) }
    }
}

impl Backend for GpuBackend {
    fn traits(&self) -> Traits {
        self.strategy.traits()
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        let Strategy { posing, skin } = self.strategy;
        let (gpu, chunks, spans) = (&self.gpu, self.gpu.chunks(crowd)?, self.spans(crowd)?);
        let own = match skin {
            Skinning::Vertex(mesh, palette) => {
                VertexSkinner::footprint(gpu, posing, (mesh, palette), crowd, &chunks, job)?
            }
            Skinning::Compute(kernels) => ComputeSkinner::footprint(gpu, posing, kernels, crowd, &chunks, job)?,
            Skinning::Merged(kernel) => MergedSkinner::footprint(gpu, kernel, crowd, &spans, job)?,
        };
        self.strategy.accepts(crowd)?;
        HostGameplay::check(job, self.strategy.blending())?;
        if job.gameplay.is_some() && posing.culls() {
            return Err(BackendError::Unavailable(
                "poses only instances in view; needs a run without --bounds and --sockets".into(),
            ));
        }
        let (host, palettes) = match skin {
            Skinning::Merged(kernel) => {
                PosedPalettes::bytes(crowd, spans.iter().map(Vec::as_slice), kernel.palette, job)
            }
            _ => posing.bytes(gpu, crowd, &chunks, skin.palette(), job)?,
        };
        let (morph_host, morphs) = skin.morph().bytes(gpu, crowd, &chunks)?;
        let (host, device) = (host + morph_host, own.device + palettes + morphs);
        Ok(Footprint { host, device, in_place: self.strategy.in_place(crowd), ..own })
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        let Strategy { posing, skin } = self.strategy;
        let gpu = Rc::clone(&self.gpu);
        let chunks = gpu.chunks(crowd)?;
        let edit = self.edits.pose.as_ref();
        let spans = self.spans(crowd)?;
        let (palettes, memory) = gpu.counted(|| match skin {
            Skinning::Merged(kernel) => {
                let buffers = spans.iter().map(Vec::as_slice);
                let palettes = PosedPalettes::new(&gpu, crowd, buffers, kernel.palette, job);
                Ok(Box::new(palettes) as Box<dyn PaletteSource>)
            }
            _ => posing.source(&gpu, crowd, &chunks, skin.palette(), job, edit),
        });
        let (morphs, morph_memory) = gpu.counted(|| Morphs::new(&gpu, crowd, &chunks, skin.morph()));
        let posed = Posed { gpu, chunks, palettes: palettes?, morphs, memory: memory + morph_memory };
        let on_device = self.strategy.traits().joints != Joints::Host;
        let gameplay = job.gameplay.as_ref().filter(|_| on_device).map(|gameplay| {
            let Posed { gpu, chunks, palettes, .. } = &posed;
            let approximation = palettes.approximation().map_or(0.0, |stated| stated.position);
            let read = (palettes.chunks(), skin.palette());
            DeviceGameplay::new(gpu, crowd, chunks, read, gameplay, approximation, edit)
        });
        let edit = self.edits.skin.as_ref();
        let skinner: Box<dyn GpuSkinner> = match skin {
            Skinning::Vertex(mesh, palette) => Box::new(VertexSkinner::new(&posed, crowd, mesh, palette, edit)),
            Skinning::Compute(kernels) => {
                Box::new(ComputeSkinner::new(&posed, crowd, kernels, posing == Posing::Levels, edit)?)
            }
            Skinning::Merged(kernel) => Box::new(MergedSkinner::new(&posed, crowd, kernel, spans, job.keep, edit)),
        };
        self.gpu.check()?;
        let morph_approximation = skin.morph().approximation(crowd);
        Ok(Box::new(PreparedGpu { strategy: self.strategy, posed, skinner, gameplay, morph_approximation }))
    }
}

struct PreparedGpu {
    strategy: Strategy,
    posed: Posed,
    skinner: Box<dyn GpuSkinner>,
    /// Bounds and sockets, if the job asks for any and joints are on the device.
    gameplay: Option<DeviceGameplay>,
    /// Stated error of morph targets, which no palette with an error of its own has.
    morph_approximation: Option<Approximation>,
}

impl Prepared for PreparedGpu {
    fn device(&self) -> String {
        let labels = self.posed.palettes.label().into_iter().chain(self.skinner.label());
        labels.fold(self.posed.gpu.summary().name.clone(), |device, label| format!("{device}, {label}"))
    }

    fn footprint(&self, crowd: &Crowd) -> Footprint {
        let (host, device) = self.gameplay.as_ref().map(DeviceGameplay::allocated).unwrap_or_default();
        Footprint {
            host: self.posed.palettes.host_memory()
                + self.posed.morphs.as_ref().map_or(Bytes::default(), Morphs::host_memory)
                + host,
            device: self.posed.memory + self.skinner.memory() + device,
            in_place: self.strategy.in_place(crowd),
            host_output: false,
            device_output: matches!(self.strategy.skin, Skinning::Compute(_)) && self.strategy.posing != Posing::Levels,
        }
    }

    fn blending(&self) -> Blending {
        self.strategy.blending()
    }

    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        match &mut self.gameplay {
            Some(gameplay) => Ok(Some(gameplay.read(&self.posed.gpu)?.clone())),
            None => Ok(self.posed.palettes.gameplay().cloned()),
        }
    }

    fn gameplay_delay(&self) -> Option<u32> {
        match &self.gameplay {
            Some(gameplay) => gameplay.delay(),
            None => self.posed.palettes.gameplay().map(|_| 0),
        }
    }

    fn approximation(&self) -> Option<Approximation> {
        self.posed.palettes.approximation().or(self.morph_approximation)
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        // The number of instances in view differs from tick to tick.
        if self.strategy.posing.culls() {
            return Vec::new();
        }
        let Strategy { posing, skin } = self.strategy;
        let mut traffic = posed(crowd, posing, skin.palette(), self.posed.palettes.poses());
        traffic.extend(self.skinner.traffic(crowd));
        traffic
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let Self { posed, skinner, gameplay, .. } = self;
        skinner.bind(posed, frame);
        if let Some(gameplay) = gameplay {
            gameplay.arrive(&posed.gpu, timer)?;
        }
        let mut commands = posed.gpu.frame("frame");
        posed.palettes.submit(&posed.gpu, frame, timer, &mut commands);
        if let Some(gameplay) = gameplay {
            gameplay.record(&posed.gpu, &mut commands);
        }
        if let Some(morphs) = &mut posed.morphs {
            morphs.submit(&posed.gpu, &posed.chunks, frame, timer, &mut commands);
        }
        skinner.record(posed, frame, &mut commands);
        Ok(Ticket::recorded(commands))
    }

    fn look(&mut self, frustum: &Frustum, eye: &Eye) {
        self.posed.palettes.look(frustum, eye);
    }

    fn skinned(&self) -> Skinned {
        self.skinner.skinned(&self.posed)
    }

    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        self.posed.palettes.visible()
    }

    fn read_poses(&mut self, crowd: &Crowd, what: PoseData, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        self.posed.palettes.read_poses(crowd, what, instances, out)
    }

    fn read_vertices(&mut self, crowd: &Crowd, arena: &Arena, instances: Range<u32>, out: &mut Vec<f32>) -> Result<()> {
        self.skinner.read(&mut self.posed, crowd, arena, instances, out)
    }
}
