//! Sources of drawn vertices: the arena, or a vertex shader that skins.

use super::Gpu;
use super::binding::{READ_ONLY, bind, bind_group_layout, layout_entry};
use super::shader::module;
use super::skinning::Kind;
use super::visibility::Visible;
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
    /// In the arena's device side; the vertices of the instances in view are at the beginning of each chunk.
    Visible(Rc<Visible>),
    /// Skinned by a vertex shader while they are drawn.
    Shader(Rc<VertexSource>),
}

/// Skinned vertices computed by a vertex shader: WGSL with `skinned_vertex`, and the bindings of group 0.
pub struct VertexSource {
    /// Returns the WGSL that is put before the drawing shader, for groups of a kind.
    pub wgsl: Box<dyn Fn(Kind) -> String>,
    /// The kind of each of the crowd's groups.
    pub kinds: Vec<Kind>,
    /// Layout of group 0; binding 0 is the chunk.
    pub layout: wgpu::BindGroupLayout,
    /// Group 0 for each chunk.
    pub groups: Vec<wgpu::BindGroup>,
    /// Bytes from one instance's palette to the next, if each instance is bound and drawn separately.
    pub stride: Option<u32>,
    /// Whether the WGSL is our own, which needs no checks at run time.
    pub trusted: bool,
    /// Whether it defines `previous_position`, from which motion vectors are drawn.
    pub motion: bool,
    /// The instances of each chunk to draw, if only those in view are drawn.
    pub visible: Option<Rc<Visible>>,
}

impl VertexSource {
    pub(super) fn module(&self, gpu: &Gpu, kind: Kind, label: &str, tail: &str) -> wgpu::ShaderModule {
        module(gpu, label, format!("{}{tail}", (self.wgsl)(kind)), self.trusted)
    }

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

    /// The arena's device side as a source; `chunks` holds each chunk's numbers.
    pub(super) fn arena(gpu: &Gpu, crowd_kinds: &[Kind], chunks: &[&wgpu::Buffer], arena: &Arena) -> Self {
        let motion = !arena.previous.is_empty();
        let entries = [
            layout_entry(0, wgpu::ShaderStages::VERTEX, wgpu::BufferBindingType::Uniform),
            layout_entry(1, wgpu::ShaderStages::VERTEX, READ_ONLY),
            layout_entry(2, wgpu::ShaderStages::VERTEX, READ_ONLY),
        ];
        let layout = bind_group_layout(gpu, "arena", &entries[..if motion { 3 } else { 2 }]);
        let bound = |(index, &chunk): (usize, &&wgpu::Buffer)| {
            let buffers = [Some(chunk), arena.device.get(index), arena.previous.get(index)];
            bind(gpu, "arena", &layout, &buffers.into_iter().flatten().collect::<Vec<_>>())
        };
        let groups = chunks.iter().enumerate().map(bound).collect();
        // The kind of skinning makes no difference to drawing.
        let kinds = crowd_kinds.iter().map(|&kind| Kind { influences: 1, ..kind }).collect();
        let wgsl = Box::new(move |kind: Kind| preskinned_wgsl(kind.format.encoding, motion));
        Self { wgsl, kinds, layout, groups, stride: None, trusted: true, motion, visible: None }
    }
}

/// WGSL that reads vertices skinned before drawing, to be followed by the drawing shader.
pub fn preskinned_wgsl(encoding: Encoding, motion: bool) -> String {
    let read = match encoding {
        Encoding::F32 => include_str!("../../shaders/preskinned.wgsl"),
        Encoding::Packed => {
            concat!(include_str!("../../shaders/octahedral.wgsl"), include_str!("../../shaders/preskinned_packed.wgsl"))
        }
    };
    let previous = match (motion, encoding) {
        (false, _) => "",
        (true, Encoding::F32) => include_str!("../../shaders/previous.wgsl"),
        (true, Encoding::Packed) => include_str!("../../shaders/previous_packed.wgsl"),
    };
    [include_str!("../../shaders/chunk.wgsl"), read, previous].concat()
}

/// WGSL that draws the vertices of `skinned_vertex` in plain colours, with their motion if `motion` is set.
pub fn draw_wgsl(motion: bool) -> String {
    let motion = if motion { include_str!("../../shaders/draw_motion.wgsl") } else { "" };
    [include_str!("../../shaders/draw_view.wgsl"), include_str!("../../shaders/draw.wgsl"), motion].concat()
}

/// WGSL that draws the vertices of `skinned_vertex` for pictures: with textures and tints.
pub fn picture_wgsl() -> String {
    concat!(include_str!("../../shaders/draw_view.wgsl"), include_str!("../../shaders/draw_picture.wgsl")).to_owned()
}
