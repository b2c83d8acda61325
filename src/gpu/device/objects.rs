//! Objects of a device, what is bound to the variables of shaders, and the parts of pipelines that draw.

pub use crate::frame::DeviceBuffer as Buffer;
use crate::frame::DeviceObject;

/// Resources bound together.
pub type BindGroup = DeviceObject<wgpu::BindGroup>;
/// A compiled kernel.
pub type ComputePipeline = DeviceObject<wgpu::ComputePipeline>;
/// Layouts of the groups of a pipeline.
pub type PipelineLayout = DeviceObject<wgpu::PipelineLayout>;
/// Compiled shaders of a draw.
pub type RenderPipeline = DeviceObject<wgpu::RenderPipeline>;
/// A rule for sampling.
pub type Sampler = DeviceObject<wgpu::Sampler>;
/// The text of a shader, read.
pub type ShaderModule = DeviceObject<wgpu::ShaderModule>;
/// A texture as it is bound or drawn to.
pub type TextureView = DeviceObject<wgpu::TextureView>;

/// A texture.
#[derive(Clone)]
pub struct Texture {
    pub(in crate::gpu) object: DeviceObject<wgpu::Texture>,
    pub(in crate::gpu) size: wgpu::Extent3d,
    /// The whole texture as it is bound or drawn to.
    pub(in crate::gpu) view: TextureView,
}

/// Something that is bound to a variable of a shader.
#[derive(Clone)]
pub enum Resource {
    /// Bytes of a buffer from an offset on: so many, or all.
    Buffer(Buffer, u64, Option<u64>),
    /// A texture.
    View(TextureView),
    /// A sampler.
    Sampler(Sampler),
}

impl Resource {
    /// The binding of wgpu.
    pub(in crate::gpu) fn get(&self) -> wgpu::BindingResource<'_> {
        match self {
            Self::Buffer(buffer, offset, size) => {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: buffer.object.get(),
                    offset: *offset,
                    size: size.and_then(wgpu::BufferSize::new),
                })
            }
            Self::View(view) => wgpu::BindingResource::TextureView(view.get()),
            Self::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler.get()),
        }
    }
}

impl From<Buffer> for Resource {
    fn from(buffer: Buffer) -> Self {
        Self::Buffer(buffer, 0, None)
    }
}

impl From<&Buffer> for Resource {
    fn from(buffer: &Buffer) -> Self {
        buffer.clone().into()
    }
}

/// A resource and the name of the variable that it is bound to.
pub type Named = (&'static str, Resource);

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
            bias: wgpu::DepthBiasState {
                constant: bias,
                slope_scale: bias as f32,
                clamp: 0.0,
            },
        })
    }
}
