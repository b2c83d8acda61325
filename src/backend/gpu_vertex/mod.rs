//! `gpu-vertex` and its variants: poses as cpu-rayon, then the vertex shader skins, in every pass.
//!
//! `gpu-full:vertex` skins likewise. A variant is a `Strategy` in a file of its own.

mod mat4;
mod packed;
mod texture;
mod uniform;

use super::cpu_simd::scales_evenly;
use super::traffic::posed;
use super::{Backend, BackendInfo, Context, Skinned, Ticket, floats_only};
use crate::crowd::Crowd;
use crate::frame::{
    Approximation, Arena, BackendError, Footprint, FrameInput, Job, Keep, ReadBack, Result, Stage, StageTimer, Traffic,
};
use crate::gpu::present;
use crate::gpu::skinning::{self, Bound, Edit, Kind};
use crate::gpu::source::VertexSource;
use crate::gpu::{Capture, Chunk, Gpu, MeshBuffers, MeshForm, PaletteForm, PaletteSource, Posing};
use std::ops::Range;
use std::rc::Rc;

pub(crate) use mat4::create as mat4;
pub(crate) use packed::create as packed;
pub use packed::with_edit;
pub(crate) use texture::create as texture;
pub(crate) use uniform::create as uniform;

/// A way to skin in a vertex shader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strategy {
    pub name: &'static str,
    pub variant: &'static str,
    pub posing: Posing,
    pub mesh: MeshForm,
    pub palette: PaletteForm,
}

impl Strategy {
    /// A variant that poses on the CPU.
    const fn posed(variant: &'static str, mesh: MeshForm, palette: PaletteForm) -> Self {
        Self { name: "gpu-vertex", variant, posing: Posing::Host, mesh, palette }
    }
}

pub(super) struct GpuVertex {
    gpu: Rc<Gpu>,
    strategy: Strategy,
    edit: Option<Edit>,
    state: Option<State>,
}

struct State {
    chunks: Vec<Chunk>,
    palettes: Box<dyn PaletteSource>,
    source: Rc<VertexSource>,
    // Made when vertices are first read back.
    capture: Option<Capture>,
}

impl GpuVertex {
    pub(super) fn create(context: &Context, strategy: Strategy, edit: Option<Edit>) -> Result<Box<dyn Backend>> {
        Ok(Box::new(Self { gpu: context.gpu()?, strategy, edit, state: None }))
    }

    fn source(&self, crowd: &Crowd, chunks: &[Chunk], palettes: &dyn PaletteSource) -> VertexSource {
        let Strategy { mesh, palette, .. } = self.strategy;
        let layout = skinning::layout(&self.gpu, wgpu::ShaderStages::VERTEX, palette, false);
        let meshes: Vec<_> = crowd.groups().iter().map(|g| MeshBuffers::new(&self.gpu, g, mesh)).collect();
        let bound =
            Bound { meshes: &meshes, palettes: palettes.chunks(), outputs: &[], visibility: palettes.visibility() };
        let edit = self.edit.clone();
        let trusted = edit.is_none();
        VertexSource {
            wgsl: Box::new(move |kind| {
                let wgsl = skinning::wgsl(kind.mesh, palette) + include_str!("../../../shaders/gpu_vertex.wgsl");
                if let Some(edit) = &edit { edit(wgsl) } else { wgsl }
            }),
            kinds: Kind::all(crowd, mesh),
            groups: skinning::bind_groups(&self.gpu, crowd, chunks, &layout, &bound),
            layout,
            stride: palette.stride(),
            trusted,
            motion: false,
            visible: bound.visibility.map(|visibility| Rc::clone(visibility.visible())),
        }
    }
}

impl Backend for GpuVertex {
    fn info(&self) -> BackendInfo {
        let Strategy { name, variant, .. } = self.strategy;
        let adapter = &self.gpu.summary().name;
        let device = match self.state.as_ref().and_then(|state| state.palettes.way()) {
            Some(way) => format!("{adapter}, {way}"),
            None => adapter.clone(),
        };
        BackendInfo { name, variant, device }
    }

    fn approximation(&self) -> Option<Approximation> {
        self.state.as_ref()?.palettes.approximation()
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        let poses = self.state.as_ref().and_then(|state| state.palettes.poses());
        match self.strategy.posing {
            Posing::Visible => Vec::new(),
            posing => posed(crowd, posing, self.strategy.palette, poses),
        }
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        if job.keep == Keep::TwoFrames {
            return Err(BackendError::Unavailable("would skin twice for --motion; leaves no vertices to keep".into()));
        }
        floats_only(crowd)?;
        self.gpu.has_captures()?;
        let Strategy { posing, mesh, palette, .. } = self.strategy;
        self.gpu.has(wgpu::ShaderStages::VERTEX, skinning::storage_buffers(palette) + present::STORAGE_BUFFERS)?;
        if !palette.scales_unevenly() {
            scales_evenly(crowd)?;
        }
        let (host, device) = posing.bytes(&self.gpu, crowd, &self.gpu.chunks(crowd)?, palette)?;
        let meshes: u64 = crowd.groups().iter().map(|g| MeshBuffers::bytes(g, mesh)).sum();
        Ok(Footprint { host, device: device + meshes + Capture::BYTES, host_output: false, device_output: false })
    }

    fn prepare(&mut self, crowd: &Crowd, job: &Job) -> Result<()> {
        let chunks = self.gpu.chunks(crowd)?;
        let Strategy { posing, palette, .. } = self.strategy;
        let palettes = posing.source(&self.gpu, crowd, &chunks, palette, &job.frustum, None)?;
        let source = Rc::new(self.source(crowd, &chunks, &*palettes));
        self.state = Some(State { chunks, palettes, source, capture: None });
        self.gpu.check()
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let palettes = &mut self.state.as_mut().ok_or_else(BackendError::unprepared)?.palettes;
        let mut commands = self.gpu.frame(self.strategy.name);
        palettes.submit(&self.gpu, frame, timer, &mut commands);
        Ok(Ticket::recorded(commands))
    }

    fn skinned(&self) -> Skinned {
        match &self.state {
            Some(state) => Skinned::InVertexShader(Rc::clone(&state.source)),
            None => Skinned::Device,
        }
    }

    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        self.state.as_mut().ok_or_else(BackendError::unprepared)?.palettes.visible()
    }

    fn read_back(
        &mut self,
        crowd: &Crowd,
        _: &Arena,
        what: Stage,
        instances: Range<u32>,
        out: &mut ReadBack,
    ) -> Result<()> {
        let State { chunks, palettes, source, capture } = self.state.as_mut().ok_or_else(BackendError::unprepared)?;
        if what != Stage::Skin {
            return palettes.read_back(crowd, what, instances, out);
        }
        let capture = match capture {
            Some(capture) => capture,
            None => capture.insert(Capture::new(&self.gpu, crowd, source)?),
        };
        for (index, (chunk, group)) in chunks.iter().zip(&source.groups).enumerate() {
            let part = chunk.instances.start.max(instances.start)..chunk.instances.end.min(instances.end);
            if !part.is_empty() {
                let places = palettes.places(chunk, index, part)?;
                capture.read(&self.gpu, crowd, chunk, group, places, &mut out.values)?;
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
