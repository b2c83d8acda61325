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
    let mut backends = Vec::new();
    let mut text = String::from("sustained, first against last window:\n");
    for outcome in outcomes {
        if let (Some(first), Some(last)) = (outcome.first_ns, outcome.median(Stage::Frame)) {
            let backend = outcome.name;
            let first = first as f64;
            let last = last as f64;
            text += &format!(
                "  {backend}: {:.3} -> {:.3} ms ({:+.1} %)\n",
                first / 1e6,
                last / 1e6,
                100.0 * (last / first - 1.0)
            );
            backends.push(Ends {
                backend,
                first,
                last,
            });
        }
    }
    let last_mhz = megahertz(last);
    for (what, before) in megahertz(first) {
        if let Some(after) = last_mhz.get(&what) {
            text += &format!("  {what}: {before} -> {after} MHz\n");
        }
    }
    for (what, before) in &first.celsius {
        if let Some(after) = last.celsius.get(what) {
            text += &format!("  {what}: {before:.0} -> {after:.0} °C\n");
        }
    }
    let changes = changes(&backends);
    if changes.is_empty() {
        text += "the order of the backends stays the same\n";
    }
    for change in changes {
        text += &format!("the order changes: {change}\n");
    }
    text
}

/// Clocks of the processor and of adapters, by name.
fn megahertz(conditions: &Conditions) -> BTreeMap<String, u64> {
    let mut clocks: BTreeMap<String, u64> = BTreeMap::new();
    clocks.extend(
        conditions
            .processor_mhz
            .map(|mhz| ("processor".into(), mhz)),
    );
    clocks.extend(conditions.graphics_mhz.clone());
    clocks
}

/// Pairs of which the slower backend of the first window is the faster one of the last.
fn changes(backends: &[Ends]) -> Vec<String> {
    let mut changes = Vec::new();
    for a in backends {
        for b in backends {
            if is_faster(a.first, b.first) && is_faster(b.last, a.last) {
                changes.push(format!("{} ends faster than {}", b.backend, a.backend));
            }
        }
    }
    changes
}

fn is_faster(a: f64, b: f64) -> bool {
    a * (1.0 + ORDER) < b
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
