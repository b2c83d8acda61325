//! Buffers: the arena's device side, uploads, read-backs.

use super::chunks::{Chunk, chunks};
use super::counts::{filled_bytes, room_bytes};
use super::device::{STAGING_BYTES, one_line};
use super::{Commands, Gpu};
use crate::crowd::Crowd;
use crate::frame::{Arena, BackendError, FrameWork, Purpose, Result, Retention};
use std::rc::Rc;
use wgpu::util::DeviceExt;

/// Buffers of a ring.
const RING: usize = 3;

/// Sizes of the buffers for outputs of these sizes: one per output, or those of a ring.
pub(super) fn output_sizes(sizes: impl IntoIterator<Item = u64>, keep: Retention) -> Vec<u64> {
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    if keep == Retention::Ring && sizes.len() > RING { vec![largest; RING] } else { sizes }
}

/// Descriptor of a texture with four floats per texel, filled by copies and read by shaders.
pub(super) fn float_texture(label: &str, width: u32, height: u32) -> wgpu::TextureDescriptor<'_> {
    wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    }
}

impl Gpu {
    /// Creates a buffer; `size` is rounded up to the alignment of copies and bindings.
    pub fn buffer(&self, purpose: Purpose, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = room_bytes(size);
        self.count(purpose, size);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Creates a storage buffer that kernels write, and that copies read and fill.
    pub fn room(&self, purpose: Purpose, label: &str, size: u64) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        self.buffer(purpose, label, size, usage)
    }

    /// Creates a buffer with these contents. A binding cannot be empty, so empty contents become zeros.
    pub fn filled(&self, purpose: Purpose, label: &str, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.count(purpose, filled_bytes(contents.len()));
        let contents = if contents.is_empty() { &[0; 64] } else { contents };
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
    }

    /// Creates a storage buffer with constant contents.
    pub fn storage(&self, purpose: Purpose, label: &str, contents: &[u8]) -> wgpu::Buffer {
        self.filled(purpose, label, contents, wgpu::BufferUsages::STORAGE)
    }

    /// Creates a uniform buffer with constant contents.
    pub fn uniform(&self, purpose: Purpose, label: &str, contents: &[u8]) -> wgpu::Buffer {
        self.filled(purpose, label, contents, wgpu::BufferUsages::UNIFORM)
    }

    /// Records a copy from host to device through recycled staging memory.
    pub fn upload(&self, commands: &mut Commands, target: &wgpu::Buffer, data: &[u8]) {
        self.add_work(FrameWork { uploaded: data.len() as u64, ..FrameWork::default() });
        let mut belt = self.belt.borrow_mut();
        for (piece, offset) in data.chunks(STAGING_BYTES as usize).zip((0..).step_by(STAGING_BYTES as usize)) {
            if let Some(size) = wgpu::BufferSize::new(piece.len() as u64) {
                belt.write_buffer(&mut commands.encoder, target, offset, size).copy_from_slice(piece);
            }
        }
    }

    /// Limits the size of bindings, to simulate another adapter.
    pub fn limit_bindings(&self, bytes: u64) {
        self.binding_limit.set(bytes);
    }

    /// Limits the workgroups of a dispatch in one dimension, to simulate another adapter.
    pub fn limit_workgroups(&self, workgroups: u32) {
        self.workgroup_limit.set(workgroups);
    }

    /// Issues draws one by one, to simulate an adapter that takes no others. Returns whether this one takes several at
    /// once.
    pub fn draw_singly(&self) -> bool {
        self.multi_draws.replace(false)
    }

    /// Largest size of a storage binding.
    pub(super) fn binding_bytes(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(self.binding_limit.get())
    }

    /// Divides a crowd into chunks that this adapter can bind and dispatch.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if a single instance is larger than a binding.
    pub fn chunks(&self, crowd: &Crowd) -> Result<Vec<Chunk>> {
        chunks(crowd, self.binding_bytes(), self.workgroup_limit.get().into())
    }

    /// Sizes of the arena's buffers on the device: one per chunk, or those of the ring.
    fn arena_sizes(&self, crowd: &Crowd, keep: Retention) -> Result<Vec<u64>> {
        Ok(output_sizes(self.chunks(crowd)?.iter().map(|chunk| chunk.output_bytes(crowd)), keep))
    }

    /// Creates buffers of these sizes for skinned vertices.
    pub(super) fn outputs(&self, sizes: &[u64]) -> Vec<wgpu::Buffer> {
        sizes.iter().map(|&size| self.room(Purpose::Output, "vertices", size)).collect()
    }

    /// Bytes of the arena's device side.
    ///
    /// # Errors
    /// As [`Gpu::chunks`].
    pub fn arena_bytes(&self, crowd: &Crowd, keep: Retention) -> Result<u64> {
        Ok(keep.frames() as u64 * self.arena_sizes(crowd, keep)?.into_iter().map(room_bytes).sum::<u64>())
    }

    /// Allocates the arena's device side: one buffer per chunk, or the ring that chunks write to in turn.
    ///
    /// # Errors
    /// As [`Gpu::chunks`], or [`BackendError::Device`] if the device was lost or refused an allocation.
    pub fn allocate_arena(&self, crowd: &Crowd, keep: Retention, arena: &mut Arena) -> Result<()> {
        let sizes = self.arena_sizes(crowd, keep)?;
        arena.device = self.outputs(&sizes);
        arena.previous = if keep.frames() == 2 { self.outputs(&sizes) } else { Vec::new() };
        self.check()
    }

    /// Fills the arena's device side with NaN.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn poison_arena(self: &Rc<Self>, arena: &Arena) -> Result<()> {
        self.poison(&arena.device)
    }

    /// Fills buffers with NaN.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn poison(self: &Rc<Self>, buffers: &[wgpu::Buffer]) -> Result<()> {
        let mut commands = self.commands("poison");
        let largest = buffers.iter().map(wgpu::Buffer::size).max().unwrap_or(0).min(STAGING_BYTES);
        let nan =
            self.buffer(Purpose::Staging, "NaN", largest, wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST);
        self.upload(&mut commands, &nan, bytemuck::cast_slice(&vec![f32::NAN; (nan.size() / 4) as usize]));
        for buffer in buffers {
            for offset in (0..buffer.size()).step_by(nan.size() as usize) {
                let size = nan.size().min(buffer.size() - offset);
                commands.encoder.copy_buffer_to_buffer(&nan, 0, buffer, offset, size);
            }
        }
        commands.finish()
    }

    /// First and last instances of every chunk and of every span, which a sampled verification must cover.
    ///
    /// # Errors
    /// As [`Gpu::chunks`].
    pub fn chunk_ends(&self, crowd: &Crowd) -> Result<Vec<u32>> {
        let chunks = self.chunks(crowd)?.into_iter().chain(self.spans(crowd)?.into_iter().flatten());
        Ok(chunks.flat_map(|c| [c.instances.start, c.instances.end - 1]).collect())
    }

    /// Appends floats of a buffer, from index `first` on. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_back(
        self: &Rc<Self>,
        buffer: &wgpu::Buffer,
        first: u64,
        count: usize,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let staging = self.buffer(
            Purpose::Staging,
            "read back",
            (count as u64 * 4).min(STAGING_BYTES),
            wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        );
        let start = out.len();
        out.resize(start + count, 0.0);
        let mut offset = first * 4;
        for piece in out[start..].chunks_mut((staging.size() / 4) as usize) {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(piece);
            let mut commands = self.commands("read back");
            commands.encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes.len() as u64);
            commands.finish()?;
            self.read_mapped(&staging, bytes)?;
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads a mappable buffer's first bytes.
    pub(super) fn read_mapped(&self, buffer: &wgpu::Buffer, out: &mut [u8]) -> Result<()> {
        let slice = buffer.slice(..out.len() as u64);
        slice.map_async(wgpu::MapMode::Read, |_| {});
        self.wait(None, "what is read back")?;
        match slice.get_mapped_range() {
            Ok(mapped) => out.copy_from_slice(&mapped),
            Err(error) => return Err(BackendError::Device(one_line(&error.to_string()))),
        }
        buffer.unmap();
        Ok(())
    }
}
