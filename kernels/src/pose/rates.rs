//! Candidate frame rates for resampling a clip, and the times at which the resampled clip's error is measured.

use crate::model::{Clip, ClipKeys};

/// Most frames of a resampled clip.
const MOST_FRAMES: usize = 1 << 16;
/// Smallest and largest number of times at which the error of a clip is measured.
const FEWEST_TIMES: usize = 1 << 9;
const MOST_TIMES: usize = 1 << 14;

/// Range and spacing of a clip's keys.
#[derive(Debug, Clone, Copy)]
pub struct KeySpan {
    /// Seconds at the first key of any track.
    pub start: f32,
    /// Seconds at the last one.
    pub end: f32,
    /// Number of intervals if all were as short as the shortest one; jumps between neighbouring floats do not count.
    intervals: usize,
}

impl KeySpan {
    /// The span of a clip's tracks, or of its frames if it is compact.
    pub fn of(clip: &Clip) -> Self {
        let raw = match clip.keys() {
            ClipKeys::Raw(raw) => raw,
            ClipKeys::Compact(compact) => {
                let intervals = (compact.frames - 1) as usize;
                let end = compact.start + intervals as f32 * compact.interval;
                return Self {
                    start: compact.start,
                    end,
                    intervals,
                };
            }
        };
        let lines = raw.timelines();
        // Importers write a jump as two keys at neighbouring floats. No rate can follow it, so it does not count.
        let intervals = lines
            .iter()
            .flat_map(|times| times.iter().zip(&times[1..]))
            .filter(|(a, b)| a.next_up() < **b);
        let shortest = intervals.map(|(a, b)| b - a).fold(f32::INFINITY, f32::min);
        let start = lines
            .iter()
            .map(|times| times[0])
            .fold(f32::INFINITY, f32::min);
        let end = lines
            .iter()
            .map(|times| times[times.len() - 1])
            .fold(0.0, f32::max);
        if !start.is_finite() || start >= end {
            return Self {
                start: 0.0,
                end: 0.0,
                intervals: 0,
            };
        }
        let intervals = ((end - start) / shortest)
            .round()
            .clamp(1.0, MOST_FRAMES as f32) as usize;
        Self {
            start,
            end,
            intervals,
        }
    }

    /// Numbers of frames to try, fewest first: those whose frames fall on every n-th of evenly spaced keys, and some
    /// between and beyond, up to `most` frames per interval.
    pub fn candidates(self, most: usize) -> Vec<usize> {
        let intervals = self.intervals;
        if intervals == 0 {
            return vec![1];
        }
        let mut frames: Vec<usize> = (1..=intervals)
            .filter(|n| intervals.is_multiple_of(*n))
            .map(|n| n + 1)
            .collect();
        let mut next = 2.0f64;
        while (next as usize) <= (most * intervals + 1).min(MOST_FRAMES) {
            frames.push(next as usize);
            next = (1.06 * next).max(next + 1.0);
        }
        frames.sort_unstable();
        frames.dedup();
        frames
    }

    /// Times from 0 to `duration` at which to measure a clip of so many frames, in an order that covers the clip early.
    pub fn times(self, duration: f32, frames: usize) -> impl Iterator<Item = f32> {
        // Several per interval and per frame, so that no jump falls between them.
        let count = (8 * self.intervals)
            .max(4 * frames)
            .next_power_of_two()
            .clamp(FEWEST_TIMES, MOST_TIMES);
        // An odd stride visits all items of a power of two; the golden section keeps consecutive ones apart.
        let stride = (count as f64 * 0.618) as usize | 1;
        (0..count)
            .map(move |i| (i.wrapping_mul(stride) % count) as f32 / (count - 1) as f32 * duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Channel, Interpolation, Keys, RotationBlend};

    #[test]
    fn jumps_are_no_rate() {
        let candidates = |times: &[f32]| {
            let values = times.iter().flat_map(|&t| [t, 0.0, 0.0]).collect();
            let channel = Channel::Translation;
            let interpolation = Interpolation::Linear;
            let keys = Keys {
                joint: 0,
                channel,
                interpolation,
                times: times.into(),
                values,
            };
            KeySpan::of(&Clip::new("c", None, RotationBlend::Slerp, vec![keys]).unwrap())
                .candidates(2)
        };
        let even = candidates(&[0.0, 0.5, 1.0]);
        assert_eq!(even, [2, 3, 4, 5]);
        assert_eq!(candidates(&[0.0, 0.5, 0.5f32.next_up(), 1.0]), even);
        assert_eq!(candidates(&[0.5, 0.5f32.next_up()]), [2, 3], "a jump alone");
    }
}
