//! `gpu-compute` and its variants: poses as cpu-rayon, then WGSL dispatches skin the whole crowd into storage buffers.
//! `gpu-full` skins likewise.
//!
//! A variant is a [`Strategy`] in a file of its own.

mod best;
mod dual_quaternion;
mod instances;
mod naive;
mod per_character;
mod shared;

use super::cpu_simd::scales_evenly;
use super::traffic::posed;
use super::{Backend, BackendInfo, Context, Skinned, Ticket};
use crate::crowd::Crowd;
use crate::frame::{
    Approximation, Arena, BackendError, Blending, Clock, Footprint, FrameInput, Job, Keep, Memory, ReadBack, Result,
    Stage, StageTimer, Traffic,
};
use crate::gpu::compute::{self, ComputeSkin, Strategy};
use crate::gpu::skinning::{self, Edit};
use crate::gpu::{Chunk, Gpu, MeshBuffers, PaletteForm, PaletteSource, PosedPalettes, Posing};
use std::ops::Range;
use std::rc::Rc;

pub(super) use best::CANDIDATES;
pub(crate) use best::create as best;
pub use best::with_edit;
pub(crate) use dual_quaternion::create as dual_quaternion;
pub(crate) use instances::create as instances;
pub(super) use instances::strategy as by_instances;
pub(crate) use naive::create as naive;
pub(crate) use per_character::create as per_character;
pub(crate) use shared::create as shared;

/// Every strategy: tests look into their shaders.
pub const STRATEGIES: &[&Strategy] =
    &[&dual_quaternion::STRATEGY, &per_character::STRATEGY, &naive::STRATEGY, &shared::STRATEGY, &instances::STRATEGY];

/// A way to pose and skin: what a variant is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    pub name: &'static str,
    pub variant: &'static str,
    pub posing: Posing,
    /// All read palettes in one form.
    pub candidates: &'static [&'static Strategy],
}

/// Shaders that tests change.
#[derive(Default)]
pub(super) struct Edits {
    pub pose: Option<Edit>,
    pub skin: Option<Edit>,
}

/// Skins by the fastest of some strategies.
pub(super) struct GpuCompute {
    gpu: Rc<Gpu>,
    recipe: Recipe,
    edits: Edits,
    state: Option<State>,
}

struct State {
    chunks: Vec<Chunk>,
    palettes: Box<dyn PaletteSource>,
    // Bound when the arena is first seen.
    skin: ComputeSkin,
    // The chunk whose vertices each of the arena's buffers holds.
    held: Vec<usize>,
}

impl GpuCompute {
    /// A variant that poses on the CPU.
    fn create(
        context: &Context,
        variant: &'static str,
        candidates: &'static [&'static Strategy],
        edit: Option<Edit>,
    ) -> Result<Box<dyn Backend>> {
        let recipe = Recipe { name: "gpu-compute", variant, posing: Posing::Host, candidates };
        Self::of(context, recipe, Edits { skin: edit, ..Edits::default() })
    }

    /// Any backend that skins in a compute shader.
    pub(super) fn of(context: &Context, recipe: Recipe, edits: Edits) -> Result<Box<dyn Backend>> {
        Ok(Box::new(Self { gpu: context.gpu()?, recipe, edits, state: None }))
    }
}

impl Backend for GpuCompute {
    fn info(&self) -> BackendInfo {
        let mut device = self.gpu.summary().name.clone();
        if let Some(State { palettes, skin, .. }) = &self.state {
            let skin = (self.recipe.candidates.len() > 1).then_some(skin.strategy().name);
            let skin = skin.map(|name| format!("skins by {name}"));
            palettes.way().into_iter().chain(skin).for_each(|way| device += &format!(", {way}"));
        }
        BackendInfo { name: self.recipe.name, variant: self.recipe.variant, device }
    }

    fn blending(&self) -> Blending {
        match self.recipe.candidates[0].palette {
            PaletteForm::DualQuaternions => Blending::DualQuaternion,
            _ => Blending::Linear,
        }
    }

    fn approximation(&self) -> Option<Approximation> {
        self.state.as_ref()?.palettes.approximation()
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        let Some(State { palettes: source, skin, .. }) = &self.state else { return Vec::new() };
        let strategy = skin.strategy();
        let (_, palettes) = PosedPalettes::bytes(crowd, strategy.palette);
        let meshes: u64 = crowd.groups().iter().map(|g| MeshBuffers::bytes(g, strategy.mesh)).sum();
        if self.recipe.posing == Posing::Visible {
            return Vec::new();
        }
        let mut traffic = posed(crowd, self.recipe.posing, strategy.palette, source.poses());
        traffic.push(Traffic {
            stage: Stage::Skin,
            clock: Clock::Gpu,
            read: palettes + meshes,
            written: Arena::bytes(crowd),
            memory: Memory::Device,
        });
        traffic
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        let first = self.recipe.candidates[0];
        if job.keep == Keep::TwoFrames && self.recipe.posing == Posing::Visible {
            let message = "keeps those in view, others in every frame; needs a run without --motion";
            return Err(BackendError::Unavailable(message.into()));
        }
        self.gpu.has(wgpu::ShaderStages::COMPUTE, skinning::storage_buffers(first.palette) + 1)?;
        if !first.palette.scales_unevenly() {
            scales_evenly(crowd)?;
        }
        let chunks = self.gpu.chunks(crowd)?;
        let (host, palettes) = self.recipe.posing.bytes(&self.gpu, crowd, &chunks, first.palette)?;
        let meshes: u64 = crowd.groups().iter().map(|g| MeshBuffers::bytes(g, first.mesh)).sum();
        let trial = if self.recipe.candidates.len() > 1 { compute::trial_bytes(&self.gpu, crowd)? } else { 0 };
        Ok(Footprint { host, device: palettes + meshes + trial, host_output: false, device_output: true })
    }

    fn prepare(&mut self, crowd: &Crowd, job: &Job) -> Result<()> {
        let chunks = self.gpu.chunks(crowd)?;
        let Recipe { posing, candidates, .. } = self.recipe;
        let (form, edit) = (candidates[0].palette, self.edits.pose.as_ref());
        let palettes = posing.source(&self.gpu, crowd, &chunks, form, &job.frustum, edit)?;
        let made = |strategy| ComputeSkin::new(&self.gpu, crowd, strategy, self.edits.skin.as_ref());
        let skin = match candidates {
            [only] => made(only),
            many => {
                compute::trial(&self.gpu, crowd, &chunks, palettes.chunks(), many.iter().map(|s| made(s)).collect())?
            }
        };
        self.state = Some(State { chunks, palettes, skin, held: Vec::new() });
        self.gpu.check()
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let State { chunks, palettes, skin, held } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        let Arena { device, previous, .. } = &*frame.arena;
        if !skin.choose(device) {
            skin.bind(&self.gpu, frame.crowd, chunks, palettes.chunks(), &[device, previous], palettes.visibility());
        }
        let buffers = frame.arena.device.len();
        held.resize(buffers, 0);
        let mut commands = self.gpu.frame(self.recipe.name);
        palettes.submit(&self.gpu, frame, timer, &mut commands);
        self.gpu.compute_pass(&mut commands, Stage::Skin, |pass| {
            for (index, chunk) in chunks.iter().enumerate() {
                skin.dispatch(&self.gpu, pass, frame.crowd, chunk, index);
                held[index % buffers] = index;
            }
        });
        Ok(Ticket::recorded(commands))
    }

    fn skinned(&self) -> Skinned {
        match self.state.as_ref().and_then(|state| state.palettes.visibility()) {
            Some(visibility) => Skinned::VisibleOnDevice(Rc::clone(visibility.visible())),
            None => Skinned::Device,
        }
    }

    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        self.state.as_mut().ok_or_else(BackendError::unprepared)?.palettes.visible()
    }

    fn read_back(
        &mut self,
        crowd: &Crowd,
        arena: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()> {
        let State { chunks, palettes, skin, held } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        if what != Stage::Skin {
            return palettes.read_back(crowd, what, instances, out);
        }
        for (index, chunk) in chunks.iter().enumerate() {
            let slot = index % arena.device.len();
            let part = chunk.instances.start.max(instances.start)..chunk.instances.end.min(instances.end);
            if !part.is_empty() {
                // Another chunk's turn came after: skinned once more.
                if held[slot] != index {
                    self.gpu.poison(&arena.device[slot..=slot])?;
                    let mut commands = self.gpu.commands("once more");
                    skin.dispatch(
                        &self.gpu,
                        &mut commands.encoder.begin_compute_pass(&Default::default()),
                        crowd,
                        chunk,
                        index,
                    );
                    commands.finish()?;
                    held[slot] = index;
                }
                let words = crowd.groups()[chunk.group].instance_words();
                let places = palettes.places(chunk, index, part)?;
                let first = places.start as usize * words;
                self.gpu.read_back(&arena.device[slot], first as u64, places.len() * words, &mut out.values)?;
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
