//! `gpu-vertex`: poses as cpu-rayon, then the vertex shader skins with a matrix palette, in every pass.

use super::{
    Arena, Backend, BackendError, BackendInfo, Context, Footprint, FrameInput, Job, ReadBack, Result, Skinned, Stage,
    StageTimer, Ticket, floats_only,
};
use crate::crowd::Crowd;
use crate::gpu::present::VertexSource;
use crate::gpu::{Capture, Chunk, Gpu, MeshBuffers, PosedPalettes, SKINNING_WGSL, skinning};
use std::ops::Range;
use std::rc::Rc;

struct GpuVertex {
    gpu: Rc<Gpu>,
    wgsl: String,
    state: Option<State>,
}

struct State {
    chunks: Vec<Chunk>,
    palettes: PosedPalettes,
    source: Rc<VertexSource>,
    // Made when vertices are first read back.
    capture: Option<Capture>,
}

pub(super) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    let wgsl = format!("{SKINNING_WGSL}{}", include_str!("../../shaders/gpu_vertex.wgsl"));
    with_shader(context, wgsl)
}

/// The backend with another shader in place of its own: tests break the shader and see parity fail.
pub fn with_shader(context: &Context, wgsl: String) -> Result<Box<dyn Backend>> {
    Ok(Box::new(GpuVertex { gpu: context.gpu()?, wgsl, state: None }))
}

impl Backend for GpuVertex {
    fn info(&self) -> BackendInfo {
        BackendInfo { name: "gpu-vertex", variant: "", device: self.gpu.summary().name.clone() }
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        floats_only(crowd)?;
        self.gpu.chunks(crowd)?;
        let (host, device) = PosedPalettes::bytes(crowd);
        let meshes: u64 = crowd.groups().iter().map(MeshBuffers::bytes).sum();
        Ok(Footprint { host, device: device + meshes + Capture::BYTES, host_output: false, device_output: false })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        let chunks = self.gpu.chunks(crowd)?;
        let palettes = PosedPalettes::new(&self.gpu, crowd, &chunks);
        let layout = skinning::layout(&self.gpu, wgpu::ShaderStages::VERTEX, false);
        let groups = skinning::bind_groups(&self.gpu, crowd, &chunks, &layout, palettes.buffers(), &[]);
        let source = Rc::new(VertexSource { wgsl: self.wgsl.clone(), layout, groups });
        self.state = Some(State { chunks, palettes, source, capture: None });
        self.gpu.check()
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let palettes = &mut self.state.as_mut().ok_or_else(BackendError::unprepared)?.palettes;
        let mut commands = self.gpu.commands("gpu-vertex");
        palettes.submit(&self.gpu, frame, timer, &mut commands);
        Ok(Ticket { commands: Some(commands) })
    }

    fn wait(&mut self, ticket: Ticket) -> Result<()> {
        ticket.finish()
    }

    fn skinned(&self) -> Skinned {
        match &self.state {
            Some(state) => Skinned::InVertexShader(Rc::clone(&state.source)),
            None => Skinned::Device,
        }
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
        for (chunk, group) in chunks.iter().zip(&source.groups) {
            let part = chunk.instances.start.max(instances.start)..chunk.instances.end.min(instances.end);
            if !part.is_empty() {
                capture.read(&self.gpu, crowd, chunk, group, part, &mut out.values)?;
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
