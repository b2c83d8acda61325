//! `gpu-compute`: poses as cpu-rayon, then one WGSL dispatch a chunk skins the whole crowd into storage buffers.

use super::{
    Arena, Backend, BackendError, BackendInfo, Context, Footprint, FrameInput, Job, ReadBack, Result, Skinned, Stage,
    StageTimer, Ticket, floats_only,
};
use crate::crowd::Crowd;
use crate::gpu::{Chunk, Gpu, INSTANCES_PER_THREAD, MeshBuffers, PosedPalettes, SKINNING_WGSL, WORKGROUP, skinning};
use crate::vertex::VertexFormat;
use std::ops::Range;
use std::rc::Rc;

struct GpuCompute {
    gpu: Rc<Gpu>,
    module: wgpu::ShaderModule,
    layout: wgpu::BindGroupLayout,
    state: Option<State>,
}

struct State {
    chunks: Vec<Chunk>,
    palettes: PosedPalettes,
    // One for each format of the crowd's groups.
    pipelines: Vec<(VertexFormat, wgpu::ComputePipeline)>,
    // Made when the arena is first seen.
    groups: Vec<wgpu::BindGroup>,
}

pub(super) fn create(context: &Context) -> Result<Box<dyn Backend>> {
    let wgsl = format!("{SKINNING_WGSL}{}", include_str!("../../shaders/gpu_compute.wgsl"));
    let gpu = context.gpu()?;
    let module = skinning::trusted_module(&gpu, "gpu-compute", wgsl);
    with_module(gpu, module)
}

/// The backend with another kernel in place of its own: tests break the kernel and see parity fail.
pub fn with_shader(context: &Context, wgsl: String) -> Result<Box<dyn Backend>> {
    let gpu = context.gpu()?;
    let module = gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("gpu-compute"),
        source: wgpu::ShaderSource::Wgsl(wgsl.into()),
    });
    with_module(gpu, module)
}

fn with_module(gpu: Rc<Gpu>, module: wgpu::ShaderModule) -> Result<Box<dyn Backend>> {
    let layout = skinning::layout(&gpu, wgpu::ShaderStages::COMPUTE, true);
    gpu.check()?;
    Ok(Box::new(GpuCompute { gpu, module, layout, state: None }))
}

impl GpuCompute {
    fn pipeline(&self, format: VertexFormat) -> wgpu::ComputePipeline {
        let device = self.gpu.device();
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("gpu-compute"),
            layout: Some(&device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("gpu-compute"),
                bind_group_layouts: &[Some(&self.layout)],
                immediate_size: 0,
            })),
            module: &self.module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &skinning::constants(format),
                ..Default::default()
            },
            cache: None,
        })
    }
}

impl Backend for GpuCompute {
    fn info(&self) -> BackendInfo {
        BackendInfo { name: "gpu-compute", variant: "", device: self.gpu.summary().name.clone() }
    }

    fn footprint(&self, crowd: &Crowd, _: &Job) -> Result<Footprint> {
        floats_only(crowd)?;
        self.gpu.chunks(crowd)?;
        let (host, device) = PosedPalettes::bytes(crowd);
        let meshes: u64 = crowd.groups().iter().map(MeshBuffers::bytes).sum();
        Ok(Footprint { host, device: device + meshes, host_output: false, device_output: true })
    }

    fn prepare(&mut self, crowd: &Crowd, _: &Job) -> Result<()> {
        let chunks = self.gpu.chunks(crowd)?;
        let palettes = PosedPalettes::new(&self.gpu, crowd, &chunks);
        let pipelines = crowd.formats().into_iter().map(|format| (format, self.pipeline(format))).collect();
        self.state = Some(State { chunks, palettes, pipelines, groups: Vec::new() });
        self.gpu.check()
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        let Self { gpu, layout, state, .. } = self;
        let State { chunks, palettes, pipelines, groups } = state.as_mut().ok_or_else(BackendError::unprepared)?;
        if groups.is_empty() {
            let outputs = &frame.arena.device;
            *groups = skinning::bind_groups(gpu, frame.crowd, chunks, layout, palettes.buffers(), outputs);
        }
        let mut commands = gpu.commands("gpu-compute");
        palettes.submit(gpu, frame, timer, &mut commands);
        gpu.compute_pass(&mut commands, Stage::Skin, |pass| {
            for (chunk, bindings) in chunks.iter().zip(groups) {
                let group = &frame.crowd.groups()[chunk.group];
                let vertices = group.model.mesh().vertex_count() as u32;
                if let Some((_, pipeline)) = pipelines.iter().find(|(format, _)| *format == group.format) {
                    pass.set_pipeline(pipeline);
                }
                pass.set_bind_group(0, &*bindings, &[]);
                pass.dispatch_workgroups(
                    vertices.div_ceil(WORKGROUP),
                    (chunk.instances.len() as u32).div_ceil(INSTANCES_PER_THREAD),
                    1,
                );
            }
        });
        Ok(Ticket { commands: Some(commands) })
    }

    fn wait(&mut self, ticket: Ticket) -> Result<()> {
        ticket.finish()
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
        let State { chunks, palettes, .. } = self.state.as_ref().ok_or_else(BackendError::unprepared)?;
        if what != Stage::Skin {
            return palettes.read_back(crowd, what, instances, out);
        }
        for (chunk, buffer) in chunks.iter().zip(&arena.device) {
            let part = chunk.instances.start.max(instances.start)..chunk.instances.end.min(instances.end);
            if !part.is_empty() {
                let floats = crowd.groups()[chunk.group].instance_words();
                let first = (part.start - chunk.instances.start) as usize * floats;
                self.gpu.read_back(buffer, first as u64, part.len() * floats, &mut out.values)?;
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.state = None;
    }
}
