//! Energy of frames, where a counter of it can be read without privileges: that of the processor's packages on Linux, and
//! that of the adapter.

use crate::frame::Result;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

/// Linux's folder of counters (RAPL). Most systems let only the administrator read them.
pub(super) const COUNTERS: &str = "/sys/class/powercap";
/// Time for which a counter is watched for its steps: those of packages advance about every millisecond, those of
/// adapters about every 20 to 100.
const WATCH: Duration = Duration::from_millis(500);
/// Most steps that are watched.
const WATCHED: usize = 5;
/// Shortest block of frames in steps of the counter: its ends are uncertain by a step together.
const STEPS: u32 = 20;
/// Blocks of which the median counts, and the time from which on there is no further one.
const BLOCKS: usize = 3;
const BUDGET: Duration = Duration::from_secs(6);
/// Largest error of an energy, as a part of it.
const LARGEST_ERROR: f64 = 0.2;

/// Energy per frame, of the processor's packages or of the adapter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Microjoules.
    pub microjoules: f64,
    /// Largest error of it: the step by which the counter advances, or the distance of a block of frames from the
    /// median of all.
    pub error: f64,
}

impl Energy {
    /// Returns whether the error is so small that the energy says something.
    pub fn is_known(self) -> bool {
        self.microjoules > 0.0 && self.error <= LARGEST_ERROR * self.microjoules
    }
}

/// Reads the microjoules that were taken since some moment.
type Counter = Box<dyn FnMut() -> Option<u64>>;

/// A counter, and the time between its steps.
pub(super) struct EnergyMeter {
    read: Counter,
    step: Duration,
}

/// A block of frames.
struct Block {
    /// Microjoules per frame.
    microjoules: f64,
    /// Part of the energy that one step of the counter may be.
    resolution: f64,
}

impl EnergyMeter {
    /// The counters of all packages; `None` if one of them cannot be read or does not advance.
    pub fn of_processor(folder: &Path) -> Option<Self> {
        let start = Instant::now();
        Self::open(counter(folder)?, || start.elapsed())
    }

    /// A counter; `None` if it cannot be read or does not advance by the clock `now`.
    pub fn open(
        mut read: impl FnMut() -> Option<u64> + 'static,
        now: impl Fn() -> Duration,
    ) -> Option<Self> {
        let step = step(&mut read, now)?;
        Some(Self {
            read: Box::new(read),
            step,
        })
    }

    /// Energy of a frame, from blocks of frames that `frame` runs one after the other until it returns `false`. `None` if
    /// it does, if the counter cannot be read, and if the blocks do not agree.
    ///
    /// # Errors
    /// The first error of `frame`.
    pub fn measure(
        &mut self,
        now: impl Fn() -> Duration,
        mut frame: impl FnMut() -> Result<bool>,
    ) -> Result<Option<Energy>> {
        let start = now();
        let mut blocks = Vec::with_capacity(BLOCKS);
        while blocks.len() < BLOCKS && (blocks.is_empty() || now() - start < BUDGET) {
            let Some(block) = self.block(&now, &mut frame)? else {
                return Ok(None);
            };
            blocks.push(block);
        }
        blocks.sort_unstable_by(|a, b| a.microjoules.total_cmp(&b.microjoules));
        let microjoules = blocks[blocks.len() / 2].microjoules;
        let mut error = 0.0_f64;
        for block in &blocks {
            let resolution = block.resolution * block.microjoules;
            error = error.max((block.microjoules - microjoules).abs().max(resolution));
        }
        Ok(Some(Energy { microjoules, error }).filter(|energy| energy.is_known()))
    }

    /// Runs frames for at least [`STEPS`] steps of the counter.
    fn block(
        &mut self,
        now: &impl Fn() -> Duration,
        frame: &mut impl FnMut() -> Result<bool>,
    ) -> Result<Option<Block>> {
        let start = now();
        let before = (self.read)();
        let mut frames = 0;
        while frames == 0 || now() - start < STEPS * self.step {
            if !frame()? {
                return Ok(None);
            }
            frames += 1;
        }
        let took = now() - start;
        let taken = (self.read)()
            .zip(before)
            .map(|(after, before)| after.saturating_sub(before));
        Ok(taken.map(|taken| Block {
            microjoules: taken as f64 / f64::from(frames),
            resolution: self.step.as_secs_f64() / took.as_secs_f64(),
        }))
    }
}

/// The counters of all packages together; `None` if one of them cannot be read.
fn counter(folder: &Path) -> Option<Counter> {
    let mut packages = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let name = std::fs::read_to_string(entry.path().join("name"));
        if name.is_ok_and(|name| name.starts_with("package")) {
            packages.push(Package::open(&entry.path())?);
        }
    }
    if packages.is_empty() {
        return None;
    }
    Some(Box::new(move || {
        packages.iter_mut().map(Package::read).sum()
    }))
}

/// The counter of a package, which begins again at 0 from time to time.
struct Package {
    file: File,
    /// Microjoules at which it begins again.
    range: u64,
    last: u64,
    total: u64,
}

impl Package {
    fn open(folder: &Path) -> Option<Self> {
        let range = std::fs::read_to_string(folder.join("max_energy_range_uj")).ok()?;
        let file = File::open(folder.join("energy_uj")).ok()?;
        Some(Self {
            range: range.trim().parse().ok()?,
            last: microjoules(&file)?,
            file,
            total: 0,
        })
    }

    /// Microjoules since it was opened.
    fn read(&mut self) -> Option<u64> {
        let now = microjoules(&self.file)?;
        self.total += if now < self.last {
            (now + self.range).saturating_sub(self.last)
        } else {
            now - self.last
        };
        self.last = now;
        Some(self.total)
    }
}

fn microjoules(mut file: &File) -> Option<u64> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The longest time between the steps of a counter by the clock `now`; `None` if it does not advance twice in time.
fn step(mut read: impl FnMut() -> Option<u64>, now: impl Fn() -> Duration) -> Option<Duration> {
    let start = now();
    let mut last = read()?;
    let mut before = None;
    let mut longest = None;
    let mut steps = 0;
    while steps < WATCHED && now() - start < WATCH {
        let reading = read()?;
        if reading <= last {
            continue;
        }
        last = reading;
        let time = now();
        if let Some(before) = before.replace(time) {
            longest = longest.max(Some(time - before));
            steps += 1;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs;
    use std::rc::Rc;

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

    /// A machine with a counter, whose time passes when it is read or runs a frame.
    struct Machine {
        now: Cell<Duration>,
        /// Time between the steps of the counter.
        step: Duration,
        watts: Cell<f64>,
        /// Microjoules so far, and those that the counter shows.
        taken: Cell<f64>,
        shown: Cell<f64>,
    }

    impl Machine {
        fn new(step_ms: u64) -> Rc<Self> {
            Rc::new(Self {
                now: Cell::default(),
                step: Duration::from_millis(step_ms),
                watts: Cell::new(300.0),
                taken: Cell::default(),
                shown: Cell::default(),
            })
        }

        fn pass(&self, time: Duration) {
            let before = self.now.get();
            let now = before + time;
            let steps = |time: Duration| time.as_nanos() / self.step.as_nanos();
            self.taken
                .set(self.taken.get() + self.watts.get() * time.as_secs_f64() * 1e6);
            if steps(now) > steps(before) {
                self.shown.set(self.taken.get());
            }
            self.now.set(now);
        }

        fn meter(self: &Rc<Self>) -> Option<EnergyMeter> {
            let machine = Rc::clone(self);
            let read = move || {
                machine.pass(Duration::from_micros(20));
                Some(machine.shown.get() as u64)
            };
            EnergyMeter::open(read, || self.now.get())
        }

        /// Energy of frames of 200 µs.
        fn measured(self: &Rc<Self>, mut each: impl FnMut() -> bool) -> Option<Energy> {
            let mut meter = self.meter().unwrap();
            let frame = || {
                self.pass(Duration::from_micros(200));
                Ok(each())
            };
            meter.measure(|| self.now.get(), frame).unwrap()
        }
    }

    /// 300 W for 200 µs are 60 mJ. The counter of an H100 is such a one.
    #[test]
    fn blocks_are_longer_than_the_steps_of_the_counter() {
        for step_ms in [1, 20, 70, 100] {
            let energy = Machine::new(step_ms).measured(|| true);
            let Some(Energy { microjoules, error }) = energy else {
                panic!("steps of {step_ms} ms");
            };
            assert!(
                (microjoules / 60_000.0 - 1.0).abs() < 0.06,
                "{step_ms}: {microjoules}"
            );
            assert!(
                (microjoules - 60_000.0).abs() <= error,
                "{step_ms}: {error}"
            );
            assert!(error < 0.06 * microjoules, "{step_ms}: {error}");
        }
    }

    /// What does not repeat within a fifth says nothing.
    #[test]
    fn energy_that_differs_between_blocks_is_absent() {
        let machine = Machine::new(20);
        let mut frames = 0;
        let energy = machine.measured(|| {
            frames += 1;
            let block = frames / 2_000;
            machine.watts.set([300.0, 150.0, 450.0][block % 3]);
            true
        });
        assert_eq!(energy, None);
    }

    #[test]
    fn nothing_is_measured_after_an_interruption() {
        let mut frames = 0;
        let energy = Machine::new(20).measured(|| {
            frames += 1;
            frames < 3
        });
        assert_eq!((energy, frames), (None, 3));
    }

    #[test]
    fn counters_of_packages_begin_again() {
        let folder = folder("package-0\n", "900\n");
        let write =
            |text: &str| fs::write(folder.path().join("intel-rapl:0/energy_uj"), text).unwrap();
        let mut read = counter(folder.path()).unwrap();
        for (text, total) in [("950", 50), ("20", 120)] {
            write(text);
            assert_eq!(read(), Some(total));
        }
    }

    #[test]
    fn what_does_not_advance_or_is_no_package_is_absent() {
        assert!(EnergyMeter::of_processor(folder("package-0", "900").path()).is_none());
        assert!(counter(folder("core", "900").path()).is_none());
        assert!(counter(folder("package-0", "").path()).is_none());
        // One that stands still, and one that steps once while it is watched.
        for step_ms in [10_000, 300] {
            assert!(Machine::new(step_ms).meter().is_none(), "{step_ms}");
        }
        let steps = Machine::new(20).meter().unwrap().step.as_millis();
        assert_eq!(steps, 20);
    }
}
