//! Shared part of all GPU backends: a crowd divided into chunks, the source of its palettes, and the frame's commands.
//! A [`Strategy`] says how a backend poses and skins; `GpuSkinner` is the interface
//! of the two kinds of skinning.

use super::gpu_compute::ComputeSkinner;
use super::gpu_skinner::{GpuSkinner, Posed};
use super::gpu_vertex::{VertexSkinner, morph_form};
use super::stage_bytes::{posed, skinned};
use super::{Abilities, Backend, Context, Joints, Prepared, Skinned, Ticket};
use crate::crowd::{Crowd, Group};
use crate::frame::{
    Approximation, BackendError, Bytes, Footprint, FrameInput, Job, OutputBuffers, OutputUser,
    Purpose, Result, StageTimer, Traffic, clips_in_place,
};
use crate::frustum::{Eye, Frustum};
use crate::gameplay::GameplayData;
use crate::gpu::pose::gameplay::DeviceGameplay;
use crate::gpu::skin::compute::SkinKernel;
use crate::gpu::skin::morph::{MorphForm, Morphs};
use crate::gpu::{Gpu, MeshForm, PaletteForm, PaletteSource, Palettes, Posing, chunk_uniform};
use crate::pose::PoseData;
use crate::reference::Blending;
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
    /// Once, by the fastest of some compute kernels. All of them read palettes in one form. A kernel that skins all
    /// models in one dispatch is the only one, and its palettes are computed on the host.
    Compute(&'static [&'static SkinKernel]),
}

impl Strategy {
    /// Returns whether skinned vertices are in buffers of the backend instead of the output buffers.
    fn keeps_vertices(self) -> bool {
        self.posing == Posing::Levels || self.skin.is_merged()
    }
}

impl Skinning {
    pub(super) fn palette(self) -> PaletteForm {
        match self {
            Self::Vertex(_, palette) => palette,
            Self::Compute(kernels) => kernels[0].palette,
        }
    }

    fn morph(self) -> MorphForm {
        match self {
            Self::Vertex(_, palette) => morph_form(palette),
            Self::Compute(kernels) => kernels[0].morph,
        }
    }

    /// Returns whether a dispatch skins chunks of several models.
    fn is_merged(self) -> bool {
        matches!(self, Self::Compute([kernel, ..]) if kernel.is_merged())
    }
}

/// A GPU backend.
struct GpuBackend {
    gpu: Rc<Gpu>,
    strategy: Strategy,
}

/// Creates the backend of a strategy.
///
/// # Errors
/// [`BackendError::Unavailable`] if there is no adapter.
pub fn create(context: &Context, strategy: Strategy) -> Result<Box<dyn Backend>> {
    let gpu = context
        .gpu
        .clone()
        .ok_or_else(|| BackendError::Unavailable("no adapter".into()))?;
    Ok(Box::new(GpuBackend { gpu, strategy }))
}

impl GpuBackend {
    /// As [`Backend::prepare`], on a device of choice: the adapter's, or one that only counts.
    fn prepare_on(&self, gpu: &Rc<Gpu>, crowd: &Crowd, job: &Job) -> Result<PreparedGpu> {
        let (prepared, memory) = gpu.counted(|| self.built_on(gpu, crowd, job));
        Ok(PreparedGpu {
            memory,
            ..prepared?
        })
    }

    fn built_on(&self, gpu: &Rc<Gpu>, crowd: &Crowd, job: &Job) -> Result<PreparedGpu> {
        let Strategy { posing, skin } = self.strategy;
        let chunks = gpu.chunks(crowd)?;
        let parts = match skin.is_merged() {
            true => gpu.spans(crowd)?,
            false => chunks.iter().map(|chunk| vec![chunk.clone()]).collect(),
        };
        let bakes = matches!(skin, Skinning::Vertex(..));
        let palettes = posing.source(gpu, crowd, &parts, (skin.palette(), bakes), job)?;
        let morphs = Morphs::new(gpu, crowd, &chunks, skin.morph())?;
        let in_view = &palettes.in_view;
        let inputs = |(index, palettes): (usize, &Palettes)| {
            let mut inputs = palettes.inputs().to_vec();
            // The chunks of a span are in a table, and have no morph targets.
            if !skin.is_merged() {
                let numbers = match in_view {
                    Some(visible) => visible.chunks[index].chunk(),
                    None => chunk_uniform(gpu, Purpose::Scratch, crowd, &chunks[index]).into(),
                };
                inputs.push(("chunk", numbers));
                inputs.extend(
                    morphs
                        .iter()
                        .flat_map(|morphs| morphs.inputs(&chunks[index], index)),
                );
            }
            inputs
        };
        let inputs = palettes.chunks.iter().enumerate().map(inputs).collect();
        let posed = Posed {
            gpu: Rc::clone(gpu),
            chunks,
            parts,
            palettes,
            morphs,
            inputs,
        };
        let on_device = self.strategy.abilities().joints != Joints::Host;
        let gameplay = job.gameplay.as_ref().filter(|_| on_device).map(|gameplay| {
            let Posed {
                gpu,
                chunks,
                palettes,
                inputs,
                ..
            } = &posed;
            let approximation = palettes.approximation.map_or(0.0, |stated| stated.position);
            DeviceGameplay::new(
                gpu,
                crowd,
                chunks,
                (inputs, skin.palette()),
                gameplay,
                approximation,
            )
        });
        let skinner: Box<dyn GpuSkinner> = match skin {
            Skinning::Vertex(mesh, palette) => {
                Box::new(VertexSkinner::new(&posed, crowd, mesh, palette)?)
            }
            Skinning::Compute(kernels) => {
                let own = self.strategy.keeps_vertices().then_some(job.keep);
                let kernels = if job.first_kernel {
                    &kernels[..1]
                } else {
                    kernels
                };
                Box::new(ComputeSkinner::new(&posed, crowd, kernels, own)?)
            }
        };
        posed.gpu.check()?;
        let morph_approximation = skin.morph().approximation(crowd);
        Ok(PreparedGpu {
            strategy: self.strategy,
            posed,
            skinner,
            gameplay: gameplay.transpose()?,
            morph_approximation,
            memory: Bytes::default(),
            user: OutputUser::default(),
        })
    }
}

impl Backend for GpuBackend {
    fn abilities(&self) -> Abilities {
        self.strategy.abilities()
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        self.strategy.abilities().check(crowd, job)?;
        let mut counted = self.prepare_on(&self.gpu.counting(), crowd, job)?;
        counted.prepare_read(crowd)?;
        Ok(counted.footprint(crowd))
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(self.prepare_on(&self.gpu, crowd, job)?))
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
    /// Bytes on the device.
    memory: Bytes,
    user: OutputUser,
}

impl PreparedGpu {
    /// Allocates what reading vertices back needs, if it is not there.
    fn prepare_read(&mut self, crowd: &Crowd) -> Result<()> {
        let Self {
            posed,
            skinner,
            memory,
            ..
        } = self;
        let (prepared, bytes) = posed.gpu.counted(|| skinner.prepare_read(posed, crowd));
        *memory += bytes;
        prepared
    }
}

impl Prepared for PreparedGpu {
    fn device(&self) -> String {
        let labels = self
            .posed
            .palettes
            .label
            .iter()
            .cloned()
            .chain(self.skinner.label());
        labels.fold(
            self.posed.gpu.adapter.summary.name.clone(),
            |device, label| format!("{device}, {label}"),
        )
    }

    fn footprint(&self, crowd: &Crowd) -> Footprint {
        let posed_on_host = self.strategy.posing == Posing::Host;
        let gameplay = self
            .gameplay
            .as_ref()
            .map_or(Bytes::default(), |gameplay| gameplay.host_memory);
        let morphs = self
            .posed
            .morphs
            .as_ref()
            .map_or(Bytes::default(), Morphs::host_memory);
        Footprint {
            host: self.posed.palettes.host_memory + morphs + gameplay,
            device: self.memory,
            in_place: if posed_on_host {
                clips_in_place(crowd)
            } else {
                Bytes::default()
            },
            host_output: false,
            device_output: matches!(self.strategy.skin, Skinning::Compute(_))
                && !self.strategy.keeps_vertices(),
        }
    }

    fn blending(&self) -> Blending {
        match self.strategy.skin.palette() {
            PaletteForm::DualQuaternions => Blending::DualQuaternion,
            _ => Blending::Linear,
        }
    }

    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        match &mut self.gameplay {
            Some(gameplay) => Ok(Some(gameplay.read(&self.posed.gpu)?.clone())),
            None => Ok(self.posed.palettes.poser.gameplay().cloned()),
        }
    }

    fn gameplay_delay(&self) -> Option<u32> {
        match &self.gameplay {
            Some(gameplay) => gameplay.delay,
            None => self.posed.palettes.poser.gameplay().map(|_| 0),
        }
    }

    fn approximation(&self) -> Option<Approximation> {
        self.posed
            .palettes
            .approximation
            .or(self.morph_approximation)
    }

    fn approximation_of(&self, group: &Group) -> Option<Approximation> {
        let PaletteSource {
            approximation,
            exact_unless_baked,
            ..
        } = &self.posed.palettes;
        approximation
            .filter(|_| group.baked || !exact_unless_baked)
            .or(self.morph_approximation)
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        // The number of instances in view differs from tick to tick.
        if self.strategy.posing.culls() || crowd.has_frozen() {
            return Vec::new();
        }
        let mut traffic = posed(
            crowd,
            self.strategy.skin.palette(),
            self.posed.palettes.poses,
        );
        traffic.extend(
            self.skinner
                .kernel()
                .map(|kernel| skinned(crowd, kernel.palette, kernel.mesh)),
        );
        traffic
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let Self {
            strategy,
            posed,
            skinner,
            gameplay,
            user,
            ..
        } = self;
        // Vertices that the output buffers holds of frozen instances need not be computed again.
        let keeps_frozen = !strategy.posing.culls()
            && !strategy.keeps_vertices()
            && frame.crowd.turnover().is_none();
        let kept = frame.output.hand_to(user) && keeps_frozen;
        if let Some(gameplay) = gameplay {
            gameplay.arrive(&posed.gpu, timer)?;
        }
        let mut commands = posed.gpu.frame("frame");
        posed
            .palettes
            .poser
            .submit(&posed.gpu, frame, timer, &mut commands);
        if let Some(gameplay) = gameplay {
            gameplay.record(&posed.gpu, &mut commands);
        }
        if let Some(morphs) = &mut posed.morphs {
            morphs.submit(&posed.chunks, frame, timer, &mut commands);
        }
        skinner.record(posed, frame, kept, &mut commands);
        Ok(Ticket::recorded(commands))
    }

    fn move_camera(&mut self, frustum: &Frustum, eye: &Eye) {
        self.posed.palettes.poser.move_camera(frustum, eye);
    }

    fn skinned(&self) -> Skinned {
        self.skinner.skinned(&self.posed)
    }

    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        self.posed.palettes.poser.visible()
    }

    fn read_poses(
        &mut self,
        crowd: &Crowd,
        what: PoseData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.posed
            .palettes
            .poser
            .read_poses(crowd, what, instances, out)
    }

    fn read_vertices(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        self.prepare_read(crowd)?;
        self.skinner
            .read(&mut self.posed, crowd, output, instances, out)
    }
}
