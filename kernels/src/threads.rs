//! Pools of threads for parallel stages. Several pools can exist, so that one process can measure several thread
//! counts.

use rayon::prelude::*;
use std::sync::Arc;

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
        Ok(Self::Pool(Arc::new(pool.map_err(|reason| ThreadsError { count, reason })?)))
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        match self {
            Self::One => 1,
            Self::All => rayon::current_num_threads(),
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Runs `work` so that its parallel loops use these threads. With [`Threads::One`] it runs on the calling thread.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One | Self::All => work(),
            Self::Pool(pool) => pool.install(work),
        }
    }

    /// Calls `work` on consecutive shares of `items`, each `share` long except possibly the last.
    pub fn each<T: Send>(&self, items: &mut [T], share: usize, work: impl Fn(&mut [T]) + Sync) {
        match self {
            Self::One => items.chunks_mut(share).for_each(work),
            Self::All | Self::Pool(_) => self.install(|| items.par_chunks_mut(share).for_each(&work)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_visited_by_as_many_threads_as_asked_for() {
        for count in [1, 2, 3] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count);
            let mut items = vec![0; 10];
            threads.each(&mut items, 4, |share| share.iter_mut().for_each(|item| *item += 1));
            assert_eq!(items, [1; 10]);
        }
    }
}
