//! The clock of a device: measured by arithmetic of a known length, and kept up by it.
//!
//! Devices lower their clock while they wait, and raise it only after some time of work. A *piece* is a fixed number of
//! rounds of arithmetic without memory traffic, so its time on the device is inversely proportional to the clock. The
//! clock is given relative to the one that the device *holds* under arithmetic that goes on. Laptops and telephones boost
//! for some seconds, and then never see that clock again, so the best clock is no reference.

use super::Result;
use skinbench_kernels::threads::lock;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Least clock, relative to the one that the device holds, at which times are compared; the most is its inverse.
pub const STEADY: f64 = 0.97;
/// Rounds of the first piece that is tried, and the most of any.
const ROUNDS: [u32; 2] = [1 << 7, 1 << 24];
/// Pieces of one submission while a device wakes.
const PIECES: u32 = 4;
/// Shortest and longest arithmetic that wakes a device for the first time. It has woken once its time falls by less
/// than [`FALL`] during the shortest.
const SETTLING: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];
const FALL: f64 = 0.01;
/// Longest arithmetic that wakes it later: an H100 can take a second and a half. Where that failed the clock may have fallen
/// for good, and until it has risen again waking ends sooner.
const WAKING: [Duration; 2] = [Duration::from_secs(3), Duration::from_millis(100)];
/// Number of times that the reference may fall because the longest arithmetic did not restore the clock.
const MOST_FALLS: u32 = 8;
/// Number of frames, of all backends, most of which must have a higher clock for the reference to rise.
const WINDOW: usize = 32;

/// What executes arithmetic: a device, or in tests a simulated one.
pub trait Spinner {
    /// Executes pieces, one after the other, each of so many rounds, and waits until the device is idle. Returns the
    /// device's time of the first and of the last piece.
    ///
    /// # Errors
    /// [`BackendError::Device`](super::BackendError::Device) if the device was lost or refused a command.
    fn spin(&self, rounds: u32, pieces: u32) -> Result<[Duration; 2]>;

    /// Time from which that of a piece is exact to 1 %.
    fn shortest(&self) -> Duration;
}

/// Length of a piece, and its time at the clock that the device holds. Both are measured at the first use.
#[derive(Debug, Default)]
pub struct ClockMeter(Mutex<Measured>);

#[derive(Debug, Default)]
struct Measured {
    rounds: u32,
    /// Time of a piece at the clock that the device holds.
    held: Duration,
    /// `true` if the device did not wake the last time.
    slept: bool,
    /// Number of times that the reference fell.
    falls: u32,
    /// Times of pieces beside the last frames.
    window: [Duration; WINDOW],
    /// Number of them.
    noted: usize,
}

/// A device whose clock is kept up and measured.
#[derive(Clone, Copy)]
pub struct Pacer<'a> {
    /// What executes arithmetic.
    pub spinner: &'a dyn Spinner,
    /// The meter of that device.
    pub meter: &'a ClockMeter,
}

impl Pacer<'_> {
    /// Executes so many pieces; returns the device's time of the first and of the last.
    ///
    /// # Errors
    /// As [`Spinner::spin`].
    pub fn pace(&self, pieces: u32) -> Result<[Duration; 2]> {
        if self.measured().rounds == 0 {
            self.calibrate()?;
        }
        self.spin(pieces)
    }

    /// Executes arithmetic until the clock is steady, 3 s at most, or 0.1 s if that did not help the last time; returns
    /// whether it is. A clock that 3 s do not raise is the one that the device holds from now on.
    ///
    /// # Errors
    /// As [`Spinner::spin`].
    pub fn wake(&self) -> Result<bool> {
        let [most, least] = WAKING;
        let is_given_up = self.measured().slept;
        let longest = if is_given_up { least } else { most };
        let mut spent = Duration::ZERO;
        let mut held = Duration::MAX;
        while spent < longest {
            let [_, last] = self.pace(PIECES)?;
            if self.clock(last) >= STEADY {
                self.measured().slept = false;
                return Ok(true);
            }
            spent += last * PIECES;
            if spent >= longest / 2 {
                held = held.min(last);
            }
        }
        let mut measured = self.measured();
        measured.slept = is_given_up || measured.falls == MOST_FALLS;
        if !measured.slept {
            measured.falls += 1;
            measured.hold(held);
        }
        Ok(!measured.slept)
    }

    /// Notes the time of a piece beside a measured frame. Where most frames have a higher clock than the reference, theirs
    /// becomes the reference.
    pub fn note(&self, piece: Duration) {
        let mut measured = self.measured();
        let at = measured.noted;
        measured.window[at] = piece;
        measured.noted += 1;
        if measured.noted < WINDOW {
            return;
        }
        measured.noted = 0;
        measured.window.sort_unstable();
        let median = measured.window[WINDOW / 2];
        if median.as_secs_f64() < STEADY * measured.held.as_secs_f64() {
            measured.hold(median);
        }
    }

    /// The clock at which a piece took this time, relative to the one that the device holds.
    pub fn clock(&self, piece: Duration) -> f64 {
        self.measured().held.as_secs_f64() / piece.as_secs_f64().max(1e-9)
    }

    /// The time of a piece at the clock that the device holds; zero before the first one.
    pub fn piece(&self) -> Duration {
        self.measured().held
    }

    /// Finds the length of a piece on the device when it is awake.
    fn calibrate(&self) -> Result<()> {
        let [mut rounds, most] = ROUNDS;
        let shortest = self.spinner.shortest();
        while rounds < most && self.spinner.spin(rounds, 1)?[0] < shortest {
            rounds *= 2;
        }
        loop {
            self.measured().rounds = rounds;
            self.measured().held = Duration::MAX;
            self.settle()?;
            if rounds >= most || self.piece() >= shortest {
                return Ok(());
            }
            // It slept when it was tried.
            rounds *= 2;
        }
    }

    /// Executes arithmetic until its time stops falling.
    fn settle(&self) -> Result<()> {
        let [shortest, longest] = SETTLING;
        let mut spent = Duration::ZERO;
        let mut since_fall = Duration::ZERO;
        let mut after_fall = Duration::MAX;
        while since_fall < shortest && spent < longest {
            let [first, last] = self.spin(PIECES)?;
            let least = first.min(last).min(self.piece());
            self.measured().held = least;
            let time = last * PIECES;
            spent += time;
            if last.as_secs_f64() < after_fall.as_secs_f64() * (1.0 - FALL) {
                after_fall = last;
                since_fall = Duration::ZERO;
            } else {
                since_fall += time;
            }
        }
        Ok(())
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        lock(&self.meter.0)
    }

    fn spin(&self, pieces: u32) -> Result<[Duration; 2]> {
        let rounds = self.measured().rounds;
        self.spinner.spin(rounds, pieces)
    }
}

impl Measured {
    /// Takes another clock as the one that the device holds.
    fn hold(&mut self, piece: Duration) {
        self.held = piece;
        self.noted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A device that runs one round in a nanosecond at its best, and wakes by the pieces that it executes.
    struct Waking {
        clock: Cell<f64>,
        /// Factor by which a submission raises the clock.
        rise: f64,
        submissions: Cell<u32>,
    }

    impl Spinner for Waking {
        fn spin(&self, rounds: u32, _: u32) -> Result<[Duration; 2]> {
            self.submissions.set(self.submissions.get() + 1);
            let time = Duration::from_nanos((f64::from(rounds) / self.clock.get()) as u64);
            self.clock.set((self.clock.get() * self.rise).min(1.0));
            Ok([time; 2])
        }

        fn shortest(&self) -> Duration {
            Duration::from_micros(250)
        }
    }

    #[test]
    fn pieces_are_long_enough_at_the_best_clock_and_waking_is_bounded() {
        let device = Waking {
            clock: Cell::new(0.2),
            rise: 1.01,
            submissions: Cell::new(0),
        };
        let meter = ClockMeter::default();
        let pacer = Pacer {
            spinner: &device,
            meter: &meter,
        };
        assert!(pacer.wake().unwrap());
        let piece = pacer.piece();
        assert!(piece >= device.shortest() && piece < 3 * device.shortest());
        assert_eq!(pacer.clock(piece), 1.0);
        device.clock.set(0.9);
        assert!(pacer.wake().unwrap(), "it wakes again");
        let stuck = Waking {
            clock: Cell::new(0.5),
            rise: 1.0,
            submissions: Cell::new(0),
        };
        let pacer = Pacer {
            spinner: &stuck,
            ..pacer
        };
        let submissions_within = |longest: Duration| {
            let pieces = longest.as_secs_f64() * stuck.clock.get() / piece.as_secs_f64();
            let least = pieces as u32 / PIECES;
            stuck.submissions.set(0);
            let woke = pacer.wake().unwrap();
            let tried = stuck.submissions.get();
            assert!((least..=least + 1).contains(&tried), "{tried}");
            woke
        };
        for fall in 1..=MOST_FALLS {
            stuck.clock.set(0.5f64.powf(f64::from(fall) / 4.0));
            assert!(submissions_within(WAKING[0]), "the device holds this clock");
            let [first, last] = pacer.pace(3).unwrap();
            assert_eq!((pacer.clock(first), first), (1.0, last));
        }
        stuck.clock.set(0.1);
        for longest in WAKING {
            assert!(!submissions_within(longest), "it fell too often");
        }
        stuck.clock.set(1.0);
        assert!(pacer.wake().unwrap() && !lock(&meter.0).slept);
    }

    #[test]
    fn the_reference_rises_with_most_frames_and_not_with_some() {
        let device = Waking {
            clock: Cell::new(1.0),
            rise: 1.0,
            submissions: Cell::new(0),
        };
        let meter = ClockMeter::default();
        let pacer = Pacer {
            spinner: &device,
            meter: &meter,
        };
        let [piece, _] = pacer.pace(1).unwrap();
        for frame in 0..2 * WINDOW {
            pacer.note(if frame % 3 == 0 { piece / 2 } else { piece });
        }
        assert_eq!(pacer.clock(piece), 1.0);
        for _ in 0..WINDOW {
            pacer.note(piece / 2);
        }
        assert_eq!(pacer.clock(piece), 0.5);
    }
}
