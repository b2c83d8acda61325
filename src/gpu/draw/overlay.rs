//! Lines and triangles that are drawn over a picture.

use crate::gpu::Gpu;
use crate::gpu::device::{BindGroup, Buffer, COLOR, RenderPipeline, RenderPipelineParts};
use crate::gpu::shader::{GroupLayout, module, pipeline_layout, shader};
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// An end of a line.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct LineEnd {
    /// World space.
    pub position: [f32; 3],
    /// Linear RGBA, 8 bit each, red lowest.
    pub color: u32,
}

/// Numbers from 0 to 1 with 8 bits each, the first one lowest, as `unpack4x8unorm` reads them.
pub(in crate::gpu) fn unorm8(numbers: [f32; 4]) -> u32 {
    u32::from_le_bytes(numbers.map(|number| (number.clamp(0.0, 1.0) * 255.0).round() as u8))
}

/// The word of an opaque colour, from linear RGB.
pub fn opaque(color: Vec3) -> u32 {
    unorm8(color.extend(1.0).to_array())
}

/// The ground of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beneath {
    /// The background alone.
    Nothing,
    /// The picture; what it holds in front hides the overlay.
    Picture,
    /// The picture; the overlay is in front of all of it.
    Far,
}

/// Lines and triangles in world space, each end with its colour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlay {
    /// Pairs of ends.
    pub lines: Vec<LineEnd>,
    /// Corners that `indices` name.
    pub corners: Vec<LineEnd>,
    /// Three for each triangle.
    pub indices: Vec<u32>,
}

/// Pipelines of lines and of triangles, and the bindings of both.
pub(in crate::gpu) struct OverlayPipelines {
    pub(in crate::gpu) lines: RenderPipeline,
    pub(in crate::gpu) triangles: RenderPipeline,
    pub(in crate::gpu) bindings: BindGroup,
}

impl OverlayPipelines {
    /// `view` holds the view as shaders read it.
    pub(in crate::gpu) fn new(gpu: &Gpu, view: &Buffer, samples: u32) -> Self {
        let wgsl = shader("lines.wgsl", &[]);
        let layout = GroupLayout::new(gpu, "lines", &[&wgsl], 0, wgpu::ShaderStages::VERTEX);
        let bindings = layout.bind(gpu, "lines", [("view", view.into())]);
        let module = module(gpu, "lines", wgsl, false);
        let pipeline_layout = pipeline_layout(gpu, "lines", &[&layout]);
        let pipeline = |label, topology| {
            gpu.render_pipeline(&RenderPipelineParts {
                label,
                layout: &pipeline_layout,
                module: &module,
                constants: &[],
                vertex: "vertex",
                vertex_buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: size_of::<LineEnd>() as u64,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4],
                })],
                topology,
                depth_bias: Some(0),
                samples,
                fragment: Some(("fragment", &[Some(COLOR.into())])),
            })
        };
        let lines = pipeline("lines", wgpu::PrimitiveTopology::LineList);
        let triangles = pipeline("triangles", wgpu::PrimitiveTopology::TriangleList);
        Self { lines, triangles, bindings }
    }
}
