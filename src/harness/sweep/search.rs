//! Search for the largest crowd that fits a budget of time or memory, with few trials.

use crate::wording;
use std::ops::Range;
use std::time::Duration;

/// A search by time ends when the smallest crowd that does not fit is at most this much larger than the largest that
/// does.
const CLOSE: f64 = 1.05;
/// Most crowds that are measured.
const MEASURED: u32 = 12;
/// Most crowds whose memory is asked for.
const ASKED: u32 = 64;

/// A running search: take [`Search::next`], measure it, pass what it took to [`Search::record`].
#[derive(Debug, Clone)]
pub struct Search {
    budget: f64,
    start: u64,
    most: u64,
    /// `true` to search on until the next larger crowd does not fit.
    exact: bool,
    /// Largest step up and down while one side is unknown.
    step: f64,
    trials: u32,
    most_trials: u32,
    /// The result so far.
    pub bounds: SearchBounds,
}

/// Crowds around a budget, each with what it takes: nanoseconds of a frame, or bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SearchBounds {
    /// The largest crowd that fits; `None` if not even one instance does.
    pub fits: Option<(u64, f64)>,
    /// The smallest tried crowd that does not fit; infinite if it was refused, for example for lack of memory.
    pub exceeds: Option<(u64, f64)>,
}

impl Search {
    /// Starts a search by time from a crowd of `start` instances, among crowds of at most `most`.
    pub fn new(budget: Duration, start: u64, most: u64) -> Self {
        Self {
            budget: budget.as_nanos() as f64,
            start: start.min(most).max(1),
            most,
            exact: false,
            step: 8.0,
            trials: 0,
            most_trials: MEASURED,
            bounds: SearchBounds::default(),
        }
    }

    /// Starts a search by memory, where larger crowds take more bytes.
    pub fn exact(budget: u64, start: u64) -> Self {
        Self {
            budget: budget as f64,
            start: start.max(1),
            most: u64::MAX,
            exact: true,
            step: 64.0,
            trials: 0,
            most_trials: ASKED,
            bounds: SearchBounds::default(),
        }
    }

    /// The crowd to try next; `None` when the answer is close enough.
    pub fn next(&self) -> Option<u64> {
        let Self { budget, exact, .. } = *self;
        let SearchBounds { fits, exceeds } = self.bounds;
        let least = match fits {
            Some((count, _)) => count + 1,
            None => 1,
        };
        if self.trials == self.most_trials || least > self.most {
            return None;
        }
        let next = match (fits, exceeds) {
            (None, None) => return Some(self.start),
            (None, Some((1, _))) => return None,
            (Some((count, taken)), None) => {
                let low = count as f64;
                let proportional = low * (budget / taken.max(1.0));
                // A frame has a part that does not grow with the crowd, so pure proportion would fall short. Memory
                // has almost none: aim a little beyond the budget, so that both sides are known soon.
                let least = if exact {
                    proportional + low / 64.0
                } else {
                    1.1 * low
                };
                proportional.max(least).min(low * self.step)
            }
            (None, Some((count, taken))) => {
                let high = count as f64;
                let proportional = high * (budget / taken.max(1.0));
                // If proportion does not help, that part dominates the frame.
                let smallest = high / self.step;
                let largest = if self.trials < 3 {
                    high * 0.9
                } else {
                    smallest
                };
                proportional.clamp(smallest, largest)
            }
            (Some((count, low_taken)), Some((next_count, high_taken))) => {
                let low = count as f64;
                let high = next_count as f64;
                if next_count - count <= 1 || (!exact && high <= low * CLOSE) {
                    return None;
                }
                let proportional = (budget - low_taken) / (high_taken - low_taken).max(1.0);
                let part = if high_taken.is_infinite() || (exact && self.trials.is_multiple_of(2)) {
                    // Memory grows in steps of pages: every other time the middle.
                    0.5
                } else if exact {
                    proportional
                } else {
                    // Not so close to an end that the interval would hardly shrink.
                    proportional.clamp(0.2, 0.8)
                };
                low + (high - low) * part
            }
        };
        let next = if exact {
            next as u64
        } else {
            // Three digits are enough and easier to read.
            wording::rounded(next, 3)
        };
        let largest = match exceeds {
            Some((count, _)) => count - 1,
            None => self.most,
        };
        Some(next.clamp(least, largest))
    }

    /// The part of a range of progress that the next trial makes up, if there are as many as there may be.
    pub fn part(&self, whole: &Range<f64>) -> Range<f64> {
        let part = (whole.end - whole.start) / f64::from(self.most_trials);
        let start = whole.start + part * f64::from(self.trials);
        start..start + part
    }

    /// Records what a crowd takes; `None` if that could not be measured, for example for lack of memory.
    pub fn record(&mut self, instances: u64, taken: Option<f64>) {
        self.trials += 1;
        let taken = taken.unwrap_or(f64::INFINITY);
        let side = if taken <= self.budget {
            &mut self.bounds.fits
        } else {
            &mut self.bounds.exceeds
        };
        *side = Some((instances, taken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches with frames that take `fixed + each * instances` nanoseconds, up to `memory` instances.
    fn search(start: u64, fixed: u64, each: u64, memory: u64) -> Search {
        let mut search = Search::new(Duration::from_micros(16_700), start, u64::MAX);
        while let Some(next) = search.next() {
            search.record(
                next,
                (next <= memory).then_some((fixed + each * next) as f64),
            );
        }
        search
    }

    #[test]
    fn the_answer_is_enclosed_within_five_percent() {
        for (start, fixed, each) in [
            (100, 0, 10_000),
            (1_000, 5_000_000, 3_700),
            (5, 10, 16),
            (1_000_000, 9, 1_000),
        ] {
            let exact = (16_700_000 - fixed) / each;
            let Search {
                bounds: SearchBounds { fits, exceeds },
                trials,
                ..
            } = search(start, fixed, each, u64::MAX);
            let [fits, exceeds] = [fits, exceeds].map(|side| side.unwrap().0);
            assert!(fits <= exact && exact < exceeds, "{fits} {exact} {exceeds}");
            assert!(
                exceeds as f64 <= fits as f64 * CLOSE || exceeds == fits + 1,
                "{fits} {exceeds}"
            );
            assert!(trials <= MEASURED, "{trials}");
        }
    }

    #[test]
    fn no_crowd_beyond_the_most_is_measured() {
        // 1,670 instances would fit the time.
        for (most, expected) in [(300, 300), (1_500, 1_500), (1_000_000, 1_670)] {
            let mut search = Search::new(Duration::from_micros(16_700), 1_000, most);
            while let Some(next) = search.next() {
                assert!(next <= most, "{next}");
                search.record(next, Some(10_000.0 * next as f64));
            }
            let (fits, _) = search.bounds.fits.unwrap();
            assert!(
                fits <= expected && fits as f64 * CLOSE >= expected as f64,
                "{most}: {fits}"
            );
        }
    }

    #[test]
    fn ends_of_the_range_are_said() {
        let none = search(100, 20_000_000, 1, u64::MAX).bounds;
        assert_eq!(
            none,
            SearchBounds {
                fits: None,
                exceeds: Some((1, 20_000_001.0))
            }
        );
        let bounds = search(100, 0, 1, 50_000).bounds;
        assert!(
            bounds.exceeds.unwrap().1.is_infinite(),
            "memory ended the search"
        );
        assert!(
            (47_000..=50_000).contains(&bounds.fits.unwrap().0),
            "{bounds:?}"
        );
    }

    /// Searches by memory of crowds that take `bytes`, or cannot be built.
    fn by_memory(budget: u64, start: u64, bytes: impl Fn(u64) -> Option<u64>) -> Search {
        let mut search = Search::exact(budget, start);
        while let Some(next) = search.next() {
            search.record(next, bytes(next).map(|bytes| bytes as f64));
        }
        search
    }

    #[test]
    fn the_largest_crowd_by_memory_is_exact() {
        for (fixed, each, page) in [
            (0, 24_000, 1),
            (5_000_000, 100, 2 << 20),
            (100, 3, 64),
            (1, 1_000_000, 4_096),
        ] {
            for start in [1, 100, 1_000_000_000] {
                let taken = |count: u64| fixed + (count * each).next_multiple_of(page);
                let Search { bounds, trials, .. } =
                    by_memory(128_000_000, start, |count| Some(taken(count)));
                let SearchBounds {
                    fits: Some((fits, bytes)),
                    exceeds: Some((exceeds, _)),
                } = bounds
                else {
                    panic!("{fixed} {each} {page}");
                };
                assert_eq!(
                    (exceeds, bytes),
                    (fits + 1, taken(fits) as f64),
                    "{fixed} {each} {page} from {start}"
                );
                assert!(
                    taken(fits) <= 128_000_000 && taken(exceeds) > 128_000_000,
                    "{fits}"
                );
                assert!(trials < ASKED, "{trials} crowds asked for");
            }
        }
    }

    #[test]
    fn ends_of_the_range_by_memory_are_said() {
        let none = by_memory(1_000, 500, |count| Some(2_000 + count)).bounds;
        assert_eq!(
            none,
            SearchBounds {
                fits: None,
                exceeds: Some((1, 2_001.0))
            }
        );
        let refused = by_memory(1_000, 3, |count| (count <= 40).then_some(count)).bounds;
        assert_eq!(
            refused,
            SearchBounds {
                fits: Some((40, 40.0)),
                exceeds: Some((41, f64::INFINITY))
            }
        );
    }
}
