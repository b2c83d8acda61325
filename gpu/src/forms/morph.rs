//! Forms of morph targets on the device: deltas, uploaded once, which are applied where vertices are skinned, in the stage
//! `skin` or `draw`.

use crate::Gpu;
use crate::device::{Named, Resource, fits, named};
use crate::shader::wgsl::Role;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::crowd::{Crowd, Group};
use skinbench_kernels::vertex::{Attributes, VertexFormat};

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
        let stride = stride(group.format);
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
fn stride(format: VertexFormat) -> usize {
    match format.attributes {
        Attributes::P => 1,
        Attributes::Pn => 2,
        Attributes::Pnt => 3,
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

/// Elements of what a target adds to position, normal and tangent; the target stands behind the first.
fn delta_elements(target: u32, deltas: [[f32; 3]; 3]) -> [[u32; 4]; 3] {
    let mut elements = deltas.map(|delta| {
        let [x, y, z] = delta.map(f32::to_bits);
        [x, y, z, 0]
    });
    elements[0][3] = target;
    elements
}

/// The deltas of a group in a form, as bits.
fn elements(group: &Group, form: MorphForm) -> Vec<[u32; 4]> {
    let mesh = group.model.mesh();
    let targets = mesh.targets();
    let vertices = mesh.vertex_count();
    if form.has_lists() {
        let stride = stride(group.format);
        let mut elements = vec![[0; 4]; form.elements(group)];
        for (target, vertex, delta) in targets.entries() {
            let at = (target * vertices + vertex) * stride;
            let delta = delta_elements(0, targets.deltas(delta));
            elements[at..at + stride].copy_from_slice(&delta[..stride]);
        }
        return elements;
    }
    let by_vertex = targets.by_vertex();
    sparse(vertices, group.format, |vertex| {
        let deltas = if targets.is_empty() {
            &[]
        } else {
            by_vertex.of(vertex)
        };
        deltas
            .iter()
            .map(|&(target, delta)| (target, targets.deltas(delta as usize)))
    })
}

/// The elements of [`MorphForm::Sparse`] for so many vertices of a format. `deltas_of` lists those of a vertex: a target, and
/// what it adds to position, normal and tangent.
pub(crate) fn sparse<I: Iterator<Item = (u32, [[f32; 3]; 3])>>(
    vertices: usize,
    format: VertexFormat,
    deltas_of: impl Fn(usize) -> I,
) -> Vec<[u32; 4]> {
    let stride = stride(format);
    let mut elements = vec![[0; 4]; heads(vertices)];
    for vertex in 0..vertices {
        elements[vertex / 4][vertex % 4] = elements.len() as u32;
        for (target, deltas) in deltas_of(vertex) {
            elements.extend_from_slice(&delta_elements(target, deltas)[..stride]);
        }
    }
    elements[vertices / 4][vertices % 4] = elements.len() as u32;
    elements
}
