//! Skinning in a compute shader: once for all passes, into the shared output buffers or buffers of the backend.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{DeviceBuffer, FrameInput, OutputBuffers, Purpose, Result, Retention, Stage};
use crate::gpu::device::command::{Command, Recorder};
use crate::gpu::device::objects::BindGroup;
use crate::gpu::draw::source::{BufferForm, StoredVertices};
use crate::gpu::skin::compute::{self, ComputeSkin, SkinKernel};
use crate::gpu::skin::output::OutputForm;
use crate::gpu::{Chunk, Commands, Drawable};
use std::ops::Range;
use std::rc::Rc;

/// Dispatches one kernel for every part of a crowd.
pub(super) struct ComputeSkinner {
    skin: ComputeSkin,
    /// The skinned vertices, if they are not in the output buffers: those of the last frame, then those of the frame before if
    /// they are kept.
    own: Vec<Rc<StoredVertices>>,
    /// `true` if the kernel was chosen among several.
    chosen: bool,
    /// The bindings of all parts for the first of the buffers that they write to: those of the last frame, then those of
    /// the frame before if two sets of buffers swap.
    bound: Vec<(DeviceBuffer, Vec<Vec<BindGroup>>)>,
    /// For each output buffer the index of the part whose vertices it holds.
    held_parts: Vec<usize>,
}

impl ComputeSkinner {
    /// Compiles the kernels and finds the fastest, if there are several. With `own`, which says what is kept, vertices
    /// are not in the output buffers.
    ///
    /// # Errors
    /// The adapter binds too few buffers, or was lost.
    pub fn new(
        posed: &Posed,
        crowd: &Crowd,
        kernels: &[&'static SkinKernel],
        own: Option<Retention>,
    ) -> Result<Self> {
        let merged = kernels[0].is_merged();
        let Posed {
            gpu,
            chunks,
            parts,
            palettes,
            inputs,
            ..
        } = posed;
        let kernel = match kernels {
            [only] => only,
            many => gpu.counted_as(Purpose::Staging, || {
                compute::trial(gpu, crowd, chunks, inputs, many)
            })?,
        };
        let skin = ComputeSkin::new(gpu, crowd, kernel, parts, inputs, palettes.in_view.as_ref())?;
        let form = buffer_form(posed, None);
        let own = own.map(|keep| StoredVertices::allocate(gpu, crowd, parts, keep, merged, &form));
        let own = own.unwrap_or_default();
        Ok(Self {
            skin,
            own,
            chosen: kernels.len() > 1,
            bound: Vec::new(),
            held_parts: Vec::new(),
        })
    }
}

impl GpuSkinner for ComputeSkinner {
    fn label(&self) -> Option<String> {
        self.chosen
            .then(|| format!("skins by {}", self.skin.kernel.name))
    }

    fn kernel(&self) -> Option<&'static SkinKernel> {
        Some(self.skin.kernel)
    }

    fn record(&mut self, posed: &Posed, frame: &FrameInput, kept: bool, commands: &mut Commands) {
        let Self {
            skin,
            own,
            bound,
            held_parts,
            ..
        } = self;
        own.reverse();
        let outputs = own.first().map_or(&frame.output.device, |own| &own.buffers);
        match bound.iter().position(|(first, _)| *first == outputs[0]) {
            Some(known) => bound.swap(0, known),
            None => {
                bound.truncate(1);
                bound.insert(0, (outputs[0].clone(), skin.bind(&posed.gpu, outputs)));
            }
        }
        held_parts.resize(outputs.len(), 0);
        let label = Stage::Skin.name();
        commands.run(Command::Compute { label });
        for (index, (part, bound)) in posed.parts.iter().zip(&bound[0].1).enumerate() {
            let instances = match &part[..] {
                // A ring keeps nothing, and only chunks that are parts by themselves are in the output buffers.
                [chunk] if kept && held_parts.len() == posed.parts.len() => chunk
                    .part(&frame.crowd.groups()[chunk.group].moving())
                    .len()
                    as u32,
                _ => instances_of(part),
            };
            skin.dispatch(&posed.gpu, commands, index, bound, instances);
            let buffers = held_parts.len();
            held_parts[index % buffers] = index;
        }
        commands.run(Command::End);
    }

    fn skinned(&self, posed: &Posed) -> Skinned {
        Skinned::Device(match self.own.first() {
            Some(own) => Drawable::Stored(Rc::clone(own)),
            None => Drawable::Output(buffer_form(posed, self.skin.kernel.output)),
        })
    }

    fn read(
        &mut self,
        posed: &mut Posed,
        crowd: &Crowd,
        output: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let Posed {
            gpu,
            parts,
            palettes,
            ..
        } = posed;
        let held = self.own.first().map_or(&output.device, |own| &own.buffers);
        let words_of = |chunk: &Chunk| crowd.groups()[chunk.group].instance_words();
        for (index, part) in parts.iter().enumerate() {
            let (slot, mut end) = (index % held.len(), 0);
            for chunk in part {
                let (words, begin) = (words_of(chunk), end);
                end += chunk.instances.len() * words;
                let wanted = chunk.part(&instances);
                if wanted.is_empty() {
                    continue;
                }
                // A later part may have overwritten a ring's buffer, so the part is skinned again.
                if self.held_parts[slot] != index {
                    gpu.poison(&held[slot..=slot])?;
                    let mut commands = gpu.commands("skin again");
                    let bound = &self.bound[0].1[index];
                    commands.run(Command::Compute { label: "again" });
                    let instances = instances_of(part);
                    self.skin
                        .dispatch(gpu, &mut commands, index, bound, instances);
                    commands.run(Command::End);
                    commands.finish()?;
                    self.held_parts[slot] = index;
                }
                let (finer, places) =
                    palettes
                        .poser
                        .places(index, chunk.instances.start, wanted)?;
                let levels = parts[index - finer.len()..].iter().flatten().zip(&finer);
                let before = levels
                    .map(|(chunk, count)| count * words_of(chunk))
                    .sum::<usize>();
                let first = begin + before + places.start as usize * words;
                let read = out.len();
                gpu.read_back(&held[slot], first as u64, places.len() * words, out)?;
                if let Some(output) = self.skin.kernel.output {
                    let vertices = crowd.groups()[chunk.group].model.mesh().vertex_count();
                    out[read..]
                        .chunks_exact_mut(words)
                        .for_each(|instance| output.sort(instance, vertices));
                }
            }
        }
        Ok(())
    }
}

fn instances_of(part: &[Chunk]) -> u32 {
    part.iter().map(|chunk| chunk.instances.len() as u32).sum()
}

/// Form of vertices in the output buffers.
fn buffer_form(posed: &Posed, output: Option<OutputForm>) -> BufferForm {
    BufferForm {
        output,
        visible: posed.palettes.in_view.clone(),
    }
}
