//! Buffers for the palettes of a chunk.

use super::buffers::float_texture;
use super::counts::room_bytes;
use super::palette_form::{TEXTURE_ROW, TEXTURE_WIDTH};
use super::{Commands, Gpu, PaletteForm};
use crate::frame::Purpose;

/// A chunk's palettes on the device, `[instance][entry]`. A clone shares the buffer.
#[derive(Clone)]
pub struct Palettes {
    buffer: wgpu::Buffer,
    /// The texture that is bound instead of the buffer, if any.
    texture: Option<(wgpu::Texture, wgpu::TextureView)>,
    /// For each instance the baked frames that it shows, if the buffer holds baked frames.
    shown: Option<wgpu::Buffer>,
    /// Bytes that are bound at a time, if not all.
    window: Option<u32>,
}

impl Palettes {
    /// Bytes that [`Palettes::uploaded`] allocates.
    pub(super) fn uploaded_bytes(form: PaletteForm, bytes: u64) -> u64 {
        match form {
            PaletteForm::Texture => 2 * bytes.next_multiple_of(TEXTURE_ROW),
            _ => room_bytes(bytes),
        }
    }

    /// Allocates palettes that the host uploads.
    pub(super) fn uploaded(gpu: &Gpu, form: PaletteForm, bytes: u64) -> Self {
        let usage = match form {
            PaletteForm::Uniform => wgpu::BufferUsages::UNIFORM,
            PaletteForm::Texture => wgpu::BufferUsages::COPY_SRC,
            _ => wgpu::BufferUsages::STORAGE,
        };
        let texture = (form == PaletteForm::Texture).then(|| texture(gpu, bytes));
        let bytes = if texture.is_some() { bytes.next_multiple_of(TEXTURE_ROW) } else { bytes };
        let buffer = gpu.buffer(Purpose::Palettes, "palettes", bytes, usage | wgpu::BufferUsages::COPY_DST);
        Self { buffer, texture, shown: None, window: form.stride() }
    }

    /// Allocates rows that the device writes.
    pub(super) fn on_device(gpu: &Gpu, bytes: u64) -> Self {
        Self { buffer: gpu.room(Purpose::Palettes, "palettes", bytes), texture: None, shown: None, window: None }
    }

    /// Uses the baked frames of a group, and for each instance of the chunk the frames that it shows.
    pub(super) fn baked(frames: &wgpu::Buffer, shown: &wgpu::Buffer) -> Self {
        Self { buffer: frames.clone(), texture: None, shown: Some(shown.clone()), window: None }
    }

    /// The frames that each instance shows, to be bound beside baked palettes.
    pub(super) fn shown(&self) -> Option<&wgpu::Buffer> {
        self.shown.as_ref()
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The resource to bind as palettes.
    pub(super) fn binding(&self) -> wgpu::BindingResource<'_> {
        match (&self.texture, self.window) {
            (Some((_, view)), _) => wgpu::BindingResource::TextureView(view),
            (None, None) => self.buffer.as_entire_binding(),
            (None, Some(window)) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.buffer,
                offset: 0,
                size: wgpu::BufferSize::new(window.into()),
            }),
        }
    }

    /// Records the upload of all palettes.
    pub(super) fn upload(&self, gpu: &Gpu, commands: &mut Commands, data: &[u8]) {
        gpu.upload(commands, &self.buffer, data);
        if let Some((texture, _)) = &self.texture {
            commands.encoder.copy_buffer_to_texture(
                wgpu::TexelCopyBufferInfo {
                    buffer: &self.buffer,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(TEXTURE_ROW as u32),
                        rows_per_image: None,
                    },
                },
                texture.as_image_copy(),
                texture.size(),
            );
        }
    }
}

fn texture(gpu: &Gpu, bytes: u64) -> (wgpu::Texture, wgpu::TextureView) {
    gpu.count(Purpose::Palettes, bytes.next_multiple_of(TEXTURE_ROW));
    let height = bytes.div_ceil(TEXTURE_ROW) as u32;
    let texture = gpu.device().create_texture(&float_texture("palettes", TEXTURE_WIDTH, height));
    let view = texture.create_view(&Default::default());
    (texture, view)
}
