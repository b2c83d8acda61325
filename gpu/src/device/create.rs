//! Creation of buffers and textures, wherever the device keeps them.

use crate::Gpu;
use crate::device::description::{
    BufferDescription, Description, SamplerDescription, TextureDescription, ViewDescription,
};
use crate::device::gpu::Medium;
use crate::device::{Buffer, Sampler, Texture, TextureView};
use bytemuck::NoUninit;
use skinbench_frame::{Bytes, DeviceObject, Purpose};
use skinbench_kernels::threads::lock;

impl Gpu {
    /// Counts a new buffer or texture.
    fn count(&self, purpose: Purpose, bytes: u64) {
        *lock(&self.created) += Bytes::of(purpose, bytes);
    }

    /// Creates an object: one of wgpu's, or a number in its place.
    pub(crate) fn create<D: Description>(&self, object: &D) -> DeviceObject<D::Object> {
        match &self.medium {
            Medium::Device(open) => {
                let cache = open.pipeline_cache.as_ref();
                DeviceObject::real(object.create(&open.device, cache))
            }
            Medium::Tape(tape) => DeviceObject::numbered(lock(tape).push(object)),
            Medium::CountsOnly => DeviceObject::numbered(0),
        }
    }

    fn described(&self, purpose: Purpose, buffer: &BufferDescription) -> Buffer {
        self.count(purpose, buffer.size);
        Buffer {
            object: self.create(buffer),
            size: buffer.size,
        }
    }

    /// Creates a buffer; `size` is rounded up to the alignment of copies and bindings.
    pub fn buffer(
        &self,
        purpose: Purpose,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Buffer {
        let description = BufferDescription {
            label,
            size: size.max(16).next_multiple_of(16),
            usage,
            contents: None,
        };
        self.described(purpose, &description)
    }

    /// Creates a storage buffer that kernels write, and that copies read and fill.
    pub fn scratch(&self, purpose: Purpose, label: &str, size: u64) -> Buffer {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        self.buffer(purpose, label, size, usage)
    }

    /// Creates a buffer with these contents. A binding cannot be empty, so empty contents become zeros.
    pub fn buffer_with(
        &self,
        purpose: Purpose,
        label: &str,
        contents: &[u8],
        usage: wgpu::BufferUsages,
    ) -> Buffer {
        let contents = if contents.is_empty() {
            &[0; 64]
        } else {
            contents
        };
        let description = BufferDescription {
            label,
            size: (contents.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
            usage,
            contents: Some(contents),
        };
        self.described(purpose, &description)
    }

    /// As [`Gpu::buffer_with`], for contents of `count` items that take long or much memory: they are not made where
    /// buffers are only counted.
    pub(crate) fn buffer_of<T: NoUninit>(
        &self,
        purpose: Purpose,
        label: &str,
        count: usize,
        usage: wgpu::BufferUsages,
        contents: impl FnOnce() -> Vec<T>,
    ) -> Buffer {
        let bytes = count * size_of::<T>();
        if self.only_counts() && bytes > 0 {
            let description = BufferDescription {
                label,
                size: (bytes as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
                usage,
                contents: None,
            };
            return self.described(purpose, &description);
        }
        self.buffer_with(purpose, label, bytemuck::cast_slice(&contents()), usage)
    }

    /// Creates a storage buffer with constant contents.
    pub fn storage<T: NoUninit>(&self, purpose: Purpose, label: &str, contents: &[T]) -> Buffer {
        let usage = wgpu::BufferUsages::STORAGE;
        self.buffer_with(purpose, label, bytemuck::cast_slice(contents), usage)
    }

    /// Creates a uniform buffer with constant contents.
    pub fn uniform<T: NoUninit>(&self, purpose: Purpose, label: &str, contents: &T) -> Buffer {
        let usage = wgpu::BufferUsages::UNIFORM;
        self.buffer_with(purpose, label, bytemuck::bytes_of(contents), usage)
    }

    /// Writes bytes of a buffer before the commands that are submitted next. On a tape, the buffer holds them
    /// from the beginning.
    pub(crate) fn write_buffer(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) {
        match &self.medium {
            Medium::Device(open) => open.queue.write_buffer(buffer.object.get(), offset, bytes),
            Medium::Tape(tape) => lock(tape).fill(buffer.object.id, offset, bytes),
            Medium::CountsOnly => {}
        }
    }

    /// Creates a texture of two dimensions, with layers in the third, levels and samples.
    pub(crate) fn texture(&self, purpose: Purpose, description: &TextureDescription) -> Texture {
        let descriptor = description.descriptor();
        let texel = description.format.block_copy_size(None).unwrap_or(4) * description.samples;
        let layers = description.size.depth_or_array_layers;
        let mut texels = 0;
        for size in (0..description.levels).filter_map(|level| descriptor.mip_level_size(level)) {
            texels += u64::from(size.width) * u64::from(size.height) * u64::from(layers);
        }
        self.count(purpose, u64::from(texel) * texels);
        let object = self.create(description);
        Texture {
            view: self.view(&object, None),
            object,
            size: description.size,
        }
    }

    /// A texture with four floats per texel, filled by copies and read by shaders.
    pub(crate) fn float_texture(
        &self,
        purpose: Purpose,
        label: &str,
        width: u32,
        height: u32,
    ) -> Texture {
        let description = TextureDescription {
            label,
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            format: wgpu::TextureFormat::Rgba32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            levels: 1,
            samples: 1,
        };
        self.texture(purpose, &description)
    }

    /// Writes all texels of a level and a layer of a texture. A tape holds one level and layer: the last written.
    pub(crate) fn write_texture(
        &self,
        texture: &Texture,
        [mip_level, z]: [u32; 2],
        size: [u32; 2],
        bytes: &[u8],
    ) {
        let [width, height] = size;
        let bytes_per_row = bytes.len() as u32 / height;
        match &self.medium {
            Medium::Device(open) => open.queue.write_texture(
                wgpu::TexelCopyTextureInfo {
                    texture: texture.object.get(),
                    mip_level,
                    origin: wgpu::Origin3d { x: 0, y: 0, z },
                    aspect: wgpu::TextureAspect::All,
                },
                bytes,
                wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(bytes_per_row),
                    rows_per_image: None,
                },
                wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
            ),
            Medium::Tape(tape) => {
                let object = &mut lock(tape).objects[texture.object.id];
                object.value["bytesPerRow"] = bytes_per_row.into();
                object.bytes = Some(bytes.to_vec());
            }
            Medium::CountsOnly => {}
        }
    }

    fn view(
        &self,
        texture: &DeviceObject<wgpu::Texture>,
        dimension: Option<wgpu::TextureViewDimension>,
    ) -> TextureView {
        self.create(&ViewDescription { texture, dimension })
    }

    /// A view of a texture's layers as an array.
    pub(crate) fn array_view(&self, texture: &Texture) -> TextureView {
        self.view(&texture.object, Some(wgpu::TextureViewDimension::D2Array))
    }

    /// A sampler that repeats and filters.
    pub(crate) fn repeating_sampler(&self, label: &str) -> Sampler {
        self.create(&SamplerDescription { label })
    }
}
