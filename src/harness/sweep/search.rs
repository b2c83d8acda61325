//! Search for the largest crowd that fits a budget of time or memory, with few trials.

use crate::wording;
use std::ops::Range;
use std::time::Duration;

/// A search by time ends when the smallest crowd that does not fit is at most this much larger than the largest that
/// does.
const CLOSE: f64 = 1.05;
/// Most crowds that are measured, and most whose memory is asked for.
const TRIALS: [u32; 2] = [12, 64];
/// Largest step up and down while one side is unknown, of a search by time and by memory.
const STEP: [f64; 2] = [8.0, 64.0];

/// A running search: take [`Search::next`], measure it, pass what it took to [`Search::record`].
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    budget: f64,
    start: u64,
    most: u64,
    /// `true` to search on until the next larger crowd does not fit.
    exact: bool,
    trials: u32,
    /// The result so far.
    pub bounds: Bounds,
}

/// Crowds around a budget, each with what it takes: nanoseconds of a frame, or bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// The largest crowd that fits; `None` if not even one instance does.
    pub fits: Option<(u64, f64)>,
    /// The smallest tried crowd that does not fit; infinite if it was refused, for example for lack of memory.
    pub exceeds: Option<(u64, f64)>,
}

impl Search {
    /// Starts a search by time from a crowd of `start` instances, among crowds of at most `most`.
    pub fn new(budget: Duration, start: u64, most: u64) -> Self {
        Self::within(budget.as_nanos() as f64, start, most, false)
    }

    /// Starts a search by memory, where larger crowds take more bytes.
    pub fn exact(budget: u64, start: u64) -> Self {
        Self::within(budget as f64, start, u64::MAX, true)
    }

    fn within(budget: f64, start: u64, most: u64, exact: bool) -> Self {
        Self {
            budget,
            start: start.min(most).max(1),
            most,
            exact,
            trials: 0,
            bounds: Bounds::default(),
        }
    }

    /// The crowd to try next; `None` when the answer is close enough.
    pub fn next(&self) -> Option<u64> {
        let Self {
            budget,
            start,
            most,
            exact,
            trials,
            bounds: Bounds { fits, exceeds },
        } = *self;
        let step = STEP[usize::from(exact)];
        if trials == TRIALS[usize::from(exact)] || fits.is_some_and(|(count, _)| count >= most) {
            return None;
        }
        let proportional = |(count, taken): (u64, f64)| count as f64 * (budget / taken.max(1.0));
        let next = match (fits, exceeds) {
            (None, None) => return Some(start),
            (None, Some((1, _))) => return None,
            (Some(fits), None) => {
                let low = fits.0 as f64;
                // A frame has a part that does not grow with the crowd, so pure proportion would fall short. Memory
                // has almost none: aim a little beyond the budget, so that both sides are known soon.
                let least = if exact {
                    proportional(fits) + low / 64.0
                } else {
                    1.1 * low
                };
                proportional(fits).max(least).min(low * step)
            }
            (None, Some(exceeds)) => {
                // If proportion does not help, that part dominates the frame.
                let smallest = exceeds.0 as f64 / step;
                let largest = if trials < 3 {
                    exceeds.0 as f64 * 0.9
                } else {
                    smallest
                };
                proportional(exceeds).clamp(smallest, largest)
            }
            (Some(fits), Some(exceeds)) => {
                let (low, high) = (fits.0 as f64, exceeds.0 as f64);
                if exceeds.0 - fits.0 <= 1 || (!exact && high <= low * CLOSE) {
                    return None;
                }
                let part = (budget - fits.1) / (exceeds.1 - fits.1).max(1.0);
                let part = match exact {
                    _ if exceeds.1.is_infinite() => 0.5,
                    // Memory grows in steps of pages: every other time the middle.
                    true if trials % 2 == 0 => 0.5,
                    true => part,
                    // Not so close to an end that the interval would hardly shrink.
                    false => part.clamp(0.2, 0.8),
                };
                low + (high - low) * part
            }
        };
        // Three digits are enough and easier to read.
        let next = if exact {
            next as u64
        } else {
            wording::rounded(next, 3)
        };
        let largest = exceeds.map_or(most, |(count, _)| count - 1);
        Some(next.clamp(fits.map_or(1, |(count, _)| count + 1), largest))
    }

    /// The part of a range of progress that the next trial makes up, if there are as many as there may be.
    pub fn part(&self, whole: &Range<f64>) -> Range<f64> {
        let most = TRIALS[usize::from(self.exact)];
        let at = |trials: u32| {
            whole.start + (whole.end - whole.start) * f64::from(trials) / f64::from(most)
        };
        at(self.trials)..at(self.trials + 1)
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
                bounds: Bounds { fits, exceeds },
                trials,
                ..
            } = search(start, fixed, each, u64::MAX);
            let [fits, exceeds] = [fits, exceeds].map(|side| side.unwrap().0);
            assert!(fits <= exact && exact < exceeds, "{fits} {exact} {exceeds}");
            assert!(
                exceeds as f64 <= fits as f64 * CLOSE || exceeds == fits + 1,
                "{fits} {exceeds}"
            );
            assert!(trials <= TRIALS[0], "{trials}");
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
            Bounds {
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
                let Bounds {
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
                assert!(trials < TRIALS[1], "{trials} crowds asked for");
            }
        }
    }

    #[test]
    fn ends_of_the_range_by_memory_are_said() {
        let none = by_memory(1_000, 500, |count| Some(2_000 + count)).bounds;
        assert_eq!(
            none,
            Bounds {
                fits: None,
                exceeds: Some((1, 2_001.0))
            }
        );
        let refused = by_memory(1_000, 3, |count| (count <= 40).then_some(count)).bounds;
        assert_eq!(
            refused,
            Bounds {
                fits: Some((40, 40.0)),
                exceeds: Some((41, f64::INFINITY))
            }
        );
    }
}
