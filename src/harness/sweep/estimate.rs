//! Estimate of the remaining time of a sweep, from the times measured so far.

use std::time::Duration;

/// Seconds for one backend at one point if nothing similar was measured: warm-up, 2 s of frames, verification.
const UNKNOWN: f64 = 2.6;
/// Seconds of warm-up and of measuring, at least.
const WARM_UP: f64 = 0.25;
const MEASURING: f64 = 2.0;
/// Frames of a verification, of a warm-up and of a measurement, at least.
const VERIFIED: f64 = 5.0;
const WARMED: f64 = 2.0;
const MEASURED: f64 = 5.0;

/// Size of a frame: a crowd of so many instances, and about ten times as much for each pass that draws it.
pub fn size(instances: u64, passes: u32) -> f64 {
    instances as f64 * f64::from(1 + 10 * passes)
}

/// Estimator that learns from finished work.
#[derive(Debug, Clone, Default)]
pub struct Estimate {
    frames: Option<u32>,
    /// Backend, size, seconds per frame.
    known: Vec<(&'static str, f64, f64)>,
    predicted: f64,
    spent: f64,
}

impl Estimate {
    /// An estimator for measurements of this many frames; by default of as many as fit 2 s.
    pub fn new(frames: Option<u32>) -> Self {
        Self { frames, ..Self::default() }
    }

    /// Records the time of a backend's frame of a [`size`].
    pub fn learn(&mut self, backend: &'static str, size: f64, frame: Duration) {
        self.known.push((backend, size, frame.as_secs_f64()));
    }

    /// Records the actual time of a piece of work that was predicted to take `predicted`.
    pub fn correct(&mut self, predicted: Duration, spent: Duration) {
        self.predicted += predicted.as_secs_f64();
        self.spent += spent.as_secs_f64();
    }

    /// Estimated time for these backends, each with the [`size`] of its frames.
    pub fn time(&self, work: impl IntoIterator<Item = (&'static str, f64)>) -> Duration {
        let seconds: f64 = work.into_iter().map(|(backend, size)| self.seconds(backend, size)).sum();
        // Parity and pictures cost time that frames do not show, so the total is scaled by the ratio observed so far.
        let correction = if self.predicted > 0.0 { (self.spent / self.predicted).clamp(0.25, 4.0) } else { 1.0 };
        Duration::try_from_secs_f64(seconds * correction).unwrap_or(Duration::MAX)
    }

    /// Seconds of one backend at one point.
    fn seconds(&self, backend: &str, size: f64) -> f64 {
        let Some(frame) = self.frame(backend, size) else { return UNKNOWN };
        let measuring = match self.frames {
            Some(frames) => f64::from(frames) * frame,
            None => MEASURING.max(MEASURED * frame),
        };
        VERIFIED * frame + WARM_UP.max(WARMED * frame) + measuring
    }

    /// Seconds per frame, in proportion to the closest known size of this backend, or of any.
    fn frame(&self, backend: &str, size: f64) -> Option<f64> {
        let distance = |other: f64| (other / size).ln().abs();
        let nearest = |same: bool| {
            let known = self.known.iter().rev().filter(|(name, ..)| (*name == backend) == same);
            known.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
        };
        let (_, other, seconds) = nearest(true).or_else(|| nearest(false))?;
        Some(seconds * size / other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_known_size_decides() {
        let mut estimate = Estimate::new(Some(10));
        assert_eq!(estimate.time([("a", size(10, 0)); 2]).as_secs_f64(), 2.0 * UNKNOWN);
        estimate.learn("a", size(100, 1), Duration::from_secs(1));
        estimate.learn("a", size(1_000, 1), Duration::from_secs(20));
        // Twice 1,000 instances are closer than 20 times 100: 40 s per frame, 5 + 2 + 10 frames.
        assert_eq!(estimate.time([("a", size(2_000, 1))]).as_secs_f64(), 40.0 * 17.0);
        // Another backend is estimated from the closest known one.
        assert_eq!(estimate.time([("b", size(100, 1))]).as_secs_f64(), 17.0);
    }

    #[test]
    fn what_was_wrong_so_far_scales_the_rest() {
        let mut estimate = Estimate::new(Some(10));
        estimate.learn("a", size(100, 0), Duration::from_secs(1));
        let before = estimate.time([("a", size(100, 0))]);
        estimate.correct(before, before * 2);
        assert_eq!(estimate.time([("a", size(100, 0))]), before * 2);
    }
}
