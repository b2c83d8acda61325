//! Vertices that drawing can read: in buffers, or skinned by a vertex shader.

use crate::crowd::table::{CrowdTable, Visible};
use crate::device::buffers::output_sizes;
use crate::device::{BindGroup, Buffer, Commands, Recorder};
use crate::forms::kind::{ShaderVariant, vertex_shader};
use crate::forms::output::OutputForm;
use crate::forms::palettes::PaletteForm;
use crate::kernel::GroupLayout;
use crate::shader::shader;
use crate::{Chunk, Gpu};
use skinbench_frame::Retention;
use skinbench_kernels::crowd::Crowd;
use std::ops::Range;
use std::sync::Arc;

/// Vertices that drawing can read.
#[derive(Clone)]
pub enum Drawable {
    /// In the device side of the output buffers.
    Output(BufferForm),
    /// In buffers of the backend.
    Stored(Arc<StoredVertices>),
    /// Skinned by a vertex shader while they are drawn.
    Shader(Arc<VertexSource>),
}

/// Form of the vertices in the device side of the output buffers.
#[derive(Clone, Default)]
pub struct BufferForm {
    /// Form of an instance's vertices; `None` for that of the group's format.
    pub output: Option<OutputForm>,
    /// The instances in view, if only their vertices are there, at the beginning of each chunk.
    pub visible: Option<Arc<Visible>>,
}

/// Skinned vertices in buffers.
pub struct StoredVertices {
    /// Chunks whose vertices are in one buffer, one after the other.
    pub batches: Vec<Vec<Chunk>>,
    /// The buffers, to which batches are written in turn. A ring has fewer buffers than batches, and is not drawn.
    pub buffers: Vec<Buffer>,
    /// Buffers of the previous frame, if its vertices are kept.
    pub previous: Vec<Buffer>,
    /// `true` if the batches hold chunks of several models, which are drawn together.
    pub merged: bool,
    /// Form of the vertices.
    pub form: BufferForm,
}

impl StoredVertices {
    /// Allocates buffers that batches of any models are written to in turn, and a second set of them if the last frame is
    /// kept.
    pub fn allocate(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &CrowdTable,
        keep: Retention,
    ) -> Vec<Arc<Self>> {
        let batches = table.batches.iter();
        let batches: Vec<_> = batches.map(|b| table.chunks[b.clone()].to_vec()).collect();
        let mut sizes = Vec::with_capacity(batches.len());
        for batch in &batches {
            let bytes = batch.iter().map(|chunk| chunk.output_bytes(crowd));
            sizes.push(bytes.sum());
        }
        let sizes = output_sizes(sizes, keep);
        let mut sets: Vec<Vec<Buffer>> = Vec::with_capacity(keep.frames());
        sets.resize_with(keep.frames(), || gpu.outputs(&sizes));
        let mut stored = Vec::with_capacity(sets.len());
        for (index, buffers) in sets.iter().enumerate() {
            let previous = if sets.len() > 1 {
                sets[1 - index].clone()
            } else {
                Vec::new()
            };
            stored.push(Arc::new(Self {
                batches: batches.clone(),
                buffers: buffers.clone(),
                previous,
                merged: true,
                form: BufferForm::default(),
            }));
        }
        stored
    }
}

/// How a vertex shader gets vertices.
#[derive(Debug, Clone, Copy)]
pub enum VertexAccess {
    /// It skins them, by palettes in a form.
    Skins(PaletteForm),
    /// It reads them where they were stored.
    Reads {
        /// Form of an instance's vertices; `None` for that of the group's format.
        output: Option<OutputForm>,
        /// `true` if the vertices of several models share a buffer.
        merged: bool,
    },
}

impl VertexAccess {
    /// Returns whether the vertices of several models share a buffer.
    pub fn is_merged(self) -> bool {
        matches!(self, Self::Reads { merged: true, .. })
    }

    /// The complete shader that draws groups of a kind, from its root file in shaders/.
    pub fn shader(self, kind: ShaderVariant, root: &str) -> String {
        match self {
            Self::Skins(palette) => vertex_shader(kind.mesh, palette, kind.morph, root),
            Self::Reads { output, merged } => {
                let output = output.unwrap_or(OutputForm::of(kind.format.encoding));
                preskinned_shader(output, merged, root)
            }
        }
    }
}

/// Skinned vertices as a vertex shader reads or computes them: a file that plays the role `source`, and the bindings of
/// group 0.
pub struct VertexSource {
    /// How shaders that draw it get the vertices.
    pub access: VertexAccess,
    /// The kind of each of the crowd's groups.
    pub kinds: Vec<ShaderVariant>,
    /// Layout of group 0.
    pub layout: GroupLayout,
    /// The batches as they are drawn.
    pub batches: Vec<DrawnBatch>,
    /// Bytes from one instance's palette to the next, if each instance is bound and drawn separately.
    pub stride: Option<u32>,
    /// `true` if it defines `previous_position`, from which motion vectors are drawn.
    pub motion: bool,
    /// The instances of each chunk to draw, if only those in view are drawn.
    pub visible: Option<Arc<Visible>>,
}

/// Chunks that are drawn with one set of bindings.
pub struct DrawnBatch {
    /// Group 0.
    pub group: BindGroup,
    /// The chunks: a single one unless vertices of several models share a buffer.
    pub chunks: Vec<Chunk>,
}

/// Binds vertices and calls `draw`: once for `instances`, or once per instance if there is a `stride`. Indices are
/// relative to the chunk.
pub(crate) fn for_each_binding(
    pass: &mut Commands,
    group: &BindGroup,
    stride: Option<u32>,
    instances: Range<u32>,
    draw: impl Fn(&mut Commands, Range<u32>),
) {
    let Some(stride) = stride else {
        pass.bind(0, group, &[]);
        return draw(pass, instances);
    };
    for instance in instances {
        pass.bind(0, group, &[instance * stride]);
        draw(pass, instance..instance + 1);
    }
}

/// A shader that draws vertices skinned before drawing, from its root file in shaders/. If `merged` is set, a draw's
/// instances are those of several models, whose vertices share a buffer, otherwise those of one chunk.
pub fn preskinned_shader(stored: OutputForm, merged: bool, root: &str) -> String {
    let drawn = if merged {
        "drawn_merged.wgsl"
    } else {
        "drawn_chunk.wgsl"
    };
    let [source, previous] = stored.read_by();
    let mut roles = vec![("source", source), ("drawn", drawn)];
    if root == MOTION {
        roles.push(("previous", previous));
    }
    shader(root, &roles)
}

/// The drawing shader that also draws the motion of each pixel.
const MOTION: &str = "draw_motion.wgsl";

/// The root file of the shader that draws a source's vertices: in plain colours, with their motion since the last frame
/// if `motion` is set, or for a picture.
pub fn draw_root(motion: bool, picture: bool) -> &'static str {
    if picture {
        "draw_picture.wgsl"
    } else if motion {
        MOTION
    } else {
        "draw.wgsl"
    }
}
