//! Stage times by timestamp queries.

use arrayvec::ArrayVec;
use skinbench_frame::{Clock, Stage, StageTime, StageTimer};
use std::time::Duration;

/// Most queries per frame: two per stage, and an outer pair.
pub const CAPACITY: u32 = 32;
/// The queries that mark a frame's beginning and end.
pub const OUTER: [u32; 2] = [0, 1];
/// Largest ratio of the sum of all stages to the outer pair: clocks have a finite resolution.
const OUTER_TOLERANCE: f64 = 1.02;

/// The queries of one stage: a begin and an end.
pub type StageQueries = [u32; 2];

/// Timestamp queries, and the buffers by which they are read.
pub struct Queries {
    pub set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Holds the ticks of all queries that the device has taken.
    pub mappable: wgpu::Buffer,
    pub ns_per_tick: f32,
}

impl Queries {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, label: &str, count: u32) -> Self {
        let resolved = wgpu::BufferDescriptor {
            label: Some(label),
            size: u64::from(count) * 8,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        };
        let mappable = wgpu::BufferDescriptor {
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            ..resolved
        };
        Self {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some(label),
                ty: wgpu::QueryType::Timestamp,
                count,
            }),
            resolved: device.create_buffer(&resolved),
            mappable: device.create_buffer(&mappable),
            ns_per_tick: queue.get_timestamp_period(),
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

    /// Makes the first queries readable after the submission, if there are any.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder, count: u32) {
        if count == 0 {
            return;
        }
        let bytes = u64::from(count) * 8;
        encoder.resolve_query_set(&self.set, 0..count, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.mappable, 0, bytes);
    }
}

/// The stages of a frame that queries time, in the order of their queries.
#[derive(Default)]
pub struct QueriedStages {
    stages: ArrayVec<Stage, { CAPACITY as usize / 2 }>,
    /// `true` if the outer pair comes before the stages.
    pub outer: bool,
}

impl QueriedStages {
    /// A begin and an end for a stage; `None` if the frame has no query left.
    pub fn span(&mut self, stage: Stage) -> Option<StageQueries> {
        let begin = self.used();
        (begin < CAPACITY).then(|| {
            self.stages.push(stage);
            [begin, begin + 1]
        })
    }

    /// Number of queries used so far.
    pub fn used(&self) -> u32 {
        2 * (u32::from(self.outer) + self.stages.len() as u32)
    }

    /// Number of ticks to read: none without a stage.
    pub fn ticks(&self) -> usize {
        if self.stages.is_empty() {
            0
        } else {
            self.used() as usize
        }
    }

    /// Appends the times of the stages, from the ticks that were read. If the sum of the stages exceeds the outer pair,
    /// it is unknown which are wrong, so the times of all are dropped.
    pub fn collect(&self, ticks: &[u64], ns_per_tick: f32, timer: &mut StageTimer) {
        let mut times = ArrayVec::<_, { CAPACITY as usize / 2 }>::new();
        for pair in ticks.as_chunks::<2>().0 {
            times.push(elapsed(pair, ns_per_tick));
        }
        let outer = usize::from(self.outer);
        let (whole, stages) = times.split_at(outer.min(times.len()));
        let sum: u64 = stages.iter().flatten().sum();
        let sound = whole
            .iter()
            .flatten()
            .all(|&whole| sum as f64 <= whole as f64 * OUTER_TOLERANCE);
        for (&stage, ns) in self.stages.iter().zip(stages) {
            timer.spans.push(StageTime {
                stage,
                clock: Clock::Gpu,
                ns: ns.filter(|_| sound),
            });
        }
    }
}

/// Nanoseconds between a begin and an end; `None` if they are zero or negative.
fn elapsed([begin, end]: &[u64; 2], ns_per_tick: f32) -> Option<u64> {
    let ticks = end.checked_sub(*begin)?;
    Some((ticks as f64 * f64::from(ns_per_tick)).round() as u64).filter(|&ns| ns > 0)
}

/// Fault of the ticks of a frame with one stage. `wall` is the time by the host's clock from before the frame was submitted
/// until the device was idle. With an `outer` pair, that comes first.
pub fn fault(ticks: &[u64], ns_per_tick: f32, outer: bool, wall: Duration) -> Option<&'static str> {
    let pairs = ticks.as_chunks::<2>().0;
    let Some(&[begin, end]) = pairs.last() else {
        return Some("timestamps are missing");
    };
    let frame = pairs[0].map(|tick| tick as f64 * f64::from(ns_per_tick));
    let stage = end.saturating_sub(begin) as f64 * f64::from(ns_per_tick);
    if ticks.contains(&0) {
        Some("timestamps are zero")
    } else if pairs.iter().any(|[begin, end]| end < begin) {
        Some("timestamps go backwards")
    } else if begin == end {
        Some("timestamps do not advance")
    } else if outer && stage > (frame[1] - frame[0]) * OUTER_TOLERANCE {
        Some("a stage is longer than its frame")
    } else if stage > wall.as_nanos() as f64 * OUTER_TOLERANCE {
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
        assert_eq!(
            of_frame([1_000, 5_000, 1_500, 0]),
            Some("timestamps are zero")
        );
        assert_eq!(
            of_frame([1_000, 5_000, 4_500, 1_500]),
            Some("timestamps go backwards")
        );
        assert_eq!(
            of_frame([5_000, 1_000, 1_500, 4_500]),
            Some("timestamps go backwards")
        );
        assert_eq!(
            of_frame([1_000, 5_000, 1_500, 1_500]),
            Some("timestamps do not advance")
        );
        assert_eq!(
            of_frame([1_000, 3_900, 1_500, 4_500]),
            Some("a stage is longer than its frame")
        );
        // The outer pair is sound but both are longer than the submission took.
        let slow = Some("a stage is longer than its frame by the host's clock");
        assert_eq!(of_frame([1_000, 9_000, 1_500, 7_000]), slow);
        assert_eq!(fault(&[1_500, 4_500], 2.0, false, wall), None);
        assert_eq!(fault(&[1_500, 7_000], 2.0, false, wall), slow);
        assert_eq!(fault(&[], 2.0, false, wall), Some("timestamps are missing"));
    }
}
