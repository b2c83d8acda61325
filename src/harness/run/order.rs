//! Order of measurement: backends alternate in short blocks of frames, so that drift of the machine affects all of them
//! equally.

use std::ops::Range;
use std::time::Duration;

/// Most frames within the time of a [`Pace`].
const MOST_FRAMES: u32 = 300;
/// Time from which a frame is so slow that [`Pace::Brief`] measures the fewest.
const SLOW_FRAME: Duration = Duration::from_millis(400);
/// Duration of a block, and its largest number of frames.
const BLOCK: Duration = Duration::from_millis(250);
const BLOCK_FRAMES: u32 = 10;

/// Duration of a backend's warm-up, and its fewest frames: shaders compile in the first. Times of debug builds say
/// nothing, so these do not wait for steady ones.
const WARM_UP: Duration = Duration::from_millis(if cfg!(debug_assertions) { 25 } else { 250 });
const WARM_UP_FRAMES: u32 = 2;

/// Number of frames of each backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// So many.
    Frames(u32),
    /// As many as fit 2 s, 5 to 300.
    Full,
    /// As many as fit 1 s, 5 to 300; 3 are enough if they take 0.4 s or more.
    Brief,
}

impl Pace {
    /// Largest number of frames.
    pub fn most(self) -> u32 {
        match self {
            Self::Frames(frames) => frames,
            Self::Full | Self::Brief => MOST_FRAMES,
        }
    }
}

/// Warm-up of a backend: frames that are not recorded.
#[derive(Debug, Default)]
pub struct WarmUp {
    frames: u32,
    spent: Duration,
    first: Duration,
}

impl WarmUp {
    /// Number of the next frame; `None` when the backend is warm. `hurry` shortens the warm-up to its fewest frames.
    pub fn next_frame(&self, hurry: bool) -> Option<u32> {
        let warm = self.spent >= WARM_UP || hurry;
        (self.frames < WARM_UP_FRAMES || !warm).then_some(self.frames)
    }

    /// Records a frame.
    pub fn record(&mut self, frame: Duration) {
        if self.frames == 0 {
            self.first = frame;
        }
        self.frames += 1;
        self.spent += frame;
    }

    /// Mean time of a frame, without the first.
    pub fn estimate(&self) -> Duration {
        (self.spent - self.first) / self.frames.saturating_sub(1).max(1)
    }
}

/// What a run does next. Backends have the numbers in which their estimates were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A backend runs the frames with these numbers.
    Block(usize, Range<u32>),
    /// A backend has had its frames.
    End(usize),
}

/// Distributes blocks of frames, round after round, until each backend has enough.
#[derive(Debug)]
pub struct Order {
    pace: Pace,
    shares: Vec<TimeShare>,
    next: usize,
    /// The backend of the last block, until it is known whether more follow.
    last: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct TimeShare {
    /// Time of a frame in the warm-up.
    estimate: Duration,
    frames: u32,
    spent: Duration,
    retired: bool,
}

impl Order {
    /// A schedule for backends with these estimates of their frame time.
    pub fn new(pace: Pace, estimates: impl IntoIterator<Item = Duration>) -> Self {
        let mut shares = Vec::new();
        for estimate in estimates {
            shares.push(TimeShare {
                estimate,
                frames: 0,
                spent: Duration::ZERO,
                retired: false,
            });
        }
        Self {
            pace,
            shares,
            next: 0,
            last: None,
        }
    }

    /// The next event; `None` when all backends are done.
    pub fn next_event(&mut self) -> Option<Event> {
        if let Some(last) = self.last.take()
            && self.is_done(last)
        {
            return Some(Event::End(last));
        }
        let count = self.shares.len();
        let backend = (0..count)
            .map(|i| (self.next + i) % count)
            .find(|&i| !self.is_done(i))?;
        self.next = (backend + 1) % count;
        self.last = Some(backend);
        let share = &self.shares[backend];
        let fitting = BLOCK.as_nanos() / share.estimate.as_nanos().max(1);
        let length = (fitting as u32)
            .clamp(1, BLOCK_FRAMES)
            .min(self.pace.most() - share.frames);
        Some(Event::Block(backend, share.frames..share.frames + length))
    }

    /// Records a measured frame.
    pub fn record(&mut self, backend: usize, frame: Duration) {
        self.shares[backend].frames += 1;
        self.shares[backend].spent += frame;
    }

    /// Removes a backend whose block failed: it has no further event.
    pub fn retire(&mut self, backend: usize) {
        self.shares[backend].retired = true;
        self.last = None;
    }

    /// Returns whether a backend has had its frames.
    pub fn is_done(&self, backend: usize) -> bool {
        self.done(backend) >= 1.0
    }

    /// Mean time of a backend's frames so far.
    pub fn mean(&self, backend: usize) -> Duration {
        self.shares[backend].spent / self.shares[backend].frames.max(1)
    }

    /// Fraction of all frames that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let all = 0..self.shares.len();
        let done: f64 = all.map(|backend| self.done(backend)).sum();
        done / self.shares.len().max(1) as f64
    }

    /// Fraction of a backend's frames that is done, 0 to 1.
    fn done(&self, backend: usize) -> f64 {
        let TimeShare {
            frames,
            spent,
            retired,
            ..
        } = self.shares[backend];
        // The time that is wanted, and the fewest frames within it.
        let (seconds, fewest) = match self.pace {
            _ if retired => return 1.0,
            Pace::Frames(wanted) => return (f64::from(frames) / f64::from(wanted)).min(1.0),
            Pace::Full => (2.0, 5.0),
            Pace::Brief if spent >= SLOW_FRAME * frames => (1.0, 3.0),
            Pace::Brief => (1.0, 5.0),
        };
        let frames = f64::from(frames);
        (frames / fewest)
            .min(spent.as_secs_f64() / seconds)
            .max(frames / f64::from(MOST_FRAMES))
            .min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next block of a schedule: its backend and the numbers of its frames.
    fn next_block(order: &mut Order) -> Option<(usize, Range<u32>)> {
        loop {
            if let Event::Block(backend, frames) = order.next_event()? {
                return Some((backend, frames));
            }
        }
    }

    /// Runs a schedule with frames that take exactly their estimate; returns backend and length of each block.
    fn blocks(pace: Pace, estimates: &[u64]) -> Vec<(usize, u32)> {
        let estimates: Vec<_> = estimates
            .iter()
            .map(|&ms| Duration::from_millis(ms))
            .collect();
        let mut schedule = Order::new(pace, estimates.iter().copied());
        let mut counts = vec![0; estimates.len()];
        let mut blocks = Vec::new();
        while let Some((backend, frames)) = next_block(&mut schedule) {
            assert_eq!(
                frames.start, counts[backend],
                "every backend counts its own frames"
            );
            counts[backend] = frames.end;
            blocks.push((backend, frames.len() as u32));
            frames.for_each(|_| schedule.record(backend, estimates[backend]));
        }
        assert_eq!(schedule.progress(), 1.0);
        blocks
    }

    #[test]
    fn backends_take_turns() {
        assert_eq!(
            blocks(Pace::Frames(12), &[1, 1]),
            [(0, 10), (1, 10), (0, 2), (1, 2)]
        );
        assert_eq!(
            blocks(Pace::Frames(3), &[100, 1_000]),
            [(0, 2), (1, 1), (0, 1), (1, 1), (1, 1)]
        );
    }

    #[test]
    fn time_decides_within_a_few_and_three_hundred_frames() {
        let total = |pace, estimate| {
            blocks(pace, &[estimate])
                .iter()
                .map(|(_, frames)| frames)
                .sum::<u32>()
        };
        assert_eq!(
            [0, 6].map(|estimate| total(Pace::Full, estimate)),
            [300, 300]
        );
        assert_eq!(total(Pace::Full, 40), 54); // 2 s are 50 frames, in blocks of 6
        assert_eq!(total(Pace::Full, 900), 5);
        assert_eq!(
            [0, 40, 200, 390, 600].map(|estimate| total(Pace::Brief, estimate)),
            [300, 30, 5, 5, 3]
        );
    }

    #[test]
    fn backends_end_once() {
        let mut schedule = Order::new(Pace::Frames(7), [Duration::from_millis(50); 2]);
        let mut ended = Vec::new();
        while let Some(event) = schedule.next_event() {
            match event {
                Event::Block(backend, frames) => {
                    frames.for_each(|_| schedule.record(backend, Duration::from_millis(50)));
                }
                Event::End(backend) => ended.push(backend),
            }
        }
        assert_eq!(ended, [0, 1]);
    }

    #[test]
    fn a_retired_backend_gets_no_more_turns() {
        let mut schedule = Order::new(Pace::Frames(20), [Duration::from_millis(1); 2]);
        assert_eq!(next_block(&mut schedule), Some((0, 0..10)));
        schedule.retire(0);
        assert_eq!(next_block(&mut schedule), Some((1, 0..10)));
        assert_eq!(
            next_block(&mut schedule),
            Some((1, 0..10)),
            "nothing was recorded"
        );
    }

    /// A machine with a simulated clock: frames of backends take their nominal time multiplied by the current slowness.
    struct SimulatedMachine {
        now: Duration,
        slowness: fn(f64) -> f64,
    }

    impl SimulatedMachine {
        fn frame(&mut self, milliseconds: f64) -> Duration {
            let time = Duration::from_secs_f64(
                milliseconds / 1e3 * (self.slowness)(self.now.as_secs_f64()),
            );
            self.now += time;
            time
        }

        /// Medians, in milliseconds, of backends with these nominal frame times in milliseconds.
        fn measure(&mut self, backends: &[f64], frames: u32) -> Vec<f64> {
            let mut estimates = Vec::new();
            for &own in backends {
                let mut warm_up = WarmUp::default();
                while warm_up.next_frame(false).is_some() {
                    warm_up.record(self.frame(own));
                }
                estimates.push(warm_up.estimate());
            }
            let mut schedule = Order::new(Pace::Frames(frames), estimates);
            let mut samples = vec![Vec::new(); backends.len()];
            while let Some((backend, block)) = next_block(&mut schedule) {
                for _ in block {
                    let time = self.frame(backends[backend]);
                    schedule.record(backend, time);
                    samples[backend].push(time.as_secs_f64() * 1e3);
                }
            }
            samples.iter_mut().for_each(|s| s.sort_by(f64::total_cmp));
            samples.iter().map(|s| s[s.len() / 2]).collect()
        }
    }

    #[test]
    fn drift_of_the_machine_hits_all_alike() {
        // Slows down by a factor of two within four seconds, like a machine that gets hot.
        let hot = |now: f64| 1.0 + (now / 4.0).min(1.0);
        let medians = SimulatedMachine {
            now: Duration::ZERO,
            slowness: hot,
        }
        .measure(&[5.0, 10.0, 5.5], 100);
        for (other, ratio) in [(1, 2.0), (2, 1.1)] {
            let found = medians[other] / medians[0];
            assert!(
                (found / ratio - 1.0).abs() < 0.04,
                "{ratio} became {found}: {medians:?}"
            );
        }
        // Measured one after the other, the last one looks slower by far more.
        let mut machine = SimulatedMachine {
            now: Duration::ZERO,
            slowness: hot,
        };
        let apart = [5.0, 10.0, 5.5].map(|own| machine.measure(&[own], 100)[0]);
        assert!(apart[2] / apart[0] > 1.5, "{apart:?}");
    }

    #[test]
    fn what_is_slow_at_first_is_not_kept() {
        // Ten times as slow for a fifth of a second: shaders compile, clock rates rise.
        let cold = |now: f64| if now < 0.2 { 10.0 } else { 1.0 };
        let medians = SimulatedMachine {
            now: Duration::ZERO,
            slowness: cold,
        }
        .measure(&[4.0], 50);
        assert_eq!(medians, [4.0]);
        let mut warm_up = WarmUp::default();
        [900, 100, 200]
            .into_iter()
            .for_each(|ms| warm_up.record(Duration::from_millis(ms)));
        assert_eq!(
            warm_up.estimate(),
            Duration::from_millis(150),
            "the first frame is no guide"
        );
        let mut slow = WarmUp::default();
        slow.record(Duration::from_secs(9));
        assert_eq!(
            (slow.next_frame(true), slow.next_frame(false)),
            (Some(1), Some(1)),
            "two at least"
        );
    }
}
