//! The arithmetic of known length that keeps a device's clock up, and the queries around it.

use crate::device::timestamps::Queries;
use crate::device::{BindGroup, Buffer, ComputePipeline};
use crate::shader::shader;
use skinbench_frame::DeviceObject;
use std::sync::atomic::AtomicU32;

/// Workgroups of a piece: as many threads as the largest devices run at once.
pub const WORKGROUPS: u32 = 1_056;
/// Queries around the first piece and around the last.
pub const QUERIES: u32 = 4;
/// Bytes of the uniform, and of the result.
const BYTES: u64 = 16;

/// The arithmetic of a device, compiled, and what times it.
pub struct Arithmetic {
    pub pipeline: ComputePipeline,
    pub group: BindGroup,
    pub uniform: Buffer,
    /// The number of rounds in the uniform.
    pub rounds: AtomicU32,
    /// The result of the first thread.
    #[cfg(test)]
    pub output: Buffer,
    pub queries: Option<Queries>,
}

/// The arithmetic's shader.
pub fn wgsl() -> String {
    shader("arithmetic.wgsl", &[])
}

impl Arithmetic {
    /// Records pieces in a pass, between two of the queries if there are any. It bypasses what counts the work of frames.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pieces: u32,
        between: Option<(&Queries, u32)>,
    ) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("arithmetic"),
            timestamp_writes: between.map(|(queries, first)| queries.writes(first)),
        });
        pass.set_pipeline(self.pipeline.get());
        pass.set_bind_group(0, self.group.get(), &[]);
        for _ in 0..pieces {
            pass.dispatch_workgroups(WORKGROUPS, 1, 1);
        }
    }
}

/// Creates a small buffer that the memory of no backend includes.
pub fn own_buffer(device: &wgpu::Device, label: &str, usage: wgpu::BufferUsages) -> Buffer {
    let descriptor = wgpu::BufferDescriptor {
        label: Some(label),
        size: BYTES,
        usage,
        mapped_at_creation: false,
    };
    Buffer {
        object: DeviceObject::real(device.create_buffer(&descriptor)),
        size: BYTES,
    }
}
