//! Checks of the times that a peer states.

use super::protocol::Times;
use crate::frame::{Clock, Stage, StageTime};
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
            Worker::Device if ![Stage::Frame, Stage::EngineFrame].contains(&stage) => Clock::Gpu,
            _ => Clock::Wall,
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
    let whole = if vertices.is_some() {
        Stage::Frame
    } else {
        Stage::EngineFrame
    };
    let other = if vertices.is_some() {
        Stage::EngineFrame
    } else {
        Stage::Frame
    };
    let (has, misnamed) = (times.stages.get(&whole), times.stages.contains_key(&other));
    match (vertices, has) {
        (Some(_), None) => return Err("writes vertices and gave no time of frame".into()),
        (None, _) if misnamed => {
            return Err("gave a time of frame and writes no vertices; expected stages".into());
        }
        _ if times.stages.is_empty() => return Err("gave no times".into()),
        _ => {}
    }
    let parts = |frame: usize| {
        let parts = times
            .stages
            .iter()
            .filter(|(stage, _)| ![whole, other].contains(*stage));
        parts
            .map(|(_, list)| list[frame])
            .fold(0, u64::saturating_add)
    };
    let of = |frame: usize| has.map_or_else(|| parts(frame), |list| list[frame]);
    if let Some(frame) =
        (0..count).find(|&frame| parts(frame) as f64 > of(frame) as f64 * ROUNDING + 1e3)
    {
        return Err(format!(
            "says that the stages of frame {frame} took {} ns of {} ns",
            parts(frame),
            of(frame)
        ));
    }
    let stated = Duration::from_nanos((0..count).map(of).fold(0, u64::saturating_add));
    if stated > wall {
        return Err(format!(
            "says that its frames took {stated:.1?}; the request took {:.1?}",
            wall
        ));
    }
    if stated < wall.saturating_sub(PIPE) / 2 {
        return Err(format!(
            "says that its frames took {stated:.1?} of a request of {:.1?}; expected half",
            wall
        ));
    }
    let fastest = (0..count).map(of).min().unwrap_or(1);
    let rate = vertices.unwrap_or(0) as f64 / fastest as f64;
    match worker {
        Worker::Threads(threads) if rate > MOST_BYTES_OF_A_THREAD * threads as f64 => {
            let rate = rate / threads as f64;
            return Err(format!(
                "says that a thread wrote {rate:.0} GB/s of vertices; no processor does"
            ));
        }
        Worker::Device if rate > MOST_BYTES_OF_A_DEVICE => {
            return Err(format!(
                "says that it wrote {rate:.0} GB/s of vertices; no device does"
            ));
        }
        _ => {}
    }
    let span = |stage: Stage, ns: u64| StageTime {
        stage,
        clock: worker.clock(stage),
        ns: Some(ns),
    };
    Ok((0..count)
        .map(|frame| {
            times
                .stages
                .iter()
                .map(|(stage, list)| span(*stage, list[frame]))
                .collect()
        })
        .collect())
}
