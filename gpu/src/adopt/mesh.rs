//! A mesh that is skinned from matrices of the caller's.

use crate::Gpu;
use crate::adopt::host::{InPass, Vertices, bound, check_kernel, created, in_own_pass};
use crate::crowd::chunk::Sharing;
use crate::crowd::table::CrowdTable;
use crate::device::{Named, named, needs};
use crate::forms::kind::ShaderVariant;
use crate::forms::mesh::MeshForm;
use crate::forms::palettes::PaletteForm;
use crate::passes::skin::{CompiledSkin, SkinKernel, ThreadLayout};
use crate::shader::layout::{self, INLINE};
use bytemuck::Zeroable;
use skinbench_frame::{BackendError, Purpose, Result};
use skinbench_kernels::crowd::{Crowd, Layer, REST};
use skinbench_kernels::model::{IDENTITY_ROWS, Model};
use skinbench_kernels::vertex::{Attributes, Encoding, VertexFormat};
use std::sync::Arc;

/// A mesh that is skinned from a buffer of matrices into a buffer of vertices.
pub struct AdoptedMesh {
    gpu: Arc<Gpu>,
    skin: CompiledSkin,
    output_bytes: u64,
}

/// Vertices of a mesh with up to four influences each. Skinned vertices are in the same order, so that indices, texture
/// coordinates and colours of the caller's stay valid.
#[derive(Debug, Clone, Copy)]
pub struct MeshSlices<'a> {
    /// One per vertex.
    pub positions: &'a [[f32; 3]],
    /// One per vertex if the format has normals, else any number.
    pub normals: &'a [[f32; 3]],
    /// One per vertex if the format has tangents, else any number.
    pub tangents: &'a [[f32; 4]],
    /// The matrices that move each vertex, by their index among those of an instance.
    pub joints: &'a [[u16; 4]],
    /// The weight of each of these matrices, not negative. They need not be sorted, nor sum to 1.
    pub weights: &'a [[f32; 4]],
    /// Matrices of an instance.
    pub matrices: u32,
}

impl AdoptedMesh {
    /// Uploads the mesh of a model and compiles a kernel for vertices in a format. `palettes` holds `[instance][entry]` from
    /// its beginning: rows of 3x4 matrices, 48 bytes each, or 4x4 matrices by columns, 64 bytes each, as the kernel reads
    /// them. The slice's buffer has the usage `STORAGE`, and its offset is a multiple of the device's
    /// `min_storage_buffer_offset_alignment`. Vertices are in the order of `model.mesh().sources()`. Kernels but
    /// [`NAIVE`](crate::passes::skin_kernels::NAIVE) read a mesh of 20 bytes per vertex, which rounds positions by less than 1e-5 of
    /// the model's diagonal and normals by less than 1e-3 radians.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] or [`BackendError::TooLarge`], with what the device, the kernel or `palettes`
    /// lacks; or [`BackendError::Device`], with what wgpu refused to create.
    pub fn new(
        gpu: &Arc<Gpu>,
        model: Arc<Model>,
        format: VertexFormat,
        instances: u32,
        palettes: wgpu::BufferSlice,
        kernel: &'static SkinKernel,
    ) -> Result<Self> {
        let palettes = palettes_of(
            gpu,
            kernel,
            instances,
            model.palette_joints().len(),
            palettes,
        )?;
        let mut crowd = Crowd::with_format(format);
        let at_rest = (0..instances).map(|_| (IDENTITY_ROWS, Layer::held(REST, 0.0)));
        crowd
            .push_group(model, at_rest)
            .map_err(|error| BackendError::Unavailable(error.to_string()))?;
        check_kernel(kernel, &crowd)?;
        let message = "the model has morph targets, whose weights only a crowd has";
        needs(!crowd.has_targets(), message)?;
        let (skin, output_bytes) = created(gpu, || {
            let mut table = CrowdTable::new(gpu, &crowd, &Sharing::Nothing, None)?;
            let first = table.chunks.first();
            let most = first.map_or(0, |chunk| chunk.instances.len());
            let message = format!("the device binds {most} instances at once; not {instances}");
            needs(most == instances as usize, &message)?;
            table.bind_numbers(gpu, false);
            for bindings in &mut table.bindings {
                bindings.push(palettes.clone());
            }
            let bytes = table.chunks.iter().map(|chunk| chunk.output_bytes(&crowd));
            let bytes = bytes.sum();
            Ok((CompiledSkin::new(gpu, &crowd, kernel, &mut table)?, bytes))
        })?;
        Ok(Self {
            gpu: Arc::clone(gpu),
            skin,
            output_bytes,
        })
    }

    /// As [`AdoptedMesh::new`], for a mesh from slices, whose vertices are read and written as floats in their order. Weights are
    /// divided by their sum.
    ///
    /// # Errors
    /// As [`AdoptedMesh::new`], or what is wrong with the slices, with the index of the vertex.
    pub fn from_slices(
        gpu: &Arc<Gpu>,
        mesh: &MeshSlices,
        format: VertexFormat,
        instances: u32,
        palettes: wgpu::BufferSlice,
        kernel: &'static SkinKernel,
    ) -> Result<Self> {
        mesh.check(format)?;
        needs(
            format.encoding == Encoding::F32,
            "vertices of slices are written as floats; needs the encoding F32",
        )?;
        let whole = matches!(
            kernel.threads,
            ThreadLayout::Character | ThreadLayout::Merged(_)
        );
        needs(
            !whole && kernel.output.is_none() && !matches!(kernel.mesh, MeshForm::Own(_)),
            &format!("the kernel {} needs a model", kernel.name),
        )?;
        let palettes = palettes_of(gpu, kernel, instances, mesh.matrices as usize, palettes)?;
        let kind = ShaderVariant {
            format,
            mesh: MeshForm::Plain,
            influences: INLINE as u32,
            layers: 1,
            morph: None,
        };
        let vertices = mesh.positions.len() as u32;
        let numbers = layout::Chunk {
            instances,
            vertices,
            entries: mesh.matrices,
            eights: vertices,
            sixteens: vertices,
            ..Zeroable::zeroed()
        };
        let skin = created(gpu, || {
            let mut inputs = mesh.upload(gpu, format);
            let chunk = gpu.uniform(Purpose::Scratch, "chunk", &numbers);
            inputs.extend([named("chunk", &chunk), palettes]);
            CompiledSkin::alone(gpu, kernel, kind, &numbers, inputs)
        })?;
        let words = u64::from(instances) * u64::from(vertices) * format.floats() as u64;
        Ok(Self {
            gpu: Arc::clone(gpu),
            skin,
            output_bytes: words * size_of::<f32>() as u64,
        })
    }

    /// Bytes of the vertices, `[instance][vertex][word]`.
    pub fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    /// Binds a slice for the vertices, whose buffer has the usage `STORAGE`; its offset is a multiple of the device's
    /// `min_storage_buffer_offset_alignment`. Frames may take turns with several.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] or [`BackendError::TooLarge`], with what the slice lacks.
    pub fn bind(&self, vertices: wgpu::BufferSlice) -> Result<Vertices> {
        let output = bound(&self.gpu, "vertices", vertices, self.output_bytes)?;
        let groups = created(&self.gpu, || Ok(self.skin.groups(&self.gpu, &[output])))?;
        Ok(Vertices(groups))
    }

    /// Records the skinning into vertices that this mesh bound, in a compute pass of the caller's. It creates nothing.
    pub fn record_in(&self, vertices: &Vertices, pass: &mut wgpu::ComputePass) {
        if let Some((_, queue)) = self.gpu.device() {
            let commands = &mut InPass { queue, pass };
            self.skin.record(&vertices.0, None, false, commands);
        }
    }

    /// As [`AdoptedMesh::record_in`], in a compute pass of its own.
    pub fn record(&self, vertices: &Vertices, encoder: &mut wgpu::CommandEncoder) {
        in_own_pass(encoder, |pass| self.record_in(vertices, pass));
    }
}

/// The palettes of some instances, in the form that a kernel reads.
fn palettes_of(
    gpu: &Gpu,
    kernel: &SkinKernel,
    instances: u32,
    entries: usize,
    slice: wgpu::BufferSlice,
) -> Result<Named> {
    let form = kernel.palette;
    let name = kernel.name;
    needs(
        form.is_rows() || form == PaletteForm::Columns,
        &format!("the kernel {name} reads neither rows of 3x4 matrices nor columns of 4x4"),
    )?;
    let bytes = u64::from(instances) * form.palette_bytes(entries) as u64;
    Ok(("palettes", bound(gpu, "palettes", slice, bytes)?))
}

impl MeshSlices<'_> {
    /// Checks that slices have one length, and that every vertex has weights and matrices that exist.
    fn check(&self, format: VertexFormat) -> Result<()> {
        let count = self.positions.len();
        needs(count > 0, "the mesh has no vertex")?;
        needs(
            u32::try_from(count).is_ok(),
            "the mesh has more than 2^32 vertices",
        )?;
        let asked = |has: bool, len: usize| if has { len } else { count };
        let has_normals = format.attributes != Attributes::P;
        let has_tangents = format.attributes == Attributes::Pnt;
        for (name, length) in [
            ("joints", self.joints.len()),
            ("weights", self.weights.len()),
            ("normals", asked(has_normals, self.normals.len())),
            ("tangents", asked(has_tangents, self.tangents.len())),
        ] {
            let message = format!("{length} {name} for {count} positions");
            needs(length == count, &message)?;
        }
        for (vertex, (joints, weights)) in self.joints.iter().zip(self.weights).enumerate() {
            let sum: f32 = weights.iter().sum();
            let usable = weights.iter().all(|weight| *weight >= 0.0) && sum.is_normal();
            let message = format!(
                "vertex {vertex} has the weights {weights:?}; expected a positive sum of none below 0"
            );
            needs(usable, &message)?;
            for (joint, weight) in joints.iter().zip(weights) {
                let message = format!(
                    "vertex {vertex} follows matrix {joint}; an instance has {}",
                    self.matrices
                );
                needs(
                    *weight == 0.0 || u32::from(*joint) < self.matrices,
                    &message,
                )?;
            }
        }
        Ok(())
    }

    /// Uploads the vertices, their largest weights first.
    fn upload(&self, gpu: &Gpu, format: VertexFormat) -> Vec<Named> {
        let mut vertices = Vec::with_capacity(self.positions.len());
        for (vertex, &position) in self.positions.iter().enumerate() {
            let mut pairs: [(u16, f32); INLINE] =
                std::array::from_fn(|k| (self.joints[vertex][k], self.weights[vertex][k]));
            pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
            let sum: f32 = pairs.iter().map(|pair| pair.1).sum();
            // An unused matrix need not exist.
            let heaviest = pairs[0].0;
            vertices.push(layout::Vertex {
                position,
                normal: self.normals.get(vertex).copied().unwrap_or_default(),
                entries: pairs
                    .map(|(joint, weight)| u32::from(if weight > 0.0 { joint } else { heaviest })),
                weights: pairs.map(|pair| pair.1 / sum),
                ..Zeroable::zeroed()
            });
        }
        let tangents = if format.attributes == Attributes::Pnt {
            self.tangents
        } else {
            &[[0.0; 4]]
        };
        let none: &[layout::Influence] = &[];
        vec![
            named(
                "vertices",
                &gpu.storage(Purpose::Mesh, "vertices", &vertices),
            ),
            named(
                "influences",
                &gpu.storage(Purpose::Mesh, "influences", none),
            ),
            named(
                "tangents",
                &gpu.storage(Purpose::Mesh, "tangents", tangents),
            ),
        ]
    }
}
