//! Parts of pipelines that draw.

use crate::gpu::device::objects::{PipelineLayout, ShaderModule};

/// Colours of a picture.
pub(in crate::gpu) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Depths of a picture.
pub(in crate::gpu) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Parts of a pipeline that draws.
pub(in crate::gpu) struct RenderPipelineParts<'a> {
    pub label: &'a str,
    pub layout: &'a PipelineLayout,
    pub module: &'a ShaderModule,
    /// Values of the module's overrides.
    pub constants: &'a [(&'a str, f64)],
    /// Entry point for vertices.
    pub vertex: &'a str,
    pub vertex_buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    pub topology: wgpu::PrimitiveTopology,
    /// Bias of depths; `None` if there is no depth.
    pub depth_bias: Option<i32>,
    /// Samples per pixel.
    pub samples: u32,
    /// Entry point for fragments, and the targets of colours; `None` for depth only.
    pub fragment: Option<(&'a str, &'a [Option<wgpu::ColorTargetState>])>,
}

impl RenderPipelineParts<'_> {
    pub fn depth_state(&self) -> Option<wgpu::DepthStencilState> {
        self.depth_bias.map(|bias| wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: wgpu::DepthBiasState { constant: bias, slope_scale: bias as f32, clamp: 0.0 },
        })
    }
}
