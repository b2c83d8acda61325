//! Pools of threads for parallel stages. Several pools can exist, so that one process can measure several thread
//! counts. Without the feature `rayon`, everything runs on the calling thread.

#[cfg(feature = "rayon")]
use rayon::prelude::*;
use std::fmt;
#[cfg(feature = "rayon")]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Work that one thread alone finishes in this time is not shared. docs/experiments.md has the measurements: sharing 32
/// walkers, 50 µs of work, gains a little, and sharing 16 loses.
const WORTH_SHARING: Duration = Duration::from_micros(40);

/// The threads that run a parallel loop. Clones share the pool.
#[derive(Debug, Clone, Default)]
pub enum Threads {
    /// The calling thread alone.
    One,
    /// As many as the processor has: rayon's global pool. Without the feature `rayon`, the calling thread alone.
    #[default]
    All,
    /// A pool of another size.
    #[cfg(feature = "rayon")]
    Pool(Arc<rayon::ThreadPool>),
}

/// Error if the system refuses to create a thread, or if this build has no pools of threads.
#[derive(thiserror::Error)]
#[error("cannot create {count} threads: {reason}")]
pub struct ThreadsError {
    count: usize,
    reason: String,
}

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for ThreadsError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Threads {
    /// A pool of `count` threads.
    ///
    /// # Errors
    /// The system refuses to create them, or there are to be several without the feature `rayon`.
    pub fn new(count: usize) -> Result<Self, ThreadsError> {
        if count == 1 {
            return Ok(Self::One);
        }
        #[cfg(feature = "rayon")]
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .map(|pool| Self::Pool(Arc::new(pool)));
        #[cfg(not(feature = "rayon"))]
        let pool = Err("skinbench-kernels is built without its feature `rayon`");
        pool.map_err(|reason| ThreadsError {
            count,
            reason: reason.to_string(),
        })
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        match self {
            Self::One => 1,
            #[cfg(feature = "rayon")]
            Self::All => rayon::current_num_threads(),
            #[cfg(feature = "rayon")]
            Self::Pool(pool) => pool.current_num_threads(),
            #[cfg(not(feature = "rayon"))]
            Self::All => 1,
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
            #[cfg(feature = "rayon")]
            Self::All => rayon::scope(|_| work()),
            #[cfg(feature = "rayon")]
            Self::Pool(pool) => pool.install(work),
            #[cfg(not(feature = "rayon"))]
            Self::All => work(),
        }
    }

    /// Calls `work(number, share)` for consecutive shares of `items`, each `share` long except possibly the last, which are
    /// numbered from 0.
    pub fn each<T: Send>(
        &self,
        items: &mut [T],
        share: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let alone = |items: &mut [T]| {
            for (number, items) in items.chunks_mut(share).enumerate() {
                work(number, items);
            }
        };
        match self {
            Self::One => alone(items),
            #[cfg(feature = "rayon")]
            Self::All | Self::Pool(_) => self.install(|| {
                let shares = items.par_chunks_mut(share).enumerate();
                shares.for_each(|(number, items)| work(number, items));
            }),
            #[cfg(not(feature = "rayon"))]
            Self::All => alone(items),
        }
    }
}

/// Runs two pieces of work, on two threads of rayon's current pool if there are any.
pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    #[cfg(feature = "rayon")]
    rayon::join(a, b);
    #[cfg(not(feature = "rayon"))]
    {
        a();
        b();
    }
}

/// Index of the calling thread in rayon's current pool; 0 outside of one.
fn thread_index() -> usize {
    #[cfg(feature = "rayon")]
    let index = rayon::current_thread_index().unwrap_or(0);
    #[cfg(not(feature = "rayon"))]
    let index = 0;
    index
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
    lock(&items[thread_index() % items.len()])
}

#[cfg(all(test, feature = "rayon"))]
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
            threads.each(&mut items, 4, |_, share| {
                share.iter_mut().for_each(|item| *item += 1)
            });
            assert_eq!(items, [1; 10]);
        }
    }
}
