//! Uncertainty of medians, and tests of whether two differ. METHODOLOGY.md explains the method.
//!
//! Frames of one run are not independent: clock rates, caches and other processes drift. So no formula here divides a
//! spread by the number of frames. A run is divided into segments; the spread of their medians shows how much this
//! machine varies over time, and another run is expected to vary at least as much.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::{Data, Median, Statistics};

/// Fewest frames of a run from which its drift can be estimated.
const FEWEST_FRAMES: usize = 5;
/// Segments of a run: fewest, most, and the frames of each between these bounds.
const SEGMENTS: (usize, usize) = (5, 10);
const SEGMENT_FRAMES: usize = 8;
/// Resampled runs of the bootstrap.
const RESAMPLED: u32 = 200;
/// Difference between backends of one process that no run shows, as a fraction of the time: the placement of code and
/// data in memory is fixed once per process.
const RUN_FLOOR: f64 = 0.005;
/// Variance of runs' medians over that of one run's segments. It would be 2.5 for a linear drift from a common start,
/// and 0.1 for independent frames; Student's t covers the rest, as the tests show.
const REACH: f64 = 1.6;
/// Most degrees of freedom for estimates from within single runs.
const WITHIN_FREEDOM: f64 = 8.0;
/// Numbers of rounds after which results are looked at, and measuring may stop. The probability of a false alarm is
/// divided among them, so that it holds for all looks together, wherever they end.
pub const LOOKS: [usize; 6] = [5, 8, 13, 20, 32, 50];
/// Probability with which a change that could have been found is found.
const POWER: f64 = 0.8;
/// Least spread of rounds, as a fraction of the time: a step of the clock in the shortest time that is compared.
const CLOCK_STEP: f64 = 1e-3;

/// Logarithm of a time with its uncertainty, from one or several runs of the same measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Natural logarithm of the median in nanoseconds; the mean over the runs.
    log: f64,
    /// Its variance.
    variance: f64,
    /// Degrees of freedom of the variance.
    freedom: f64,
}

/// One run's part of a [`Level`].
struct RunLevel {
    log: f64,
    within: f64,
    drift: f64,
    freedom: f64,
}

impl Level {
    /// The level of the times of each run in the order of their frames; `None` if a run has fewer than
    /// `FEWEST_FRAMES`.
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a [u64]>) -> Option<Self> {
        let runs: Vec<RunLevel> = runs.into_iter().map(RunLevel::of).collect::<Option<_>>()?;
        let count = runs.len() as f64;
        let mean = |value: fn(&RunLevel) -> f64| runs.iter().map(value).sum::<f64>() / count;
        let log = mean(|run| run.log);
        // Combines the prediction from single runs and the spread of several runs, weighted by their degrees of
        // freedom.
        let predicted = mean(|run| run.within + REACH * run.drift) + RUN_FLOOR * RUN_FLOOR;
        let predicted_freedom = runs
            .iter()
            .map(|run| run.freedom)
            .sum::<f64>()
            .min(WITHIN_FREEDOM);
        let shown_freedom = count - 1.0;
        let shown: f64 = runs.iter().map(|run| (run.log - log).powi(2)).sum();
        let freedom = predicted_freedom + shown_freedom;
        let one_run = (predicted * predicted_freedom + shown) / freedom;
        (count > 0.0).then_some(Self {
            log,
            variance: one_run / count,
            freedom,
        })
    }

    /// Median in nanoseconds.
    pub fn median(&self) -> f64 {
        self.log.exp()
    }

    /// Ratio of `self` to `other`, with its uncertainty.
    pub fn over(&self, other: &Self) -> Ratio {
        let variance = self.variance + other.variance;
        // Welch-Satterthwaite: degrees of freedom of a sum of variances.
        let freedom = variance * variance
            / (self.variance * self.variance / self.freedom
                + other.variance * other.variance / other.freedom);
        Ratio {
            log: self.log - other.log,
            error: variance.sqrt(),
            freedom,
        }
    }
}

impl RunLevel {
    fn of(times: &[u64]) -> Option<Self> {
        let count = times.len();
        if count < FEWEST_FRAMES {
            return None;
        }
        let logs: Vec<f64> = times.iter().map(|&ns| (ns.max(1) as f64).ln()).collect();
        let segments = (count / SEGMENT_FRAMES).clamp(SEGMENTS.0, SEGMENTS.1);
        let ends = |segment: usize| segment * count / segments;
        let medians =
            (0..segments).map(|at| Data::new(logs[ends(at)..ends(at + 1)].to_vec()).median());
        let within = block_bootstrap(&logs, count.div_ceil(segments));
        Some(Self {
            drift: medians.variance(),
            log: Data::new(logs).median(),
            within,
            freedom: (segments - 1) as f64,
        })
    }
}

/// Variance of the median when blocks of neighbouring values are drawn with replacement, which keeps the dependence
/// within a block. The series is closed to a ring, so that every value is drawn equally often.
fn block_bootstrap(values: &[f64], block: usize) -> f64 {
    let count = values.len();
    let ascending: &mut [usize] = &mut (0..count).collect::<Vec<_>>();
    ascending.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    // The ring twice, so that each block is a slice. Ranks stand for values: counting them finds a median without
    // sorting.
    let ring: &mut [usize] = &mut vec![0; 2 * count];
    for (rank, &at) in ascending.iter().enumerate() {
        (ring[at], ring[count + at]) = (rank, rank);
    }
    let mut random = Pcg32::seed_from_u64(count as u64);
    let drawn: &mut [usize] = &mut vec![0; count];
    let median = |_| {
        drawn.fill(0);
        for before in (0..count).step_by(block) {
            let start = random.next_u32() as usize % count;
            for &rank in &ring[start..start + block.min(count - before)] {
                drawn[rank] += 1;
            }
        }
        // The two in the middle, which are one if their number is odd.
        let mut rank = 0;
        let mut below = drawn[0];
        let mut value = |place: usize| {
            while below <= place {
                rank += 1;
                below += drawn[rank];
            }
            values[ascending[rank]]
        };
        value((count - 1) / 2).midpoint(value(count / 2))
    };
    (0..RESAMPLED).map(median).variance()
}

/// A ratio of two times and its uncertainty.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// Natural logarithm of the best estimate.
    pub log: f64,
    error: f64,
    freedom: f64,
}

impl Ratio {
    /// The best estimate.
    pub fn value(&self) -> f64 {
        self.log.exp()
    }

    /// The interval that contains the true ratio with probability `confidence`.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let reach = self.error * quantile(self.freedom, f64::midpoint(1.0, confidence));
        ((self.log - reach).exp(), (self.log + reach).exp())
    }

    /// The smallest change, as a fraction, of which four in five are found: the interval of such a ratio leaves out 1
    /// with probability `POWER`.
    pub fn smallest_change(&self, confidence: f64) -> f64 {
        let certain = quantile(self.freedom, f64::midpoint(1.0, confidence));
        (self.error * (certain + quantile(self.freedom, POWER))).exp_m1()
    }
}

/// The value below which Student's t lies with a probability; infinite without degrees of freedom.
fn quantile(freedom: f64, probability: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(distribution) => distribution.inverse_cdf(probability),
        Err(_) => f64::INFINITY,
    }
}

/// The ratio of two programs' times from rounds, in each of which both ran once, one soon after the other. A round is
/// one observation: what its two processes have in common, such as the speed of the machine, cancels.
///
/// Of ten rounds or more, the tenth with the smallest ratios and the tenth with the largest are left out, so that a
/// process that another program disturbed counts for little: a trimmed mean with Yuen's standard error (Biometrika 61,
/// 1974).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    /// Number of rounds, at least the first of [`LOOKS`].
    pub count: usize,
    /// Trimmed mean of the logarithms of the rounds' ratios.
    log: f64,
    /// Their winsorised standard deviation: as if those left out were equal to their nearest neighbours.
    spread: f64,
}

impl Rounds {
    /// The rounds whose ratios have these natural logarithms; `None` if they are fewer than the first of [`LOOKS`].
    pub fn of(logs: &[f64]) -> Option<Self> {
        let count = logs.len();
        if count < LOOKS[0] {
            return None;
        }
        let mut logs = logs.to_vec();
        logs.sort_unstable_by(f64::total_cmp);
        let trimmed = trimmed(count);
        let kept = trimmed..count - trimmed;
        let log = logs[kept.clone()].mean();
        let smallest = logs[kept.start];
        let largest = logs[kept.end - 1];
        for log in &mut logs {
            *log = log.clamp(smallest, largest);
        }
        Some(Self {
            count,
            log,
            spread: logs.std_dev().max(CLOCK_STEP),
        })
    }

    /// The ratio with its uncertainty.
    pub fn ratio(&self) -> Ratio {
        Ratio {
            log: self.log,
            ..self.after(self.count)
        }
    }

    /// The number among [`LOOKS`] of rounds that shows a change of this fraction; `None` if none does.
    pub fn needed(&self, change: f64, confidence: f64) -> Option<usize> {
        LOOKS
            .into_iter()
            .find(|&count| self.after(count).smallest_change(confidence) <= change)
    }

    /// The ratio 1 with the uncertainty that so many rounds with this spread have.
    fn after(&self, count: usize) -> Ratio {
        let kept = (count - 2 * trimmed(count)) as f64;
        let count = count as f64;
        Ratio {
            log: 0.0,
            error: self.spread / (kept / count) / count.sqrt(),
            freedom: kept - 1.0,
        }
    }
}

/// Number of rounds that are left out at each end.
fn trimmed(count: usize) -> usize {
    count / 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// A source of normal deviates.
    struct Noise(Pcg32);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            (f64::from(self.0.next_u32()) + 0.5) / (f64::from(u32::MAX) + 1.0)
        }

        fn normal(&mut self) -> f64 {
            // Box-Muller transform.
            (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    type Law = fn(&mut Noise, usize) -> Vec<f64>;

    fn equal(noise: &mut Noise, count: usize) -> Vec<f64> {
        (0..count).map(|_| 0.02 * noise.normal()).collect()
    }

    /// Positive Student's t with two degrees of freedom: rare frames take several times as long.
    fn heavy_tailed(noise: &mut Noise, count: usize) -> Vec<f64> {
        let t = |noise: &mut Noise| noise.normal() / (-noise.uniform().ln()).sqrt();
        (0..count)
            .map(|_| (1.0 + 0.02 * t(noise).abs()).ln())
            .collect()
    }

    /// Half of the frames take 15 % longer.
    fn bimodal(noise: &mut Noise, count: usize) -> Vec<f64> {
        (0..count)
            .map(|_| if noise.uniform() < 0.5 { 0.15 } else { 0.0 } + 0.01 * noise.normal())
            .collect()
    }

    /// Each frame depends on the one before.
    fn dependent(noise: &mut Noise, count: usize) -> Vec<f64> {
        let mut value = 0.02 * noise.normal();
        let step = |_| {
            value = 0.8 * value + 0.6 * 0.02 * noise.normal();
            value
        };
        (0..count).map(step).collect()
    }

    /// A drift of up to 4 % over the run, up or down.
    fn sloping(noise: &mut Noise, count: usize) -> Vec<f64> {
        let slope = 0.08 * (noise.uniform() - 0.5);
        (0..count)
            .map(|i| slope * i as f64 / count as f64 + 0.01 * noise.normal())
            .collect()
    }

    /// A random walk that strays 3 % over the run.
    fn wandering(noise: &mut Noise, count: usize) -> Vec<f64> {
        let step = 0.03 / (count as f64).sqrt();
        let mut value = 0.0;
        let next = |_| {
            value += step * noise.normal();
            value + 0.01 * noise.normal()
        };
        (0..count).map(next).collect()
    }

    /// Processes differ by 0.5 %, which no run shows.
    fn laid_out(noise: &mut Noise, count: usize) -> Vec<f64> {
        let place = 0.005 * noise.normal();
        (0..count).map(|_| place + 0.01 * noise.normal()).collect()
    }

    fn times(logs: Vec<f64>, factor: f64) -> Vec<u64> {
        logs.into_iter()
            .map(|log| (1e6 * factor * log.exp()) as u64)
            .collect()
    }

    /// Fraction of trials in which the ratio of two levels is distinguished from 1, among `others` more, when the
    /// second is `factor` times the first.
    fn told_apart(law: Law, frames: usize, runs: usize, others: usize, factor: f64) -> f64 {
        const TRIALS: u32 = 400;
        let mut noise = Noise(Pcg32::seed_from_u64(7));
        let mut found = 0;
        for _ in 0..TRIALS {
            let mut side = |factor| {
                let runs: Vec<_> = (0..runs)
                    .map(|_| times(law(&mut noise, frames), factor))
                    .collect();
                Level::of(runs.iter().map(|run| &run[..])).unwrap()
            };
            let (base, new) = (side(1.0), side(factor));
            let (low, high) = new.over(&base).interval(1.0 - 0.05 / (others + 1) as f64);
            found += u32::from(low > 1.0 || high < 1.0);
        }
        f64::from(found) / f64::from(TRIALS)
    }

    #[test]
    fn equal_times_are_told_apart_in_at_most_five_percent() {
        let laws: [(&str, Law); 7] = [
            ("equal", equal),
            ("heavy-tailed", heavy_tailed),
            ("bimodal", bimodal),
            ("dependent", dependent),
            ("sloping", sloping),
            ("wandering", wandering),
            ("laid out", laid_out),
        ];
        laws.into_par_iter().for_each(|(name, law)| {
            // In 10,000 trials up to 5.7 % (slopes, eight runs of 200 frames); this seed gives less than 5.
            for (frames, runs) in [(40, 1), (40, 4), (200, 1), (200, 4)] {
                let alarms = told_apart(law, frames, runs, 0, 1.0);
                eprintln!("{name}, {frames} frames, {runs} runs: {alarms:.4} false alarms");
                assert!(
                    alarms <= 0.05,
                    "{name}, {frames} frames, {runs} runs: {alarms}"
                );
            }
        });
    }

    #[test]
    fn the_power_is_known() {
        // One comparison, and one of thirty as in a table; the shift is a factor.
        for (law, frames, runs, others, factor, least) in [
            (equal as Law, 200, 1, 0, 1.03, 0.75),
            (equal, 200, 1, 0, 1.05, 0.95),
            (equal, 200, 1, 29, 1.10, 0.95),
            (equal, 200, 5, 0, 1.03, 0.95),
            (equal, 200, 5, 29, 1.05, 0.95),
            (heavy_tailed, 200, 1, 29, 1.10, 0.95),
            (dependent, 200, 1, 0, 1.10, 0.60),
        ] {
            let power = told_apart(law, frames, runs, others, factor);
            eprintln!(
                "{frames} frames, {runs} runs, {others} others, {factor}: found in {power:.3}"
            );
            assert!(
                power >= least,
                "{frames} frames, {runs} runs, {others} others, {factor}: {power}"
            );
        }
    }

    /// Logarithms of the ratios of rounds of two processes as they were measured: each process has a level of its variance,
    /// and both follow a machine that drifts much more. Every tenth process is disturbed.
    fn measured_rounds(noise: &mut Noise, count: usize, factor: f64) -> Vec<f64> {
        let mut machine = 0.0;
        let mut process = |noise: &mut Noise| {
            machine = 0.7 * machine + 0.02 * noise.normal();
            let disturbed = if noise.uniform() < 0.1 {
                0.05 * noise.uniform()
            } else {
                0.0
            };
            machine + 0.01 * noise.normal() + disturbed
        };
        (0..count)
            .map(|_| {
                let first = process(noise);
                let second = process(noise);
                let new_is_first = noise.uniform() < 0.5;
                let difference = if new_is_first {
                    first - second
                } else {
                    second - first
                };
                factor.ln() + difference
            })
            .collect()
    }

    /// Fraction of comparisons of two programs with some frames in which a change of one is found, by all looks.
    fn found_by_turns(frames: usize, factor: f64) -> f64 {
        const TRIALS: u32 = 4_000;
        let confidence = 1.0 - 0.05 / (frames * LOOKS.len()) as f64;
        let certain: Vec<f64> = LOOKS
            .into_iter()
            .map(|count| {
                let freedom = (count - 2 * trimmed(count)) as f64 - 1.0;
                quantile(freedom, f64::midpoint(1.0, confidence))
            })
            .collect();
        let most = LOOKS[LOOKS.len() - 1];
        let mut noise = Noise(Pcg32::seed_from_u64(11));
        let mut found = 0;
        for _ in 0..TRIALS {
            let is_found = (0..frames).any(|_| {
                let logs = measured_rounds(&mut noise, most, factor);
                LOOKS.into_iter().zip(&certain).any(|(count, certain)| {
                    let ratio = Rounds::of(&logs[..count]).unwrap().ratio();
                    ratio.log.abs() > certain * ratio.error
                })
            });
            found += u32::from(is_found);
        }
        f64::from(found) / f64::from(TRIALS)
    }

    #[test]
    fn rounds_of_equal_programs_are_told_apart_in_at_most_five_percent_wherever_they_stop() {
        for frames in [1, 4] {
            let alarms = found_by_turns(frames, 1.0);
            eprintln!("{frames} frames: {alarms:.3} false alarms");
            assert!(alarms <= 0.05, "{frames} frames: {alarms}");
        }
    }

    #[test]
    fn rounds_find_what_they_say_that_they_could_find() {
        let change = found_by_turns(1, 1.02);
        eprintln!("2 % found in {change:.3}");
        assert!(change >= 0.8, "{change}");

        let mut noise = Noise(Pcg32::seed_from_u64(5));
        let spread = 0.02;
        let confidence = 0.99;
        let mut found = 0;
        let mut asked = 0;
        for _ in 0..400 {
            let logs: Vec<f64> = (0..13).map(|_| spread * noise.normal()).collect();
            let smallest = Rounds::of(&logs)
                .unwrap()
                .ratio()
                .smallest_change(confidence);
            let shifted: Vec<f64> = (0..13)
                .map(|_| smallest.ln_1p() + spread * noise.normal())
                .collect();
            let rounds = Rounds::of(&shifted).unwrap();
            found += u32::from(rounds.ratio().interval(confidence).0 > 1.0);
            asked += 1;
        }
        let power = f64::from(found) / f64::from(asked);
        assert!((0.7..0.9).contains(&power), "{power}");
    }

    #[test]
    fn more_rounds_are_needed_for_smaller_changes() {
        let logs: Vec<f64> = (0..8).map(|i| 0.02 * f64::from(i % 3)).collect();
        assert_eq!(Rounds::of(&logs[..4]), None, "too few");
        let rounds = Rounds::of(&logs).unwrap();
        let needed = |change| rounds.needed(change, 0.99);
        assert_eq!(needed(1e-4), None);
        assert_eq!(needed(10.0), Some(LOOKS[0]));
        assert!(needed(0.03).unwrap() > needed(0.1).unwrap());
        let same = Rounds::of(&[0.0; 5]).unwrap().ratio().interval(0.99);
        assert!(
            same.0 < 1.0 && same.1 > 1.0,
            "no certainty beyond the clock's"
        );
    }

    #[test]
    fn counting_finds_the_medians_that_sorting_does() {
        let mut noise = Noise(Pcg32::seed_from_u64(3));
        for (count, block) in [(5, 1), (6, 2), (40, 8), (83, 9)] {
            // Rounded, so that some are equal.
            let values: Vec<f64> = (0..count).map(|_| (8.0 * noise.normal()).round()).collect();
            let mut random = Pcg32::seed_from_u64(count as u64);
            let mut resampled = || {
                let mut drawn = Vec::new();
                while drawn.len() < count {
                    let start = random.next_u32() as usize % count;
                    drawn.extend(
                        values
                            .iter()
                            .cycle()
                            .skip(start)
                            .take(block.min(count - drawn.len())),
                    );
                }
                Data::new(drawn).median()
            };
            let variance = (0..RESAMPLED).map(|_| resampled()).variance();
            assert_eq!(
                block_bootstrap(&values, block),
                variance,
                "{count} in blocks of {block}"
            );
        }
    }

    #[test]
    fn the_ratio_is_that_of_the_medians() {
        let level = |times: &[u64]| Level::of([times]).unwrap();
        let (base, new) = (
            level(&[100, 90, 110, 95, 105]),
            level(&[210, 190, 200, 180, 220]),
        );
        let ratio = new.over(&base);
        assert!((ratio.value() - 2.0).abs() < 1e-12, "{ratio:?}");
        let (low, high) = ratio.interval(0.95);
        assert!(low < 2.0 && 2.0 < high && (low * high - 4.0).abs() < 1e-9);
        let (lower, higher) = ratio.interval(0.995);
        assert!(lower < low && high < higher, "more certain, wider");
        assert_eq!(Level::of([&[1, 2, 3, 4][..]]), None);
        assert_eq!(Level::of([]), None);
    }
}
