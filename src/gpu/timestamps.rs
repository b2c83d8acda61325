//! Stage times by timestamp query.

use crate::backend::{Clock, Result, Span, Stage, StageTimer};

/// Most queries of a frame: two a stage.
const CAPACITY: u32 = 32;

/// The queries of one stage: a begin and an end.
#[derive(Debug, Clone, Copy)]
pub struct GpuSpan {
    stage: Stage,
    first: u32,
}

/// The queries of the frame being recorded.
pub(super) struct Timestamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    mappable: wgpu::Buffer,
    ns_per_tick: f32,
    spans: Vec<GpuSpan>,
}

impl Timestamps {
    pub(super) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let buffer = |label, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: u64::from(CAPACITY) * 8,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: CAPACITY,
            }),
            resolved: buffer("timestamps resolved", wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            mappable: buffer("timestamps mappable", wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            ns_per_tick: queue.get_timestamp_period(),
            spans: Vec::with_capacity(CAPACITY as usize / 2),
        }
    }

    /// A begin and an end for a stage; none when the frame has no query left.
    pub(super) fn span(&mut self, stage: Stage) -> Option<GpuSpan> {
        let first = 2 * self.spans.len() as u32;
        let span = (first < CAPACITY).then_some(GpuSpan { stage, first })?;
        self.spans.push(span);
        Some(span)
    }

    pub(super) fn set(&self) -> &wgpu::QuerySet {
        &self.set
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let queries = 2 * self.spans.len() as u32;
        if queries > 0 {
            encoder.resolve_query_set(&self.set, 0..queries, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.mappable, 0, u64::from(queries) * 8);
        }
    }

    /// Hands the frame's spans over and starts the next frame. The device must be idle.
    pub(super) fn collect(&mut self, gpu: &super::Gpu, timer: &mut StageTimer) -> Result<()> {
        if self.spans.is_empty() {
            return Ok(());
        }
        let mut ticks = [0u64; CAPACITY as usize];
        let ticks = &mut ticks[..2 * self.spans.len()];
        gpu.read_mapped(&self.mappable, bytemuck::cast_slice_mut(ticks))?;
        for span in self.spans.drain(..) {
            let [begin, end] = [ticks[span.first as usize], ticks[span.first as usize + 1]];
            let ns = end
                .checked_sub(begin)
                .map(|t| (t as f64 * f64::from(self.ns_per_tick)).round() as u64)
                .filter(|&ns| ns > 0);
            timer.push(Span { stage: span.stage, clock: Clock::Gpu, ns });
        }
        Ok(())
    }
}

impl GpuSpan {
    pub(super) fn begin(self) -> u32 {
        self.first
    }
    pub(super) fn end(self) -> u32 {
        self.first + 1
    }
}
