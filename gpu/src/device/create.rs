//! Creation of objects wherever the device keeps them; of buffers and textures in particular.

use crate::Gpu;
use crate::device::description::name;
use crate::device::gpu::{Medium, WgpuDevice};
use crate::device::{Buffer, Entry, Sampler, Texture, TextureView};
use bytemuck::NoUninit;
use serde_json::{Value, json};
use skinbench_frame::{Bytes, DeviceObject, Purpose};
use skinbench_kernels::threads::lock;
use wgpu::util::DeviceExt;

/// Usages of storage buffers, which copies read and fill, too.
const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// A texture of one layer, level and sample.
pub fn flat<'a>(
    label: &'a str,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::TextureDescriptor<'a> {
    wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    }
}

impl Gpu {
    /// Counts a new buffer or texture.
    fn count(&self, purpose: Purpose, bytes: u64) {
        *lock(&self.created) += Bytes::of(purpose, bytes);
    }

    /// Creates an object: one of wgpu's, or a number in its place, by which a tape lists it.
    pub(crate) fn create<T>(
        &self,
        create: impl FnOnce(&WgpuDevice) -> T,
        listed: impl FnOnce() -> Value,
    ) -> DeviceObject<T> {
        self.create_filled(create, listed, None)
    }

    /// As [`Gpu::create`], of one that holds `contents` before the first command.
    fn create_filled<T>(
        &self,
        create: impl FnOnce(&WgpuDevice) -> T,
        listed: impl FnOnce() -> Value,
        contents: Option<&[u8]>,
    ) -> DeviceObject<T> {
        match &self.medium {
            Medium::Device(open) => DeviceObject::real(create(open)),
            Medium::Tape(tape) => {
                let entry = Entry {
                    value: listed(),
                    bytes: contents.map(<[u8]>::to_vec),
                };
                DeviceObject::numbered(lock(tape).push(entry))
            }
            Medium::CountsOnly => DeviceObject::numbered(0),
        }
    }

    /// Creates a buffer that holds the contents first, or zeros.
    fn sized_buffer(
        &self,
        purpose: Purpose,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
        contents: Option<&[u8]>,
    ) -> Buffer {
        self.count(purpose, size);
        let create = |open: &WgpuDevice| match contents {
            Some(contents) => {
                let init = wgpu::util::BufferInitDescriptor {
                    label: Some(label),
                    contents,
                    usage,
                };
                open.device.create_buffer_init(&init)
            }
            None => open.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            }),
        };
        let listed =
            || json!({"kind": "buffer", "label": label, "size": size, "usage": usage.bits()});
        Buffer {
            object: self.create_filled(create, listed, contents),
            size,
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
        let size = size.max(16).next_multiple_of(16);
        self.sized_buffer(purpose, label, size, usage, None)
    }

    /// Creates a storage buffer.
    pub fn scratch(&self, purpose: Purpose, label: &str, size: u64) -> Buffer {
        self.buffer(purpose, label, size, STORAGE)
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
        let size = (contents.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        self.sized_buffer(purpose, label, size, usage, Some(contents))
    }

    /// Creates a storage buffer with these contents.
    pub fn storage<T: NoUninit>(&self, purpose: Purpose, label: &str, contents: &[T]) -> Buffer {
        self.buffer_with(purpose, label, bytemuck::cast_slice(contents), STORAGE)
    }

    /// As [`Gpu::storage`], for contents of `count` items that take long or much memory: they are not made where buffers
    /// are only counted.
    pub(crate) fn storage_of<T: NoUninit>(
        &self,
        purpose: Purpose,
        label: &str,
        count: usize,
        contents: impl FnOnce() -> Vec<T>,
    ) -> Buffer {
        let bytes = (count * size_of::<T>()) as u64;
        if self.only_counts() && bytes > 0 {
            let size = bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
            return self.sized_buffer(purpose, label, size, STORAGE, None);
        }
        self.storage(purpose, label, &contents())
    }

    /// Creates a uniform buffer with these contents.
    pub fn uniform<T: NoUninit>(&self, purpose: Purpose, label: &str, contents: &T) -> Buffer {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
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

    /// Creates a texture of two dimensions, with layers in the third.
    pub(crate) fn texture(&self, purpose: Purpose, texture: &wgpu::TextureDescriptor) -> Texture {
        let size = texture.size;
        let texel = texture.format.block_copy_size(None).unwrap_or(4) * texture.sample_count;
        let mut texels = 0;
        let levels = 0..texture.mip_level_count;
        for level in levels.filter_map(|level| texture.mip_level_size(level)) {
            texels += u64::from(level.width) * u64::from(level.height);
        }
        let layers = u64::from(size.depth_or_array_layers);
        self.count(purpose, u64::from(texel) * texels * layers);
        let object = self.create(
            |open| open.device.create_texture(texture),
            || {
                json!({
                    "kind": "texture",
                    "label": texture.label,
                    "size": [size.width, size.height],
                    "format": name(&texture.format),
                    "usage": texture.usage.bits(),
                })
            },
        );
        Texture {
            view: self.view(&object, None),
            object,
            size,
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
        let format = wgpu::TextureFormat::Rgba32Float;
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        self.texture(purpose, &flat(label, [width, height], format, usage))
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
        let create = |_: &WgpuDevice| {
            texture.get().create_view(&wgpu::TextureViewDescriptor {
                dimension,
                ..Default::default()
            })
        };
        self.create(create, || json!({"kind": "view", "texture": texture}))
    }

    /// A view of a texture's layers as an array.
    pub(crate) fn array_view(&self, texture: &Texture) -> TextureView {
        self.view(&texture.object, Some(wgpu::TextureViewDimension::D2Array))
    }

    /// A sampler that repeats and filters.
    pub(crate) fn repeating_sampler(&self, label: &str) -> Sampler {
        let create = |open: &WgpuDevice| {
            open.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some(label),
                address_mode_u: wgpu::AddressMode::Repeat,
                address_mode_v: wgpu::AddressMode::Repeat,
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            })
        };
        self.create(create, || json!({"kind": "sampler", "label": label}))
    }
}
