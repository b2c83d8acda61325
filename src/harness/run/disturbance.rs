//! Disturbance of measured frames, on request: caches that are emptied before each of them.

use super::options::Disturbance;
use crate::threads::Threads;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Linux's folder of the first processor's caches.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
/// Bytes of the last-level cache where the system does not say.
const UNKNOWN: usize = 64 << 20;
/// Most bytes that are read and written to displace what caches hold.
const MOST: usize = 1 << 30;
/// Words of a cache line.
const LINE: usize = 8;

/// Disturbs frames as options ask for.
pub(super) struct Disturber {
    /// The options.
    pub disturbance: Disturbance,
    /// More than caches can hold; empty if nothing is disturbed.
    words: Vec<AtomicU64>,
}

impl Disturber {
    pub fn new(disturbance: Disturbance) -> Self {
        let bytes = if disturbance.cold {
            (2 * last_level(Path::new(CACHES))).min(MOST)
        } else {
            0
        };
        Self {
            disturbance,
            words: (0..bytes / 8).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Displaces what the caches of all threads hold, if that is asked for.
    pub fn before_frame(&self, threads: &Threads) {
        if !self.disturbance.cold {
            return;
        }
        let words = self.words.len();
        threads.install(|| {
            rayon::broadcast(|thread| {
                let share = words / thread.num_threads();
                self.sweep(thread.index() * share..(thread.index() + 1) * share);
            });
        });
        // Takes so long that the threads above sleep again.
        self.sweep(0..words);
    }

    /// Reads and writes every line of some words.
    fn sweep(&self, words: Range<usize>) {
        for word in self.words[words].iter().step_by(LINE) {
            word.store(
                word.load(Ordering::Relaxed).wrapping_add(1),
                Ordering::Relaxed,
            );
        }
    }
}

#[cfg(test)]
impl Disturber {
    /// Number of lines that were written so far.
    pub fn written(&self) -> u64 {
        self.words
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .sum()
    }
}

/// Bytes of the largest cache in Linux's folder of them.
fn last_level(caches: &Path) -> usize {
    let mut largest = None;
    for folder in fs::read_dir(caches).into_iter().flatten().flatten() {
        let text = fs::read_to_string(folder.path().join("size")).unwrap_or_default();
        let kibibytes = text.trim().strip_suffix('K').map(str::parse::<usize>);
        if let Some(Ok(kibibytes)) = kibibytes {
            largest = largest.max(kibibytes.checked_mul(1 << 10));
        }
    }
    largest.unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_frames_follow_two_sweeps_of_more_than_the_caches_hold() {
        let disturber = Disturber::new(Disturbance { cold: true });
        let lines = (disturber.words.len() / LINE) as u64;
        assert!(disturber.words.len() * 8 >= (2 * last_level(Path::new(CACHES))).min(MOST));
        let threads = Threads::new(2).unwrap();
        disturber.before_frame(&threads);
        let written = disturber.written();
        assert!(
            (2 * lines - 2..=2 * lines).contains(&written),
            "{written} of {lines}"
        );
        let warm = Disturber::new(Disturbance::default());
        warm.before_frame(&threads);
        assert_eq!(warm.words.len(), 0);
    }

    #[test]
    fn the_largest_cache_counts() {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in [
            ("index0", "48K\n"),
            ("index3", "266240K\n"),
            ("index9", "?"),
        ] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("size"), size).unwrap();
        }
        assert_eq!(last_level(folder.path()), 266_240 << 10);
        assert_eq!(last_level(&folder.path().join("missing")), UNKNOWN);
    }
}
