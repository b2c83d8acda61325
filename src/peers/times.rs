//! Checks of the times that a peer states.

use super::protocol::Times;
use crate::frame::{Clock, Stage, StageGroup, StageTime};
use std::time::Duration;

/// Stages that peers do not have.
const ONLY_OURS: [Stage; 6] = [
    Stage::Cull,
    Stage::Update,
    Stage::Bounds,
    Stage::Sockets,
    Stage::Morph,
    Stage::Throughput,
];
/// Time of a request besides its frames that is not counted.
const PIPE: Duration = Duration::from_millis(5);
/// Bytes per nanosecond that a thread cannot write, not even to its nearest cache.
const MOST_BYTES_OF_A_THREAD: f64 = 512.0;
/// Bytes per nanosecond that no device can write to its memory. The fastest of 2026 reach half of it.
const MOST_BYTES_OF_A_DEVICE: f64 = 16_384.0;
/// Excess of the stages' sum over the frame that rounding explains.
const ROUNDING: f64 = 1.01;

/// What computes a peer's frames.
#[derive(Debug, Clone, Copy)]
pub enum Worker {
    /// This many threads of the processor.
    Threads(usize),
    /// A device, which times its stages itself.
    Device,
}

impl Worker {
    /// The clock of a stage.
    fn clock(self, stage: Stage) -> Clock {
        match self {
            Self::Device if stage.group() != StageGroup::Whole => Clock::Gpu,
            Self::Device | Self::Threads(_) => Clock::Wall,
        }
    }
}

/// The spans of each of `count` frames. `wall` is the time from the request to the answer, `vertices` the bytes of skinned
/// vertices per frame if the peer computes any, and `worker` what computes them.
///
/// # Errors
/// Times that cannot be true, or that are not those which were asked for.
pub fn spans(
    times: &Times,
    count: usize,
    wall: Duration,
    vertices: Option<u64>,
    worker: Worker,
) -> Result<Vec<Vec<StageTime>>, String> {
    for (stage, list) in &times.stages {
        let name = stage.name();
        if ONLY_OURS.contains(stage) {
            return Err(format!(
                "times the stage {name}, which is not one of the protocol"
            ));
        }
        if list.len() != count {
            return Err(format!(
                "gave {} times of {name} for {count} frames",
                list.len()
            ));
        }
        if let Some(frame) = list.iter().position(|&ns| ns == 0) {
            return Err(format!("says that {name} took no time in frame {frame}"));
        }
    }
    let is_engine = vertices.is_none();
    let frame_times = times.stages.get(&Stage::Frame);
    let engine_times = times.stages.get(&Stage::EngineFrame);
    if is_engine && frame_times.is_some() {
        return Err("gave a time of frame and writes no vertices; expected stages".into());
    }
    if !is_engine && frame_times.is_none() {
        return Err("writes vertices and gave no time of frame".into());
    }
    if times.stages.is_empty() {
        return Err("gave no times".into());
    }
    let whole_times = if is_engine { engine_times } else { frame_times };
    let mut frames = Vec::with_capacity(count);
    let mut stated = 0u64;
    let mut fastest = u64::MAX;
    for frame in 0..count {
        let mut spans = Vec::with_capacity(times.stages.len());
        let mut sum = 0u64;
        for (&stage, list) in &times.stages {
            spans.push(StageTime::new(stage, worker.clock(stage), list[frame]));
            if stage.group() != StageGroup::Whole {
                sum = sum.saturating_add(list[frame]);
            }
        }
        frames.push(spans);
        let whole = whole_times.map_or(sum, |list| list[frame]);
        if sum as f64 > whole as f64 * ROUNDING + 1e3 {
            return Err(format!(
                "says that the stages of frame {frame} took {sum} ns of {whole} ns"
            ));
        }
        stated = stated.saturating_add(whole);
        fastest = fastest.min(whole);
    }
    let stated = Duration::from_nanos(stated);
    if stated > wall {
        return Err(format!(
            "says that its frames took {stated:.1?}; the request took {wall:.1?}"
        ));
    }
    if stated < wall.saturating_sub(PIPE) / 2 {
        return Err(format!(
            "says that its frames took {stated:.1?} of a request of {wall:.1?}; expected half"
        ));
    }
    let rate = vertices.unwrap_or(0) as f64 / fastest as f64;
    match worker {
        Worker::Threads(threads) if rate > MOST_BYTES_OF_A_THREAD * threads as f64 => {
            let rate = rate / threads as f64;
            Err(format!(
                "says that a thread wrote {rate:.0} GB/s of vertices; no processor does"
            ))
        }
        Worker::Device if rate > MOST_BYTES_OF_A_DEVICE => Err(format!(
            "says that it wrote {rate:.0} GB/s of vertices; no device does"
        )),
        Worker::Threads(_) | Worker::Device => Ok(frames),
    }
}
