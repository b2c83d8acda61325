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

/// Reads the microjoules that were taken since some moment.
type Counter = Box<dyn FnMut() -> Option<u64>>;

/// A counter, and the step by which it advances.
pub(super) struct EnergyMeter {
    read: Counter,
    step: u64,
    /// Reading at the start of the block.
    start: Option<u64>,
}

impl EnergyMeter {
    /// The counters of all packages; `None` if one of them cannot be read or does not advance.
    pub fn of_processor(folder: &Path) -> Option<Self> {
        Self::open(counter(folder)?)
    }

    /// A counter; `None` if it cannot be read or does not advance.
    pub fn open(mut read: impl FnMut() -> Option<u64> + 'static) -> Option<Self> {
        let step = step(PATIENCE, &mut read)?;
        Some(Self {
            read: Box::new(read),
            step,
            start: None,
        })
    }

    /// Begins a block of frames.
    pub fn start(&mut self) {
        self.start = (self.read)();
    }

    /// Adds a block of frames that ends now.
    pub fn stop(&mut self, spent: &mut Spent, frames: u32) {
        match (self.read)().zip(self.start) {
            Some((now, start)) => spent.microjoules += now.saturating_sub(start),
            None => spent.is_unknown = true,
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

/// The counters of all packages together, which begin again from time to time; `None` if one of them cannot be read.
fn counter(folder: &Path) -> Option<Counter> {
    let mut packages = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let text = |name: &str| std::fs::read_to_string(entry.path().join(name)).ok();
        if text("name").is_some_and(|name| name.starts_with("package")) {
            let range: u64 = text("max_energy_range_uj")?.trim().parse().ok()?;
            let file = File::open(entry.path().join("energy_uj")).ok()?;
            let (mut last, mut total) = (microjoules(&file)?, 0);
            packages.push(move || {
                let now = microjoules(&file)?;
                // It began again if it is lower.
                total += if now < last {
                    (now + range).saturating_sub(last)
                } else {
                    now - last
                };
                last = now;
                Some(total)
            });
        }
    }
    match packages.is_empty() {
        true => None,
        false => Some(Box::new(move || {
            packages.iter_mut().map(|read| read()).sum()
        })),
    }
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
        std::iter::repeat_with(&mut read)
            .take_while(|_| start.elapsed() < patience)
            .flatten()
            .find(|now| *now > last)
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
        for (file, text) in [
            ("name", name),
            ("max_energy_range_uj", "1000\n"),
            ("energy_uj", microjoules),
        ] {
            fs::write(own.join(file), text).unwrap();
        }
        folder
    }

    #[test]
    fn blocks_add_up_and_counters_begin_again() {
        let folder = folder("package-0\n", "900\n");
        let write =
            |text: &str| fs::write(folder.path().join("intel-rapl:0/energy_uj"), text).unwrap();
        let mut meter = EnergyMeter {
            read: counter(folder.path()).unwrap(),
            step: 15,
            start: None,
        };
        let mut spent = Spent::default();
        assert_eq!(meter.of(spent), None);
        for (after, frames) in [("950", 2), ("20", 3)] {
            meter.start();
            write(after);
            meter.stop(&mut spent, frames);
        }
        assert_eq!(
            meter.of(spent),
            Some(Energy {
                microjoules: (50.0 + 70.0) / 5.0,
                error: 2.0 * 15.0 / 5.0
            })
        );
    }

    #[test]
    fn a_counter_of_an_adapter_is_read_at_the_ends_of_blocks() {
        let readings = std::cell::RefCell::new(vec![900, 700, 400, 300, 200, 100]);
        let mut meter = EnergyMeter::open(move || readings.borrow_mut().pop()).unwrap();
        let mut spent = Spent::default();
        meter.start();
        meter.stop(&mut spent, 4);
        assert_eq!(
            meter.of(spent),
            Some(Energy {
                microjoules: 75.0,
                error: 25.0
            })
        );
        meter.start();
        meter.stop(&mut spent, 4);
        assert_eq!(
            meter.of(spent),
            None,
            "no reading is left for the end of this block"
        );
    }

    #[test]
    fn what_does_not_advance_or_is_no_package_is_absent() {
        assert!(EnergyMeter::of_processor(folder("package-0", "900").path()).is_none());
        assert!(counter(folder("core", "900").path()).is_none());
        assert!(counter(folder("package-0", "").path()).is_none());
        let mut readings = [5, 5, 7, 7, 22, 30].into_iter();
        assert_eq!(step(Duration::MAX, || readings.next()), Some(15));
        assert_eq!(step(Duration::ZERO, || Some(1)), None);
    }
}
