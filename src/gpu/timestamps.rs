//! Stage times by timestamp queries.

use crate::frame::{Clock, Result, Span, Stage, StageTimer};

/// Most queries per frame: two per stage, and an outer pair.
pub(super) const CAPACITY: u32 = 32;
/// The outer pair's queries.
const OUTER: [u32; 2] = [0, 1];
/// Largest ratio of the sum of all stages to the outer pair: clocks have a finite resolution.
const OUTER_TOLERANCE: f64 = 1.02;

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
    outer: Outer,
}

/// State of the pair of timestamps around all stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outer {
    Absent,
    Begun,
    Ended,
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
            outer: Outer::Absent,
        }
    }

    /// A begin and an end for a stage; `None` if the frame has no query left.
    pub(super) fn span(&mut self, stage: Stage) -> Option<GpuSpan> {
        let first = self.queries();
        let span = (first < CAPACITY).then_some(GpuSpan { stage, first })?;
        self.spans.push(span);
        Some(span)
    }

    /// The query that marks the beginning of a frame. Discards spans that were not collected.
    pub(super) fn begin_outer(&mut self) -> u32 {
        self.spans.clear();
        self.outer = Outer::Begun;
        OUTER[0]
    }

    /// The query that marks a frame's end, if its beginning was marked.
    pub(super) fn end_outer(&mut self) -> Option<u32> {
        let begun = self.outer == Outer::Begun;
        begun.then(|| {
            self.outer = Outer::Ended;
            OUTER[1]
        })
    }

    pub(super) fn set(&self) -> &wgpu::QuerySet {
        &self.set
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let queries = self.queries();
        if queries > 0 {
            encoder.resolve_query_set(&self.set, 0..queries, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.mappable, 0, u64::from(queries) * 8);
        }
    }

    /// Number of queries used so far.
    fn queries(&self) -> u32 {
        let outer = if self.outer == Outer::Absent { 0 } else { OUTER.len() };
        (outer + 2 * self.spans.len()) as u32
    }

    /// Returns the frame's spans and starts the next frame. The device must be idle. If the sum of the spans exceeds
    /// the outer pair, it is unknown which are wrong, so all are dropped.
    pub(super) fn collect(
        &mut self,
        read_mapped: impl FnOnce(&wgpu::Buffer, &mut [u8]) -> Result<()>,
        timer: &mut StageTimer,
    ) -> Result<()> {
        let mut ticks = [0u64; CAPACITY as usize];
        let ticks = &mut ticks[..self.queries() as usize];
        let outer = std::mem::replace(&mut self.outer, Outer::Absent);
        if self.spans.is_empty() {
            return Ok(());
        }
        read_mapped(&self.mappable, bytemuck::cast_slice_mut(ticks))?;
        let between = |[begin, end]: [u32; 2]| {
            let ticks = ticks[end as usize].checked_sub(ticks[begin as usize])?;
            Some((ticks as f64 * f64::from(self.ns_per_tick)).round() as u64).filter(|&ns| ns > 0)
        };
        let sum: u64 = self.spans.iter().filter_map(|s| between([s.begin(), s.end()])).sum();
        let whole = if outer == Outer::Ended { between(OUTER) } else { None };
        let sound = whole.is_none_or(|whole| sum as f64 <= whole as f64 * OUTER_TOLERANCE);
        for span in &self.spans {
            let ns = between([span.begin(), span.end()]).filter(|_| sound);
            timer.push(Span { stage: span.stage, clock: Clock::Gpu, ns });
        }
        self.spans.clear();
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
