//! Skinning of a crowd into storage buffers, by one of several kernels. A kernel consists of its shader, the forms that
//! it reads, and the assignment of vertices and instances to threads.

use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, Lack, Purpose, Result};
use crate::gpu::device::{BindGroup, Buffer, ComputePass, ComputePipeline, Resource};
use crate::gpu::pose::device_pose::SKIN;
use crate::gpu::shader::{Constants, Kernel, WORKGROUP, layout, wgsl};
use crate::gpu::skin::merged::{self, SpanDispatch};
use crate::gpu::skin::morph::MorphForm;
use crate::gpu::skin::output::OutputForm;
use crate::gpu::skin::skinning::{self, Inputs, Kind, ONE_CHUNK};
use crate::gpu::{Chunk, Gpu, MeshBuffers, MeshForm, PaletteForm};
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
    /// As [`ThreadLayout::Vertex`], for chunks of several models, which share buffers.
    Merged(u32),
}

/// A way to skin in a compute shader.
#[derive(Debug)]
pub struct SkinKernel {
    /// Variant of `gpu-compute`.
    pub name: &'static str,
    /// The kernel's file in shaders/, or another name for one from outside this crate.
    pub file: &'static str,
    /// Text of a file from outside this crate.
    pub text: Option<&'static str>,
    /// Form of the meshes that it reads.
    pub mesh: MeshForm,
    /// Form of the palettes that it reads.
    pub palette: PaletteForm,
    /// Form of the morph targets that it reads.
    pub morph: MorphForm,
    /// Assignment of work to threads.
    pub threads: ThreadLayout,
    /// Form of an instance's vertices; `None` for that of the group's format.
    pub output: Option<OutputForm>,
    /// What it cannot do, besides what its palettes and their source cannot.
    pub lacks: &'static [Lack],
}

impl SkinKernel {
    /// Returns whether a dispatch skins chunks of several models.
    pub fn is_merged(&self) -> bool {
        matches!(self.threads, ThreadLayout::Merged(_))
    }

    /// The complete shader for groups of a kind.
    ///
    /// # Panics
    /// The file imports from a file or a role that does not exist; the message names the line.
    pub fn shader(&self, kind: Kind) -> String {
        let output = self.output.unwrap_or(OutputForm::of(kind.format.encoding)).written_by(kind.format.floats());
        let mut roles = skinning::roles(kind.mesh, self.palette, kind.morph);
        roles.push(("output", output));
        roles.push(if self.is_merged() { ("numbers", "numbers_table.wgsl") } else { ONE_CHUNK });
        match self.text {
            None => wgsl::shader(self.file, &roles),
            Some(text) => wgsl::shader_of_text(self.file, text, &roles).unwrap_or_else(|problem| panic!("{problem}")),
        }
    }

    /// Values of the overrides, including the kernel's own.
    pub fn constants(&self, kind: Kind) -> Constants {
        let mut constants = kind.constants();
        match self.threads {
            ThreadLayout::Vertex(instances) | ThreadLayout::Merged(instances) => {
                constants.push(("INSTANCES", instances.into()))
            }
            ThreadLayout::Instance(vertices) => constants.push(("VERTICES", vertices.into())),
            ThreadLayout::Pair | ThreadLayout::Character => {}
        }
        constants
    }

    /// Compiles it for groups of these kinds: the shader and the pipeline of each. A kernel from outside this
    /// crate runs with bounds checks.
    fn compiled(&self, gpu: &Gpu, kinds: &[Kind]) -> Vec<(Kernel, ComputePipeline)> {
        let of_kind = |&kind: &Kind| {
            let kernel = Kernel::new(gpu, self.name, self.shader(kind), self.text.is_none());
            let pipeline = kernel.pipeline(gpu, &self.constants(kind));
            (kernel, pipeline)
        };
        kinds.iter().map(of_kind).collect()
    }
}

/// A kernel's pipelines and bindings for a crowd.
pub struct ComputeSkin {
    /// The kernel.
    pub kernel: &'static SkinKernel,
    /// Shader and pipeline of each group.
    compiled: Vec<(Kernel, ComputePipeline)>,
    characters: Option<Characters>,
    // Dispatches of a merged kernel, span after span.
    spans: Vec<SpanDispatch>,
    // Workgroups of each chunk, if the device computes them, and the index there of its first dispatch.
    workgroups: Vec<(Buffer, usize)>,
    /// Bytes of the buffers that are bound.
    pub allocated: Bytes,
    // Bindings of all chunks or dispatches of spans, once per set of output buffers, with the first of these. The current
    // set comes first.
    sets: Vec<(Buffer, Vec<BindGroup>)>,
}

/// Uniforms that hold the instance index of each dispatch.
struct Characters {
    group: BindGroup,
    stride: u32,
}

impl ComputeSkin {
    /// Creates pipelines for a crowd.
    pub fn new(gpu: &Gpu, crowd: &Crowd, kernel: &'static SkinKernel) -> Self {
        let mut kinds = Kind::all(crowd, kernel.mesh, kernel.palette, kernel.morph.of(crowd));
        if kernel.is_merged() {
            kinds.iter_mut().for_each(|kind| *kind = merged::kind(*kind));
        }
        let compiled = kernel.compiled(gpu, &kinds);
        Self {
            kernel,
            compiled,
            characters: None,
            spans: Vec::new(),
            workgroups: Vec::new(),
            allocated: Bytes::default(),
            sets: Vec::new(),
        }
    }

    /// Selects the bindings to these buffers; returns whether they were bound before.
    pub fn choose(&mut self, outputs: &[Buffer]) -> bool {
        let known = outputs.first().and_then(|first| self.sets.iter().position(|(buffer, _)| buffer == first));
        if let Some(known) = known {
            self.sets.swap(0, known);
        }
        known.is_some()
    }

    /// Binds the inputs of each part, which is a chunk or, for a merged kernel, a span, and the buffers that parts
    /// write to in turn: one set of buffers, or several if they swap.
    pub fn bind(&mut self, gpu: &Gpu, crowd: &Crowd, parts: &[Vec<Chunk>], inputs: Inputs, sets: &[&[Buffer]]) {
        let Inputs { palettes, visibility, .. } = inputs;
        // The shaders of all kinds have the same bindings.
        let Some((kernel, _)) = self.compiled.first() else { return };
        let sets = || sets.iter().filter_map(|outputs| Some((outputs.first()?.clone(), *outputs)));
        let chunks = parts.concat();
        (self.sets, self.allocated) = gpu.counted(|| {
            let by_character = self.kernel.threads == ThreadLayout::Character;
            self.characters = by_character.then(|| Characters::new(gpu, crowd, kernel));
            if let ThreadLayout::Merged(at_once) = self.kernel.threads {
                self.spans = SpanDispatch::all(gpu, crowd, parts, self.kernel.mesh, at_once);
                let bind = |outputs: &[Buffer], dispatch: &SpanDispatch| {
                    dispatch.bind(gpu, kernel, &palettes[dispatch.span], &outputs[dispatch.span % outputs.len()])
                };
                let groups = |outputs| self.spans.iter().map(|dispatch| bind(outputs, dispatch)).collect();
                return sets().map(|(first, outputs)| (first, groups(outputs))).collect();
            }
            let meshes: Vec<_> = crowd.groups().iter().map(|g| MeshBuffers::new(gpu, g, self.kernel.mesh)).collect();
            let groups = |outputs| skinning::bind_groups(gpu, crowd, &chunks, &meshes, outputs, inputs, kernel.group());
            sets().map(|(first, outputs)| (first, groups(outputs))).collect()
        });
        self.workgroups.clear();
        for (index, (chunk, visible)) in
            chunks.iter().zip(visibility.iter().flat_map(|v| &v.visible.chunks)).enumerate()
        {
            if let (Some(visibility), Some(dispatch)) = (visibility, self.dispatched(gpu, crowd, chunk)) {
                visibility.set_dispatch(gpu, index, SKIN, &dispatch);
                self.workgroups.push(visible.workgroups());
            }
        }
    }

    /// The rule for a chunk's dispatch; `None` if each instance has a dispatch of its own, or several chunks have one.
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
            ThreadLayout::Character | ThreadLayout::Merged(_) => None,
        }
    }

    /// Dispatches a part; `index` is its index among the bound ones.
    pub fn dispatch(&self, gpu: &Gpu, pass: &mut ComputePass, crowd: &Crowd, part: &[Chunk], index: usize) {
        let groups = &self.sets[0].1;
        if self.kernel.is_merged() {
            let first = self.spans.partition_point(|dispatch| dispatch.span < index);
            let own = self.spans[first..].iter().zip(&groups[first..]).take_while(|(own, _)| own.span == index);
            return own.for_each(|(own, group)| pass.dispatch(gpu, &self.compiled[own.group].1, group, own.workgroups));
        }
        let [chunk] = part else { return };
        let instances = chunk.instances.len() as u32;
        if instances == 0 {
            return;
        }
        pass.set_pipeline(&self.compiled[chunk.group].1);
        pass.set_bind_group(0, &groups[index], &[]);
        if let Some(rule) = self.dispatched(gpu, crowd, chunk) {
            let counted = self.workgroups.get(index).map(|(counts, first)| (counts, first + SKIN));
            return gpu.dispatch_by(pass, &rule, counted, [instances, 0]);
        }
        let Some(characters) = &self.characters else { return };
        let vertices = crowd.groups()[chunk.group].model.mesh().vertex_count() as u32;
        let (x, z) = gpu.folded(vertices.div_ceil(WORKGROUP));
        for instance in 0..instances {
            gpu.work.borrow_mut().dispatches += 1;
            pass.set_bind_group(1, &characters.group, &[instance * characters.stride]);
            pass.dispatch_workgroups(x, 1, z);
        }
    }
}

impl Characters {
    /// One uniform per instance of the largest possible chunk.
    fn new(gpu: &Gpu, crowd: &Crowd, kernel: &Kernel) -> Self {
        let size = size_of::<[u32; 4]>();
        let stride = size.next_multiple_of(gpu.adapter.limits.min_uniform_buffer_offset_alignment as usize);
        let instances = crowd.groups().iter().map(|g| g.len()).max().unwrap_or(0);
        let contents = || {
            let mut contents = vec![0u8; instances * stride];
            for (instance, bytes) in (0..).zip(contents.chunks_exact_mut(stride)) {
                bytes[..size].copy_from_slice(bytemuck::bytes_of(&[instance, 0u32, 0, 0]));
            }
            contents
        };
        let usage = wgpu::BufferUsages::UNIFORM;
        let buffer = gpu.buffer_of(Purpose::Scratch, "characters", instances * stride, usage, contents);
        let group = kernel.bind(gpu, 1, &[("character", Resource::Buffer(&buffer, 0, Some(size as u64)))]);
        Self { group, stride: stride as u32 }
    }
}

/// The largest chunk, with as many of its instances as a trial skins.
fn trial_chunk(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk]) -> Option<(usize, Chunk)> {
    let (index, chunk) = chunks.iter().enumerate().max_by_key(|(_, c)| c.output_bytes(crowd))?;
    let all = chunk.instances.len() as u64;
    let most = TRIAL_BYTES[usize::from(!gpu.adapter.summary.software)] * all / chunk.output_bytes(crowd);
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
    let hardware = usize::from(!gpu.adapter.summary.software);
    let Some((index, part)) = trial_chunk(gpu, crowd, chunks) else {
        return Err(BackendError::TooLarge("no instance to try kernels on".into()));
    };
    let part = [vec![part]];
    let inputs = Inputs { first: index, visibility: None, ..inputs };
    let scratch = [gpu.buffer(Purpose::Staging, "trial", part[0][0].output_bytes(crowd), wgpu::BufferUsages::STORAGE)];
    for candidate in &mut candidates {
        candidate.bind(gpu, crowd, &part, inputs, &[&scratch]);
    }
    let best = match gpu.plans() {
        // No kernel takes more than the one with the largest mesh.
        true => (0..candidates.len()).max_by_key(|&index| candidates[index].allocated.total()).unwrap_or(0),
        false => fastest(gpu, candidates.len(), |index, pass| {
            for _ in 0..TRIAL_DISPATCHES[hardware] {
                candidates[index].dispatch(gpu, pass, crowd, &part[0], 0);
            }
        })?,
    };
    let mut best = candidates.swap_remove(best);
    (best.sets, best.allocated) = (Vec::new(), Bytes::default());
    Ok(best)
}

/// Index of the fastest of some compute passes, by the shortest time of a few rounds in which they alternate; of equals
/// the first. The first one, too, if the device executes nothing.
///
/// # Errors
/// [`BackendError::Device`] if the device was lost or refused a command.
pub(in crate::gpu) fn fastest(
    gpu: &Rc<Gpu>,
    candidates: usize,
    record: impl Fn(usize, &mut ComputePass),
) -> Result<usize> {
    if gpu.wgpu().is_none() {
        return Ok(0);
    }
    let mut least = vec![Duration::MAX; candidates];
    for round in 0..=TRIAL_ROUNDS {
        for (candidate, least) in least.iter_mut().enumerate() {
            let mut commands = gpu.commands("trial");
            commands.compute_pass("trial", None, |pass| record(candidate, pass));
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
