//! The threads that parallel stages run on: a pool, so that one process can measure several counts.

use rayon::prelude::*;
use std::sync::Arc;

/// The threads that run a parallel loop. Clones share the pool.
#[derive(Debug, Clone, Default)]
pub enum Threads {
    /// The thread that asks, alone.
    One,
    /// As many as the processor has: rayon's own pool.
    #[default]
    All,
    /// A pool of another size.
    Pool(Arc<rayon::ThreadPool>),
}

/// A pool that the system refuses.
#[derive(Debug, thiserror::Error)]
#[error("cannot make {count} threads: {reason}")]
pub struct ThreadsError {
    count: usize,
    reason: rayon::ThreadPoolBuildError,
}

impl Threads {
    /// `count` threads.
    ///
    /// # Errors
    /// The system refuses to make them.
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

    /// Runs `work` where what it joins runs on these threads; [`Threads::One`] joins nothing.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One | Self::All => work(),
            Self::Pool(pool) => pool.install(work),
        }
    }

    /// Calls `work` on shares of `items`, `share` long.
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
