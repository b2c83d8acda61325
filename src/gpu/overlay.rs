//! Lines and triangles that are drawn over a picture, and the formats of pictures.

use super::Gpu;
use super::binding::{GroupLayout, pipeline_layout};
use super::shader::module;
use super::wgsl::shader;
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// Colours of a picture.
pub(super) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Depths of a picture.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

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
pub(super) fn unorm8(numbers: [f32; 4]) -> u32 {
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
#[derive(Debug, Clone, Copy, Default)]
pub struct Overlay<'a> {
    /// Pairs of ends.
    pub lines: &'a [LineEnd],
    /// Corners that `indices` name.
    pub corners: &'a [LineEnd],
    /// Three for each triangle.
    pub indices: &'a [u32],
}

/// Pipelines of lines and of triangles, and the bindings of both.
pub(super) struct OverlayPipelines {
    pub(super) lines: wgpu::RenderPipeline,
    pub(super) triangles: wgpu::RenderPipeline,
    pub(super) bindings: wgpu::BindGroup,
}

impl OverlayPipelines {
    /// `view` holds the view as shaders read it; `count` is the number of samples per pixel.
    pub(super) fn new(gpu: &Gpu, view: &wgpu::Buffer, count: u32) -> Self {
        let wgsl = shader("lines.wgsl", &[]);
        let layout = GroupLayout::new(gpu, "lines", &wgsl, 0, wgpu::ShaderStages::VERTEX, None);
        let bindings = layout.bind_buffers(gpu, "lines", &[("view", view)]);
        let module = module(gpu, "lines", wgsl, false);
        let pipeline = |label, topology| {
            gpu.device().create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(label),
                layout: Some(&pipeline_layout(gpu, label, &[&layout])),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("vertex"),
                    compilation_options: Default::default(),
                    buffers: &[Some(wgpu::VertexBufferLayout {
                        array_stride: size_of::<LineEnd>() as u64,
                        step_mode: wgpu::VertexStepMode::Vertex,
                        attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4],
                    })],
                },
                primitive: wgpu::PrimitiveState { topology, ..Default::default() },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(true),
                    depth_compare: Some(wgpu::CompareFunction::Less),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: wgpu::MultisampleState { count, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("fragment"),
                    compilation_options: Default::default(),
                    targets: &[Some(COLOR.into())],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let lines = pipeline("lines", wgpu::PrimitiveTopology::LineList);
        let triangles = pipeline("triangles", wgpu::PrimitiveTopology::TriangleList);
        Self { lines, triangles, bindings }
    }
}
