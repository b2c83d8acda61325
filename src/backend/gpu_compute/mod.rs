//! `gpu-compute` and its variants: poses as cpu-rayon, then WGSL dispatches skin the whole crowd into storage buffers.
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
use super::{
    Arena, Backend, BackendError, BackendInfo, Blending, Clock, Context, Footprint, FrameInput, Job, Memory, ReadBack,
    Result, Skinned, Stage, StageTimer, Ticket, Traffic,
};
use crate::crowd::Crowd;
use crate::gpu::compute::{self, ComputeSkin, Strategy};
use crate::gpu::skinning::{self, Edit};
use crate::gpu::{Chunk, Gpu, MeshBuffers, PaletteForm, PosedPalettes};
use std::ops::Range;
use std::rc::Rc;

pub(super) use best::create as best;
pub use best::with_edit;
pub(super) use dual_quaternion::create as dual_quaternion;
pub(super) use instances::create as instances;
pub(super) use naive::create as naive;
pub(super) use per_character::create as per_character;
pub(super) use shared::create as shared;

/// Every strategy: tests look into their shaders.
pub const STRATEGIES: &[&Strategy] =
    &[&dual_quaternion::STRATEGY, &per_character::STRATEGY, &naive::STRATEGY, &shared::STRATEGY, &instances::STRATEGY];

/// Poses on the CPU, skins by the fastest of some strategies, which all read palettes in one form.
struct GpuCompute {
    gpu: Rc<Gpu>,
    variant: &'static str,
    candidates: &'static [&'static Strategy],
    edit: Option<Edit>,
    state: Option<State>,
}

struct State {
    chunks: Vec<Chunk>,
    palettes: PosedPalettes,
    // Bound when the arena is first seen.
    skin: ComputeSkin,
    // The chunk whose vertices each of the arena's buffers holds.
    held: Vec<usize>,
}

impl GpuCompute {
    fn create(
        context: &Context,
        variant: &'static str,
        candidates: &'static [&'static Strategy],
        edit: Option<Edit>,
    ) -> Result<Box<dyn Backend>> {
        Ok(Box::new(Self { gpu: context.gpu()?, variant, candidates, edit, state: None }))
    }
}

impl Backend for GpuCompute {
    fn info(&self) -> BackendInfo {
        let adapter = &self.gpu.summary().name;
        let device = match &self.state {
            Some(state) if self.candidates.len() > 1 => format!("{adapter}, by {}", state.skin.strategy().name),
            _ => adapter.clone(),
        };
        BackendInfo { name: "gpu-compute", variant: self.variant, device }
    }

    fn blending(&self) -> Blending {
        match self.candidates[0].palette {
            PaletteForm::DualQuaternions => Blending::DualQuaternion,
            _ => Blending::Linear,
        }
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        let Some(State { skin, .. }) = &self.state else { return Vec::new() };
        let strategy = skin.strategy();
        let (_, palettes) = PosedPalettes::bytes(crowd, strategy.palette);
        let meshes: u64 = crowd.groups().iter().map(|g| MeshBuffers::bytes(g, strategy.mesh)).sum();
        let mut traffic = posed(crowd, palettes);
        traffic.push(Traffic {
            stage: Stage::Skin,
            clock: Clock::Gpu,
            read: palettes + meshes,
            written: Arena::bytes(crowd),
            memory: Memory::Device,
        });
        traffic
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        self.gpu.has(wgpu::ShaderStages::COMPUTE, skinning::STORAGE_BUFFERS + 1)?;
        let first = self.candidates[0];
        if first.palette == PaletteForm::DualQuaternions {
            scales_evenly(crowd)?;
        }
        first.palette.check(&self.gpu, crowd, &self.gpu.chunks(crowd)?)?;
        let (host, palettes) = PosedPalettes::bytes(crowd, first.palette);
        let meshes: u64 = crowd.groups().iter().map(|g| MeshBuffers::bytes(g, first.mesh)).sum();
        let trial = if self.candidates.len() > 1 { compute::trial_bytes(&self.gpu, crowd)? } else { 0 };
        Ok(Footprint { host, device: palettes + meshes + trial, host_output: false, device_output: true })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        let chunks = self.gpu.chunks(crowd)?;
        let palettes = PosedPalettes::new(&self.gpu, crowd, &chunks, self.candidates[0].palette);
        let made = |strategy| ComputeSkin::new(&self.gpu, crowd, strategy, self.edit.as_ref());
        let skin = match self.candidates {
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
            skin.bind(&self.gpu, frame.crowd, chunks, palettes.chunks(), &[device, previous]);
        }
        let buffers = frame.arena.device.len();
        held.resize(buffers, 0);
        let mut commands = self.gpu.frame("gpu-compute");
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
        Skinned::Device
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
                let first = (part.start - chunk.instances.start) as usize * words;
                self.gpu.read_back(&arena.device[slot], first as u64, part.len() * words, &mut out.values)?;
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
