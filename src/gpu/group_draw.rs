//! Buffers and bindings with which a group's triangles and edges are drawn.

use super::Gpu;
use super::binding::GroupLayout;
use super::overlay::unorm8;
use super::surfaces::{GroupSurface, Surfaces};
use crate::frame::{Mode, Purpose};
use crate::model::Model;
use std::ops::Range;

/// Everything that group 1 of a draw binds besides the view and the placements.
pub(super) enum Paint {
    /// Colours of vertices, for timed frames.
    Plain(wgpu::Buffer),
    /// Textured surfaces, for pictures.
    Surface(GroupSurface, wgpu::Sampler),
}

/// A group's buffers and bindings for drawing.
pub(super) struct GroupDraw {
    pub bindings: wgpu::BindGroup,
    pub paint: Paint,
    pub indices: wgpu::Buffer,
    pub index_count: u32,
    pub edges: wgpu::Buffer,
    pub edge_count: u32,
}

impl GroupDraw {
    /// Draws triangles, or edges, with the group's bindings.
    pub fn draw(&self, pass: &mut wgpu::RenderPass, edges: bool, instances: Range<u32>) {
        let (indices, count) = if edges { (&self.edges, self.edge_count) } else { (&self.indices, self.index_count) };
        pass.set_bind_group(1, &self.bindings, &[]);
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..count, 0, instances);
    }
}

impl Paint {
    /// Group 1 of a draw.
    pub fn bind(
        &self,
        gpu: &Gpu,
        layout: &GroupLayout,
        view: &wgpu::Buffer,
        placements: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let mut resources = vec![("view", view.as_entire_binding()), ("placements", placements.as_entire_binding())];
        match self {
            Self::Plain(colors) => resources.push(("colors", colors.as_entire_binding())),
            Self::Surface(surface, sampler) => resources.extend([
                ("surfaces", surface.vertices.as_entire_binding()),
                ("layers", wgpu::BindingResource::TextureView(&surface.layers)),
                ("repeating", wgpu::BindingResource::Sampler(sampler)),
            ]),
        }
        layout.bind(gpu, "draw", &resources)
    }
}

impl GroupDraw {
    /// Uploads a model's triangles, and its edges if the mode draws any, and binds its paint, a view and placements.
    pub fn new(
        gpu: &Gpu,
        layout: &GroupLayout,
        (view, placements): (&wgpu::Buffer, &wgpu::Buffer),
        mode: Mode,
        model: &Model,
        paint: Paint,
    ) -> Self {
        let indices = model.mesh().indices();
        let edges = if mode == Mode::Skin { Vec::new() } else { edges(indices) };
        let list = |label, contents: &[u8]| gpu.filled(Purpose::Targets, label, contents, wgpu::BufferUsages::INDEX);
        Self {
            bindings: paint.bind(gpu, layout, view, placements),
            paint,
            indices: list("indices", bytemuck::cast_slice(indices)),
            index_count: indices.len() as u32,
            edges: list("edges", bytemuck::cast_slice(&edges)),
            edge_count: edges.len() as u32,
        }
    }
}

/// The colours of models, for timed frames.
pub(super) fn plain<'a>(gpu: &Gpu, models: impl Iterator<Item = &'a Model>) -> Vec<Paint> {
    let paint = |model| Paint::Plain(gpu.storage(Purpose::Targets, "colors", bytemuck::cast_slice(&colors(model))));
    models.map(paint).collect()
}

/// Surfaces, for pictures.
pub(super) fn textured(surfaces: &Surfaces) -> Vec<Paint> {
    let paint = |surface: &GroupSurface| Paint::Surface(surface.clone(), surfaces.sampler.clone());
    surfaces.groups.iter().map(paint).collect()
}

/// Every edge of a triangle list once, as a line list.
pub(super) fn edges(indices: &[u32]) -> Vec<u32> {
    let corners = indices.as_chunks::<3>().0.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<[u32; 2]> = corners.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.into_flattened()
}

/// Each vertex's material colour, linear RGBA with 8 bits each.
pub(super) fn colors(model: &Model) -> Vec<u32> {
    let mut colors = vec![0xffff_ffff; model.mesh().vertex_count()];
    for subset in model.mesh().primitives().iter().flat_map(|p| &p.subsets) {
        let color = unorm8(model.materials()[usize::from(subset.material)].base_color);
        for &vertex in &model.mesh().indices()[subset.indices.start as usize..subset.indices.end as usize] {
            colors[vertex as usize] = color;
        }
    }
    colors
}
