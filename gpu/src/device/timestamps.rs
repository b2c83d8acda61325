//! Stage times by timestamp queries.

use arrayvec::ArrayVec;
use skinbench_frame::{Clock, Stage, StageTime, StageTimer};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Most queries per frame: two per stage, and an outer pair.
pub(crate) const CAPACITY: u32 = 32;
/// The queries that mark a frame's beginning and end.
pub(crate) const OUTER: [u32; 2] = [0, 1];
/// Largest ratio of the sum of all stages to the outer pair: clocks have a finite resolution.
const OUTER_TOLERANCE: f64 = 1.02;

/// The queries of one stage: a begin and an end.
pub type StageQueries = [u32; 2];

/// The queries of the frame being recorded.
pub(crate) struct Timestamps {
    pub set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Holds the ticks of all queries of a frame that the device has finished.
    pub mappable: wgpu::Buffer,
    ns_per_tick: f32,
    /// The stages in the order of their queries.
    stages: RefCell<Vec<Stage>>,
    /// `true` if the outer pair comes before the stages.
    outer: Cell<bool>,
}

impl Timestamps {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
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
            resolved: buffer(
                "timestamps resolved",
                wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            ),
            mappable: buffer(
                "timestamps mappable",
                wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            ),
            ns_per_tick: queue.get_timestamp_period(),
            stages: RefCell::new(Vec::with_capacity(CAPACITY as usize / 2)),
            outer: Cell::default(),
        }
    }

    /// A begin and an end for a stage; `None` if the frame has no query left.
    pub(crate) fn span(&self, stage: Stage) -> Option<StageQueries> {
        let begin = self.queries();
        (begin < CAPACITY).then(|| {
            self.stages.borrow_mut().push(stage);
            [begin, begin + 1]
        })
    }

    /// Begins a frame whose commands mark the outer pair. Discards stages that were not collected.
    pub(crate) fn begin_outer(&self) {
        self.stages.borrow_mut().clear();
        self.outer.set(true);
    }

    pub(crate) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let queries = self.queries();
        if queries > 0 {
            encoder.resolve_query_set(&self.set, 0..queries, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(
                &self.resolved,
                0,
                &self.mappable,
                0,
                u64::from(queries) * 8,
            );
        }
    }

    /// Number of queries used so far.
    fn queries(&self) -> u32 {
        2 * (u32::from(self.outer.get()) + self.stages.borrow().len() as u32)
    }

    /// Number of ticks to read of a frame: none without a stage.
    pub(crate) fn ticks(&self) -> usize {
        if self.stages.borrow().is_empty() {
            0
        } else {
            self.queries() as usize
        }
    }

    /// Moves the frame's stages into the timer, from the ticks that were read, and starts the next frame. If the sum of
    /// the stages exceeds the outer pair, it is unknown which are wrong, so the times of all are dropped.
    pub(crate) fn collect(&self, ticks: &[u64], timer: &mut StageTimer) {
        let pairs = ticks.as_chunks::<2>().0.iter();
        let times: ArrayVec<_, { CAPACITY as usize / 2 }> =
            pairs.map(|pair| elapsed(pair, self.ns_per_tick)).collect();
        let outer = usize::from(self.outer.take());
        let (whole, stages) = times.split_at(outer.min(times.len()));
        let sum: u64 = stages.iter().flatten().sum();
        let sound = whole
            .iter()
            .flatten()
            .all(|&whole| sum as f64 <= whole as f64 * OUTER_TOLERANCE);
        let mut own = self.stages.borrow_mut();
        let times = own.drain(..).zip(stages);
        timer.spans.extend(times.map(|(stage, ns)| StageTime {
            stage,
            clock: Clock::Gpu,
            ns: ns.filter(|_| sound),
        }));
    }

    /// Checks the ticks of a frame with one stage, and starts the next frame. `wall` is the time by the host's clock
    /// from before the frame was submitted until the device was idle. Returns what is wrong, if anything.
    pub(crate) fn fault(&self, ticks: &[u64], wall: Duration) -> Option<&'static str> {
        self.stages.borrow_mut().clear();
        fault(ticks, self.ns_per_tick, self.outer.take(), wall)
    }
}

/// Nanoseconds between a begin and an end; `None` if they are zero or negative.
fn elapsed([begin, end]: &[u64; 2], ns_per_tick: f32) -> Option<u64> {
    let ticks = end.checked_sub(*begin)?;
    Some((ticks as f64 * f64::from(ns_per_tick)).round() as u64).filter(|&ns| ns > 0)
}

/// Fault of the ticks of a frame with one stage, which took `wall` by the host's clock. With an `outer` pair,
/// that comes first.
fn fault(ticks: &[u64], ns_per_tick: f32, outer: bool, wall: Duration) -> Option<&'static str> {
    let pairs = ticks.as_chunks::<2>().0;
    let Some(&[begin, end]) = pairs.last() else {
        return Some("timestamps are missing");
    };
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
