//! Skinning of a crowd into storage buffers, by one of several kernels. A kernel consists of its shader, the forms that
//! it reads, and the assignment of vertices and instances to threads.

use crate::crowd::Crowd;
use crate::frame::{BackendError, Lack, Purpose, Result, Rounds, least_times};
use crate::gpu::device::{BindGroup, Buffer, Command, Commands, Named, Recorder, Resource};
use crate::gpu::pose::device_pose::SKIN;
use crate::gpu::pose::visibility::Visible;
use crate::gpu::shader::{Constants, Kernel, WORKGROUP, layout, made_once, wgsl};
use crate::gpu::skin::merged::{self, SpanDispatch};
use crate::gpu::skin::morph::MorphForm;
use crate::gpu::skin::output::OutputForm;
use crate::gpu::skin::skinning::{self, Kind, ONE_CHUNK};
use crate::gpu::{Chunk, Gpu, MeshForm, PaletteForm, chunk_uniform, upload_meshes};
use std::rc::Rc;
use std::time::Instant;

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

impl ThreadLayout {
    /// The rule for a dispatch over instances of a model with so many vertices; that by character covers one instance,
    /// and that of a merged kernel all instances of a span in so many workgroups.
    fn rule(self, gpu: &Gpu, vertices: u32) -> layout::Dispatch {
        let rows = |columns: u32, at_once: u32| {
            let [x, z] = gpu.folded(columns);
            layout::Dispatch {
                slots: 0,
                at_once,
                threads: 1,
                workgroup: 1,
                x,
                z,
            }
        };
        let folded = |threads, workgroup| layout::Dispatch {
            slots: 0,
            at_once: 1,
            threads,
            workgroup,
            x: 0,
            z: 1,
        };
        match self {
            Self::Vertex(at_once) => rows(vertices.div_ceil(WORKGROUP), at_once),
            Self::Pair => folded(vertices, WORKGROUP),
            Self::Instance(at_once) => rows(vertices.div_ceil(at_once), 1),
            Self::Character => rows(vertices.div_ceil(WORKGROUP), 1),
            Self::Merged(_) => layout::Dispatch {
                at_once: u32::MAX,
                ..folded(vertices, 1)
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
        let output = self
            .output
            .unwrap_or(OutputForm::of(kind.format.encoding))
            .written_by(kind.format.floats());
        let mut roles = skinning::roles(kind.mesh, self.palette, kind.morph);
        roles.push(("output", output));
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
}

/// A kernel's pipelines and dispatches for a crowd.
pub struct ComputeSkin {
    /// The kernel.
    pub kernel: &'static SkinKernel,
    /// The kernel as it is compiled for each group.
    compiled: Vec<Rc<Kernel>>,
    characters: Option<Characters>,
    /// The dispatches of each part.
    parts: Vec<Vec<SkinDispatch>>,
}

/// A dispatch of a part, which skins a chunk or, in a merged kernel, a span's groups of one kind.
struct SkinDispatch {
    /// The group, or one of the kind.
    group: usize,
    /// Everything that the kernel reads.
    inputs: Vec<Named>,
    rule: layout::Dispatch,
    /// Workgroups that the device computes: a buffer of them, and the index of the dispatch there.
    counted: Option<(Buffer, usize)>,
}

/// Uniforms that hold the instance index of each dispatch.
struct Characters {
    group: BindGroup,
    stride: u32,
}

impl ComputeSkin {
    /// Compiles a kernel for a crowd, and uploads its meshes. `inputs` has what the kernel reads of each part besides its
    /// mesh; a part is a chunk or, for a merged kernel, a span.
    ///
    /// # Errors
    /// As [`Gpu::has`].
    pub fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        kernel: &'static SkinKernel,
        parts: &[Vec<Chunk>],
        inputs: &[Vec<Named>],
        in_view: Option<&Rc<Visible>>,
    ) -> Result<Self> {
        let mut kinds = Kind::all(crowd, kernel.mesh, kernel.palette, kernel.morph.of(crowd));
        if kernel.is_merged() {
            kinds
                .iter_mut()
                .for_each(|kind| *kind = merged::kind(*kind));
        }
        let of_kind = |&kind: &Kind| {
            // A kernel from outside this crate runs with bounds checks.
            let trusted = kernel.text.is_none();
            Kernel::new(
                gpu,
                kernel.name,
                kernel.shader(kind),
                &kernel.constants(kind),
                trusted,
            )
            .map(Rc::new)
        };
        let compiled: Vec<_> = made_once(kinds, of_kind)
            .into_iter()
            .collect::<Result<_>>()?;
        let by_character = compiled
            .first()
            .filter(|_| kernel.threads == ThreadLayout::Character);
        let characters = by_character.map(|kernel| Characters::new(gpu, crowd, kernel));
        let groups = crowd.groups().iter().filter(|_| !kernel.is_merged());
        let meshes: Vec<_> = groups
            .map(|group| upload_meshes(gpu, &[group], kernel.mesh))
            .collect();
        let of_part = |(index, (part, inputs)): (usize, (&Vec<Chunk>, &Vec<Named>))| match kernel
            .threads
        {
            ThreadLayout::Merged(at_once) => {
                let of_kind = |SpanDispatch {
                                   group,
                                   workgroups,
                                   tables,
                               }: SpanDispatch| SkinDispatch {
                    group,
                    inputs: [&tables[..], inputs].concat(),
                    rule: kernel.threads.rule(gpu, workgroups),
                    counted: None,
                };
                SpanDispatch::all(gpu, crowd, part, kernel.mesh, at_once)
                    .into_iter()
                    .map(of_kind)
                    .collect()
            }
            _ => {
                let of_chunk = |&Chunk { group, .. }: &Chunk| {
                    let rule = kernel.threads.rule(
                        gpu,
                        crowd.groups()[group].model.mesh().vertex_count() as u32,
                    );
                    let counted =
                        in_view.map(|visible| visible.chunks[index].set_dispatch(gpu, SKIN, &rule));
                    SkinDispatch {
                        group,
                        inputs: [&meshes[group][..], inputs].concat(),
                        rule,
                        counted,
                    }
                };
                part.iter().map(of_chunk).collect()
            }
        };
        let parts = parts.iter().zip(inputs).enumerate().map(of_part).collect();
        Ok(Self {
            kernel,
            compiled,
            characters,
            parts,
        })
    }

    /// Binds all dispatches, with the buffers that parts write to in turn.
    pub fn bind(&self, gpu: &Gpu, outputs: &[Buffer]) -> Vec<Vec<BindGroup>> {
        let of_part = |(dispatches, output): (&Vec<SkinDispatch>, &Buffer)| {
            let bind = |SkinDispatch { group, inputs, .. }: &SkinDispatch| {
                let resources = [&inputs[..], &[("output", output.into())]].concat();
                self.compiled[*group].bind(gpu, 0, &resources)
            };
            dispatches.iter().map(bind).collect()
        };
        self.parts
            .iter()
            .zip(outputs.iter().cycle())
            .map(of_part)
            .collect()
    }

    /// Dispatches a part with its bindings; `instances` is the number of those to skin, from its first on.
    pub fn dispatch(
        &self,
        gpu: &Gpu,
        pass: &mut dyn Recorder,
        part: usize,
        bound: &[BindGroup],
        instances: u32,
    ) {
        if instances == 0 {
            return;
        }
        for (
            SkinDispatch {
                group,
                rule,
                counted,
                ..
            },
            bound,
        ) in self.parts[part].iter().zip(bound)
        {
            pass.run(Command::Kernel {
                pipeline: &self.compiled[*group].pipeline,
            });
            pass.run(Command::Bind {
                index: 0,
                group: bound,
                offsets: &[],
            });
            let Some(characters) = &self.characters else {
                let counted = counted.as_ref().map(|(counts, index)| (counts, *index));
                gpu.dispatch_by(pass, rule, counted, [instances, 0]);
                continue;
            };
            for instance in 0..instances {
                pass.run(Command::Bind {
                    index: 1,
                    group: &characters.group,
                    offsets: &[instance * characters.stride],
                });
                gpu.dispatch_by(pass, rule, None, [1, 0]);
            }
        }
    }
}

impl Characters {
    /// One uniform per instance of the largest possible chunk.
    fn new(gpu: &Gpu, crowd: &Crowd, kernel: &Kernel) -> Self {
        let size = size_of::<[u32; 4]>();
        let stride =
            size.next_multiple_of(gpu.adapter.limits.min_uniform_buffer_offset_alignment as usize);
        let instances = crowd.groups().iter().map(|g| g.len()).max().unwrap_or(0);
        let contents = || {
            let mut contents = vec![0u8; instances * stride];
            for (instance, bytes) in (0..).zip(contents.chunks_exact_mut(stride)) {
                bytes[..size].copy_from_slice(bytemuck::bytes_of(&[instance, 0u32, 0, 0]));
            }
            contents
        };
        let usage = wgpu::BufferUsages::UNIFORM;
        let buffer = gpu.buffer_of(
            Purpose::Scratch,
            "characters",
            instances * stride,
            usage,
            contents,
        );
        let group = kernel.bind(
            gpu,
            1,
            &[(
                "character",
                Resource::Buffer {
                    buffer,
                    offset: 0,
                    size: Some(size as u64),
                },
            )],
        );
        Self {
            group,
            stride: stride as u32,
        }
    }
}

/// The largest chunk, with as many of its instances as a trial skins.
fn trial_chunk(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk]) -> Option<(usize, Chunk)> {
    let (index, chunk) = chunks
        .iter()
        .enumerate()
        .max_by_key(|(_, c)| c.output_bytes(crowd))?;
    let all = chunk.instances.len() as u64;
    let most =
        TRIAL_BYTES[usize::from(!gpu.adapter.summary.software)] * all / chunk.output_bytes(crowd);
    let count = most.clamp(1, all) as u32;
    let count = if count < TRIAL_INSTANCES {
        count
    } else {
        count - count % TRIAL_INSTANCES
    };
    Some((
        index,
        Chunk {
            instances: chunk.instances.start..chunk.instances.start + count,
            ..*chunk
        },
    ))
}

/// Finds the fastest of some kernels on a part of the crowd's largest chunk. Palettes need not be posed yet: the time
/// of a kernel does not depend on their contents.
///
/// # Errors
/// As [`Gpu::has`], or [`BackendError::Device`] if the device was lost or refused a command.
pub fn trial(
    gpu: &Rc<Gpu>,
    crowd: &Crowd,
    chunks: &[Chunk],
    inputs: &[Vec<Named>],
    kernels: &[&'static SkinKernel],
) -> Result<&'static SkinKernel> {
    let hardware = usize::from(!gpu.adapter.summary.software);
    let Some((index, part)) = trial_chunk(gpu, crowd, chunks) else {
        return Err(BackendError::TooLarge(
            "no instance to try kernels on".into(),
        ));
    };
    let instances = part.instances.len() as u32;
    let output = [gpu.buffer(
        Purpose::Staging,
        "trial",
        part.output_bytes(crowd),
        wgpu::BufferUsages::STORAGE,
    )];
    // It is found before the numbers of the whole chunk.
    let numbers = [(
        "chunk",
        chunk_uniform(gpu, Purpose::Scratch, crowd, &part).into(),
    )];
    let (parts, inputs) = ([vec![part]], [[&numbers[..], &inputs[index]].concat()]);
    let candidate = |kernel: &&'static SkinKernel| {
        let (skin, bytes) =
            gpu.counted(|| ComputeSkin::new(gpu, crowd, kernel, &parts, &inputs, None));
        let skin = skin?;
        let bound = skin.bind(gpu, &output);
        Ok((skin, bound, bytes))
    };
    let candidates: Vec<_> = kernels.iter().map(candidate).collect::<Result<_>>()?;
    let best = match gpu.only_counts() {
        // No kernel takes more than the one with the largest mesh.
        true => (0..kernels.len())
            .max_by_key(|&index| candidates[index].2.total())
            .unwrap_or(0),
        false => fastest(gpu, kernels.len(), |index, pass| {
            let (skin, bound, _) = &candidates[index];
            for _ in 0..TRIAL_DISPATCHES[hardware] {
                skin.dispatch(gpu, pass, 0, &bound[0], instances);
            }
        })?,
    };
    Ok(kernels[best])
}

/// Index of the fastest of some compute passes, by the shortest time of a few rounds in which they alternate; of equals
/// the first. The first one, too, if the device executes nothing.
///
/// # Errors
/// [`BackendError::Device`] if the device was lost or refused a command.
pub(in crate::gpu) fn fastest(
    gpu: &Rc<Gpu>,
    candidates: usize,
    record: impl Fn(usize, &mut Commands),
) -> Result<usize> {
    if gpu.wgpu().is_none() {
        return Ok(0);
    }
    let time = |candidate| {
        gpu.wake()?;
        let mut commands = gpu.commands("trial");
        commands.run(Command::Compute { label: "trial" });
        record(candidate, &mut commands);
        commands.run(Command::End);
        let start = Instant::now();
        commands.finish()?;
        Ok(start.elapsed())
    };
    // Drivers compile in the first round.
    for candidate in 0..candidates {
        time(candidate)?;
    }
    let least = least_times(candidates, Rounds::exactly(TRIAL_ROUNDS), time)?;
    Ok((1..candidates).fold(0, |best, c| {
        if least[c] < least[best].mul_f64(TRIAL_MARGIN) {
            c
        } else {
            best
        }
    }))
}
