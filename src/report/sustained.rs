//! The text about a sustained run: its first window against its last.

use crate::frame::Stage;
use crate::harness::hardware::Conditions;
use crate::harness::run::Outcome;
use std::collections::BTreeMap;

/// Smallest difference of two backends that makes an order.
const ORDER: f64 = 0.01;

/// A backend's frames in nanoseconds in the first and in the last window.
struct Ends {
    backend: &'static str,
    first: f64,
    last: f64,
}

/// Frames, clocks and temperatures of the first and the last window, and the backends whose order changes.
pub fn text(outcomes: &[Outcome], first: &Conditions, last: &Conditions) -> String {
    let ends = |outcome: &Outcome| {
        let (first, last) = (
            outcome.first_ns? as f64,
            outcome.median(Stage::Frame)? as f64,
        );
        Some(Ends {
            backend: outcome.name,
            first,
            last,
        })
    };
    let backends: Vec<Ends> = outcomes.iter().filter_map(ends).collect();
    let mut text = String::from("sustained, first against last window:\n");
    for Ends {
        backend,
        first,
        last,
    } in &backends
    {
        let percent = 100.0 * (last / first - 1.0);
        text += &format!(
            "  {backend}: {:.3} -> {:.3} ms ({percent:+.1} %)\n",
            first / 1e6,
            last / 1e6
        );
    }
    let mhz = |conditions: &Conditions| {
        let processor = conditions
            .processor_mhz
            .map(|mhz| ("processor".to_owned(), mhz));
        processor
            .into_iter()
            .chain(conditions.graphics_mhz.clone())
            .collect::<BTreeMap<_, _>>()
    };
    for (what, before, after) in both(&mhz(first), &mhz(last)) {
        text += &format!("  {what}: {before} -> {after} MHz\n");
    }
    for (what, before, after) in both(&first.celsius, &last.celsius) {
        text += &format!("  {what}: {before:.0} -> {after:.0} °C\n");
    }
    let changes = changes(&backends);
    if changes.is_empty() {
        text += "the order of the backends stays the same\n";
    }
    changes
        .iter()
        .for_each(|change| text += &format!("the order changes: {change}\n"));
    text
}

/// What is known at both moments.
fn both<'a, T: Copy>(
    first: &'a BTreeMap<String, T>,
    last: &BTreeMap<String, T>,
) -> Vec<(&'a String, T, T)> {
    first
        .iter()
        .filter_map(|(name, before)| Some((name, *before, *last.get(name)?)))
        .collect()
}

/// Pairs of which the slower backend of the first window is the faster one of the last.
fn changes(backends: &[Ends]) -> Vec<String> {
    let faster = |a: f64, b: f64| a * (1.0 + ORDER) < b;
    let pairs = backends
        .iter()
        .flat_map(|a| backends.iter().map(move |b| (a, b)));
    let swapped = pairs.filter(|(a, b)| faster(a.first, b.first) && faster(b.last, a.last));
    swapped
        .map(|(a, b)| format!("{} ends faster than {}", b.backend, a.backend))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Clock;
    use crate::harness::run::{StageTimes, Status};

    #[test]
    fn clocks_and_temperatures_stand_below_the_times() {
        let (stage, clock, samples) = (Stage::Frame, Clock::Wall, vec![(0, 1_250_000)]);
        let times = StageTimes {
            stage,
            clock,
            samples,
            dropped: 0,
            ..StageTimes::default()
        };
        let plain = Outcome::new("cpu-simd", 0, Status::Ok);
        let outcome = Outcome {
            first_ns: Some(1_000_000),
            stages: vec![times],
            ..plain
        };
        let at = |mhz, celsius| Conditions {
            processor_mhz: Some(mhz),
            celsius: [("die".into(), celsius)].into(),
            ..Conditions::default()
        };
        let expected = "sustained, first against last window:\n  cpu-simd: 1.000 -> 1.250 ms (+25.0 %)\n  \
            processor: 3000 -> 2400 MHz\n  die: 50 -> 90 °C\nthe order of the backends stays the same\n";
        assert_eq!(
            text(&[outcome], &at(3_000, 50.0), &at(2_400, 90.0)),
            expected
        );
    }

    #[test]
    fn backends_that_change_places_are_named() {
        let ends = |backend, first, last| Ends {
            backend,
            first,
            last,
        };
        let found = changes(&[
            ends("hot", 1.0, 1.5),
            ends("cool", 1.2, 1.21),
            ends("even", 1.495, 1.5),
        ]);
        assert_eq!(
            found,
            ["cool ends faster than hot"],
            "a difference of less than a hundredth is no order"
        );
        assert_eq!(
            changes(&[ends("a", 1.0, 2.0), ends("b", 1.1, 2.2)]),
            [""; 0]
        );
    }
}
