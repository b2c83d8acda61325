//! Vertices that drawing can read: in buffers, or skinned by a vertex shader.

use crate::crowd::Crowd;
use crate::frame::Retention;
use crate::gpu::device::buffers::output_sizes;
use crate::gpu::device::{BindGroup, Buffer, Command, Commands, Recorder};
use crate::gpu::pose::visibility::Visible;
use crate::gpu::shader::{GroupLayout, shader};
use crate::gpu::skin::output::OutputForm;
use crate::gpu::skin::skinning::Kind;
use crate::gpu::{Chunk, Gpu, MeshForm, PaletteForm};
use std::ops::Range;
use std::rc::Rc;

/// Vertices that drawing can read.
#[derive(Clone)]
pub enum Drawable {
    /// In the device side of the output buffers.
    Output(BufferForm),
    /// In buffers of the backend.
    Stored(Rc<StoredVertices>),
    /// Skinned by a vertex shader while they are drawn.
    Shader(Rc<VertexSource>),
}

/// Form of the vertices in the device side of the output buffers.
#[derive(Clone, Default)]
pub struct BufferForm {
    /// Form of an instance's vertices; `None` for that of the group's format.
    pub output: Option<OutputForm>,
    /// The instances in view, if only their vertices are there, at the beginning of each chunk.
    pub visible: Option<Rc<Visible>>,
}

/// Skinned vertices in buffers.
pub struct StoredVertices {
    /// Chunks whose vertices are in one buffer, one after the other.
    pub parts: Vec<Vec<Chunk>>,
    /// The buffers, to which parts write in turn. A ring has fewer buffers than parts, and is not drawn.
    pub buffers: Vec<Buffer>,
    /// Buffers of the previous frame, if its vertices are kept.
    pub previous: Vec<Buffer>,
    /// The kind of each of the crowd's groups.
    pub kinds: Vec<Kind>,
    /// `true` if the parts hold chunks of several models, which are drawn together.
    pub merged: bool,
    /// Form of the vertices.
    pub form: BufferForm,
}

impl StoredVertices {
    /// Allocates buffers that the parts of a crowd write to in turn, and a second set of them if the last frame is
    /// kept. Parts are merged, or they are chunks of families, whose levels share a buffer: all instances may be at the
    /// level that has the most vertices.
    pub fn allocate(
        gpu: &Gpu,
        crowd: &Crowd,
        parts: &[Vec<Chunk>],
        keep: Retention,
        merged: bool,
        form: &BufferForm,
    ) -> Vec<Rc<Self>> {
        let levels = if merged { 1 } else { crowd.levels() };
        let bytes = |part: &Vec<Chunk>| {
            part.iter()
                .map(|chunk| chunk.output_bytes(crowd))
                .sum::<u64>()
        };
        let sizes = parts
            .chunks(levels)
            .map(|family| family.iter().map(bytes).max().unwrap_or(0));
        let sizes = output_sizes(sizes, keep);
        let set = |_| {
            gpu.outputs(&sizes)
                .into_iter()
                .flat_map(|buffer| std::iter::repeat_n(buffer, levels))
                .collect()
        };
        let sets: Vec<Vec<Buffer>> = (0..keep.frames()).map(set).collect();
        let of_set = |(index, buffers): (usize, &Vec<Buffer>)| {
            let previous = if sets.len() > 1 {
                sets[1 - index].clone()
            } else {
                Vec::new()
            };
            let kinds = Kind::all(crowd, MeshForm::Plain, PaletteForm::Rows, None);
            let (parts, buffers) = (parts.to_vec(), buffers.clone());
            Rc::new(Self {
                parts,
                buffers,
                previous,
                kinds,
                merged,
                form: form.clone(),
            })
        };
        sets.iter().enumerate().map(of_set).collect()
    }
}

/// Returns the complete shader that draws groups of a kind, from its root file in shaders/.
pub type DrawingShader = Box<dyn Fn(Kind, &str) -> String>;

/// Skinned vertices as a vertex shader reads or computes them: a file that plays the role `source`, and the bindings of
/// group 0.
pub struct VertexSource {
    /// The shaders that draw it.
    pub wgsl: DrawingShader,
    /// The kind of each of the crowd's groups.
    pub kinds: Vec<Kind>,
    /// Layout of group 0.
    pub layout: GroupLayout,
    /// Group 0, and the chunks that are drawn with it: each by itself unless the source is merged.
    pub parts: Vec<(BindGroup, Vec<Chunk>)>,
    /// Bytes from one instance's palette to the next, if each instance is bound and drawn separately.
    pub stride: Option<u32>,
    /// `true` if it defines `previous_position`, from which motion vectors are drawn.
    pub motion: bool,
    /// The instances of each chunk to draw, if only those in view are drawn.
    pub visible: Option<Rc<Visible>>,
}

/// Binds vertices and calls `draw`: once for `instances`, or once per instance if there is a `stride`. Indices are
/// relative to the chunk.
pub(in crate::gpu) fn for_each_binding(
    pass: &mut Commands,
    group: &BindGroup,
    stride: Option<u32>,
    instances: Range<u32>,
    draw: impl Fn(&mut Commands, Range<u32>),
) {
    let Some(stride) = stride else {
        bind(pass, group, &[]);
        return draw(pass, instances);
    };
    for instance in instances {
        bind(pass, group, &[instance * stride]);
        draw(pass, instance..instance + 1);
    }
}

fn bind(pass: &mut Commands, group: &BindGroup, offsets: &[u32]) {
    pass.run(Command::Bind {
        index: 0,
        group,
        offsets,
    });
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
    let own = [("source", source), ("drawn", drawn), ("previous", previous)];
    shader(root, &own[..2 + usize::from(root == MOTION)])
}

/// The drawing shader that also draws the motion of each pixel.
const MOTION: &str = "draw_motion.wgsl";

/// The root file of the shader that draws a source's vertices: in plain colours, with their motion since the last frame
/// if `motion` is set, or for a picture.
pub fn draw_root(motion: bool, picture: bool) -> &'static str {
    match (picture, motion) {
        (true, _) => "draw_picture.wgsl",
        (false, true) => MOTION,
        (false, false) => "draw.wgsl",
    }
}
