//! Objects of a device, and what is bound to the variables of shaders.

use serde::{Serialize, Serializer};
pub use skinbench_frame::DeviceBuffer as Buffer;
use skinbench_frame::DeviceObject;

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
    pub(crate) object: DeviceObject<wgpu::Texture>,
    pub(crate) size: wgpu::Extent3d,
    /// The whole texture as it is bound or drawn to.
    pub(crate) view: TextureView,
}

impl Serialize for Texture {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(out)
    }
}

/// Something that is bound to a variable of a shader.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum Resource {
    /// Bytes of a buffer.
    Buffer {
        /// The buffer.
        buffer: Buffer,
        /// The first byte.
        offset: u64,
        /// Number of bytes; `None` for all.
        size: Option<u64>,
    },
    /// A texture.
    View {
        /// The texture.
        view: TextureView,
    },
    /// A sampler.
    Sampler {
        /// The sampler.
        sampler: Sampler,
    },
}

impl Resource {
    /// The binding of wgpu.
    pub(crate) fn get(&self) -> wgpu::BindingResource<'_> {
        match self {
            Self::Buffer {
                buffer,
                offset,
                size,
            } => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: buffer.object.get(),
                offset: *offset,
                size: size.and_then(wgpu::BufferSize::new),
            }),
            Self::View { view } => wgpu::BindingResource::TextureView(view.get()),
            Self::Sampler { sampler } => wgpu::BindingResource::Sampler(sampler.get()),
        }
    }
}

/// A resource and the name of the variable that it is bound to.
pub type Named = (&'static str, Resource);

/// A whole buffer, and the name of the variable that it is bound to.
pub fn named(name: &'static str, buffer: &Buffer) -> Named {
    let all = Resource::Buffer {
        buffer: buffer.clone(),
        offset: 0,
        size: None,
    };
    (name, all)
}

/// Colours of a picture.
pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Depths of a picture.
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
