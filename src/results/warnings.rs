//! Warnings about conditions that may disturb a measurement, with advice.

use super::RESOLUTION;
use crate::frame::{Clock, Stage};
use crate::harness::hardware;
use crate::harness::{Outcome, StageTimes, Summary};

/// Fewest frames from which a slow start can be told.
const FRAMES: usize = 20;
/// Largest excess of the first tenth of the frames, and largest drift between the thirds of a run.
const SLOW_START: f64 = 0.10;
const DRIFT: f64 = 0.05;

/// One line per kind of problem, with the backends that it affects.
pub fn warnings(outcomes: &[Outcome]) -> Vec<String> {
    let short = outcomes
        .iter()
        .flat_map(|outcome| outcome.stages.iter().map(move |stage| (outcome, stage)))
        .filter(|(_, times)| times.summary().is_some_and(|s| s.median < RESOLUTION))
        .map(|(outcome, times)| format!("{} {}", outcome.name, times.stage.name()));
    let found = [
        (
            "first frames slow",
            named(outcomes, starts_slowly),
            "measure more with --frames, or run again",
        ),
        (
            "times drift by more than 5 % during the run",
            named(outcomes, drifts),
            "let the machine cool, then run again",
        ),
        (
            "below the clock's resolution",
            short.collect::<Vec<_>>().join(", "),
            "measure more instances",
        ),
    ];
    let found = found.into_iter().filter(|(_, who, _)| !who.is_empty());
    found
        .map(|(what, who, advice)| format!("{what}: {who}; {advice}"))
        .collect()
}

/// Warning about settings of the machine that disturb every measurement.
pub fn of_machine() -> Option<String> {
    let governor = hardware::governor().filter(|governor| governor != "performance")?;
    let advice = "for steady times, cpupower frequency-set -g performance";
    Some(format!(
        "the processor's frequency is scaled ({governor}): {advice}"
    ))
}

/// Names of backends with a frame time for which `is_so` holds.
fn named(outcomes: &[Outcome], is_so: impl Fn(&StageTimes) -> bool) -> String {
    let frames = |o: &&Outcome| {
        o.stages
            .iter()
            .any(|s| (s.stage, s.clock) == (Stage::Frame, Clock::Wall) && is_so(s))
    };
    outcomes
        .iter()
        .filter(frames)
        .map(|outcome| outcome.name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn starts_slowly(frames: &StageTimes) -> bool {
    let samples = &frames.samples;
    let (first, rest) = samples.split_at(samples.len() / 10);
    let median =
        |part: &[(u32, u64)]| Summary::of(part.iter().map(|&(_, ns)| ns)).map(|s| s.median as f64);
    samples.len() >= FRAMES
        && median(first)
            .zip(median(rest))
            .is_some_and(|(a, b)| a > b * (1.0 + SLOW_START))
}

fn drifts(frames: &StageTimes) -> bool {
    let samples = &frames.samples;
    let third = samples.len() / 3;
    let medians = samples
        .chunks(third.max(1))
        .take(3)
        .filter_map(|part| Summary::of(part.iter().map(|&(_, ns)| ns)));
    let medians: Vec<u64> = medians.map(|s| s.median).collect();
    let (low, high) = (
        medians.iter().min().copied().unwrap_or(1),
        medians.iter().max().copied().unwrap_or(1),
    );
    samples.len() >= FRAMES && high as f64 > low as f64 * (1.0 + DRIFT)
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
        let said = |times: fn(u32) -> u64| warnings(&[outcome(times)]).join("\n");
        assert_eq!(said(|frame| 1_000_000 + u64::from(frame % 7) * 2_000), "");
        assert!(
            said(|frame| if frame < 6 { 1_500_000 } else { 1_000_000 })
                .starts_with("first frames slow: cpu;")
        );
        assert!(
            said(|frame| 1_000_000 + u64::from(frame) * 3_000)
                .starts_with("times drift by more than 5 %")
        );
        assert!(said(|_| 900).starts_with("below the clock's resolution: cpu frame;"));
    }
}
