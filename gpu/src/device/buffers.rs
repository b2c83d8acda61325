//! Buffers of skinned vertices, and read-backs.

use crate::Gpu;
use crate::device::staging::STAGING_BYTES;
use crate::device::{Buffer, Command, Recorder, one_line};
use skinbench_frame::{BackendError, Purpose, Result, Retention};
use std::sync::Arc;

/// Buffers of a ring.
pub const RING: usize = 3;

/// Sizes of the buffers for outputs of these sizes: one per output, or those of a ring.
pub fn output_sizes(sizes: impl IntoIterator<Item = u64>, keep: Retention) -> Vec<u64> {
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    if keep == Retention::Ring && sizes.len() > RING {
        vec![largest; RING]
    } else {
        sizes
    }
}

impl Gpu {
    /// Creates buffers of these sizes for skinned vertices.
    pub(crate) fn outputs(&self, sizes: &[u64]) -> Vec<Buffer> {
        sizes
            .iter()
            .map(|&size| self.scratch(Purpose::Output, "skinned vertices", size))
            .collect()
    }

    /// Fills buffers with NaN.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn poison(self: &Arc<Self>, buffers: &[Buffer]) -> Result<()> {
        let mut commands = self.commands("poison");
        let largest = buffers
            .iter()
            .map(|buffer| buffer.size)
            .max()
            .unwrap_or(0)
            .min(STAGING_BYTES);
        let nan = self.buffer(
            Purpose::Staging,
            "NaN",
            largest,
            wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        );
        commands.upload(
            &nan,
            bytemuck::cast_slice(&vec![f32::NAN; (nan.size / 4) as usize]),
        );
        for buffer in buffers {
            for offset in (0..buffer.size).step_by(nan.size as usize) {
                commands.run(Command::Copy {
                    from: &nan,
                    from_offset: 0,
                    to: buffer,
                    to_offset: offset,
                    bytes: nan.size.min(buffer.size - offset),
                });
            }
        }
        commands.finish()
    }

    /// Appends floats of a buffer, from index `first` on. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_back(
        self: &Arc<Self>,
        buffer: &Buffer,
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
        for piece in out[start..].chunks_mut((staging.size / 4) as usize) {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(piece);
            let mut commands = self.commands("read back");
            commands.run(Command::Copy {
                from: buffer,
                from_offset: offset,
                to: &staging,
                to_offset: 0,
                bytes: bytes.len() as u64,
            });
            if let Some(mut tape) = self.tape() {
                tape.append(&Command::Read {
                    buffer: &staging,
                    bytes: bytes.len(),
                });
            }
            commands.finish()?;
            if self.wgpu().is_some() {
                self.read_wgpu(staging.object.get(), bytes)?;
            }
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads a mappable buffer's first bytes.
    pub(crate) fn read_wgpu(&self, buffer: &wgpu::Buffer, out: &mut [u8]) -> Result<()> {
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
