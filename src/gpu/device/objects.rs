//! Objects of a device, and what is bound to the variables of shaders.

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
pub struct Texture {
    pub(in crate::gpu) object: DeviceObject<wgpu::Texture>,
    pub(in crate::gpu) size: wgpu::Extent3d,
}

/// Something that is bound to a variable of a shader.
#[derive(Clone, Copy)]
pub enum Resource<'a> {
    /// Bytes of a buffer from an offset on: so many, or all.
    Buffer(&'a Buffer, u64, Option<u64>),
    /// A texture.
    View(&'a TextureView),
    /// A sampler.
    Sampler(&'a Sampler),
}

impl<'a> From<&'a Buffer> for Resource<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self::Buffer(buffer, 0, None)
    }
}
