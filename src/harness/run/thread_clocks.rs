//! CPU time of a frame: the time of skinbench's own threads, read from the system's clock of each thread.

use crate::threads::Threads;

/// The clocks of the thread that submits frames and of the threads of its parallel loops. A driver's threads are
/// excluded: the work of a software adapter is not a cost of submitting.
pub(super) struct ThreadClocks(Vec<ThreadClock>);

impl ThreadClocks {
    /// The clocks of the calling thread, of rayon's global pool and of `threads`.
    pub fn new(threads: &Threads) -> Self {
        let clocks = on_each(threads, clock_of_this_thread);
        Self(clocks.into_iter().flatten().collect())
    }

    /// CPU time of all threads so far, in nanoseconds; `None` if the system has no such clocks. Reads the clocks
    /// without waking the threads: woken workers spin for a while, and that time would count.
    pub fn now(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.iter().map(|read| read()).sum())
    }
}

/// Runs `work` on the calling thread, and on those of rayon's global pool and of `threads`.
fn on_each<T: Send>(threads: &Threads, work: impl Fn() -> T + Sync) -> Vec<T> {
    let mut all = vec![work()];
    all.extend(rayon::broadcast(|_| work()));
    if let Threads::Pool(pool) = threads {
        all.extend(pool.broadcast(|_| work()));
    }
    all
}

/// Reads the time that a thread has worked so far, in nanoseconds.
type ThreadClock = Box<dyn Fn() -> u64 + Send>;

/// The calling thread's clock, which other threads may read as long as the thread lives.
#[cfg(target_os = "linux")]
fn clock_of_this_thread() -> Option<ThreadClock> {
    let mut clock = 0;
    // SAFETY: the thread is the calling one; `clock` is written on success.
    let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    if failed != 0 {
        return None;
    }
    Some(Box::new(move || {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` outlives the call. The clock of a thread that ended is refused, and `time` stays zero.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }))
}

#[cfg(not(target_os = "linux"))]
fn clock_of_this_thread() -> Option<ThreadClock> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    fn compute() {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(30) {
            black_box((0..1_000u64).sum::<u64>());
        }
    }

    #[test]
    fn own_threads_count_and_others_do_not() {
        let threads = Threads::new(2).unwrap();
        let all = ThreadClocks::new(&threads);
        let spent = |clocks: &ThreadClocks, work: &dyn Fn()| {
            let before = clocks.now().unwrap();
            work();
            Duration::from_nanos(clocks.now().unwrap() - before)
        };
        // On a busy machine a thread may get little CPU time while it computes.
        let some = Duration::from_millis(3);
        assert!(spent(&all, &compute) > some);
        let Threads::Pool(pool) = &threads else {
            panic!("no pool")
        };
        assert!(spent(&all, &|| pool.install(compute)) > some);
        // Rayon's global pool may be working for other tests, so idle time is checked on this thread's clock alone.
        let alone = ThreadClocks(clock_of_this_thread().into_iter().collect());
        assert!(spent(&alone, &compute) > some);
        assert!(spent(&alone, &|| std::thread::sleep(Duration::from_millis(30))) < some);
        assert!(
            spent(&alone, &|| std::thread::scope(|scope| drop(
                scope.spawn(compute).join()
            ))) < some
        );
    }
}
