//! Skinning of all models of a crowd in one dispatch, into buffers that they share.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{Arena, Bytes, Clock, Footprint, FrameInput, Job, Memory, Result, Retention, Stage, Traffic};
use crate::gpu::compute::SkinKernel;
use crate::gpu::merged::{self, MergedSkin};
use crate::gpu::shader::Edit;
use crate::gpu::{Chunk, Commands, Drawable, Gpu, MeshBuffers, PosedPalettes};
use std::ops::Range;
use std::rc::Rc;

/// Dispatches a kernel once for every span and kind of model.
pub(super) struct MergedSkinner {
    skin: MergedSkin,
    /// For each output buffer the index of the span whose vertices it holds.
    held_spans: Vec<usize>,
}

impl MergedSkinner {
    /// Device memory besides palettes.
    pub fn footprint(
        gpu: &Gpu,
        kernel: &SkinKernel,
        crowd: &Crowd,
        spans: &[Vec<Chunk>],
        job: &Job,
    ) -> Result<Footprint> {
        gpu.has(wgpu::ShaderStages::COMPUTE, merged::STORAGE_BUFFERS)?;
        Ok(Footprint { device: MergedSkin::bytes(crowd, kernel, spans, job.keep), ..Footprint::default() })
    }

    /// Compiles the kernel and uploads what does not change.
    pub fn new(
        posed: &Posed,
        crowd: &Crowd,
        kernel: &'static SkinKernel,
        spans: Vec<Vec<Chunk>>,
        keep: Retention,
        edit: Option<&Edit>,
    ) -> Self {
        let skin = MergedSkin::new(&posed.gpu, crowd, kernel, spans, posed.palettes.chunks(), keep, edit);
        let held_spans = vec![0; skin.vertices().buffers().len()];
        Self { skin, held_spans }
    }

    fn dispatch(&mut self, gpu: &Gpu, pass: &mut wgpu::ComputePass, span: usize) {
        self.skin.dispatch(gpu, pass, span);
        let buffers = self.held_spans.len();
        self.held_spans[span % buffers] = span;
    }
}

impl GpuSkinner for MergedSkinner {
    fn memory(&self) -> Bytes {
        self.skin.allocated()
    }

    fn traffic(&self, crowd: &Crowd) -> Option<Traffic> {
        let kernel = self.skin.kernel();
        Some(Traffic {
            stage: Stage::Skin,
            clock: Clock::Gpu,
            read: PosedPalettes::uploaded(crowd, kernel.palette) + MeshBuffers::bytes(crowd, kernel.mesh),
            written: crowd.output_words() * size_of::<f32>() as u64,
            memory: Memory::Device,
        })
    }

    fn bind(&mut self, _: &Posed, _: &FrameInput) {
        self.skin.vertices().swap();
    }

    fn record(&mut self, posed: &Posed, _: &FrameInput, commands: &mut Commands) {
        posed.gpu.compute_pass(commands, Stage::Skin, |pass| {
            (0..self.skin.vertices().spans().len()).for_each(|span| self.dispatch(&posed.gpu, pass, span));
        });
    }

    fn skinned(&self, _: &Posed) -> Skinned {
        Skinned::Device(Drawable::Merged(Rc::clone(self.skin.vertices())))
    }

    fn read(
        &mut self,
        posed: &mut Posed,
        crowd: &Crowd,
        _: &Arena,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let (gpu, vertices) = (&posed.gpu, Rc::clone(self.skin.vertices()));
        for span in 0..vertices.spans().len() {
            let buffer = span % vertices.buffers().len();
            for (chunk, first) in vertices.places(span) {
                let part = chunk.part(&instances);
                if part.is_empty() {
                    continue;
                }
                // A later span may have overwritten a ring's buffer, so the span is skinned again.
                if self.held_spans[buffer] != span {
                    gpu.poison(&vertices.buffers()[buffer..=buffer])?;
                    let mut commands = gpu.commands("skin again");
                    self.dispatch(gpu, &mut commands.encoder.begin_compute_pass(&Default::default()), span);
                    commands.finish()?;
                }
                let words = crowd.groups()[chunk.group].instance_words();
                let first = first * crowd.format().words() + (part.start - chunk.instances.start) as usize * words;
                gpu.read_back(&vertices.buffers()[buffer], first as u64, part.len() * words, out)?;
            }
        }
        Ok(())
    }
}
