//! Skins a crowd into storage buffers, by one of several kernels. A kernel consists of its shader, the forms that it reads,
//! and the assignment of vertices and instances to threads.

use crate::crowd::table::{CrowdTable, Dispatch};
use crate::device::{BindGroup, Buffer, Command, Named, Recorder, Resource, named};
use crate::forms::kind::{self, ONE_CHUNK, ShaderVariant};
use crate::forms::mesh::{MeshForm, upload_meshes};
use crate::forms::morph::MorphForm;
use crate::forms::output::OutputForm;
use crate::forms::palettes::PaletteForm;
use crate::kernel::{Constants, Kernel, once_per_key};
use crate::passes::merged;
use crate::passes::trial::fastest;
use crate::passes::vertices::{BufferForm, Drawable, StoredVertices};
use crate::passes::{Frame, Outputs, Pass};
use crate::shader::{WORKGROUP, layout, wgsl};
use crate::{Chunk, Gpu};
use skinbench_frame::{BackendError, Lack, Purpose, Result, Retention, Stage};
use skinbench_kernels::crowd::Crowd;
use std::sync::Arc;

/// Bytes of vertices that a trial writes, on a software adapter and on hardware.
const TRIAL_BYTES: [u64; 2] = [8 << 20, 256 << 20];
/// A trial skins a multiple of this many instances if there are enough: twice the most that any kernel takes at once.
/// llvmpipe gives each thread equally many workgroups, full or not: with 35 instances, 16 at a time seemed slower than
/// 4, which is in fact 1.14 times as slow.
const TRIAL_INSTANCES: u32 = 32;
/// Dispatches per round, on a software adapter and on hardware, where a single one is mostly overhead.
const TRIAL_DISPATCHES: [u32; 2] = [1, 8];

/// Threads of a workgroup that collects its vertices (`WORKGROUP` in shaders/gpu_compute_staged.wgsl): with as many as run
/// together, none waits at barriers.
pub const STAGED_WORKGROUP: u32 = 32;

/// Assignment of vertices and instances to the threads of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadLayout {
    /// One thread per vertex and this many neighbouring instances; `INSTANCES` in the kernel.
    Vertex(u32),
    /// As [`ThreadLayout::Vertex`], in workgroups of [`STAGED_WORKGROUP`] threads.
    Staged(u32),
    /// One thread per vertex of an instance, in a single numbering.
    Pair,
    /// One workgroup per instance and this many neighbouring vertices; `VERTICES` in the kernel.
    Instance(u32),
    /// One dispatch per instance, whose index is in a uniform.
    Character,
    /// As [`ThreadLayout::Vertex`], for chunks of several models, which share buffers.
    Merged(u32),
}

impl ThreadLayout {
    /// The rule for a dispatch over instances of a model with so many vertices; that by character covers one instance,
    /// and that of a merged kernel all instances of a batch in so many workgroups.
    pub(crate) fn rule(self, gpu: &Gpu, vertices: u32) -> layout::Dispatch {
        let one = layout::Dispatch::by_instance(1);
        let rows = |columns: u32, at_once: u32| {
            let [x, z] = gpu.folded(columns);
            layout::Dispatch {
                at_once,
                x,
                z,
                ..one
            }
        };
        match self {
            Self::Vertex(at_once) => rows(vertices.div_ceil(WORKGROUP), at_once),
            Self::Staged(at_once) => rows(vertices.div_ceil(STAGED_WORKGROUP), at_once),
            Self::Pair => layout::Dispatch {
                threads: vertices,
                ..layout::Dispatch::by_instance(WORKGROUP)
            },
            Self::Instance(at_once) => rows(vertices.div_ceil(at_once), 1),
            Self::Character => rows(vertices.div_ceil(WORKGROUP), 1),
            Self::Merged(_) => layout::Dispatch {
                at_once: u32::MAX,
                threads: vertices,
                ..one
            },
        }
    }
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

    /// Form of the vertices of groups of a kind.
    fn written(&self, kind: ShaderVariant) -> OutputForm {
        self.output.unwrap_or(OutputForm::of(kind.format.encoding))
    }

    /// The complete shader for groups of a kind.
    ///
    /// # Panics
    /// The file imports from a file or a role that does not exist; the message names the line.
    pub fn shader(&self, kind: ShaderVariant) -> String {
        let mut roles = kind::roles(kind.mesh, self.palette, kind.morph);
        roles.extend(self.written(kind).written_by(kind.format.floats()));
        roles.push(if self.is_merged() {
            ("numbers", "numbers_table.wgsl")
        } else {
            ONE_CHUNK
        });
        match self.text {
            None => wgsl::shader(self.file, &roles),
            Some(text) => wgsl::shader_of_text(self.file, text, &roles)
                .unwrap_or_else(|problem| panic!("{problem}")),
        }
    }

    /// Compiles it for groups of a kind.
    pub(crate) fn compile(&self, gpu: &Gpu, kind: ShaderVariant) -> Result<Kernel> {
        // A kernel from outside this crate runs with bounds checks.
        let trusted = self.text.is_none();
        let constants = self.constants(kind, gpu.adapter.packs);
        Kernel::new(gpu, self.name, self.shader(kind), &constants, trusted)
    }

    /// Values of the overrides, including the kernel's own, on an adapter that packs numbers by one instruction or does not.
    pub fn constants(&self, kind: ShaderVariant, packs: bool) -> Constants {
        let mut constants = kind.constants();
        if self.written(kind) == OutputForm::Packed {
            constants.push(("BUILTIN_PACKING", u32::from(packs).into()));
        }
        match self.threads {
            ThreadLayout::Vertex(instances)
            | ThreadLayout::Staged(instances)
            | ThreadLayout::Merged(instances) => constants.push(("INSTANCES", instances.into())),
            ThreadLayout::Instance(vertices) => constants.push(("VERTICES", vertices.into())),
            ThreadLayout::Pair | ThreadLayout::Character => {}
        }
        constants
    }
}

/// The pass.
pub struct Skin {
    skin: CompiledSkin,
    /// The skinned vertices, if they are not in the output buffers: those of the last frame, then those of the frame before if
    /// they are kept.
    stored: Vec<Arc<StoredVertices>>,
    /// Form of vertices in the output buffers.
    form: BufferForm,
    /// `true` if the kernel was chosen among several.
    chosen: bool,
    /// The bindings for the buffers that outputs go to, those of the last frame first.
    bound: Vec<BoundOutputs>,
    /// For each buffer the index of the output that it holds.
    held: Vec<usize>,
}

/// The bindings of all dispatches for some output buffers.
struct BoundOutputs {
    buffers: Vec<Buffer>,
    groups: Vec<BindGroup>,
}

impl Skin {
    /// Compiles the kernels and finds the fastest, if there are several. If vertices are not in the output buffers, `keep` says
    /// which ones stay.
    ///
    /// # Errors
    /// As [`Gpu::has`], or [`BackendError::Device`] if the device was lost.
    pub fn new(
        gpu: &Arc<Gpu>,
        crowd: &Crowd,
        table: &mut CrowdTable,
        kernels: &[&'static SkinKernel],
        keep: Option<Retention>,
    ) -> Result<Self> {
        let kernel = match kernels {
            [only] => only,
            many => gpu.counted_as(Purpose::Staging, || choose(gpu, crowd, table, many))?,
        };
        let stored = keep.map(|keep| StoredVertices::allocate(gpu, crowd, table, keep));
        Ok(Self {
            skin: CompiledSkin::new(gpu, crowd, kernel, table)?,
            stored: stored.unwrap_or_default(),
            form: BufferForm {
                output: kernel.output,
                visible: table.visible.clone(),
            },
            chosen: kernels.len() > 1,
            bound: Vec::new(),
            held: Vec::new(),
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static SkinKernel {
        self.skin.kernel
    }

    /// The place where vertices are.
    pub fn drawable(&self) -> Drawable {
        match self.stored.first() {
            Some(stored) => Drawable::Stored(Arc::clone(stored)),
            None => Drawable::Output(self.form.clone()),
        }
    }

    /// Binds a resource for each output, for frames whose outputs are [`Outputs::Bound`].
    pub(crate) fn bind(&self, gpu: &Gpu, outputs: &[Resource]) -> Vec<BindGroup> {
        self.skin.groups(gpu, outputs)
    }

    fn known(&self, buffers: &[Buffer]) -> Option<usize> {
        let mut bound = self.bound.iter();
        bound.position(|bound| bound.buffers == buffers)
    }

    /// Short description of the chosen kernel for tables, if there was a choice.
    pub fn label(&self) -> Option<String> {
        self.chosen
            .then(|| format!("skins by {}", self.skin.kernel.name))
    }

    /// The buffer with the vertices that an output got in the last frame, among the output buffers unless the pass keeps its
    /// own. If a later output has overwritten it, it is skinned again.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn vertices(
        &mut self,
        gpu: &Arc<Gpu>,
        output: usize,
        outputs: &[Buffer],
    ) -> Result<Buffer> {
        let stored = self.stored.first();
        let buffers = stored.map_or(outputs, |stored| &stored.buffers);
        let place = output % buffers.len();
        let buffer = buffers[place].clone();
        if self.held[place] != output {
            gpu.poison(std::slice::from_ref(&buffer))?;
            let mut commands = gpu.commands("skin again");
            commands.run(Command::Compute { label: "again" });
            self.skin
                .record(&self.bound[0].groups, Some(output), false, &mut commands);
            commands.run(Command::End);
            commands.finish()?;
            self.held[place] = output;
        }
        Ok(buffer)
    }
}

impl Pass for Skin {
    fn record(&mut self, frame: &mut Frame) {
        let label = Stage::Skin.name();
        self.stored.reverse();
        let buffers = match (self.stored.first(), frame.outputs) {
            (Some(stored), _) => &stored.buffers,
            (None, Outputs::Buffers(buffers)) => buffers,
            (None, Outputs::Bound(groups)) => {
                frame.commands.run(Command::Compute { label });
                self.skin.record(groups, None, false, frame.commands);
                frame.commands.run(Command::End);
                return;
            }
        };
        match self.known(buffers) {
            Some(known) => self.bound.swap(0, known),
            None => {
                // Two sets of buffers may swap.
                self.bound.truncate(1);
                let bound = self.skin.bind(frame.gpu, buffers);
                self.bound.insert(0, bound);
            }
        }
        self.held.resize(buffers.len(), 0);
        for output in 0..self.skin.outputs {
            self.held[output % buffers.len()] = output;
        }
        // A ring keeps nothing.
        let kept = frame.kept && buffers.len() == self.skin.outputs;
        frame.commands.run(Command::Compute { label });
        let groups = &self.bound[0].groups;
        self.skin.record(groups, None, kept, frame.commands);
        frame.commands.run(Command::End);
    }
}

/// A kernel's pipelines and dispatches for a crowd.
pub(crate) struct CompiledSkin {
    kernel: &'static SkinKernel,
    characters: Option<Characters>,
    calls: Vec<SkinCall>,
    /// Number of outputs: chunks, or batches if the kernel is merged.
    outputs: usize,
}

/// A dispatch, which skins a chunk or, if the kernel is merged, those of a batch whose groups are of one kind.
struct SkinCall {
    /// Index of what it writes to.
    output: usize,
    kernel: Arc<Kernel>,
    /// Everything that the kernel reads.
    inputs: Vec<Named>,
    /// For all instances.
    all: Work,
    /// For those that move.
    moving: Work,
}

/// Workgroups for some instances, or for one of as many.
#[derive(Clone)]
struct Work {
    dispatch: Dispatch,
    instances: u32,
}

/// Uniforms that hold the instance index of each dispatch.
struct Characters {
    group: BindGroup,
    stride: u32,
}

impl CompiledSkin {
    /// Compiles a kernel for a crowd, and uploads its meshes.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub(crate) fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        kernel: &'static SkinKernel,
        table: &mut CrowdTable,
    ) -> Result<Self> {
        let mut kinds = ShaderVariant::all(
            crowd,
            kernel.mesh,
            kernel.palette,
            MorphForm::Sparse.of(crowd),
        );
        if kernel.is_merged() {
            kinds = kinds.into_iter().map(merged::kind).collect();
        }
        let compiled = once_per_key(kinds.iter().copied(), |&kind| {
            kernel.compile(gpu, kind).map(Arc::new)
        });
        let compiled: Vec<Arc<Kernel>> = compiled.into_iter().collect::<Result<_>>()?;
        let mut characters = None;
        if let (ThreadLayout::Character, Some(first)) = (kernel.threads, compiled.first()) {
            characters = Some(Characters::new(gpu, crowd, first));
        }
        let mut skin = Self {
            kernel,
            characters,
            calls: Vec::with_capacity(table.chunks.len()),
            outputs: table.chunks.len(),
        };
        if let ThreadLayout::Merged(at_once) = kernel.threads {
            skin.outputs = table.batches.len();
            for output in 0..skin.outputs {
                for tables in merged::tables(gpu, crowd, table, output, &kinds, at_once) {
                    let first = &table.chunks[tables.first_chunk];
                    let rule = kernel.threads.rule(gpu, tables.workgroups);
                    let all = Work {
                        dispatch: Dispatch::Fixed(gpu.workgroups_by(&rule, 1, 0)),
                        instances: 1,
                    };
                    skin.calls.push(SkinCall {
                        output,
                        kernel: Arc::clone(&compiled[first.group]),
                        inputs: [&tables.inputs[..], &table.bindings[tables.first_chunk]].concat(),
                        moving: all.clone(),
                        all,
                    });
                }
            }
            return Ok(skin);
        }
        let groups = crowd.groups().iter();
        let meshes: Vec<_> = groups
            .map(|group| upload_meshes(gpu, &[group], kernel.mesh))
            .collect();
        for output in 0..table.chunks.len() {
            let chunk = table.chunks[output].clone();
            let group = &crowd.groups()[chunk.group];
            let vertices = group.model.mesh().vertex_count() as u32;
            let rule = kernel.threads.rule(gpu, vertices);
            let mut all = Work {
                dispatch: table.dispatch(gpu, output, &rule),
                instances: chunk.instances.len() as u32,
            };
            let instances = chunk.overlap(&group.moving()).len() as u32;
            let mut moving = Work {
                dispatch: Dispatch::Fixed(gpu.workgroups_by(&rule, instances, 0)),
                instances,
            };
            if kernel.threads == ThreadLayout::Character {
                all.dispatch = Dispatch::Fixed(gpu.workgroups_by(&rule, 1, 0));
                moving.dispatch = all.dispatch.clone();
            }
            skin.calls.push(SkinCall {
                output,
                kernel: Arc::clone(&compiled[chunk.group]),
                inputs: [&meshes[chunk.group][..], &table.bindings[output]].concat(),
                all,
                moving,
            });
        }
        Ok(skin)
    }

    /// Binds all dispatches, with the buffers that outputs go to in turn.
    fn bind(&self, gpu: &Gpu, buffers: &[Buffer]) -> BoundOutputs {
        let outputs = buffers.iter().map(|buffer| named("output", buffer).1);
        BoundOutputs {
            buffers: buffers.to_vec(),
            groups: self.groups(gpu, &outputs.collect::<Vec<_>>()),
        }
    }

    /// Binds all dispatches, with what outputs go to in turn.
    pub(crate) fn groups(&self, gpu: &Gpu, outputs: &[Resource]) -> Vec<BindGroup> {
        let mut groups = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            let output = outputs[call.output % outputs.len()].clone();
            let resources = [&call.inputs[..], &[("output", output)]].concat();
            groups.push(call.kernel.bind(gpu, 0, &resources));
        }
        groups
    }

    /// Records the dispatches of one output or of all, with their bindings, for all instances or for those that move.
    pub(crate) fn record(
        &self,
        groups: &[BindGroup],
        only: Option<usize>,
        moving: bool,
        commands: &mut dyn Recorder,
    ) {
        for (call, group) in self.calls.iter().zip(groups) {
            let work = if moving { &call.moving } else { &call.all };
            if work.instances == 0 || only.is_some_and(|output| output != call.output) {
                continue;
            }
            let pipeline = &call.kernel.pipeline;
            let Some(characters) = &self.characters else {
                commands.dispatch(pipeline, group, work.dispatch.command());
                continue;
            };
            commands.run(Command::Kernel { pipeline });
            commands.bind(0, group, &[]);
            for instance in 0..work.instances {
                commands.bind(1, &characters.group, &[instance * characters.stride]);
                commands.run(work.dispatch.command());
            }
        }
    }
}

impl Characters {
    /// One uniform per instance of the largest possible chunk.
    fn new(gpu: &Gpu, crowd: &Crowd, kernel: &Kernel) -> Self {
        let size = size_of::<[u32; 4]>();
        let alignment = gpu.adapter.limits.min_uniform_buffer_offset_alignment;
        let stride = size.next_multiple_of(alignment as usize);
        let instances = crowd.groups().iter().map(|g| g.len()).max().unwrap_or(0);
        let mut contents = vec![0u8; instances * stride];
        for (instance, bytes) in (0u32..).zip(contents.chunks_exact_mut(stride)) {
            bytes[..4].copy_from_slice(&instance.to_ne_bytes());
        }
        let usage = wgpu::BufferUsages::UNIFORM;
        let buffer = gpu.buffer_with(Purpose::Scratch, "characters", &contents, usage);
        let character = Resource::Buffer {
            buffer,
            offset: 0,
            size: Some(size as u64),
        };
        Self {
            group: kernel.bind(gpu, 1, &[("character", character)]),
            stride: stride as u32,
        }
    }
}

/// Finds the fastest of some kernels on a part of the crowd's largest chunk. Palettes need not be posed yet: the time
/// of a kernel does not depend on their contents.
///
/// # Errors
/// As [`Gpu::has`], or [`BackendError::Device`] if the device was lost or refused a command.
fn choose(
    gpu: &Arc<Gpu>,
    crowd: &Crowd,
    table: &mut CrowdTable,
    kernels: &[&'static SkinKernel],
) -> Result<&'static SkinKernel> {
    let hardware = usize::from(!gpu.adapter.summary.software);
    let chunks = table.chunks.iter().enumerate();
    let Some((index, chunk)) = chunks.max_by_key(|(_, chunk)| chunk.output_bytes(crowd)) else {
        return Err(BackendError::TooLarge(
            "no instance to try kernels on".into(),
        ));
    };
    let mut excerpt = table.excerpt(gpu, index, trial_instances(gpu, crowd, chunk));
    let bytes = excerpt.chunks[0].output_bytes(crowd);
    let output = [gpu.scratch(Purpose::Staging, "trial", bytes)];
    let mut candidates = Vec::with_capacity(kernels.len());
    let mut most_bytes = 0;
    let mut largest = 0;
    for (index, kernel) in kernels.iter().enumerate() {
        let (skin, bytes) = gpu.counted(|| CompiledSkin::new(gpu, crowd, kernel, &mut excerpt));
        let skin = skin?;
        // `max_by_key` of iterators returns the last of equals, too.
        if bytes.total() >= most_bytes {
            most_bytes = bytes.total();
            largest = index;
        }
        let bound = skin.bind(gpu, &output);
        candidates.push((skin, bound));
    }
    if gpu.only_counts() {
        // No kernel takes more than the one with the largest mesh.
        return Ok(kernels[largest]);
    }
    let best = fastest(gpu, kernels.len(), |candidate, commands| {
        let (skin, bound) = &candidates[candidate];
        for _ in 0..TRIAL_DISPATCHES[hardware] {
            skin.record(&bound.groups, None, false, commands);
        }
    })?;
    Ok(kernels[best])
}

/// The number of a chunk's instances that a trial skins.
fn trial_instances(gpu: &Gpu, crowd: &Crowd, chunk: &Chunk) -> u32 {
    let all = chunk.instances.len() as u64;
    let bytes = TRIAL_BYTES[usize::from(!gpu.adapter.summary.software)];
    let count = (bytes * all / chunk.output_bytes(crowd)).clamp(1, all) as u32;
    if count < TRIAL_INSTANCES {
        count
    } else {
        count - count % TRIAL_INSTANCES
    }
}
