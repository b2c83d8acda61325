//! Stage times by timestamp queries.

use crate::frame::{Clock, Result, Stage, StageTime, StageTimer};
use arrayvec::ArrayVec;
use std::time::Duration;

/// Most queries per frame: two per stage, and an outer pair.
pub(in crate::gpu) const CAPACITY: u32 = 32;
/// The outer pair's queries.
const OUTER: [u32; 2] = [0, 1];
/// Largest ratio of the sum of all stages to the outer pair: clocks have a finite resolution.
const OUTER_TOLERANCE: f64 = 1.02;

/// The ticks of a frame's queries.
type Ticks = ArrayVec<u64, { CAPACITY as usize }>;

/// The queries of one stage: a begin and an end.
#[derive(Debug, Clone, Copy)]
pub struct StageQueries {
    stage: Stage,
    pub(in crate::gpu) begin: u32,
    pub(in crate::gpu) end: u32,
}

/// The queries of the frame being recorded.
pub(in crate::gpu) struct Timestamps {
    pub set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    mappable: wgpu::Buffer,
    ns_per_tick: f32,
    spans: Vec<StageQueries>,
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
    pub(in crate::gpu) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
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
    pub(in crate::gpu) fn span(&mut self, stage: Stage) -> Option<StageQueries> {
        let begin = self.queries();
        let span = (begin < CAPACITY).then_some(StageQueries { stage, begin, end: begin + 1 })?;
        self.spans.push(span);
        Some(span)
    }

    /// The query that marks the beginning of a frame. Discards spans that were not collected.
    pub(in crate::gpu) fn begin_outer(&mut self) -> u32 {
        self.spans.clear();
        self.outer = Outer::Begun;
        OUTER[0]
    }

    /// The query that marks a frame's end, if its beginning was marked.
    pub(in crate::gpu) fn end_outer(&mut self) -> Option<u32> {
        let begun = self.outer == Outer::Begun;
        begun.then(|| {
            self.outer = Outer::Ended;
            OUTER[1]
        })
    }

    pub(in crate::gpu) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
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
    pub(in crate::gpu) fn collect(
        &mut self,
        read_mapped: impl FnOnce(&wgpu::Buffer, &mut [u8]) -> Result<()>,
        timer: &mut StageTimer,
    ) -> Result<()> {
        let (ticks, outer) = self.ticks(read_mapped)?;
        let between = |[begin, end]: [u32; 2]| elapsed(&ticks, [begin, end], self.ns_per_tick);
        let sum: u64 = self.spans.iter().filter_map(|s| between([s.begin, s.end])).sum();
        let whole = if outer { between(OUTER) } else { None };
        let sound = whole.is_none_or(|whole| sum as f64 <= whole as f64 * OUTER_TOLERANCE);
        for span in &self.spans {
            let ns = between([span.begin, span.end]).filter(|_| sound);
            timer.spans.push(StageTime { stage: span.stage, clock: Clock::Gpu, ns });
        }
        self.spans.clear();
        Ok(())
    }

    /// Checks the timestamps of a frame with one stage, and starts the next frame. `wall` is the time by the host's
    /// clock from before the frame was submitted until the device was idle. Returns what is wrong, if anything.
    pub(in crate::gpu) fn fault(
        &mut self,
        read_mapped: impl FnOnce(&wgpu::Buffer, &mut [u8]) -> Result<()>,
        wall: Duration,
    ) -> Result<Option<&'static str>> {
        let (ticks, outer) = self.ticks(read_mapped)?;
        self.spans.clear();
        Ok(fault(&ticks, self.ns_per_tick, outer, wall))
    }

    /// The ticks of the frame, none without a span, and whether the outer pair is among them.
    fn ticks(&mut self, read_mapped: impl FnOnce(&wgpu::Buffer, &mut [u8]) -> Result<()>) -> Result<(Ticks, bool)> {
        let mut ticks = Ticks::from([0; CAPACITY as usize]);
        ticks.truncate(if self.spans.is_empty() { 0 } else { self.queries() as usize });
        let outer = std::mem::replace(&mut self.outer, Outer::Absent);
        if !ticks.is_empty() {
            read_mapped(&self.mappable, bytemuck::cast_slice_mut(&mut ticks))?;
        }
        Ok((ticks, outer == Outer::Ended))
    }
}

/// Nanoseconds between two queries; `None` if they are zero or negative.
fn elapsed(ticks: &[u64], [begin, end]: [u32; 2], ns_per_tick: f32) -> Option<u64> {
    let ticks = ticks[end as usize].checked_sub(ticks[begin as usize])?;
    Some((ticks as f64 * f64::from(ns_per_tick)).round() as u64).filter(|&ns| ns > 0)
}

/// Fault of the ticks of a frame with one stage, which took `wall` by the host's clock. With an `outer` pair,
/// that comes first.
fn fault(ticks: &[u64], ns_per_tick: f32, outer: bool, wall: Duration) -> Option<&'static str> {
    let pairs = ticks.as_chunks::<2>().0;
    let Some(&[begin, end]) = pairs.last() else { return Some("timestamps are missing") };
    let frame = pairs[0].map(|tick| tick as f64 * f64::from(ns_per_tick));
    let longer = |ns: f64| (end - begin) as f64 * f64::from(ns_per_tick) > ns * OUTER_TOLERANCE;
    if ticks.contains(&0) {
        Some("timestamps are zero")
    } else if pairs.iter().any(|[begin, end]| end < begin) {
        Some("timestamps go backwards")
    } else if begin == end {
        Some("timestamps do not advance")
    } else if outer && longer(frame[1] - frame[0]) {
        Some("a stage is longer than its frame")
    } else if longer(wall.as_nanos() as f64) {
        Some("a stage is longer than its frame by the host's clock")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_names_what_is_wrong_with_timestamps() {
        let wall = Duration::from_micros(10);
        let of_frame = |ticks: [u64; 4]| fault(&ticks, 2.0, true, wall);
        // Two nanoseconds per tick: a frame of 8 µs that spends 6 µs in its stage.
        assert_eq!(of_frame([1_000, 5_000, 1_500, 4_500]), None);
        assert_eq!(of_frame([0; 4]), Some("timestamps are zero"));
        assert_eq!(of_frame([1_000, 5_000, 1_500, 0]), Some("timestamps are zero"));
        assert_eq!(of_frame([1_000, 5_000, 4_500, 1_500]), Some("timestamps go backwards"));
        assert_eq!(of_frame([5_000, 1_000, 1_500, 4_500]), Some("timestamps go backwards"));
        assert_eq!(of_frame([1_000, 5_000, 1_500, 1_500]), Some("timestamps do not advance"));
        assert_eq!(of_frame([1_000, 3_900, 1_500, 4_500]), Some("a stage is longer than its frame"));
        // The outer pair is sound but both are longer than the submission took.
        let slow = Some("a stage is longer than its frame by the host's clock");
        assert_eq!(of_frame([1_000, 9_000, 1_500, 7_000]), slow);
        assert_eq!(fault(&[1_500, 4_500], 2.0, false, wall), None);
        assert_eq!(fault(&[1_500, 7_000], 2.0, false, wall), slow);
        assert_eq!(fault(&[], 2.0, false, wall), Some("timestamps are missing"));
    }
}
