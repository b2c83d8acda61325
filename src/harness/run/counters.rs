//! Counters of the processor's events, by Linux's perf events, for the threads of skinbench.

#[cfg(all(target_os = "linux", feature = "cli"))]
pub use linux::open;

/// Counters, which only Linux has.
#[cfg(not(all(target_os = "linux", feature = "cli")))]
pub fn open(_: &crate::threads::Threads) -> (Option<crate::frame::CountSource>, Option<String>) {
    (None, Some("events can be counted on Linux only".into()))
}

#[cfg(all(target_os = "linux", feature = "cli"))]
mod linux {
    use super::super::thread_clocks::on_each;
    use crate::frame::CountSource;
    use crate::threads::Threads;
    use nix::sys::resource::{UsageWho, getrusage};
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};
    use std::io;

    /// Advice to those who may not count.
    const ADVICE: &str = "`sysctl kernel.perf_event_paranoid=2` lets a user count events; many virtual machines have no counters";

    /// The counters of the calling thread, of rayon's global pool and of `threads`, if there are any; and one line that
    /// says why they count less than all kinds and what to do, if they do.
    pub fn open(threads: &Threads) -> (Option<CountSource>, Option<String>) {
        let mut problem = None;
        // Kinds that cannot be counted on every thread are left out.
        let mut counters = [
            Hardware::CPU_CYCLES,
            Hardware::INSTRUCTIONS,
            Hardware::CACHE_MISSES,
        ]
        .map(|event| match open_on_each(threads, event) {
            Ok(counters) => Some(counters),
            Err(error) => {
                problem = Some(format!("not all events can be counted: {error}; {ADVICE}"));
                None
            }
        });
        let read = move || {
            let [cycles, instructions, misses] = counters.each_mut().map(sum);
            [cycles, instructions, misses, context_switches()]
        };
        (Some(Box::new(read)), problem)
    }

    /// A counter of a kind of event for each thread.
    fn open_on_each(threads: &Threads, event: Hardware) -> io::Result<Vec<Counter>> {
        let counters = on_each(threads, || {
            Builder::new(event).observe_self().enabled(true).build()
        });
        counters.into_iter().collect()
    }

    /// The events of all threads so far; `None` if they are not counted.
    fn sum(counters: &mut Option<Vec<Counter>>) -> Option<u64> {
        let counters = counters.as_mut()?.iter_mut();
        counters.map(|counter| counter.read().ok()).sum()
    }

    /// Context switches of the whole process so far, for which no permission is needed.
    pub fn context_switches() -> Option<u64> {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        Some((usage.voluntary_context_switches() + usage.involuntary_context_switches()) as u64)
    }
}

#[cfg(all(test, target_os = "linux", feature = "cli"))]
mod tests {
    use super::*;
    use crate::frame::Event;
    use crate::threads::Threads;

    #[test]
    fn counters_advance_or_the_reason_is_one_line() {
        let threads = Threads::new(2).unwrap();
        let (counters, problem) = open(&threads);
        let mut read = counters.unwrap();
        let before = read();
        std::hint::black_box((0..100_000u64).map(std::hint::black_box).sum::<u64>());
        let after = read();
        for event in [Event::Cycles, Event::Instructions] {
            let (before, after) = (before[event as usize], after[event as usize]);
            assert!(
                after > before || (after.is_none() && problem.is_some()),
                "{event:?}: {before:?} {after:?}"
            );
        }
        assert!(after[Event::ContextSwitches as usize].is_some());
        if let Some(problem) = problem {
            assert!(
                problem.contains("kernel.perf_event_paranoid") && problem.lines().count() == 1,
                "{problem}"
            );
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
        assert!(
            linux::context_switches().unwrap() > before,
            "the channel waits for its thread"
        );
    }
}
