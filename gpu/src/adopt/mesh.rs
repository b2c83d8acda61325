//! A mesh that is skinned from matrices of the caller's.

use crate::adopt::host::{bound, created, in_own_pass};
use crate::adopt::slices::MeshSlices;
use crate::crowd::table::chunk_contents;
use crate::device::{BindGroup, ComputePipeline, Named, named, needs};
use crate::forms::kind::ShaderVariant;
use crate::forms::mesh::{MeshForm, upload_meshes};
use crate::forms::morph::{MorphForm, deltas};
use crate::passes::skin_kernels::{COLUMNS, INSTANCES, LISTED, LISTED_COLUMNS};
use crate::shader::layout::{self, INLINE};
use crate::{Chunk, Gpu};
use bytemuck::Zeroable;
use skinbench_frame::{BackendError, Purpose, Result};
use skinbench_kernels::crowd::{Crowd, Layer, REST};
use skinbench_kernels::model::{IDENTITY_ROWS, Model};
use skinbench_kernels::vertex::{Encoding, VertexFormat};
use std::sync::Arc;

/// A mesh in device memory, in full precision, which is skinned from a buffer of matrices into a buffer of vertices.
pub struct AdoptedMesh {
    gpu: Arc<Gpu>,
    kind: ShaderVariant,
    /// Those of one instance.
    numbers: layout::Chunk,
    /// Vertices, and deltas of morph targets if there are some.
    inputs: Vec<Named>,
    targets: usize,
}

/// Slices of the caller's buffers, which have the usage `STORAGE`. Offsets are multiples of the device's
/// `min_storage_buffer_offset_alignment`. Only vertices are written, and no other slice lies in their buffer.
#[derive(Debug, Clone, Copy)]
pub struct MeshBuffers<'a> {
    /// Number of instances, at least one.
    pub instances: u32,
    /// `[instance][entry]`, model pose times inverse bind.
    pub matrices: Matrices<'a>,
    /// Weights of morph targets, if the mesh has some: their number as a float, then `[instance][target]`.
    pub weights: Option<wgpu::BufferSlice<'a>>,
    /// The instances to skin, unless all are: how many, then their indices, as `u32`. The device may have written them, before
    /// or in the same pass. Other instances keep their vertices.
    pub list: Option<wgpu::BufferSlice<'a>>,
    /// Skinned vertices, `[instance][vertex][word]`.
    pub vertices: wgpu::BufferSlice<'a>,
}

/// Matrices in a buffer of the caller's.
#[derive(Debug, Clone, Copy)]
pub enum Matrices<'a> {
    /// The three rows of 3x4 matrices, 48 bytes each.
    Rows(wgpu::BufferSlice<'a>),
    /// 4x4 matrices by columns, 64 bytes each, as glam and most engines have them.
    Columns(wgpu::BufferSlice<'a>),
}

/// A mesh with the buffers that it is skinned from and into.
pub struct BoundMesh {
    pipeline: ComputePipeline,
    group: BindGroup,
    workgroups: [u32; 3],
}

impl AdoptedMesh {
    /// Uploads the mesh of a model, for vertices in a format. They are in the order of `model.mesh().sources()`, which
    /// `model.mesh().indices()` follow.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] or [`BackendError::TooLarge`], with what the model or the device lacks; or
    /// [`BackendError::Device`], with what wgpu refused to create.
    pub fn new(gpu: &Arc<Gpu>, model: Arc<Model>, format: VertexFormat) -> Result<Self> {
        let mut crowd = Crowd::with_format(format);
        let at_rest = [(IDENTITY_ROWS, Layer::held(REST, 0.0))];
        crowd
            .push_group(model, at_rest)
            .map_err(|error| BackendError::Unavailable(error.to_string()))?;
        let group = &crowd.groups()[0];
        let kind = ShaderVariant {
            morph: MorphForm::Sparse.of(&crowd),
            ..ShaderVariant::of(group, MeshForm::Plain)
        };
        if let Some(form) = kind.morph {
            form.check(gpu, &crowd)?;
        }
        let one = Chunk {
            group: 0,
            instances: 0..1,
        };
        let inputs = created(gpu, || {
            let mut inputs = upload_meshes(gpu, &[group], MeshForm::Plain).to_vec();
            inputs.extend(kind.morph.map(|form| deltas(gpu, group, form)));
            Ok(inputs)
        })?;
        Ok(Self {
            gpu: Arc::clone(gpu),
            kind,
            numbers: chunk_contents(&crowd, &one),
            inputs,
            targets: group.model.mesh().targets().len(),
        })
    }

    /// As [`AdoptedMesh::new`], for a mesh from slices, whose vertices are read and written as floats in their order. Weights are
    /// divided by their sum.
    ///
    /// # Errors
    /// As [`AdoptedMesh::new`], or what is wrong with the slices, with the index of the vertex.
    pub fn from_slices(gpu: &Arc<Gpu>, mesh: &MeshSlices, format: VertexFormat) -> Result<Self> {
        mesh.check(format)?;
        needs!(
            format.encoding == Encoding::F32,
            "vertices of slices are written as floats; needs the encoding F32"
        );
        let targets = mesh.targets.len();
        let vertices = mesh.positions.len() as u32;
        Ok(Self {
            gpu: Arc::clone(gpu),
            kind: ShaderVariant {
                format,
                mesh: MeshForm::Plain,
                influences: INLINE as u32,
                layers: 1,
                morph: (targets > 0).then_some(MorphForm::Sparse),
            },
            numbers: layout::Chunk {
                vertices,
                entries: mesh.matrices as u32,
                eights: vertices,
                sixteens: vertices,
                ..Zeroable::zeroed()
            },
            inputs: created(gpu, || mesh.upload(gpu, format))?,
            targets,
        })
    }

    /// Bytes of the vertices of an instance.
    pub fn instance_bytes(&self) -> u64 {
        u64::from(self.numbers.vertices) * self.kind.format.bytes()
    }

    /// Binds buffers, and compiles the kernel that reads them, the first time. Frames may take turns with several.
    ///
    /// # Errors
    /// As [`AdoptedMesh::new`], with what a slice lacks.
    pub fn bind(&self, buffers: &MeshBuffers) -> Result<BoundMesh> {
        let gpu = &self.gpu;
        let instances = buffers.instances;
        needs!(instances > 0, "no instance; expected at least one");
        let (matrices, kernel) = match (buffers.matrices, buffers.list) {
            (Matrices::Rows(slice), None) => (slice, &INSTANCES),
            (Matrices::Rows(slice), Some(_)) => (slice, &LISTED),
            (Matrices::Columns(slice), None) => (slice, &COLUMNS),
            (Matrices::Columns(slice), Some(_)) => (slice, &LISTED_COLUMNS),
        };
        let rule = kernel.threads.rule(gpu, self.numbers.vertices);
        let workgroups = gpu.workgroups_by(&rule, instances, 0);
        let limit = gpu.adapter.workgroup_limit;
        let most = u64::from(limit) * u64::from(rule.at_once);
        needs!(
            workgroups[1] <= limit,
            "{instances} instances; the device skins at most {most} at once"
        );
        let targets = self.targets;
        needs!(
            targets == 0 || buffers.weights.is_some(),
            "the mesh has {targets} morph targets; expected a buffer of their weights"
        );
        needs!(
            targets > 0 || buffers.weights.is_none(),
            "weights for a mesh without morph targets; expected none"
        );

        let all = |bytes: u64| bytes.saturating_mul(instances.into());
        let words = |count: usize| (size_of::<u32>() as u64).saturating_add(all(4 * count as u64));
        let palette = kernel.palette.palette_bytes(self.numbers.entries as usize);
        let read = [
            ("palettes", "matrices", Some(matrices), all(palette as u64)),
            ("morph_weights", "weights", buffers.weights, words(targets)),
            ("listed", "indices of instances", buffers.list, words(1)),
        ];
        let output = bound(
            gpu,
            "vertices",
            buffers.vertices,
            all(self.instance_bytes()),
        )?;
        let mut inputs = self.inputs.clone();
        inputs.push(("output", output));
        for (variable, what, slice, bytes) in read {
            let Some(slice) = slice else { continue };
            needs!(
                slice.buffer() != buffers.vertices.buffer(),
                "{what} and vertices are in one buffer; a dispatch of wgpu either reads a buffer or writes it"
            );
            inputs.push((variable, bound(gpu, what, slice, bytes)?));
        }
        let numbers = layout::Chunk {
            instances,
            ..self.numbers
        };
        created(gpu, || {
            let kernel = kernel.compile(gpu, self.kind)?;
            let chunk = gpu.uniform(Purpose::Scratch, "chunk", &numbers);
            inputs.push(named("chunk", &chunk));
            Ok(BoundMesh {
                group: kernel.bind(gpu, 0, &inputs),
                pipeline: kernel.pipeline,
                workgroups,
            })
        })
    }
}

impl BoundMesh {
    /// Records the skinning in a compute pass of the caller's. It creates nothing.
    pub fn record_in(&self, pass: &mut wgpu::ComputePass) {
        let [x, y, z] = self.workgroups;
        pass.set_pipeline(self.pipeline.get());
        pass.set_bind_group(0, self.group.get(), &[]);
        pass.dispatch_workgroups(x, y, z);
    }

    /// As [`BoundMesh::record_in`], in a compute pass of its own.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        in_own_pass(encoder, |pass| self.record_in(pass));
    }
}
