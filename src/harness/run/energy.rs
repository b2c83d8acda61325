//! Energy of frames, where a counter of it can be read without privileges: that of the processor's packages on Linux, and
//! that of the adapter.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

/// Linux's folder of counters (RAPL). Most systems let only the administrator read them.
pub(super) const COUNTERS: &str = "/sys/class/powercap";
/// Time to wait for a counter to advance twice: those of packages advance about every millisecond, those of adapters about
/// every 100.
const PATIENCE: Duration = Duration::from_millis(500);

/// Energy per frame, of the processor's packages or of the adapter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Microjoules.
    pub microjoules: f64,
    /// Largest error of it: the step by which the counter advances, once for each block of frames.
    pub error: f64,
}

/// Energy that some frames took so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    microjoules: u64,
    /// `true` once a counter could not be read.
    is_unknown: bool,
    frames: u64,
    blocks: u64,
}

/// The counters, and the step by which they advance.
pub(super) struct EnergyMeter {
    counters: Vec<Counter>,
    step: u64,
    /// Readings at the start of the block.
    start: Vec<Option<u64>>,
}

struct Counter {
    /// Reads microjoules.
    read: Box<dyn Fn() -> Option<u64>>,
    /// Reading after which it begins again.
    range: u64,
}

impl EnergyMeter {
    /// The counters of all packages; `None` if one of them cannot be read or does not advance.
    pub fn of_processor(folder: &Path) -> Option<Self> {
        Self::open(counters(folder)?)
    }

    /// A counter of microjoules that never begins again; `None` if it cannot be read or does not advance.
    pub fn of_adapter(read: Box<dyn Fn() -> Option<u64>>) -> Option<Self> {
        Self::open(vec![Counter { read, range: 0 }])
    }

    fn open(counters: Vec<Counter>) -> Option<Self> {
        let step = step(PATIENCE, || counters.iter().map(|counter| (counter.read)()).sum())?;
        Some(Self { start: vec![None; counters.len()], counters, step })
    }

    /// Begins a block of frames.
    pub fn start(&mut self) {
        for (start, counter) in self.start.iter_mut().zip(&self.counters) {
            *start = (counter.read)();
        }
    }

    /// Adds a block of frames that ends now.
    pub fn stop(&self, spent: &mut Spent, frames: u32) {
        for (start, counter) in self.start.iter().zip(&self.counters) {
            let Some((now, start)) = (counter.read)().zip(*start) else {
                spent.is_unknown = true;
                continue;
            };
            // It began again if it is lower.
            spent.microjoules += if now < start { (now + counter.range).saturating_sub(start) } else { now - start };
        }
        spent.frames += u64::from(frames);
        spent.blocks += 1;
    }

    /// Energy per frame.
    pub fn of(&self, spent: Spent) -> Option<Energy> {
        let frames = (spent.frames > 0 && !spent.is_unknown).then_some(spent.frames as f64)?;
        Some(Energy {
            microjoules: spent.microjoules as f64 / frames,
            error: (self.step * spent.blocks) as f64 / frames,
        })
    }
}

fn counters(folder: &Path) -> Option<Vec<Counter>> {
    let mut counters = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let text = |name: &str| std::fs::read_to_string(entry.path().join(name)).ok();
        if text("name").is_some_and(|name| name.starts_with("package")) {
            let range = text("max_energy_range_uj")?.trim().parse().ok()?;
            let file = File::open(entry.path().join("energy_uj")).ok()?;
            microjoules(&file)?;
            let read = Box::new(move || microjoules(&file));
            counters.push(Counter { read, range });
        }
    }
    (!counters.is_empty()).then_some(counters)
}

fn microjoules(mut file: &File) -> Option<u64> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The step by which a counter advances; `None` if it does not within the time.
fn step(patience: Duration, mut read: impl FnMut() -> Option<u64>) -> Option<u64> {
    let (start, first) = (Instant::now(), read()?);
    let mut next = |last: u64| {
        std::iter::repeat_with(&mut read).take_while(|_| start.elapsed() < patience).flatten().find(|now| *now > last)
    };
    let second = next(first)?;
    Some(next(second)? - second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder(name: &str, microjoules: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("intel-rapl:0");
        fs::create_dir(&own).unwrap();
        for (file, text) in [("name", name), ("max_energy_range_uj", "1000\n"), ("energy_uj", microjoules)] {
            fs::write(own.join(file), text).unwrap();
        }
        folder
    }

    #[test]
    fn blocks_add_up_and_counters_begin_again() {
        let folder = folder("package-0\n", "900\n");
        let write = |text: &str| fs::write(folder.path().join("intel-rapl:0/energy_uj"), text).unwrap();
        let mut meter = EnergyMeter { counters: counters(folder.path()).unwrap(), step: 15, start: vec![None] };
        let mut spent = Spent::default();
        assert_eq!(meter.of(spent), None);
        for (after, frames) in [("950", 2), ("20", 3)] {
            meter.start();
            write(after);
            meter.stop(&mut spent, frames);
        }
        assert_eq!(meter.of(spent), Some(Energy { microjoules: (50.0 + 70.0) / 5.0, error: 2.0 * 15.0 / 5.0 }));
    }

    #[test]
    fn a_counter_of_an_adapter_is_read_at_the_ends_of_blocks() {
        let readings = std::cell::RefCell::new(vec![900, 700, 400, 300, 200, 100]);
        let mut meter = EnergyMeter::of_adapter(Box::new(move || readings.borrow_mut().pop())).unwrap();
        let mut spent = Spent::default();
        meter.start();
        meter.stop(&mut spent, 4);
        assert_eq!(meter.of(spent), Some(Energy { microjoules: 75.0, error: 25.0 }));
        meter.start();
        meter.stop(&mut spent, 4);
        assert_eq!(meter.of(spent), None, "no reading is left for the end of this block");
    }

    #[test]
    fn what_does_not_advance_or_is_no_package_is_absent() {
        assert!(EnergyMeter::of_processor(folder("package-0", "900").path()).is_none());
        assert!(counters(folder("core", "900").path()).is_none());
        assert!(counters(folder("package-0", "").path()).is_none());
        let mut readings = [5, 5, 7, 7, 22, 30].into_iter();
        assert_eq!(step(Duration::MAX, || readings.next()), Some(15));
        assert_eq!(step(Duration::ZERO, || Some(1)), None);
    }
}
