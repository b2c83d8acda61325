//! Forms of morph targets on the device: deltas, uploaded once, which are applied where vertices are skinned, in the stage
//! `skin` or `draw`.

use crate::Gpu;
use crate::device::{Named, Resource, fits, named};
use crate::shader::wgsl::Role;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::model::Targets;

/// Texels per row of a texture of deltas; `MORPH_TEXTURE_WIDTH` in the shader.
const TEXTURE_WIDTH: u32 = 2048;
/// Bytes of an element of deltas.
const ELEMENT: usize = size_of::<[f32; 4]>();

/// Form of morph targets in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MorphForm {
    /// The deltas of each vertex one after the other, and a weight of each target for every instance.
    Sparse,
    /// A delta for every target and vertex, and a list of active targets for every instance.
    Dense,
    /// As [`MorphForm::Dense`], in a float texture.
    Texture,
}

impl MorphForm {
    /// The files that morph vertices and read deltas; `None` for a crowd without targets.
    pub(crate) fn roles(form: Option<Self>) -> &'static [Role] {
        match form {
            None => &[("morph", "morph_none.wgsl")],
            Some(Self::Sparse) => &[("morph", "morph_sparse.wgsl")],
            Some(Self::Dense) => &[
                ("morph", "morph_lists.wgsl"),
                ("deltas", "morph_dense.wgsl"),
            ],
            Some(Self::Texture) => &[
                ("morph", "morph_lists.wgsl"),
                ("deltas", "morph_texture.wgsl"),
            ],
        }
    }

    /// The form that a crowd needs: none if no model has targets.
    pub fn of(self, crowd: &Crowd) -> Option<Self> {
        crowd.has_targets().then_some(self)
    }

    pub(crate) fn has_lists(self) -> bool {
        matches!(self, Self::Dense | Self::Texture)
    }

    /// Elements of the deltas of a group; the texture's rows are full.
    fn elements(self, group: &Group) -> usize {
        let mesh = group.model.mesh();
        let stride = stride(group);
        let vertices = mesh.vertex_count();
        let targets = mesh.targets();
        match self {
            Self::Sparse => heads(vertices) + targets.positions().len() * stride,
            Self::Dense => targets.len() * vertices * stride,
            Self::Texture => (targets.len() * vertices * stride)
                .max(1)
                .next_multiple_of(TEXTURE_WIDTH as usize),
        }
    }

    /// Words of an instance's weights.
    pub(crate) fn instance_words(self, group: &Group) -> usize {
        let targets = group.model.mesh().targets().len();
        if self.has_lists() {
            2 * (targets + 1)
        } else {
            targets
        }
    }

    /// Words before the weights of the first instance.
    pub(crate) fn head_words(self) -> usize {
        if self.has_lists() { 2 } else { 1 }
    }

    /// Checks that the adapter binds the deltas of each model.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if it does not.
    pub(crate) fn check(self, gpu: &Gpu, crowd: &Crowd) -> Result<()> {
        let most = if self == Self::Texture {
            let rows = gpu.adapter.limits.max_texture_dimension_2d;
            u64::from(rows) * u64::from(TEXTURE_WIDTH) * ELEMENT as u64
        } else {
            gpu.binding_bytes()
        };
        for group in crowd.groups() {
            let what = format_args!("morph targets of {:?} need", group.model.name());
            let bytes = self.elements(group) * ELEMENT;
            fits(what, bytes as u64, "at once", most)?;
        }
        Ok(())
    }
}

/// Elements of a delta.
fn stride(group: &Group) -> usize {
    match group.format.floats() {
        3 => 1,
        6 => 2,
        _ => 3,
    }
}

/// Elements that say where the deltas of vertices begin.
fn heads(vertices: usize) -> usize {
    (vertices + 1).div_ceil(4)
}

/// Uploads the deltas of a group's targets.
pub(crate) fn deltas(gpu: &Gpu, group: &Group, form: MorphForm) -> Named {
    let name = "morph_deltas";
    let elements = elements(group, form);
    if form != MorphForm::Texture {
        return named(name, &gpu.storage(Purpose::Mesh, name, &elements));
    }
    let height = (elements.len() / TEXTURE_WIDTH as usize) as u32;
    let texture = gpu.float_texture(Purpose::Mesh, name, TEXTURE_WIDTH, height);
    gpu.write_texture(
        &texture,
        [0, 0],
        [TEXTURE_WIDTH, height],
        bytemuck::cast_slice(&elements),
    );
    (name, Resource::View { view: texture.view })
}

/// Elements of a delta: position, normal, tangent, and the target behind the first.
fn delta_of(targets: &Targets, delta: usize, target: u32) -> [[u32; 4]; 3] {
    let tangent = targets.tangents().get(delta).copied().unwrap_or_default();
    let mut elements = [
        targets.positions()[delta],
        targets.normals()[delta],
        tangent,
    ]
    .map(|delta| {
        let [x, y, z] = delta.map(f32::to_bits);
        [x, y, z, 0]
    });
    elements[0][3] = target;
    elements
}

/// The deltas of a group in a form, as bits.
fn elements(group: &Group, form: MorphForm) -> Vec<[u32; 4]> {
    let mesh = group.model.mesh();
    let stride = stride(group);
    let targets = mesh.targets();
    let vertices = mesh.vertex_count();
    let mut elements = Vec::with_capacity(form.elements(group));
    if form.has_lists() {
        elements.resize(form.elements(group), [0; 4]);
        for (target, vertex, delta) in targets.entries() {
            let at = (target * vertices + vertex) * stride;
            elements[at..at + stride].copy_from_slice(&delta_of(targets, delta, 0)[..stride]);
        }
        return elements;
    }
    let first = heads(vertices);
    if targets.is_empty() {
        // No vertex has deltas: they begin and end behind the head.
        elements.resize(first, [first as u32; 4]);
        return elements;
    }
    let by_vertex = targets.by_vertex();
    let begins: Vec<u32> = by_vertex
        .offsets()
        .iter()
        .map(|offset| first as u32 + offset * stride as u32)
        .collect();
    elements.extend(
        begins
            .chunks(4)
            .map(|four| std::array::from_fn(|i| four.get(i).copied().unwrap_or(0))),
    );
    for &(target, delta) in by_vertex.all() {
        elements.extend_from_slice(&delta_of(targets, delta as usize, target)[..stride]);
    }
    elements
}
