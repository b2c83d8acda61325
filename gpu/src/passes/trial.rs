//! Trials: the fastest of several ways to do the same on this device.

use crate::Gpu;
use crate::device::{Command, Commands, Recorder};
use skinbench_frame::{Result, Rounds, least_times};
use std::sync::Arc;
use std::time::Instant;

/// Measured rounds of a trial; the shortest time of each candidate counts.
const ROUNDS: u32 = 7;
/// A later candidate is preferred only below this fraction of an earlier one's time: short trials vary by as much.
const MARGIN: f64 = 0.97;

/// Index of the fastest of some compute passes, by the shortest time of a few rounds in which they alternate; of equals
/// the first. The first one, too, if the device executes nothing.
///
/// # Errors
/// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost or refused a command.
pub fn fastest(
    gpu: &Arc<Gpu>,
    candidates: usize,
    record: impl Fn(usize, &mut Commands),
) -> Result<usize> {
    if gpu.wgpu().is_none() {
        return Ok(0);
    }
    let time = |candidate| {
        gpu.wake()?;
        let mut commands = gpu.commands("trial");
        commands.run(Command::Compute { label: "trial" });
        record(candidate, &mut commands);
        commands.run(Command::End);
        let start = Instant::now();
        commands.finish()?;
        Ok(start.elapsed())
    };
    // Drivers compile in the first round.
    for candidate in 0..candidates {
        time(candidate)?;
    }
    let least = least_times(candidates, Rounds::exactly(ROUNDS), time)?;
    let mut best = 0;
    for candidate in 1..candidates {
        if least[candidate] < least[best].mul_f64(MARGIN) {
            best = candidate;
        }
    }
    Ok(best)
}
