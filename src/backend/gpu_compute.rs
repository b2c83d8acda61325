//! Skinning in a compute shader: once for all passes, into the arena's storage buffers.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{Arena, Bytes, FrameInput, Purpose, Result, Stage};
use crate::gpu::device::commands::ComputePass;
use crate::gpu::device::objects::Buffer;
use crate::gpu::draw::source::{ArenaForm, StoredPart, StoredVertices};
use crate::gpu::shader::kernel::Edit;
use crate::gpu::skin::compute::{self, ComputeSkin, SkinKernel};
use crate::gpu::skin::output::OutputForm;
use crate::gpu::skin::skinning::{self, Kind};
use crate::gpu::{Chunk, Commands, Drawable, MeshForm, PaletteForm};
use std::ops::Range;
use std::rc::Rc;

/// Dispatches one kernel for every chunk.
pub(super) struct ComputeSkinner {
    skin: ComputeSkin,
    /// The skinned vertices, if they are not in the arena.
    own: Option<OwnVertices>,
    /// Bytes that the trial of several kernels took, if the kernel was chosen among several.
    trial: Option<Bytes>,
    /// For each of the arena's buffers the index of the chunk whose vertices it holds.
    held_chunks: Vec<usize>,
}

/// Skinned vertices in buffers of the backend.
struct OwnVertices {
    vertices: Rc<StoredVertices>,
    buffers: Vec<Buffer>,
    bytes: Bytes,
}

impl ComputeSkinner {
    /// Compiles the kernels and finds the fastest, if there are several. With `own`, vertices are not in the arena.
    ///
    /// # Errors
    /// The adapter binds too few buffers, or was lost.
    pub fn new(
        posed: &Posed,
        crowd: &Crowd,
        kernels: &[&'static SkinKernel],
        own: bool,
        edit: Option<&Edit>,
    ) -> Result<Self> {
        let buffers = skinning::storage_buffers(kernels[0].palette) + 1 + kernels[0].morph.storage_buffers(crowd);
        posed.gpu.has(wgpu::ShaderStages::COMPUTE, buffers)?;
        let Posed { gpu, chunks, .. } = posed;
        let compiled = |kernel| ComputeSkin::new(gpu, crowd, kernel, edit);
        let (skin, trial) = match kernels {
            [only] => (compiled(only), None),
            many => {
                let candidates = many.iter().map(|k| compiled(k)).collect();
                let (best, bytes) = gpu.counted(|| compute::trial(gpu, crowd, chunks, posed.inputs(), candidates));
                (best?, Some(bytes.all_for(Purpose::Staging)))
            }
        };
        let own = own.then(|| {
            let (vertices, bytes) = gpu.counted(|| Rc::new(own_vertices(posed, crowd)));
            OwnVertices { buffers: vertices.buffers(), vertices, bytes }
        });
        Ok(Self { skin, own, trial, held_chunks: Vec::new() })
    }
}

impl GpuSkinner for ComputeSkinner {
    fn label(&self) -> Option<String> {
        self.trial.map(|_| format!("skins by {}", self.skin.kernel().name))
    }

    fn memory(&self) -> Bytes {
        let own = self.own.as_ref().map_or(Bytes::default(), |own| own.bytes);
        self.skin.allocated() + self.trial.unwrap_or_default() + own
    }

    fn kernel(&self) -> Option<&'static SkinKernel> {
        Some(self.skin.kernel())
    }

    fn bind(&mut self, posed: &Posed, frame: &FrameInput) {
        let Arena { device, previous, .. } = &*frame.arena;
        let (device, previous): (&[_], &[_]) = match &self.own {
            Some(own) => (&own.buffers, &[]),
            None => (device, previous),
        };
        if !self.skin.choose(device) {
            let sets: &[&[_]] = &[device, previous];
            self.skin.bind(&posed.gpu, frame.crowd, &posed.chunks, posed.inputs(), sets);
        }
        self.held_chunks.resize(device.len(), 0);
    }

    fn record(&mut self, posed: &Posed, frame: &FrameInput, commands: &mut Commands) {
        let Self { skin, held_chunks, .. } = self;
        posed.gpu.compute_pass(commands, Stage::Skin, |pass| {
            for (index, chunk) in posed.chunks.iter().enumerate() {
                skin.dispatch(&posed.gpu, pass, frame.crowd, chunk, index);
                let buffers = held_chunks.len();
                held_chunks[index % buffers] = index;
            }
        });
    }

    fn skinned(&self, posed: &Posed) -> Skinned {
        if let Some(own) = &self.own {
            return Skinned::Device(Drawable::Stored(Rc::clone(&own.vertices)));
        }
        Skinned::Device(Drawable::Arena(arena_form(posed, self.skin.kernel().output)))
    }

    fn read(
        &mut self,
        posed: &mut Posed,
        crowd: &Crowd,
        arena: &Arena,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let Posed { gpu, chunks, palettes, .. } = posed;
        let held = self.own.as_ref().map_or(&arena.device, |own| &own.buffers);
        for (index, chunk) in chunks.iter().enumerate() {
            let slot = index % held.len();
            let part = chunk.part(&instances);
            if part.is_empty() {
                continue;
            }
            // A later chunk may have overwritten a ring's buffer, so the chunk is skinned again.
            if self.held_chunks[slot] != index {
                gpu.poison(&held[slot..=slot])?;
                let mut commands = gpu.commands("skin again");
                let again = |pass: &mut ComputePass| self.skin.dispatch(gpu, pass, crowd, chunk, index);
                commands.compute_pass("skin again", None, again);
                commands.finish()?;
                self.held_chunks[slot] = index;
            }
            let words = crowd.groups()[chunk.group].instance_words();
            let places = palettes.places(chunk, index, part)?;
            let finer = palettes.finer_instances(index)?;
            let levels = chunks[index - finer.len()..].iter().zip(&finer);
            let before = levels.map(|(chunk, count)| count * crowd.groups()[chunk.group].instance_words());
            let first = before.sum::<usize>() + places.start as usize * words;
            let begin = out.len();
            gpu.read_back(&held[slot], first as u64, places.len() * words, out)?;
            if let Some(output) = self.skin.kernel().output {
                let vertices = crowd.groups()[chunk.group].model.mesh().vertex_count();
                out[begin..].chunks_exact_mut(words).for_each(|instance| output.sort(instance, vertices));
            }
        }
        Ok(())
    }
}

/// Form of vertices in the arena.
fn arena_form(posed: &Posed, output: Option<OutputForm>) -> ArenaForm {
    ArenaForm { output, visible: posed.palettes.visibility().map(|visibility| Rc::clone(visibility.visible())) }
}

/// Buffers for the vertices of each family, which its levels share: all instances may be at the level that has the most.
fn own_vertices(posed: &Posed, crowd: &Crowd) -> StoredVertices {
    let Posed { gpu, chunks, .. } = posed;
    let parts = chunks.chunks(crowd.levels()).flat_map(|family| {
        let bytes = family.iter().map(|chunk| chunk.output_bytes(crowd)).max().unwrap_or(0);
        let buffer = gpu.scratch(Purpose::Output, "vertices of levels", bytes);
        let part =
            move |chunk: &Chunk| StoredPart { chunks: vec![chunk.clone()], buffer: buffer.clone(), previous: None };
        family.iter().map(part)
    });
    let kinds = Kind::all(crowd, MeshForm::Plain, PaletteForm::Rows);
    StoredVertices { parts: parts.collect(), kinds, merged: false, form: arena_form(posed, None) }
}
