//! Buffers for the palettes of a chunk.

use crate::frame::Purpose;
use crate::gpu::device::objects::{Buffer, Resource, Texture, TextureView};
use crate::gpu::pose::palette_form::{TEXTURE_ROW, TEXTURE_WIDTH};
use crate::gpu::{Commands, Gpu, PaletteForm};
use std::rc::Rc;

/// A chunk's palettes on the device, `[instance][entry]`. A clone shares the buffer.
#[derive(Clone)]
pub struct Palettes {
    pub(in crate::gpu) buffer: Buffer,
    /// The texture that is bound instead of the buffer, if any.
    texture: Option<(Rc<Texture>, TextureView)>,
    /// For each instance the baked frames that it shows, to be bound beside the buffer if that holds baked frames.
    pub shown: Option<Buffer>,
    /// Bytes that are bound at a time, if not all.
    window: Option<u32>,
}

impl Palettes {
    /// Allocates palettes that the host uploads.
    pub(in crate::gpu) fn uploaded(gpu: &Gpu, form: PaletteForm, bytes: u64) -> Self {
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
    pub(in crate::gpu) fn on_device(gpu: &Gpu, bytes: u64) -> Self {
        Self { buffer: gpu.scratch(Purpose::Palettes, "palettes", bytes), texture: None, shown: None, window: None }
    }

    /// Uses the baked frames of a group, and for each instance of the chunk the frames that it shows.
    pub(in crate::gpu) fn baked(frames: &Buffer, shown: &Buffer) -> Self {
        Self { buffer: frames.clone(), texture: None, shown: Some(shown.clone()), window: None }
    }

    /// The resource to bind as palettes.
    pub(in crate::gpu) fn binding(&self) -> Resource<'_> {
        match &self.texture {
            Some((_, view)) => Resource::View(view),
            None => Resource::Buffer(&self.buffer, 0, self.window.map(u64::from)),
        }
    }

    /// Records the upload of all palettes.
    pub(in crate::gpu) fn upload(&self, gpu: &Gpu, commands: &mut Commands, data: &[u8]) {
        gpu.upload(commands, &self.buffer, data);
        if let Some((texture, _)) = &self.texture {
            commands.copy_to_texture(&self.buffer, TEXTURE_ROW as u32, texture);
        }
    }
}

fn texture(gpu: &Gpu, bytes: u64) -> (Rc<Texture>, TextureView) {
    let height = bytes.div_ceil(TEXTURE_ROW) as u32;
    let texture = gpu.float_texture(Purpose::Palettes, "palettes", TEXTURE_WIDTH, height);
    let view = gpu.view(&texture, false);
    (Rc::new(texture), view)
}
