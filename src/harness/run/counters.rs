//! Counters of the processor's events, by Linux's perf events, for the threads of skinbench.

use crate::frame::CountSource;
use crate::threads::Threads;

/// Advice to those who may not count.
#[cfg(all(target_os = "linux", feature = "cli"))]
const ADVICE: &str =
    "`sysctl kernel.perf_event_paranoid=2` lets a user count events; many virtual machines have no counters";

/// The counters of the calling thread, of rayon's global pool and of `threads`, if there are any; and one line that says
/// why they count less than all kinds and what to do, if they do.
#[cfg(all(target_os = "linux", feature = "cli"))]
pub fn open(threads: &Threads) -> (Option<Box<dyn CountSource>>, Option<String>) {
    let (counters, problem) = linux::PerfCounters::open(threads);
    (Some(Box::new(counters)), problem.map(|problem| format!("not all events can be counted: {problem}; {ADVICE}")))
}

/// Counters, which only Linux has.
#[cfg(not(all(target_os = "linux", feature = "cli")))]
pub fn open(_: &Threads) -> (Option<Box<dyn CountSource>>, Option<String>) {
    (None, Some("events can be counted on Linux only".into()))
}

#[cfg(all(target_os = "linux", feature = "cli"))]
mod linux {
    use crate::frame::{CountSource, Counts};
    use crate::threads::Threads;
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};
    use std::io;

    /// Cycles, instructions and misses of every thread; the kinds that cannot be counted are left out.
    #[derive(Debug)]
    pub struct PerfCounters([Option<Vec<Counter>>; 3]);

    impl PerfCounters {
        /// Opens the kinds that can be counted, and returns the reason why another one cannot.
        pub fn open(threads: &Threads) -> (Self, Option<io::Error>) {
            let mut problem = None;
            let events = [Hardware::CPU_CYCLES, Hardware::INSTRUCTIONS, Hardware::CACHE_MISSES];
            let counters = events.map(|event| match of_threads(threads, event) {
                Ok(counters) => Some(counters),
                Err(error) => {
                    problem = Some(error);
                    None
                }
            });
            (Self(counters), problem)
        }
    }

    impl CountSource for PerfCounters {
        fn read(&mut self) -> Counts {
            let sum = |counters: &mut Vec<Counter>| {
                counters.iter_mut().map(|counter| counter.read().ok()).sum::<Option<u64>>()
            };
            let [cycles, instructions, misses] = self.0.each_mut().map(|all| all.as_mut().and_then(sum));
            [cycles, instructions, misses, context_switches()]
        }
    }

    /// One counter for each thread.
    fn of_threads(threads: &Threads, event: Hardware) -> io::Result<Vec<Counter>> {
        let own = || Builder::new(event).observe_self().enabled(true).build();
        let mut counters = vec![own()?];
        for counter in rayon::broadcast(|_| own()) {
            counters.push(counter?);
        }
        if let Threads::Pool(pool) = threads {
            for counter in pool.broadcast(|_| own()) {
                counters.push(counter?);
            }
        }
        Ok(counters)
    }

    /// Context switches of the whole process so far, for which no permission is needed.
    pub fn context_switches() -> Option<u64> {
        // SAFETY: all bytes zero are a valid `rusage`, which is plain numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` outlives the call.
        let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        (failed == 0).then_some((usage.ru_nvcsw + usage.ru_nivcsw) as u64)
    }
}

#[cfg(all(test, target_os = "linux", feature = "cli"))]
mod tests {
    use super::*;
    use crate::frame::Event;

    #[test]
    fn counters_advance_or_the_reason_is_one_line() {
        let threads = Threads::new(2).unwrap();
        let (counters, problem) = open(&threads);
        let mut counters = counters.unwrap();
        let before = counters.read();
        std::hint::black_box((0..100_000u64).map(std::hint::black_box).sum::<u64>());
        let after = counters.read();
        for event in [Event::Cycles, Event::Instructions] {
            let (before, after) = (before[event as usize], after[event as usize]);
            assert!(after > before || (after.is_none() && problem.is_some()), "{event:?}: {before:?} {after:?}");
        }
        assert!(after[Event::ContextSwitches as usize].is_some());
        if let Some(problem) = problem {
            assert!(problem.contains("kernel.perf_event_paranoid") && problem.lines().count() == 1, "{problem}");
        }
    }

    #[test]
    fn switches_of_threads_are_counted() {
        let before = linux::context_switches().unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || receive.into_iter().count());
        (0..100).for_each(|number| send.send(number).unwrap());
        drop(send);
        thread.join().unwrap();
        assert!(linux::context_switches().unwrap() > before, "the channel waits for its thread");
    }
}
