//! Skinning in a compute shader: once for all passes, into the arena's storage buffers.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{
    Arena, BackendError, Bytes, Clock, Footprint, FrameInput, Job, Memory, Purpose, Result, Retention, Stage, Traffic,
};
use crate::gpu::compute::{self, ComputeSkin, SkinKernel};
use crate::gpu::shader::Edit;
use crate::gpu::skinning::Kind;
use crate::gpu::visibility::VisibleChunk;
use crate::gpu::{
    Chunk, Commands, Drawable, Gpu, MeshBuffers, MeshForm, OwnVertices, PaletteForm, PosedPalettes, Posing,
    VertexSource, room_bytes, skinning,
};
use crate::vertex::Encoding;
use std::ops::Range;
use std::rc::Rc;

/// Dispatches one kernel for every chunk.
pub(super) struct ComputeSkinner {
    skin: ComputeSkin,
    /// The skinned vertices and their bytes, if they are not in the arena.
    own: Option<(Rc<OwnVertices>, Bytes)>,
    /// Bytes that the trial of several kernels took, if the kernel was chosen among several.
    trial: Option<Bytes>,
    /// For each of the arena's buffers the index of the chunk whose vertices it holds.
    held_chunks: Vec<usize>,
}

impl ComputeSkinner {
    /// Device memory besides palettes. Of several kernels, the one with the largest mesh counts.
    pub fn footprint(
        gpu: &Gpu,
        posing: Posing,
        kernels: &[&'static SkinKernel],
        crowd: &Crowd,
        chunks: &[Chunk],
        job: &Job,
    ) -> Result<Footprint> {
        if job.keep == Retention::TwoFrames && posing.culls() {
            let message =
                "keeps other instances in every frame, which have no previous vertices; needs a run without --motion";
            return Err(BackendError::Unavailable(message.into()));
        }
        if job.keep == Retention::Ring && posing == Posing::Levels {
            let message = "keeps the vertices of all levels that the device chooses; needs --output f32 or packed";
            return Err(BackendError::Unavailable(message.into()));
        }
        if kernels[0].streams && (job.keep == Retention::TwoFrames || crowd.format().encoding == Encoding::Packed) {
            let message = "stores floats of one frame apart; needs --output f32 or ring, and a run without --motion";
            return Err(BackendError::Unavailable(message.into()));
        }
        let morph = kernels[0].morph.storage_buffers(crowd);
        gpu.has(wgpu::ShaderStages::COMPUTE, skinning::storage_buffers(kernels[0].palette) + 1 + morph)?;
        let several = kernels.len() > 1;
        let trial = if several { compute::trial_bytes(gpu, crowd, chunks, kernels) } else { Bytes::default() };
        let bound = if posing.culls() { 0 } else { job.keep.frames() * chunks.len() };
        let kernel = kernels.iter().map(|kernel| ComputeSkin::bytes(gpu, crowd, kernel, bound));
        let kernel = kernel.max_by_key(|bytes| bytes.total()).unwrap_or_default();
        let own = posing == Posing::Levels;
        let output = if own { family_outputs(crowd, chunks).map(|(_, bytes)| room_bytes(bytes)).sum() } else { 0 };
        let device = trial + kernel + Bytes::of(Purpose::Output, output);
        Ok(Footprint { device, device_output: !own, ..Footprint::default() })
    }

    /// Compiles the kernels and finds the fastest, if there are several. With `own`, vertices are not in the arena.
    pub fn new(
        posed: &Posed,
        crowd: &Crowd,
        kernels: &[&'static SkinKernel],
        own: bool,
        edit: Option<&Edit>,
    ) -> Result<Self> {
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
        let own = own.then(|| gpu.counted(|| Rc::new(own_vertices(posed, crowd))));
        Ok(Self { skin, own, trial, held_chunks: Vec::new() })
    }
}

impl GpuSkinner for ComputeSkinner {
    fn label(&self) -> Option<String> {
        self.trial.map(|_| format!("skins by {}", self.skin.kernel().name))
    }

    fn memory(&self) -> Bytes {
        let own = self.own.as_ref().map_or(Bytes::default(), |(_, bytes)| *bytes);
        self.skin.allocated() + self.trial.unwrap_or_default() + own
    }

    fn traffic(&self, crowd: &Crowd) -> Option<Traffic> {
        let kernel = self.skin.kernel();
        let palettes = PosedPalettes::uploaded(crowd, kernel.palette);
        let meshes = MeshBuffers::bytes(crowd, kernel.mesh);
        Some(Traffic {
            stage: Stage::Skin,
            clock: Clock::Gpu,
            read: palettes + meshes,
            written: crowd.output_words() * size_of::<f32>() as u64,
            memory: Memory::Device,
        })
    }

    fn bind(&mut self, posed: &Posed, frame: &FrameInput) {
        let Arena { device, previous, .. } = &*frame.arena;
        let (device, previous): (&[_], &[_]) = match &self.own {
            Some((own, _)) => (&own.buffers, &[]),
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
        if let Some((own, _)) = &self.own {
            return Skinned::Device(Drawable::Own(Rc::clone(own)));
        }
        Skinned::Device(match posed.palettes.visibility() {
            Some(visibility) => Drawable::Visible(Rc::clone(visibility.visible())),
            None if self.skin.kernel().streams => Drawable::Streams,
            None => Drawable::Device,
        })
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
        let held = self.own.as_ref().map_or(&arena.device, |(own, _)| &own.buffers);
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
                let mut pass = commands.encoder.begin_compute_pass(&Default::default());
                self.skin.dispatch(gpu, &mut pass, crowd, chunk, index);
                drop(pass);
                commands.finish()?;
                self.held_chunks[slot] = index;
            }
            let words = crowd.groups()[chunk.group].instance_words();
            let places = palettes.places(chunk, index, part)?;
            let finer = palettes.finer(index)?;
            let levels = chunks[index - finer.len()..].iter().zip(&finer);
            let before = levels.map(|(chunk, count)| count * crowd.groups()[chunk.group].instance_words());
            let first = before.sum::<usize>() + places.start as usize * words;
            let begin = out.len();
            gpu.read_back(&held[slot], first as u64, places.len() * words, out)?;
            if self.skin.kernel().streams {
                let vertices = crowd.groups()[chunk.group].model.mesh().vertex_count();
                out[begin..].chunks_exact_mut(words).for_each(|instance| interleave(instance, vertices));
            }
        }
        Ok(())
    }
}

/// Number of a family's chunks and bytes of the vertices of its instances, all at the level that has the most.
fn family_outputs(crowd: &Crowd, chunks: &[Chunk]) -> impl Iterator<Item = (usize, u64)> {
    let bytes = |family: &[Chunk]| family.iter().map(|chunk| chunk.output_bytes(crowd)).max().unwrap_or(0);
    chunks.chunks(crowd.levels()).map(move |family| (family.len(), bytes(family)))
}

/// Buffers for the vertices of each family, which its levels share.
fn own_vertices(posed: &Posed, crowd: &Crowd) -> OwnVertices {
    let Posed { gpu, chunks, palettes, .. } = posed;
    let buffers = family_outputs(crowd, chunks).flat_map(|(levels, bytes)| {
        std::iter::repeat_n(gpu.room(Purpose::Output, "vertices of levels", bytes), levels)
    });
    let buffers: Vec<_> = buffers.collect();
    let visibility = palettes.visibility();
    let numbers: Vec<_> = visibility.iter().flat_map(|v| v.chunks()).map(VisibleChunk::chunk).collect();
    let kinds = Kind::all(crowd, MeshForm::Plain, PaletteForm::Rows);
    let visible = visibility.map(|visibility| Rc::clone(visibility.visible()));
    let source = VertexSource::stored(gpu, &kinds, &numbers, (&buffers, &[]), false, visible);
    OwnVertices { source: Rc::new(source), buffers }
}

/// Brings an instance's streams of positions, normals and tangents into the order of vertices.
fn interleave(instance: &mut [f32], vertices: usize) {
    let streams = instance.to_vec();
    let floats = instance.len() / vertices.max(1);
    for (vertex, out) in instance.chunks_exact_mut(floats.max(1)).enumerate() {
        let (mut first, mut done) = (0, 0);
        for width in [3, 3, 4] {
            if done < floats {
                out[done..done + width].copy_from_slice(&streams[first + width * vertex..][..width]);
                (first, done) = (first + width * vertices, done + width);
            }
        }
    }
}
