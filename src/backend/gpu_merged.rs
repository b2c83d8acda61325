//! Skinning of all models of a crowd in one dispatch, into buffers that they share.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{Arena, Bytes, FrameInput, Result, Retention, Stage};
use crate::gpu::device::commands::ComputePass;
use crate::gpu::draw::source::StoredPart;
use crate::gpu::shader::kernel::Edit;
use crate::gpu::skin::compute::SkinKernel;
use crate::gpu::skin::merged::{self, MergedSkin};
use crate::gpu::{Chunk, Commands, Drawable, Gpu};
use std::ops::Range;
use std::rc::Rc;

/// Dispatches a kernel once for every span and kind of model.
pub(super) struct MergedSkinner {
    skin: MergedSkin,
    /// For each output buffer the index of the span whose vertices it holds.
    held_spans: Vec<usize>,
}

impl MergedSkinner {
    /// Compiles the kernel and uploads what does not change.
    ///
    /// # Errors
    /// The adapter binds too few buffers.
    pub fn new(
        posed: &Posed,
        crowd: &Crowd,
        kernel: &'static SkinKernel,
        spans: &[Vec<Chunk>],
        keep: Retention,
        edit: Option<&Edit>,
    ) -> Result<Self> {
        posed.gpu.has(wgpu::ShaderStages::COMPUTE, merged::STORAGE_BUFFERS)?;
        let skin = MergedSkin::new(&posed.gpu, crowd, kernel, spans, posed.palettes.chunks(), keep, edit);
        let held_spans = vec![0; skin.buffers()];
        Ok(Self { skin, held_spans })
    }

    fn dispatch(&mut self, gpu: &Gpu, pass: &mut ComputePass, span: usize) {
        self.skin.dispatch(gpu, pass, span);
        let buffers = self.held_spans.len();
        self.held_spans[span % buffers] = span;
    }
}

impl GpuSkinner for MergedSkinner {
    fn memory(&self) -> Bytes {
        self.skin.allocated()
    }

    fn kernel(&self) -> Option<&'static SkinKernel> {
        Some(self.skin.kernel())
    }

    fn bind(&mut self, _: &Posed, _: &FrameInput) {
        self.skin.swap();
    }

    fn record(&mut self, posed: &Posed, _: &FrameInput, commands: &mut Commands) {
        posed.gpu.compute_pass(commands, Stage::Skin, |pass| {
            (0..self.skin.vertices().parts.len()).for_each(|span| self.dispatch(&posed.gpu, pass, span));
        });
    }

    fn skinned(&self, _: &Posed) -> Skinned {
        Skinned::Device(Drawable::Stored(Rc::clone(self.skin.vertices())))
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
        for (span, StoredPart { chunks, buffer, .. }) in vertices.parts.iter().enumerate() {
            let mut first = 0;
            for chunk in chunks {
                let words = crowd.groups()[chunk.group].instance_words();
                let begin = first;
                first += chunk.instances.len() * words;
                let part = chunk.part(&instances);
                if part.is_empty() {
                    continue;
                }
                // A later span may have overwritten a ring's buffer, so the span is skinned again.
                if self.held_spans[span % self.held_spans.len()] != span {
                    gpu.poison(std::slice::from_ref(buffer))?;
                    let mut commands = gpu.commands("skin again");
                    commands.compute_pass("skin again", None, |pass| self.dispatch(gpu, pass, span));
                    commands.finish()?;
                }
                let begin = begin + (part.start - chunk.instances.start) as usize * words;
                gpu.read_back(buffer, begin as u64, part.len() * words, out)?;
            }
        }
        Ok(())
    }
}
