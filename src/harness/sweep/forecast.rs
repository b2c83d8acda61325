//! The order of a sweep's points, and the time that those ahead take.
//!
//! A point takes longer the larger its crowd is, and the more each of its other settings costs. So a sweep first measures
//! one series over all sizes, and then every other value once, with the largest crowd. From then on, the time of a point
//! is that of its size in the first series, times one factor for each other value.

use super::SweepPoint;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// A setting other than the number of instances, with its value, in words.
type Choice = (String, String);

/// Times of measured points, and of those ahead.
pub(super) struct Forecast {
    points: Vec<SweepPoint>,
    /// Seconds of each point; `None` before it is measured, and for one that an earlier sweep had measured.
    taken: Vec<Option<f64>>,
    /// Points that need no time any more.
    done: HashSet<usize>,
}

/// The order in which points are measured: first the series of the first point, then each other value once with the
/// largest crowd, then the rest; each of these as the points are given.
pub(super) fn order(points: &[SweepPoint]) -> Vec<usize> {
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let series = first.series();
    let mut order: Vec<usize> = (0..points.len())
        .filter(|&at| points[at].series() == series)
        .collect();
    let mut covered: HashSet<Choice> = order.iter().flat_map(|&at| choices(&points[at])).collect();
    let mut by_size: Vec<usize> = (0..points.len()).collect();
    by_size.sort_by_key(|&at| std::cmp::Reverse(points[at].settings.instances));
    let base = choices(first);
    // Values that differ from the first point's in one setting come before those that differ in several.
    by_size.sort_by_key(|&at| differing(&base, &choices(&points[at])));
    let mut probes = Vec::new();
    for at in by_size {
        let known = covered.len();
        covered.extend(choices(&points[at]));
        if covered.len() > known {
            probes.push(at);
        }
    }
    probes.sort_unstable();
    order.extend(probes);
    let known: HashSet<usize> = order.iter().copied().collect();
    order.extend((0..points.len()).filter(|at| !known.contains(at)));
    order
}

/// The settings of a point but the number of instances.
fn choices(point: &SweepPoint) -> BTreeMap<String, String> {
    let mut choices = BTreeMap::new();
    for (name, value) in point.series().settings.chosen() {
        choices.insert(name, value.to_string());
    }
    if let Some(threads) = point.threads {
        choices.insert("threads".into(), threads.to_string());
    }
    choices
}

/// Number of settings whose values differ.
fn differing(base: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> usize {
    let mut count = 0;
    for (name, value) in other {
        count += usize::from(base.get(name) != Some(value));
    }
    count
}

impl Forecast {
    /// A forecast before anything is measured.
    pub fn new(points: &[SweepPoint]) -> Self {
        Self {
            points: points.to_vec(),
            taken: vec![None; points.len()],
            done: HashSet::new(),
        }
    }

    /// Notes that a point took so long, or that its results were there.
    pub fn record(&mut self, at: usize, taken: Option<Duration>) {
        self.taken[at] = taken.map(|taken| taken.as_secs_f64());
        self.done.insert(at);
    }

    /// The time that the points ahead take; `None` while a point of some size or value has not been measured.
    pub fn left(&self) -> Option<Duration> {
        let mut seconds = 0.0;
        for at in (0..self.points.len()).filter(|at| !self.done.contains(at)) {
            seconds += self.expected(at)?;
        }
        Some(Duration::from_secs_f64(seconds))
    }

    /// Expected seconds of a point.
    fn expected(&self, at: usize) -> Option<f64> {
        let point = &self.points[at];
        let base = choices(&self.points[0]);
        let first_series = self.points[0].series();
        let mut sizes: HashMap<Option<u64>, f64> = HashMap::new();
        for (measured, taken) in self.points.iter().zip(&self.taken) {
            if let Some(taken) = taken
                && measured.series() == first_series
            {
                sizes.insert(measured.settings.instances, *taken);
            }
        }
        let mut seconds = *sizes.get(&point.settings.instances)?;
        for (name, value) in choices(point) {
            if base.get(&name) == Some(&value) {
                continue;
            }
            seconds *= self.factor(&sizes, &name, &value)?;
        }
        Some(seconds)
    }

    /// The factor by which a value of a setting changes the time of a point: that of the largest crowd.
    fn factor(&self, sizes: &HashMap<Option<u64>, f64>, name: &str, value: &str) -> Option<f64> {
        let base = choices(&self.points[0]);
        let mut largest = None;
        let mut factor = None;
        for (point, taken) in self.points.iter().zip(&self.taken) {
            let choices = choices(point);
            let is_probe = choices.get(name).is_some_and(|known| known == value)
                && differing(&base, &choices) == 1;
            let size = point.settings.instances;
            if let (Some(taken), Some(of_size)) = (taken, sizes.get(&size))
                && is_probe
                && size >= largest
            {
                largest = size;
                factor = Some(taken / of_size);
            }
        }
        factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Settings;

    fn points() -> Vec<SweepPoint> {
        let mut points = Vec::new();
        for passes in [0, 1, 2] {
            for output in [false, true] {
                for instances in [10, 100, 1_000] {
                    points.push(SweepPoint {
                        threads: None,
                        settings: Settings {
                            instances: Some(instances),
                            passes: Some(passes),
                            motion: output,
                            ..Settings::default()
                        },
                    });
                }
            }
        }
        points
    }

    /// Seconds of a point: a start, and more for each instance, pass and option.
    fn seconds(point: &SweepPoint) -> f64 {
        let settings = &point.settings;
        let passes = 1.0 + 3.0 * f64::from(settings.passes.unwrap());
        let motion = if settings.motion { 1.5 } else { 1.0 };
        (1.0 + 0.05 * settings.instances.unwrap() as f64) * passes * motion
    }

    #[test]
    fn each_size_and_each_value_comes_first() {
        let points = points();
        let order = order(&points);
        let place = |at: &usize| {
            let settings = &points[*at].settings;
            let instances = settings.instances.unwrap();
            (settings.passes.unwrap(), settings.motion, instances)
        };
        let first: Vec<_> = order.iter().take(6).map(place).collect();
        assert_eq!(
            first,
            [
                (0, false, 10),
                (0, false, 100),
                (0, false, 1_000),
                (0, true, 1_000),
                (1, false, 1_000),
                (2, false, 1_000)
            ]
        );
        let mut all = order;
        all.sort_unstable();
        assert_eq!(all, Vec::from_iter(0..points.len()), "each once");
        assert!(super::order(&[]).is_empty());
    }

    #[test]
    fn the_time_left_is_known_after_the_first_points_and_does_not_grow() {
        let points = points();
        let order = order(&points);
        let mut forecast = Forecast::new(&points);
        let mut before = f64::INFINITY;
        for (number, &at) in order.iter().enumerate() {
            forecast.record(at, Some(Duration::from_secs_f64(seconds(&points[at]))));
            let left = forecast.left();
            assert_eq!(left.is_some(), number >= 5, "{number}");
            let Some(left) = left.map(|left| left.as_secs_f64()) else {
                continue;
            };
            let truth: f64 = order[number + 1..]
                .iter()
                .map(|&at| seconds(&points[at]))
                .sum();
            assert!((left - truth).abs() < 0.01 * truth + 1e-6, "{left} {truth}");
            assert!(left < before);
            before = left;
        }
    }

    #[test]
    fn points_of_an_earlier_sweep_take_no_time() {
        let points = points();
        let mut forecast = Forecast::new(&points);
        (0..points.len()).for_each(|at| forecast.record(at, None));
        assert_eq!(forecast.left(), Some(Duration::ZERO));
        let mut forecast = Forecast::new(&points);
        forecast.record(0, None);
        assert_eq!(forecast.left(), None);
    }
}
