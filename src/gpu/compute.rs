//! Skinning of a crowd into storage buffers, by one of several kernels. A kernel consists of its shader, the forms that
//! it reads, and the assignment of vertices and instances to threads.

use super::binding::{GroupLayout, pipeline_layout};
use super::counts::{filled_bytes, room_bytes};
use super::device_pose::SKIN;
use super::layout::WORKGROUP;
use super::morph::{MorphBindings, MorphForm};
use super::shader::{Constants, Edit, compute_pipeline, module};
use super::skinning::{self, Kind, ONE_CHUNK, SkinBindings};
use super::visibility::Visibility;
use super::{Chunk, Gpu, MeshBuffers, MeshForm, PaletteForm, Palettes, layout, wgsl};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, Purpose, Result};
use crate::vertex::Encoding;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes of vertices that a trial writes, on a software adapter and on hardware.
const TRIAL_BYTES: [u64; 2] = [8 << 20, 256 << 20];
/// A trial skins a multiple of this many instances if there are enough: twice the most that any kernel takes at once.
/// llvmpipe gives each thread equally many workgroups, full or not: with 35 instances, 16 at a time seemed slower than
/// 4, which is in fact 1.14 times as slow.
const TRIAL_INSTANCES: u32 = 32;
/// Measured rounds of a trial; the shortest time of each kernel counts.
const TRIAL_ROUNDS: u32 = 7;
/// A later candidate is preferred only below this fraction of an earlier one's time: short trials vary by as much.
const TRIAL_MARGIN: f64 = 0.97;
/// Dispatches per round, on a software adapter and on hardware, where a single one is mostly overhead.
const TRIAL_DISPATCHES: [u32; 2] = [1, 8];

/// Bytes of the uniform that holds an instance's index.
const CHARACTER_BYTES: u32 = size_of::<[u32; 4]>() as u32;

/// Assignment of vertices and instances to the threads of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadLayout {
    /// One thread per vertex and this many neighbouring instances; `INSTANCES` in the kernel.
    Vertex(u32),
    /// One thread per vertex of an instance, in a single numbering.
    Pair,
    /// One workgroup per instance and this many neighbouring vertices; `VERTICES` in the kernel.
    Instance(u32),
    /// One dispatch per instance, whose index is in a uniform.
    Character,
}

/// A way to skin in a compute shader.
#[derive(Debug)]
pub struct SkinKernel {
    /// Variant of `gpu-compute`.
    pub name: &'static str,
    /// The kernel's file in shaders/.
    pub file: &'static str,
    /// Form of the meshes that it reads.
    pub mesh: MeshForm,
    /// Form of the palettes that it reads.
    pub palette: PaletteForm,
    /// Form of the morph targets that it reads.
    pub morph: MorphForm,
    /// Assignment of work to threads.
    pub threads: ThreadLayout,
    /// `true` if an instance's positions come before all its normals, instead of vertex by vertex.
    pub streams: bool,
    /// `true` if a dispatch skins chunks of several models, which share buffers.
    pub merged: bool,
}

impl SkinKernel {
    /// The complete shader for groups of a kind.
    pub fn shader(&self, kind: Kind) -> String {
        let output = match (kind.format.encoding, kind.format.floats() % 2) {
            _ if self.streams => "output_streams.wgsl",
            (Encoding::Packed, _) => "output_packed.wgsl",
            (Encoding::F32, 0) => "output_pairs.wgsl",
            (Encoding::F32, _) => "output.wgsl",
        };
        let mut roles = skinning::roles(kind.mesh, self.palette, kind.morph);
        roles.push(("output", output));
        roles.push(if self.merged { ("numbers", "numbers_table.wgsl") } else { ONE_CHUNK });
        wgsl::shader(self.file, &roles)
    }

    /// Values of the overrides, including the kernel's own.
    pub fn constants(&self, kind: Kind) -> Constants {
        let mut constants = kind.constants();
        match self.threads {
            ThreadLayout::Vertex(instances) => constants.push(("INSTANCES", instances.into())),
            ThreadLayout::Instance(vertices) => constants.push(("VERTICES", vertices.into())),
            ThreadLayout::Pair | ThreadLayout::Character => {}
        }
        constants
    }

    /// Compiles a pipeline for each of these kinds. An edited kernel runs with bounds checks.
    pub(super) fn pipelines(
        &self,
        gpu: &Gpu,
        layout: &wgpu::PipelineLayout,
        kinds: impl IntoIterator<Item = Kind>,
        edit: Option<&Edit>,
    ) -> Vec<(Kind, wgpu::ComputePipeline)> {
        let mut pipelines: Vec<(Kind, wgpu::ComputePipeline)> = Vec::new();
        for kind in kinds {
            if pipelines.iter().any(|(known, _)| *known == kind) {
                continue;
            }
            let wgsl = self.shader(kind);
            let wgsl = if let Some(edit) = edit { edit(wgsl) } else { wgsl };
            let module = module(gpu, self.name, wgsl, edit.is_none());
            pipelines.push((kind, compute_pipeline(gpu, self.name, layout, &module, &self.constants(kind))));
        }
        pipelines
    }
}

/// Inputs of a kernel besides meshes.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Palettes of each chunk.
    pub palettes: &'a [Palettes],
    /// Morph targets, if any model of the crowd has some.
    pub morph: Option<MorphBindings<'a>>,
    /// The visibility pass, if only visible instances are skinned.
    pub visibility: Option<&'a Visibility>,
}

/// A kernel's pipelines and bindings for a crowd.
pub struct ComputeSkin {
    kernel: &'static SkinKernel,
    layout: GroupLayout,
    pipelines: Vec<(Kind, wgpu::ComputePipeline)>,
    kinds: Vec<Kind>,
    characters: Option<Characters>,
    // Workgroups of each chunk, if the device computes them, and the index there of its first dispatch.
    workgroups: Vec<(wgpu::Buffer, usize)>,
    // Bytes of the buffers made with the pipelines, and of those that are bound.
    own: Bytes,
    bound: Bytes,
    // Bindings of all chunks, once per set of output buffers, and the index of the current set.
    sets: Vec<(wgpu::Buffer, Vec<wgpu::BindGroup>)>,
    current_set: usize,
}

/// Uniforms that hold the instance index of each dispatch.
struct Characters {
    group: wgpu::BindGroup,
    stride: u32,
}

impl ComputeSkin {
    /// Creates pipelines for a crowd. An edited kernel runs with bounds checks.
    pub fn new(gpu: &Gpu, crowd: &Crowd, kernel: &'static SkinKernel, edit: Option<&Edit>) -> Self {
        let kinds = Kind::morphing(crowd, kernel.mesh, kernel.palette, kernel.morph);
        // The shaders of all kinds have the same bindings.
        let wgsl = kinds.first().map(|&kind| kernel.shader(kind)).unwrap_or_default();
        let layout = GroupLayout::new(gpu, kernel.name, &wgsl, 0, wgpu::ShaderStages::COMPUTE, None);
        let (characters, own) =
            gpu.counted(|| (kernel.threads == ThreadLayout::Character).then(|| characters(gpu, crowd, &wgsl)));
        let groups: Vec<_> = [&layout].into_iter().chain(characters.as_ref().map(|(layout, _)| layout)).collect();
        let pipeline_layout = pipeline_layout(gpu, kernel.name, &groups);
        let pipelines = kernel.pipelines(gpu, &pipeline_layout, kinds.iter().copied(), edit);
        let characters = characters.map(|(_, characters)| characters);
        Self {
            kernel,
            layout,
            pipelines,
            kinds,
            characters,
            workgroups: Vec::new(),
            own,
            bound: Bytes::default(),
            sets: Vec::new(),
            current_set: 0,
        }
    }

    /// Bytes of a kernel's buffers for a crowd, with this many bindings of chunks.
    pub fn bytes(gpu: &Gpu, crowd: &Crowd, kernel: &SkinKernel, chunks: usize) -> Bytes {
        let characters = match kernel.threads {
            ThreadLayout::Character => filled_bytes(character_count(crowd) * character_stride(gpu) as usize),
            _ => 0,
        };
        Bytes::of(Purpose::Mesh, MeshBuffers::bytes(crowd, kernel.mesh))
            + Bytes::of(Purpose::Scratch, skinning::uniform_bytes(chunks) + characters)
    }

    /// Bytes of its buffers.
    pub fn allocated(&self) -> Bytes {
        self.own + self.bound
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static SkinKernel {
        self.kernel
    }

    /// Selects the bindings to these buffers; returns whether they were bound before.
    pub fn choose(&mut self, outputs: &[wgpu::Buffer]) -> bool {
        let known = outputs.first().and_then(|first| self.sets.iter().position(|(buffer, _)| buffer == first));
        self.current_set = known.unwrap_or(0);
        known.is_some()
    }

    /// Binds the inputs of each chunk and the buffers that chunks write to in turn: one set of buffers, or several if
    /// they swap.
    pub fn bind(&mut self, gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], inputs: Inputs, sets: &[&[wgpu::Buffer]]) {
        let Inputs { palettes, morph, visibility } = inputs;
        (self.sets, self.bound) = gpu.counted(|| {
            let meshes: Vec<_> = crowd.groups().iter().map(|g| MeshBuffers::new(gpu, g, self.kernel.mesh)).collect();
            let bind = |outputs: &&[wgpu::Buffer]| {
                let first = outputs.first()?.clone();
                let bindings = SkinBindings { meshes: &meshes, palettes, morph, outputs, visibility };
                let groups = skinning::bind_groups(gpu, crowd, chunks, &self.layout, &bindings);
                Some((first, groups))
            };
            sets.iter().filter_map(bind).collect()
        });
        self.current_set = 0;
        self.workgroups.clear();
        for (index, (chunk, visible)) in chunks.iter().zip(visibility.iter().flat_map(|v| v.chunks())).enumerate() {
            if let (Some(visibility), Some(dispatch)) = (visibility, self.dispatched(gpu, crowd, chunk)) {
                visibility.set_dispatch(gpu, index, SKIN, &dispatch);
                self.workgroups.push(visible.workgroups());
            }
        }
    }

    /// The rule for a chunk's dispatch; `None` if each instance has a dispatch of its own.
    fn dispatched(&self, gpu: &Gpu, crowd: &Crowd, chunk: &Chunk) -> Option<layout::Dispatch> {
        let vertices = crowd.groups()[chunk.group].model.mesh().vertex_count() as u32;
        let rows = |columns: u32, at_once: u32| {
            let (x, z) = gpu.folded(columns);
            layout::Dispatch { slots: 0, at_once, threads: 1, workgroup: 1, x, z }
        };
        match self.kernel.threads {
            ThreadLayout::Vertex(at_once) => Some(rows(vertices.div_ceil(WORKGROUP), at_once)),
            ThreadLayout::Pair => {
                Some(layout::Dispatch { slots: 0, at_once: 1, threads: vertices, workgroup: WORKGROUP, x: 0, z: 1 })
            }
            ThreadLayout::Instance(at_once) => Some(rows(vertices.div_ceil(at_once), 1)),
            ThreadLayout::Character => None,
        }
    }

    /// Dispatches a chunk; `index` is its index among the bound ones.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut wgpu::ComputePass, crowd: &Crowd, chunk: &Chunk, index: usize) {
        let kind = self.kinds[chunk.group];
        let Some((_, pipeline)) = self.pipelines.iter().find(|(known, _)| *known == kind) else { return };
        let instances = chunk.instances.len() as u32;
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.sets[self.current_set].1[index], &[]);
        if let Some(dispatch) = self.dispatched(gpu, crowd, chunk) {
            return gpu.dispatch(
                pass,
                self.workgroups.get(index).map(|(w, first)| (w, first + SKIN)),
                &dispatch,
                instances,
                0,
            );
        }
        let Some(characters) = &self.characters else { return };
        let vertices = crowd.groups()[chunk.group].model.mesh().vertex_count() as u32;
        let (x, z) = gpu.folded(vertices.div_ceil(WORKGROUP));
        for instance in 0..instances {
            gpu.add_dispatch();
            pass.set_bind_group(1, &characters.group, &[instance * characters.stride]);
            pass.dispatch_workgroups(x, 1, z);
        }
    }
}

/// Instances of the largest possible chunk.
fn character_count(crowd: &Crowd) -> usize {
    crowd.groups().iter().map(|g| g.len()).max().unwrap_or(0)
}

/// Bytes from one instance's uniform to the next.
fn character_stride(gpu: &Gpu) -> u32 {
    CHARACTER_BYTES.next_multiple_of(gpu.device().limits().min_uniform_buffer_offset_alignment)
}

/// One uniform per instance of the largest possible chunk, and the layout that binds one of them.
fn characters(gpu: &Gpu, crowd: &Crowd, wgsl: &str) -> (GroupLayout, Characters) {
    let (size, stride) = (CHARACTER_BYTES, character_stride(gpu));
    let mut contents = vec![0u8; character_count(crowd) * stride as usize];
    for (instance, bytes) in (0..).zip(contents.chunks_exact_mut(stride as usize)) {
        bytes[..size as usize].copy_from_slice(bytemuck::bytes_of(&[instance, 0u32, 0, 0]));
    }
    let buffer = gpu.uniform(Purpose::Scratch, "characters", &contents);
    let layout = GroupLayout::new(gpu, "character", wgsl, 1, wgpu::ShaderStages::COMPUTE, Some("character"));
    let window = wgpu::BufferBinding { buffer: &buffer, offset: 0, size: wgpu::BufferSize::new(size.into()) };
    let group = layout.bind(gpu, "character", &[("character", wgpu::BindingResource::Buffer(window))]);
    (layout, Characters { group, stride })
}

/// Bytes of a trial of some kernels, which are free after it.
pub fn trial_bytes(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], candidates: &[&SkinKernel]) -> Bytes {
    let output = trial_chunk(gpu, crowd, chunks).map_or(0, |(_, part)| part.output_bytes(crowd));
    let bound: u64 = candidates.iter().map(|kernel| ComputeSkin::bytes(gpu, crowd, kernel, 1).total()).sum();
    Bytes::of(Purpose::Staging, room_bytes(output) + bound)
}

/// The largest chunk, with as many of its instances as a trial skins.
fn trial_chunk(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk]) -> Option<(usize, Chunk)> {
    let (index, chunk) = chunks.iter().enumerate().max_by_key(|(_, c)| c.output_bytes(crowd))?;
    let all = chunk.instances.len() as u64;
    let most = TRIAL_BYTES[usize::from(!gpu.summary().software)] * all / chunk.output_bytes(crowd);
    let count = most.clamp(1, all) as u32;
    let count = if count < TRIAL_INSTANCES { count } else { count - count % TRIAL_INSTANCES };
    Some((index, Chunk { instances: chunk.instances.start..chunk.instances.start + count, ..*chunk }))
}

/// Finds the fastest of some kernels on a part of the crowd's largest chunk. Palettes need not be posed yet: the time
/// of a kernel does not depend on their contents.
///
/// # Errors
/// [`BackendError::Device`] if the device was lost or refused a command.
pub fn trial(
    gpu: &Rc<Gpu>,
    crowd: &Crowd,
    chunks: &[Chunk],
    inputs: Inputs,
    mut candidates: Vec<ComputeSkin>,
) -> Result<ComputeSkin> {
    let hardware = usize::from(!gpu.summary().software);
    let Some((index, part)) = trial_chunk(gpu, crowd, chunks) else {
        return Err(BackendError::TooLarge("no instance to try kernels on".into()));
    };
    let part = [part];
    let morph = inputs.morph.map(|morph| morph.of(index..index + 1));
    let inputs = Inputs { palettes: &inputs.palettes[index..=index], morph, visibility: None };
    let scratch = [gpu.buffer(Purpose::Staging, "trial", part[0].output_bytes(crowd), wgpu::BufferUsages::STORAGE)];
    for candidate in &mut candidates {
        candidate.bind(gpu, crowd, &part, inputs, &[&scratch]);
    }
    let best = fastest(gpu, candidates.len(), |index, pass| {
        for _ in 0..TRIAL_DISPATCHES[hardware] {
            candidates[index].dispatch(gpu, pass, crowd, &part[0], 0);
        }
    })?;
    let mut best = candidates.swap_remove(best);
    (best.sets, best.bound) = (Vec::new(), Bytes::default());
    Ok(best)
}

/// Index of the fastest of some compute passes, by the shortest time of a few rounds in which they alternate; of equals
/// the first. The first one, too, if the device only records.
///
/// # Errors
/// [`BackendError::Device`] if the device was lost or refused a command.
pub(super) fn fastest(
    gpu: &Rc<Gpu>,
    candidates: usize,
    record: impl Fn(usize, &mut wgpu::ComputePass),
) -> Result<usize> {
    if !gpu.executes {
        return Ok(0);
    }
    let mut least = vec![Duration::MAX; candidates];
    for round in 0..=TRIAL_ROUNDS {
        for (candidate, least) in least.iter_mut().enumerate() {
            let mut commands = gpu.commands("trial");
            record(candidate, &mut commands.encoder.begin_compute_pass(&Default::default()));
            let start = Instant::now();
            commands.finish()?;
            // Drivers compile in the first round.
            if round > 0 {
                *least = start.elapsed().min(*least);
            }
        }
    }
    Ok((1..candidates).fold(0, |best, c| if least[c] < least[best].mul_f64(TRIAL_MARGIN) { c } else { best }))
}
