//! Disturbances of measured frames, on request: caches that are emptied before each of them, and neighbours that
//! stream memory meanwhile.

use super::options::Disturbance;
use crate::threads::Threads;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// Linux's folder of the first processor's caches.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
/// Bytes of the last-level cache where the system does not say.
const UNKNOWN: usize = 64 << 20;
/// Most bytes that are read and written to displace what caches hold.
const MOST: usize = 1 << 30;
/// Words of a cache line.
const LINE: usize = 8;
/// Words after which a neighbour looks whether it shall stop.
const STRETCH: usize = 1 << 13;

/// Disturbs frames as options ask for.
pub(super) struct Disturber {
    /// `true` if caches are emptied.
    pub cold: bool,
    neighbours: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
}

/// Memory that the neighbours stream, and orders to them: they sleep unless `stream` is set.
#[derive(Default)]
struct Shared {
    /// More than caches can hold; empty if nothing is disturbed.
    words: Vec<AtomicU64>,
    stream: AtomicBool,
    end: AtomicBool,
}

impl Shared {
    /// Reads and writes every line of a part.
    fn sweep(&self, part: std::ops::Range<usize>) {
        for word in self.words[part].iter().step_by(LINE) {
            word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Reads and writes all memory round after round while it shall, from a word on.
    fn stream(&self, mut at: usize) {
        while !self.end.load(Ordering::Relaxed) {
            if !self.stream.load(Ordering::Relaxed) {
                std::thread::park();
                continue;
            }
            let end = (at + STRETCH).min(self.words.len());
            self.sweep(at..end);
            at = if end == self.words.len() { 0 } else { end };
        }
    }
}

impl Disturber {
    pub fn new(disturbance: Disturbance) -> Self {
        let Disturbance { cold, neighbours } = disturbance;
        let bytes =
            if disturbance == Disturbance::default() { 0 } else { (2 * last_level(Path::new(CACHES))).min(MOST) };
        let words = (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
        let shared = Arc::new(Shared { words, ..Shared::default() });
        let neighbour = |index: usize| {
            let shared = Arc::clone(&shared);
            let first = shared.words.len() / neighbours as usize * index;
            std::thread::spawn(move || shared.stream(first))
        };
        Self { cold, neighbours: (0..neighbours as usize).map(neighbour).collect(), shared }
    }

    /// Displaces what the caches of all threads hold, if that is asked for.
    pub fn before_frame(&self, threads: &Threads) {
        if !self.cold {
            return;
        }
        let words = self.shared.words.len();
        threads.install(|| {
            rayon::broadcast(|thread| {
                let share = words / thread.num_threads();
                self.shared.sweep(thread.index() * share..(thread.index() + 1) * share);
            });
        });
        // Takes so long that the threads above sleep again.
        self.shared.sweep(0..words);
    }

    /// Wakes the neighbours, or sends them to sleep.
    pub fn set(&self, on: bool) {
        self.shared.stream.store(on, Ordering::Relaxed);
        self.neighbours.iter().for_each(|neighbour| neighbour.thread().unpark());
    }
}

#[cfg(test)]
impl Disturber {
    /// Reads the number of lines that were written so far, and whether there are neighbours that stream.
    pub fn watch(&self) -> impl Fn() -> (u64, bool) + use<> {
        let (shared, any) = (Arc::clone(&self.shared), !self.neighbours.is_empty());
        move || {
            let written = shared.words.iter().map(|word| word.load(Ordering::Relaxed)).sum();
            (written, any && shared.stream.load(Ordering::Relaxed))
        }
    }
}

impl Drop for Disturber {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::Relaxed);
        self.set(false);
        for neighbour in self.neighbours.drain(..) {
            // It only fails if it panicked, which its own message tells.
            let _ = neighbour.join();
        }
    }
}

/// Bytes of the largest cache in Linux's folder of them.
fn last_level(caches: &Path) -> usize {
    let size = |folder: fs::DirEntry| {
        let text = fs::read_to_string(folder.path().join("size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1 << 10)
    };
    fs::read_dir(caches).into_iter().flatten().flatten().filter_map(size).max().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_frames_follow_two_sweeps_of_more_than_the_caches_hold() {
        let disturber = Disturber::new(Disturbance { cold: true, neighbours: 0 });
        let lines = (disturber.shared.words.len() / LINE) as u64;
        assert!(disturber.shared.words.len() * 8 >= (2 * last_level(Path::new(CACHES))).min(MOST));
        let threads = Threads::new(2).unwrap();
        disturber.before_frame(&threads);
        let (written, _) = disturber.watch()();
        assert!((2 * lines - 2..=2 * lines).contains(&written), "{written} of {lines}");
        let warm = Disturber::new(Disturbance::default());
        warm.before_frame(&threads);
        assert_eq!(warm.shared.words.len(), 0);
    }

    #[test]
    fn neighbours_stream_only_while_they_shall() {
        let disturber = Disturber::new(Disturbance { cold: false, neighbours: 2 });
        let watch = disturber.watch();
        assert_eq!(watch(), (0, false));
        disturber.set(true);
        while watch().0 == 0 {
            std::thread::yield_now();
        }
        disturber.set(false);
        drop(disturber); // ends
    }

    #[test]
    fn the_largest_cache_counts() {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in [("index0", "48K\n"), ("index3", "266240K\n"), ("index9", "?")] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("size"), size).unwrap();
        }
        assert_eq!(last_level(folder.path()), 266_240 << 10);
        assert_eq!(last_level(&folder.path().join("missing")), UNKNOWN);
    }
}
