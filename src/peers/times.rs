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
const MOST_OF_A_THREAD: f64 = 512.0;
/// Bytes per nanosecond that no device can write to its memory. The fastest of 2026 reach half of it.
const MOST_OF_A_DEVICE: f64 = 16_384.0;
/// Excess of the stages' sum over the frame that rounding explains.
const ROUNDING: f64 = 1.01;

/// The spans of each of `count` frames. `wall` is the time from the request to the answer, `vertices` the bytes of skinned
/// vertices per frame if the peer computes any, and `threads` how many compute its frames, unless a device does.
///
/// # Errors
/// Times that cannot be true, or that are not those which were asked for.
pub fn spans(
    times: &Times,
    count: usize,
    wall: Duration,
    vertices: Option<u64>,
    threads: usize,
    is_device: bool,
) -> Result<Vec<Vec<StageTime>>, String> {
    let frame_times = times.stages.get(&Stage::Frame);
    if times.stages.is_empty() || frame_times.is_some() != vertices.is_some() {
        let expected = match vertices {
            Some(_) => "frame, as it writes vertices",
            None => "stages, and none of frame, as it writes no vertices",
        };
        return Err(format!("gave other times than those of {expected}"));
    }
    let mut frames = vec![Vec::new(); count];
    let mut sums = vec![0u64; count];
    for (&stage, list) in &times.stages {
        let name = stage.name();
        if ONLY_OURS.contains(&stage) {
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
        let is_whole = stage.group() == StageGroup::Whole;
        let by_device = is_device && !is_whole;
        let clock = if by_device { Clock::Gpu } else { Clock::Wall };
        for (frame, &ns) in list.iter().enumerate() {
            if ns == 0 {
                return Err(format!("says that {name} took no time in frame {frame}"));
            }
            frames[frame].push(StageTime::new(stage, clock, ns));
            if !is_whole {
                sums[frame] = sums[frame].saturating_add(ns);
            }
        }
    }
    // An engine's frame, or all that another peer without vertices times.
    let wholes = frame_times.or_else(|| times.stages.get(&Stage::EngineFrame));
    let wholes = wholes.unwrap_or(&sums);
    for (frame, (sum, whole)) in sums.iter().zip(wholes).enumerate() {
        if *sum as f64 > *whole as f64 * ROUNDING + 1e3 {
            return Err(format!(
                "says that the stages of frame {frame} took {sum} ns of {whole} ns"
            ));
        }
    }
    let stated: Duration = wholes.iter().map(|ns| Duration::from_nanos(*ns)).sum();
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
    let most = if is_device {
        MOST_OF_A_DEVICE
    } else {
        MOST_OF_A_THREAD * threads as f64
    };
    let fastest = wholes.iter().min().map_or(f64::MAX, |ns| *ns as f64);
    let rate = vertices.unwrap_or(0) as f64 / fastest;
    if rate > most {
        return Err(format!(
            "says that it wrote {rate:.0} GB/s of vertices; expected at most {most}"
        ));
    }
    Ok(frames)
}
