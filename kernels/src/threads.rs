//! Pools of threads for parallel stages. Several pools can exist, so that one process can measure several thread
//! counts.

use rayon::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Work that one thread alone finishes in this time is not shared. docs/experiments.md has the measurements: sharing 32
/// walkers, 50 µs of work, gains a little, and sharing 16 loses.
const WORTH_SHARING: Duration = Duration::from_micros(40);

/// The threads that run a parallel loop. Clones share the pool.
#[derive(Debug, Clone, Default)]
pub enum Threads {
    /// The calling thread alone.
    One,
    /// As many as the processor has: rayon's global pool.
    #[default]
    All,
    /// A pool of another size.
    Pool(Arc<rayon::ThreadPool>),
}

/// Error if the system refuses to create a thread.
#[derive(Debug, thiserror::Error)]
#[error("cannot create {count} threads: {reason}")]
pub struct ThreadsError {
    count: usize,
    reason: rayon::ThreadPoolBuildError,
}

impl Threads {
    /// A pool of `count` threads.
    ///
    /// # Errors
    /// The system refuses to create them.
    pub fn new(count: usize) -> Result<Self, ThreadsError> {
        if count == 1 {
            return Ok(Self::One);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        Ok(Self::Pool(Arc::new(
            pool.map_err(|reason| ThreadsError { count, reason })?,
        )))
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        match self {
            Self::One => 1,
            Self::All => rayon::current_num_threads(),
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// These threads, or the calling thread alone if it finishes sooner: `alone` is the time that it would need.
    pub fn worth_waking(&self, alone: Duration) -> Self {
        if alone < WORTH_SHARING {
            Self::One
        } else {
            self.clone()
        }
    }

    /// Runs `work` so that its parallel loops use these threads: on one of them, or on the calling thread with
    /// [`Threads::One`]. Threads that are awake look for work a while before they sleep, so several loops in one call
    /// wake them once, not once per loop.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One => work(),
            Self::All => rayon::scope(|_| work()),
            Self::Pool(pool) => pool.install(work),
        }
    }

    /// Calls `work` on consecutive shares of `items`, each `share` long except possibly the last.
    pub fn each<T: Send>(&self, items: &mut [T], share: usize, work: impl Fn(&mut [T]) + Sync) {
        match self {
            Self::One => items.chunks_mut(share).for_each(work),
            Self::All | Self::Pool(_) => {
                self.install(|| items.par_chunks_mut(share).for_each(&work))
            }
        }
    }
}

/// Locks memory that is written before it is read, and therefore ignores poisoning by a panic elsewhere.
pub fn lock<T>(item: &Mutex<T>) -> MutexGuard<'_, T> {
    item.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling thread's item of a list with one item per thread, locked as by [`lock`].
///
/// # Panics
/// The list is empty.
pub fn of_thread<T>(items: &[Mutex<T>]) -> MutexGuard<'_, T> {
    lock(&items[rayon::current_thread_index().unwrap_or(0) % items.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_work_stays_on_the_calling_thread() {
        let threads = Threads::new(2).unwrap();
        assert_eq!(threads.worth_waking(Duration::from_micros(10)).count(), 1);
        assert_eq!(threads.worth_waking(Duration::from_micros(100)).count(), 2);
        for (threads, inside) in [(Threads::One, false), (Threads::All, true), (threads, true)] {
            assert_eq!(
                threads.install(|| rayon::current_thread_index().is_some()),
                inside,
                "{threads:?}"
            );
        }
    }

    #[test]
    fn every_item_is_visited_by_as_many_threads_as_asked_for() {
        for count in [1, 2, 3] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count);
            let mut items = vec![0; 10];
            threads.each(&mut items, 4, |share| {
                share.iter_mut().for_each(|item| *item += 1)
            });
            assert_eq!(items, [1; 10]);
        }
    }
}
