//! Buffers and bindings with which a group's triangles and edges are drawn.

use crate::frame::{Mode, Purpose};
use crate::gpu::Gpu;
use crate::gpu::device::objects::{BindGroup, Buffer, Resource, Sampler};
use crate::gpu::draw::overlay::unorm8;
use crate::gpu::draw::surfaces::{GroupSurface, Surfaces};
use crate::gpu::shader::binding::GroupLayout;
use crate::model::Model;
use std::sync::Arc;

/// Everything that group 1 of a draw binds besides the view and the placements.
pub(in crate::gpu) enum Paint {
    /// Colours of vertices, for timed frames.
    Plain(Buffer),
    /// Textured surfaces, for pictures.
    Surface(GroupSurface, Sampler),
}

impl Paint {
    /// Group 1 of a draw, with a view and placements.
    pub fn bind(&self, gpu: &Gpu, layout: &GroupLayout, view: &Buffer, placements: &Buffer) -> BindGroup {
        let mut resources = vec![("view", view.into()), ("placements", placements.into())];
        match self {
            Self::Plain(colors) => resources.push(("colors", colors.into())),
            Self::Surface(surface, sampler) => resources.extend([
                ("surfaces", (&surface.vertices).into()),
                ("layers", Resource::View(&surface.layers)),
                ("repeating", Resource::Sampler(sampler)),
            ]),
        }
        layout.bind(gpu, "draw", resources)
    }
}

/// Indices on the device, and how many there are.
#[derive(Clone)]
pub(in crate::gpu) struct IndexList {
    pub indices: Buffer,
    pub count: u32,
}

impl IndexList {
    pub fn new(gpu: &Gpu, label: &str, indices: &[u32]) -> Self {
        let contents = bytemuck::cast_slice(indices);
        let buffer = gpu.buffer_with(Purpose::Targets, label, contents, wgpu::BufferUsages::INDEX);
        Self { indices: buffer, count: indices.len() as u32 }
    }
}

/// A group's paint, triangles and edges.
pub(in crate::gpu) struct GroupDraw {
    pub paint: Paint,
    pub triangles: IndexList,
    pub edges: IndexList,
}

impl GroupDraw {
    /// Uploads a model's triangles, and its edges if the mode draws any.
    pub fn new(gpu: &Gpu, mode: Mode, model: &Model, paint: Paint) -> Self {
        let triangles = IndexList::new(gpu, "indices", model.mesh().indices());
        Self { paint, triangles, edges: IndexList::new(gpu, "edges", &edges(mode, model)) }
    }
}

/// The colours of models, for timed frames.
pub(in crate::gpu) fn plain(gpu: &Gpu, models: &[Arc<Model>]) -> Vec<Paint> {
    models.iter().map(|model| Paint::Plain(gpu.storage(Purpose::Targets, "colors", &colors(model)))).collect()
}

/// Surfaces, for pictures.
pub(in crate::gpu) fn textured(surfaces: &Surfaces) -> Vec<Paint> {
    let paint = |surface: &GroupSurface| Paint::Surface(surface.clone(), surfaces.sampler.clone());
    surfaces.groups.iter().map(paint).collect()
}

/// Every edge of a model's triangles once, as a line list; none if the mode draws none.
pub(in crate::gpu) fn edges(mode: Mode, model: &Model) -> Vec<u32> {
    if mode == Mode::Skin {
        return Vec::new();
    }
    let triangles = model.mesh().indices().as_chunks::<3>().0;
    let corners = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<[u32; 2]> = corners.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.into_flattened()
}

/// Each vertex's material colour, linear RGBA with 8 bits each.
pub(in crate::gpu) fn colors(model: &Model) -> Vec<u32> {
    let mut colors = vec![0xffff_ffff; model.mesh().vertex_count()];
    for subset in model.mesh().primitives().iter().flat_map(|p| &p.subsets) {
        let color = unorm8(model.materials()[usize::from(subset.material)].base_color);
        for &vertex in &model.mesh().indices()[subset.indices.start as usize..subset.indices.end as usize] {
            colors[vertex as usize] = color;
        }
    }
    colors
}
