//! The output of a crowd on the device: a buffer for each chunk.

use crate::Gpu;
use crate::crowd::chunk::{Chunk, chunks};
use crate::device::buffers::output_sizes;
use skinbench_frame::{OutputBuffers, Result, Retention};
use skinbench_kernels::crowd::Crowd;

impl Gpu {
    /// Divides a crowd into chunks that this adapter can bind and dispatch.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if a single instance is larger than a binding.
    pub fn chunks(&self, crowd: &Crowd) -> Result<Vec<Chunk>> {
        chunks(
            crowd,
            self.binding_bytes(),
            self.adapter.workgroup_limit.into(),
        )
    }

    /// Bytes of the device side of the output buffers.
    ///
    /// # Errors
    /// As [`Gpu::chunks`].
    pub fn output_bytes(&self, crowd: &Crowd, keep: Retention) -> Result<u64> {
        let mut output = OutputBuffers::default();
        self.counting().allocate_output(crowd, keep, &mut output)?;
        Ok(output.device_bytes())
    }

    /// Allocates the device side of the output buffers: one buffer per chunk, or the ring that chunks write to in turn.
    ///
    /// # Errors
    /// As [`Gpu::chunks`], or [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or refused an allocation.
    pub fn allocate_output(
        &self,
        crowd: &Crowd,
        keep: Retention,
        output: &mut OutputBuffers,
    ) -> Result<()> {
        let sizes = output_sizes(
            self.chunks(crowd)?
                .iter()
                .map(|chunk| chunk.output_bytes(crowd)),
            keep,
        );
        output.device = self.outputs(&sizes);
        output.previous = if keep.frames() == 2 {
            self.outputs(&sizes)
        } else {
            Vec::new()
        };
        self.check()
    }

    /// First and last instances of every chunk, which a sampled verification must cover.
    ///
    /// # Errors
    /// As [`Gpu::chunks`].
    pub fn chunk_ends(&self, crowd: &Crowd) -> Result<Vec<u32>> {
        let chunks = self.chunks(crowd)?.into_iter();
        let ends = chunks.flat_map(|chunk| [chunk.instances.start, chunk.instances.end - 1]);
        Ok(ends.collect())
    }
}
