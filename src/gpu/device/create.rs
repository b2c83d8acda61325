//! Creation of buffers, textures and pipelines, wherever the device keeps them.

use crate::frame::{Bytes, DeviceObject, Purpose};
use crate::gpu::Gpu;
use crate::gpu::device::gpu::{Medium, WgpuDevice};
use crate::gpu::device::{
    Buffer, Entry, RenderPipeline, RenderPipelineParts, Sampler, Texture, TextureView, descriptors,
};
use bytemuck::NoUninit;
use serde_json::json;
use wgpu::util::DeviceExt;

impl Gpu {
    /// Counts a new buffer or texture.
    fn count(&self, purpose: Purpose, bytes: u64) {
        self.created
            .set(self.created.get() + Bytes::of(purpose, bytes));
    }

    /// Creates an object: one of wgpu's, or what stands for it on a tape.
    pub(in crate::gpu) fn create<T, E: Into<Entry>>(
        &self,
        real: impl FnOnce(&WgpuDevice) -> T,
        recorded: impl FnOnce() -> E,
    ) -> DeviceObject<T> {
        match &self.medium {
            Medium::Device(open) => DeviceObject::real(real(open)),
            Medium::Tape(tape) => DeviceObject::numbered(tape.borrow_mut().push(recorded().into())),
            Medium::CountsOnly => DeviceObject::numbered(0),
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
        self.count(purpose, size);
        let descriptor = wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        };
        let object = self.create(
            |open| open.device.create_buffer(&descriptor),
            || descriptors::buffer(label, size, usage, None),
        );
        Buffer { object, size }
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
        let size = (contents.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        self.count(purpose, size);
        let descriptor = wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents,
            usage,
        };
        let object = self.create(
            |open| open.device.create_buffer_init(&descriptor),
            || descriptors::buffer(label, size, usage, Some(contents)),
        );
        Buffer { object, size }
    }

    /// As [`Gpu::buffer_with`], for contents of `count` items that take long or much memory: they are not made where
    /// buffers are only counted.
    pub(in crate::gpu) fn buffer_of<T: NoUninit>(
        &self,
        purpose: Purpose,
        label: &str,
        count: usize,
        usage: wgpu::BufferUsages,
        contents: impl FnOnce() -> Vec<T>,
    ) -> Buffer {
        let bytes = count * size_of::<T>();
        if self.only_counts() && bytes > 0 {
            let size = (bytes as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
            self.count(purpose, size);
            return Buffer {
                object: DeviceObject::numbered(0),
                size,
            };
        }
        self.buffer_with(purpose, label, bytemuck::cast_slice(&contents()), usage)
    }

    /// Creates a storage buffer with constant contents.
    pub fn storage<T: NoUninit>(&self, purpose: Purpose, label: &str, contents: &[T]) -> Buffer {
        self.buffer_with(
            purpose,
            label,
            bytemuck::cast_slice(contents),
            wgpu::BufferUsages::STORAGE,
        )
    }

    /// Creates a uniform buffer with constant contents.
    pub fn uniform<T: NoUninit>(&self, purpose: Purpose, label: &str, contents: &T) -> Buffer {
        self.buffer_with(
            purpose,
            label,
            bytemuck::bytes_of(contents),
            wgpu::BufferUsages::UNIFORM,
        )
    }

    /// Writes bytes of a buffer before the commands that are submitted next.
    pub(in crate::gpu) fn write_buffer(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) {
        match self.wgpu() {
            Some(open) => open.queue.write_buffer(buffer.object.get(), offset, bytes),
            None => self.record(Entry {
                value: json!(["write", buffer.object.id, offset]),
                bytes: Some(bytes.into()),
            }),
        }
    }

    /// Creates a texture of two dimensions, with layers in the third, levels and samples.
    pub(in crate::gpu) fn texture(
        &self,
        purpose: Purpose,
        label: &str,
        size: wgpu::Extent3d,
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
        [mip_level_count, sample_count]: [u32; 2],
    ) -> Texture {
        let descriptor = wgpu::TextureDescriptor {
            label: Some(label),
            size,
            mip_level_count,
            sample_count,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        };
        let texel = u64::from(format.block_copy_size(None).unwrap_or(4) * sample_count);
        let levels = (0..mip_level_count).filter_map(|level| descriptor.mip_level_size(level));
        let texels = levels.map(|size| {
            u64::from(size.width)
                * u64::from(size.height)
                * u64::from(descriptor.size.depth_or_array_layers)
        });
        self.count(purpose, texel * texels.sum::<u64>());
        let object = self.create(
            |open| open.device.create_texture(&descriptor),
            || descriptors::texture(&descriptor),
        );
        Texture {
            view: self.view(&object, None),
            object,
            size,
        }
    }

    /// A texture with four floats per texel, filled by copies and read by shaders.
    pub(in crate::gpu) fn float_texture(
        &self,
        purpose: Purpose,
        label: &str,
        width: u32,
        height: u32,
    ) -> Texture {
        let size = wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        };
        let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        self.texture(
            purpose,
            label,
            size,
            wgpu::TextureFormat::Rgba32Float,
            usage,
            [1, 1],
        )
    }

    /// Writes all texels of a level and a layer of a texture. A tape holds one level and layer: the last written.
    pub(in crate::gpu) fn write_texture(
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
                let object = &mut tape.borrow_mut().objects[texture.object.id];
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
        let descriptor = wgpu::TextureViewDescriptor {
            dimension,
            ..Default::default()
        };
        let real = |_: &WgpuDevice| texture.get().create_view(&descriptor);
        self.create(real, || json!({"kind": "view", "texture": texture.id}))
    }

    /// A view of a texture's layers as an array.
    pub(in crate::gpu) fn array_view(&self, texture: &Texture) -> TextureView {
        self.view(&texture.object, Some(wgpu::TextureViewDimension::D2Array))
    }

    /// A sampler that repeats and filters.
    pub(in crate::gpu) fn repeating_sampler(&self, label: &str) -> Sampler {
        let descriptor = wgpu::SamplerDescriptor {
            label: Some(label),
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        };
        let recorded = || json!({"kind": "sampler", "label": label});
        self.create(|open| open.device.create_sampler(&descriptor), recorded)
    }

    /// Creates a pipeline that draws.
    pub(in crate::gpu) fn render_pipeline(&self, parts: &RenderPipelineParts) -> RenderPipeline {
        self.create(
            |open| {
                let module = parts.module.get();
                let compilation_options = wgpu::PipelineCompilationOptions {
                    constants: parts.constants,
                    ..Default::default()
                };
                open.device
                    .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                        label: Some(parts.label),
                        layout: Some(parts.layout.get()),
                        vertex: wgpu::VertexState {
                            module,
                            entry_point: Some(parts.vertex),
                            compilation_options: compilation_options.clone(),
                            buffers: parts.vertex_buffers,
                        },
                        primitive: wgpu::PrimitiveState {
                            topology: parts.topology,
                            ..Default::default()
                        },
                        depth_stencil: parts.depth_state(),
                        multisample: wgpu::MultisampleState {
                            count: parts.samples,
                            ..Default::default()
                        },
                        fragment: parts.fragment.map(|(entry, targets)| wgpu::FragmentState {
                            module,
                            entry_point: Some(entry),
                            compilation_options,
                            targets,
                        }),
                        multiview_mask: None,
                        cache: open.pipeline_cache.as_ref(),
                    })
            },
            || descriptors::render_pipeline(parts),
        )
    }
}
