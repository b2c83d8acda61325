//! Warnings about conditions that may disturb a measurement, with advice.

use super::RESOLUTION;
use crate::frame::{Clock, Stage};
use crate::harness::governor::governor;
use crate::harness::{Outcome, StageTimes, Summary};

/// Fewest frames from which a slow start can be told.
const FRAMES: usize = 20;
/// Largest excess of the first tenth of the frames, and largest drift between the thirds of a run.
const SLOW_START: f64 = 0.10;
const DRIFT: f64 = 0.05;

/// One line per kind of problem, with the backends that it affects.
pub fn warnings(outcomes: &[Outcome]) -> Vec<String> {
    let mut slow = Vec::new();
    let mut drifting = Vec::new();
    let mut short = Vec::new();
    for outcome in outcomes {
        for times in &outcome.stages {
            let is_frame = times.stage == Stage::Frame && times.clock == Clock::Wall;
            if is_frame && starts_slowly(times) {
                slow.push(outcome.name);
            }
            if is_frame && drifts(times) {
                drifting.push(outcome.name);
            }
            if times.summary().is_some_and(|s| s.median < RESOLUTION) {
                short.push(format!("{} {}", outcome.name, times.stage.name()));
            }
        }
    }
    let mut warnings = Vec::new();
    for (what, backends, advice) in [
        (
            "first frames slow",
            slow.join(", "),
            "measure more with --frames, or run again",
        ),
        (
            "times drift by more than 5 % during the run",
            drifting.join(", "),
            "let the machine cool, then run again",
        ),
        (
            "below the clock's resolution",
            short.join(", "),
            "measure more instances",
        ),
    ] {
        if !backends.is_empty() {
            warnings.push(format!("{what}: {backends}; {advice}"));
        }
    }
    warnings
}

/// Warning about settings of the machine that disturb every measurement.
pub fn of_machine() -> Option<String> {
    let governor = governor().filter(|governor| governor != "performance")?;
    let advice = "for steady times, cpupower frequency-set -g performance";
    Some(format!(
        "the processor's frequency is scaled ({governor}): {advice}"
    ))
}

fn starts_slowly(frames: &StageTimes) -> bool {
    let samples = &frames.samples;
    let (first, rest) = samples.split_at(samples.len() / 10);
    samples.len() >= FRAMES && median(first) > median(rest) * (1.0 + SLOW_START)
}

fn drifts(frames: &StageTimes) -> bool {
    let samples = &frames.samples;
    let third = samples.len() / 3;
    let mut least = f64::INFINITY;
    let mut most: f64 = 0.0;
    for samples in samples.chunks(third.max(1)).take(3) {
        least = least.min(median(samples));
        most = most.max(median(samples));
    }
    samples.len() >= FRAMES && most > least * (1.0 + DRIFT)
}

/// Median of some frames in nanoseconds; 0 without any.
fn median(samples: &[(u32, u64)]) -> f64 {
    let times = samples.iter().map(|sample| sample.1);
    Summary::of(times).map_or(0.0, |summary| summary.median as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::run::Status;

    fn outcome(times: impl Fn(u32) -> u64) -> Outcome {
        let frames = StageTimes {
            stage: Stage::Frame,
            clock: Clock::Wall,
            samples: (0..60).map(|frame| (frame, times(frame))).collect(),
            dropped: 0,
            ..StageTimes::default()
        };
        Outcome {
            stages: vec![frames],
            ..Outcome::new("cpu", 0, Status::Ok)
        }
    }

    #[test]
    fn each_trouble_has_its_line() {
        let warned = |times: fn(u32) -> u64| warnings(&[outcome(times)]).join("\n");
        assert_eq!(warned(|frame| 1_000_000 + u64::from(frame % 7) * 2_000), "");
        assert!(
            warned(|frame| if frame < 6 { 1_500_000 } else { 1_000_000 })
                .starts_with("first frames slow: cpu;")
        );
        assert!(
            warned(|frame| 1_000_000 + u64::from(frame) * 3_000)
                .starts_with("times drift by more than 5 %")
        );
        assert!(warned(|_| 900).starts_with("below the clock's resolution: cpu frame;"));
    }
}
