//! Summary of a stage's times: the median and the median absolute deviation, never only a mean.

/// Spread over the median above which a stage is flagged as noisy.
const NOISY: f64 = 0.05;
/// Fewest samples that have a 99th percentile of their own.
pub const TAIL_SAMPLES: usize = 100;

/// Figures of a set of times, all in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Median; for an even number of samples the mean of the middle two, rounded down.
    pub median: u64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: u64,
    /// Smallest.
    pub min: u64,
    /// 95th percentile, nearest rank.
    pub p95: u64,
    /// 99th percentile, nearest rank; `None` with fewer than [`TAIL_SAMPLES`] samples, of which it would be the largest.
    pub p99: Option<u64>,
    /// Largest.
    pub max: u64,
}

impl Summary {
    /// The figures of `samples` in any order; `None` without a sample.
    pub fn of(samples: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = samples.into_iter().collect();
        sorted.sort_unstable();
        let max = *sorted.last()?;
        let median = median(&sorted);
        let mut deviations: Vec<u64> = sorted
            .iter()
            .map(|sample| sample.abs_diff(median))
            .collect();
        deviations.sort_unstable();
        Some(Self {
            median,
            mad: self::median(&deviations),
            min: sorted[0],
            p95: percentile(&sorted, 95),
            p99: (sorted.len() >= TAIL_SAMPLES).then(|| percentile(&sorted, 99)),
            max,
        })
    }

    /// Returns whether the samples vary so much that small differences mean nothing.
    pub fn is_noisy(&self) -> bool {
        is_noisy(self.mad as f64, self.median)
    }
}

/// Returns whether a deviation is so large beside its median that small differences mean nothing.
pub fn is_noisy(deviation: f64, median: u64) -> bool {
    deviation > NOISY * median as f64
}

/// The sample of nearest rank.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() * percent).div_ceil(100) - 1]
}

fn median(sorted: &[u64]) -> u64 {
    let upper = sorted[sorted.len() / 2];
    if sorted.len().is_multiple_of(2) {
        sorted[sorted.len() / 2 - 1].midpoint(upper)
    } else {
        upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_known_samples() {
        let odd = Summary::of([30, 10, 1_000, 20, 40]).unwrap();
        assert_eq!(
            odd,
            Summary {
                median: 30,
                mad: 10,
                min: 10,
                p95: 1_000,
                p99: None,
                max: 1_000
            }
        );
        let even = Summary::of([4, 1, 2, 3]).unwrap();
        assert_eq!(
            even,
            Summary {
                median: 2,
                mad: 1,
                min: 1,
                p95: 4,
                p99: None,
                max: 4
            }
        );
        assert_eq!(Summary::of(1..=100).unwrap().p95, 95);
        assert_eq!(Summary::of(1..=99).unwrap().p99, None);
        assert_eq!(
            [100, 101, 300].map(|last| Summary::of(1..=last).unwrap().p99),
            [99, 100, 297].map(Some)
        );
        assert_eq!(Summary::of([]), None);
        assert_eq!(Summary::of([u64::MAX, u64::MAX]).unwrap().median, u64::MAX);
    }

    #[test]
    fn a_spread_above_five_percent_is_noisy() {
        assert!(!Summary::of([1_000, 1_050, 950]).unwrap().is_noisy());
        assert!(Summary::of([1_000, 1_051, 949]).unwrap().is_noisy());
    }
}
