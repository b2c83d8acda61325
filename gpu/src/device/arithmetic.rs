//! The arithmetic of known length that keeps a device's clock up, and the queries around it.

use crate::device::{BindGroup, Buffer, ComputePipeline};
use crate::shader::shader;
use skinbench_frame::DeviceObject;
use std::cell::Cell;

/// Workgroups of a piece: as many threads as the largest devices run at once.
pub const WORKGROUPS: u32 = 1_056;
/// Queries around the first piece and around the last.
pub(crate) const QUERIES: u32 = 4;
/// Bytes of the uniform, and of the result.
const BYTES: u64 = 16;

/// The arithmetic of a device, compiled, and what times it.
pub(crate) struct Arithmetic {
    pub pipeline: ComputePipeline,
    pub group: BindGroup,
    pub uniform: Buffer,
    /// The number of rounds in the uniform.
    pub rounds: Cell<u32>,
    /// The result of the first thread.
    #[cfg(test)]
    pub output: Buffer,
    pub queries: Option<Queries>,
}

/// Timestamps around passes.
pub(crate) struct Queries {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    pub mappable: wgpu::Buffer,
    pub ns_per_tick: f64,
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

impl Queries {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let buffer = |label, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: u64::from(QUERIES) * 8,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("arithmetic"),
                ty: wgpu::QueryType::Timestamp,
                count: QUERIES,
            }),
            resolved: buffer(
                "arithmetic resolved",
                wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            ),
            mappable: buffer(
                "arithmetic mappable",
                wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            ),
            ns_per_tick: queue.get_timestamp_period().into(),
        }
    }

    /// The queries of a pass: one at its beginning, and the next at its end.
    pub fn writes(&self, first: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        }
    }

    /// Makes the first queries readable after the submission.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder, count: u32) {
        let bytes = u64::from(count) * 8;
        encoder.resolve_query_set(&self.set, 0..count, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.mappable, 0, bytes);
    }
}

/// A small buffer that counts as nobody's memory.
pub(crate) fn own_buffer(device: &wgpu::Device, label: &str, usage: wgpu::BufferUsages) -> Buffer {
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
