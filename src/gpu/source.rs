//! Sources of drawn vertices: the arena, or a vertex shader that skins.

use super::Gpu;
use super::binding::GroupLayout;
use super::merged::MergedVertices;
use super::skinning::Kind;
use super::visibility::Visible;
use super::wgsl::{Role, shader};
use crate::frame::Arena;
use crate::vertex::Encoding;
use std::ops::Range;
use std::rc::Rc;

/// Vertices that drawing can read.
#[derive(Clone)]
pub enum Drawable {
    /// In the arena's host side, to be uploaded.
    Host,
    /// In the arena's device side.
    Device,
    /// In the arena's device side; each instance's positions come before its normals.
    Streams,
    /// In the arena's device side; the vertices of the instances in view are at the beginning of each chunk.
    Visible(Rc<Visible>),
    /// In buffers that the models of a crowd share.
    Merged(Rc<MergedVertices>),
    /// Skinned by a vertex shader while they are drawn.
    Shader(Rc<VertexSource>),
    /// In buffers of the backend itself, because the arena has no room for levels that the device chooses.
    Own(Rc<OwnVertices>),
}

/// Vertices in buffers of a backend.
pub struct OwnVertices {
    /// One buffer per chunk; the chunks of a family share one.
    pub buffers: Vec<wgpu::Buffer>,
    /// The buffers as a source.
    pub source: Rc<VertexSource>,
}

/// Returns the complete shader that draws groups of a kind: its root file in shaders/, with roles besides those of the
/// source.
pub type DrawingShader = Box<dyn Fn(Kind, &str, &[Role]) -> String>;

/// Skinned vertices computed by a vertex shader: a file that plays the role `source`, and the bindings of group 0.
pub struct VertexSource {
    /// The shaders that draw it.
    pub wgsl: DrawingShader,
    /// The kind of each of the crowd's groups.
    pub kinds: Vec<Kind>,
    /// Layout of group 0.
    pub layout: GroupLayout,
    /// Group 0 for each chunk.
    pub groups: Vec<wgpu::BindGroup>,
    /// Bytes from one instance's palette to the next, if each instance is bound and drawn separately.
    pub stride: Option<u32>,
    /// `true` if the WGSL is our own, which needs no checks at run time.
    pub trusted: bool,
    /// `true` if it defines `previous_position`, from which motion vectors are drawn.
    pub motion: bool,
    /// The instances of each chunk to draw, if only those in view are drawn.
    pub visible: Option<Rc<Visible>>,
}

impl VertexSource {
    /// The source's kinds without duplicates.
    pub(super) fn distinct_kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        for &kind in &self.kinds {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Binds a chunk's vertices and calls `draw`: once for `instances`, or once per instance. Indices are relative to
    /// the chunk.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass,
        chunk: &wgpu::BindGroup,
        instances: Range<u32>,
        draw: impl Fn(&mut wgpu::RenderPass, Range<u32>),
    ) {
        match self.stride {
            None => {
                pass.set_bind_group(0, chunk, &[]);
                draw(pass, instances);
            }
            Some(stride) => {
                for instance in instances {
                    pass.set_bind_group(0, chunk, &[instance * stride]);
                    draw(pass, instance..instance + 1);
                }
            }
        }
    }

    /// The arena's device side as a source; `chunks` holds each chunk's numbers. With `streams`, an instance's positions
    /// come before its normals.
    pub(super) fn arena(
        gpu: &Gpu,
        crowd_kinds: &[Kind],
        chunks: &[&wgpu::Buffer],
        arena: &Arena,
        streams: bool,
    ) -> Self {
        let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.as_entire_binding()).collect();
        Self::stored(gpu, crowd_kinds, &chunks, (&arena.device, &arena.previous), streams, None)
    }

    /// Buffers with the vertices of this frame, and of the previous one if they are kept, as a source.
    pub fn stored(
        gpu: &Gpu,
        crowd_kinds: &[Kind],
        chunks: &[wgpu::BindingResource],
        (buffers, previous): (&[wgpu::Buffer], &[wgpu::Buffer]),
        streams: bool,
        visible: Option<Rc<Visible>>,
    ) -> Self {
        let motion = !previous.is_empty();
        // The kind of skinning makes no difference to drawing.
        let kinds: Vec<_> = crowd_kinds.iter().map(|&kind| Kind { influences: 1, layers: 1, ..kind }).collect();
        let wgsl = move |kind: Kind, root: &str, roles: &[Role]| {
            let source = if streams { Preskinned::Streams } else { Preskinned::Vertices(kind.format.encoding) };
            preskinned_shader(source, Drawn::Chunk, root, roles)
        };
        let first = kinds.first().map(|&kind| wgsl(kind, draw_root(motion, false), &[]));
        let layout = GroupLayout::new(gpu, "arena", &first.unwrap_or_default(), 0, wgpu::ShaderStages::VERTEX, None);
        let bound = |(index, chunk): (usize, &wgpu::BindingResource)| {
            let buffers = [("arena", buffers.get(index)), ("previous", previous.get(index))];
            let buffers = buffers.into_iter().filter_map(|(name, buffer)| Some((name, buffer?.as_entire_binding())));
            let resources: Vec<_> = [("chunk", chunk.clone())].into_iter().chain(buffers).collect();
            layout.bind(gpu, "arena", &resources)
        };
        let groups = chunks.iter().enumerate().map(bound).collect();
        Self { wgsl: Box::new(wgsl), kinds, layout, groups, stride: None, trusted: true, motion, visible }
    }
}

/// Layout of vertices that were skinned before drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preskinned {
    /// Vertex by vertex.
    Vertices(Encoding),
    /// An instance's positions, then its normals, as floats.
    Streams,
}

/// Instances of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// Those of one chunk.
    Chunk,
    /// Those of several models, whose vertices share a buffer.
    Merged,
}

/// A shader that draws vertices skinned before drawing: its root file in shaders/, with roles besides those of the
/// vertices.
pub fn preskinned_shader(stored: Preskinned, drawn: Drawn, root: &str, roles: &[Role]) -> String {
    let drawn = match drawn {
        Drawn::Chunk => "drawn_chunk.wgsl",
        Drawn::Merged => "drawn_merged.wgsl",
    };
    let (source, previous) = match stored {
        Preskinned::Vertices(Encoding::F32) => ("preskinned.wgsl", "previous.wgsl"),
        Preskinned::Vertices(Encoding::Packed) => ("preskinned_packed.wgsl", "previous_packed.wgsl"),
        // The last frame's vertices are kept by no backend that stores streams.
        Preskinned::Streams => ("preskinned_streams.wgsl", "previous.wgsl"),
    };
    let own = [("source", source), ("drawn", drawn), ("previous", previous)];
    let own = &own[..2 + usize::from(root == MOTION)];
    shader(root, &[own, roles].concat())
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
