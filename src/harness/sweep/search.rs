//! Search for the largest crowd whose frame fits a time, with few measurements.

use crate::wording;
use std::time::Duration;

/// The search ends when the smallest crowd that does not fit is at most this much larger than the largest that does.
const CLOSE: f64 = 1.05;
/// Most crowds that are measured.
const TRIALS: u32 = 12;
/// Largest step up and down while one side is unknown.
const STEP: f64 = 8.0;

/// A running search: take [`Search::next`], measure it, pass the time to [`Search::record`].
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    budget: f64,
    start: u64,
    most: u64,
    fits: Option<(u64, f64)>,
    exceeds: Option<(u64, f64)>,
    trials: u32,
}

/// Result of a search so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// The largest measured crowd that fits; `None` if not even one instance does.
    pub fits: Option<u64>,
    /// The smallest measured crowd that does not fit; `None` if memory ended the search first.
    pub exceeds: Option<u64>,
}

impl Search {
    /// Starts a search from a crowd of `start` instances, among crowds of at most `most`.
    pub fn new(budget: Duration, start: u64, most: u64) -> Self {
        let start = start.min(most).max(1);
        Self { budget: budget.as_nanos() as f64, start, most, fits: None, exceeds: None, trials: 0 }
    }

    /// The crowd to measure next; `None` when the answer is close enough.
    pub fn next(&self) -> Option<u64> {
        if self.trials == TRIALS || self.fits.is_some_and(|(count, _)| count >= self.most) {
            return None;
        }
        let proportional = |(count, ns): (u64, f64)| count as f64 * (self.budget / ns.max(1.0));
        let next = match (self.fits, self.exceeds) {
            (None, None) => self.start,
            // A frame has a part that does not grow with the crowd, so pure proportion would fall short.
            (Some(fits), None) => rounded(proportional(fits).clamp(fits.0 as f64 * 1.1, fits.0 as f64 * STEP)),
            (None, Some(exceeds)) => {
                if exceeds.0 == 1 {
                    return None;
                }
                // If proportion does not help, that part dominates the frame.
                let smallest = exceeds.0 as f64 / STEP;
                let largest = if self.trials < 3 { exceeds.0 as f64 * 0.9 } else { smallest };
                rounded(proportional(exceeds).clamp(smallest, largest))
            }
            (Some(fits), Some(exceeds)) => {
                let (low, high) = (fits.0 as f64, exceeds.0 as f64);
                if high <= low * CLOSE || exceeds.0 - fits.0 <= 1 {
                    return None;
                }
                let part = (self.budget - fits.1) / (exceeds.1 - fits.1).max(1.0);
                let part = if exceeds.1.is_finite() { part } else { 0.5 };
                // Not so close to an end that the interval would hardly shrink.
                let inside = low + (high - low) * part.clamp(0.2, 0.8);
                rounded(inside).clamp(fits.0 + 1, exceeds.0 - 1)
            }
        };
        Some(match (self.fits, self.exceeds) {
            (Some(fits), None) => next.max(fits.0 + 1).min(self.most),
            (None, Some(exceeds)) => next.clamp(1, exceeds.0 - 1),
            _ => next,
        })
    }

    /// Records the time of a frame of the crowd; `None` if it could not be measured, for example for lack of memory.
    pub fn record(&mut self, instances: u64, frame: Option<Duration>) {
        self.trials += 1;
        let ns = frame.map_or(f64::INFINITY, |frame| frame.as_nanos() as f64);
        let side = if ns <= self.budget { &mut self.fits } else { &mut self.exceeds };
        *side = Some((instances, ns));
    }

    /// The result so far.
    pub fn largest(&self) -> Largest {
        let measured = self.exceeds.filter(|(_, ns)| ns.is_finite());
        Largest { fits: self.fits.map(|(count, _)| count), exceeds: measured.map(|(count, _)| count) }
    }
}

/// Rounds to three digits, which are enough and easier to read.
fn rounded(count: f64) -> u64 {
    wording::rounded(count, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches with frames that take `fixed + each * instances` nanoseconds, up to `memory` instances.
    fn search(start: u64, fixed: u64, each: u64, memory: u64) -> (Largest, u32) {
        let mut search = Search::new(Duration::from_micros(16_700), start, u64::MAX);
        while let Some(next) = search.next() {
            let time = Duration::from_nanos(fixed + each * next);
            search.record(next, (next <= memory).then_some(time));
        }
        (search.largest(), search.trials)
    }

    #[test]
    fn the_answer_is_enclosed_within_five_percent() {
        for (start, fixed, each) in [(100, 0, 10_000), (1_000, 5_000_000, 3_700), (5, 10, 16), (1_000_000, 9, 1_000)] {
            let exact = (16_700_000 - fixed) / each;
            let (Largest { fits, exceeds }, trials) = search(start, fixed, each, u64::MAX);
            let (fits, exceeds) = (fits.unwrap(), exceeds.unwrap());
            assert!(fits <= exact && exact < exceeds, "{fits} {exact} {exceeds}");
            assert!(exceeds as f64 <= fits as f64 * CLOSE || exceeds == fits + 1, "{fits} {exceeds}");
            assert!(trials <= TRIALS, "{trials}");
        }
    }

    #[test]
    fn no_crowd_beyond_the_most_is_measured() {
        // 1,670 instances would fit the time.
        for (most, expected) in [(300, 300), (1_500, 1_500), (1_000_000, 1_670)] {
            let mut search = Search::new(Duration::from_micros(16_700), 1_000, most);
            while let Some(next) = search.next() {
                assert!(next <= most, "{next}");
                search.record(next, Some(Duration::from_nanos(10_000 * next)));
            }
            let fits = search.largest().fits.unwrap();
            assert!(fits <= expected && fits as f64 * CLOSE >= expected as f64, "{most}: {fits}");
        }
    }

    #[test]
    fn ends_of_the_range_are_said() {
        assert_eq!(search(100, 20_000_000, 1, u64::MAX).0, Largest { fits: None, exceeds: Some(1) });
        let (largest, _) = search(100, 0, 1, 50_000);
        assert_eq!(largest.exceeds, None, "memory ended the search");
        assert!((47_000..=50_000).contains(&largest.fits.unwrap()), "{largest:?}");
    }
}
