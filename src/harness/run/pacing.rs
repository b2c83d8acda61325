//! Pacing of frames: arithmetic between measured frames, so that the device's clock does not fall while it waits, and the
//! decision which frames are measured again.

use super::outcome::{Outcome, RelativeClock};
use crate::frame::{Clock, Pacer, Result, STEADY, Stage, StageGroup};
use std::collections::HashSet;
use std::time::Duration;

/// Fewest and most pieces of arithmetic before a frame.
const PIECES: [u32; 2] = [4, 64];
/// Frame times per time of the arithmetic before each, at most: the device is busy for a third of the time or more.
const SHARE: u32 = 2;
/// Times that a frame is measured again at most, and that those of a backend are.
const AGAIN: u32 = 2;
const AGAIN_IN_ALL: u32 = 100;
/// Fraction of the frames that may have another clock than the others.
const FEW: f64 = 0.1;
/// Number of frames at the clock that the device holds from which on a row consists of these alone. With fewer it is
/// unsteady.
const ENOUGH: usize = 8;

/// What measures a frame: a bench, or in tests recorded frames.
pub(super) trait MeasuredFrame {
    /// What keeps the device's clock up; `None` if the frame is not paced.
    fn pacer(&self) -> Option<Pacer<'_>>;

    /// Prepares an attempt: the first, or another one after it.
    fn prepare(&mut self, is_first: bool) -> Result<()>;

    /// Runs the frame; returns its time.
    fn frame(&mut self) -> Result<Duration>;
}

/// Pacing of a backend's frames.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// Pieces before a frame: more after each whose clock was not steady.
    pieces: u32,
    /// Number of times that frames were measured again.
    again: u32,
}

/// A frame that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PacedFrame {
    /// Its time.
    pub time: Duration,
    /// Time of a piece just before or just after it: the longer of both. `None` if it was not paced.
    pub piece: Option<Duration>,
}

impl PacedFrame {
    /// The frame under a number; `None` if it was not paced.
    pub fn clocked(self, frame: u32) -> Option<ClockedFrame> {
        self.piece.map(|piece| ClockedFrame { frame, piece })
    }
}

impl Pacing {
    /// Runs a frame between two measurements of the clock, and again while these show that it was not steady, a bounded
    /// number of times.
    pub fn frame(&mut self, rig: &mut impl MeasuredFrame) -> Result<PacedFrame> {
        let mut attempt = 0;
        loop {
            rig.prepare(attempt == 0)?;
            let before = self.before(rig.pacer())?;
            let time = rig.frame()?;
            let Some((pacer, before)) = rig.pacer().zip(before) else {
                return Ok(PacedFrame { time, piece: None });
            };
            let [after, _] = pacer.pace(1)?;
            let piece = before.max(after);
            self.lengthen(time, pacer.piece());
            let is_steady = pacer.clock(piece) >= STEADY;
            if is_steady || attempt == AGAIN || self.again >= AGAIN_IN_ALL {
                pacer.note(piece);
                return Ok(PacedFrame {
                    time,
                    piece: Some(piece),
                });
            }
            attempt += 1;
            self.again += 1;
            self.pieces = (2 * self.pieces).min(PIECES[1]);
            self.wake(Some(pacer))?;
        }
    }

    /// Wakes the device, unless that failed before.
    pub fn wake(&mut self, pacer: Option<Pacer>) -> Result<()> {
        if let Some(pacer) = pacer
            && self.again < AGAIN_IN_ALL
            && !pacer.wake()?
        {
            // No arithmetic restores the best clock: it is low for another reason, such as heat.
            self.again = AGAIN_IN_ALL;
        }
        Ok(())
    }

    /// Executes the arithmetic before a frame; returns the time of its last piece.
    pub fn before(&mut self, pacer: Option<Pacer>) -> Result<Option<Duration>> {
        let Some(pacer) = pacer else { return Ok(None) };
        let [_, last] = pacer.pace(self.pieces.max(PIECES[0]))?;
        Ok(Some(last))
    }

    /// Keeps the arithmetic long enough for frames of this length.
    fn lengthen(&mut self, frame: Duration, piece: Duration) {
        let wanted = (frame / SHARE).as_nanos() / piece.as_nanos().max(1);
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        self.pieces = self.pieces.max(wanted).clamp(PIECES[0], PIECES[1]);
    }
}

/// A frame, and the time of a piece beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockedFrame {
    /// Number of the frame.
    pub frame: u32,
    /// Time of the piece.
    pub piece: Duration,
}

/// Clocks while a backend was measured.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// Of measured frames.
    pub frames: Vec<ClockedFrame>,
    /// Of frames whose stages are timed by fences.
    pub fenced: Vec<ClockedFrame>,
    /// Of frames with two in flight, all together.
    pub in_flight: Vec<Duration>,
    /// The device's clock at the ends of blocks, in MHz.
    pub megahertz: Vec<u32>,
    /// Times of the processor's chain before blocks.
    pub processor: Vec<Duration>,
}

impl Clocks {
    /// Forgets the frames so far.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// States the device's clock, relative to the one at which a piece takes the time `held`, with all times that contain
    /// its work.
    pub fn state(&mut self, outcome: &mut Outcome, held: Duration) {
        for times in &mut outcome.stages {
            let pieces = match times.clock {
                Clock::Gpu => pieces_of(&self.frames),
                Clock::Fenced if !self.fenced.is_empty() => pieces_of(&self.fenced),
                Clock::Fenced => pieces_of(&self.frames),
                Clock::Wall if times.stage == Stage::Throughput => self.in_flight.clone(),
                Clock::Wall if times.stage.group() == StageGroup::Whole => pieces_of(&self.frames),
                Clock::Wall | Clock::ThreadSum => continue,
            };
            times.device_clock = relative(held, &pieces);
        }
        self.megahertz.sort_unstable();
        outcome.device_mhz = self.megahertz.get(self.megahertz.len() / 2).copied();
    }

    /// Leaves out the frames at other clocks than the one that the device holds, if those at this clock are enough. Clocks
    /// must be stated anew afterwards.
    pub fn keep_held(&mut self, outcome: &mut Outcome, held: Duration) {
        for (clocked, is_fenced) in [(&mut self.frames, false), (&mut self.fenced, true)] {
            let others: HashSet<u32> = clocked
                .iter()
                .filter(|clocked| !is_held(held, clocked.piece))
                .map(|clocked| clocked.frame)
                .collect();
            if others.is_empty() || clocked.len() - others.len() < ENOUGH {
                continue;
            }
            clocked.retain(|clocked| !others.contains(&clocked.frame));
            for times in &mut outcome.stages {
                let is_of_these = (times.clock == Clock::Fenced) == is_fenced;
                if is_of_these && times.stage != Stage::Throughput {
                    let before = times.samples.len();
                    times.samples.retain(|(frame, _)| !others.contains(frame));
                    times.dropped += (before - times.samples.len()) as u32;
                }
            }
        }
    }
}

fn pieces_of(frames: &[ClockedFrame]) -> Vec<Duration> {
    frames.iter().map(|clocked| clocked.piece).collect()
}

/// Returns whether a piece shows the clock at which it takes the time `held`.
fn is_held(held: Duration, piece: Duration) -> bool {
    let clock = held.as_secs_f64() / piece.as_secs_f64().max(1e-9);
    (STEADY..=1.0 / STEADY).contains(&clock)
}

/// The clock of some frames, from the time that a piece of arithmetic took beside each, relative to the one at which it
/// takes the time `held`; `None` without a frame.
pub(super) fn relative(held: Duration, pieces: &[Duration]) -> Option<RelativeClock> {
    let mut clocks: Vec<f64> = pieces
        .iter()
        .map(|piece| held.as_secs_f64() / piece.as_secs_f64().max(1e-9))
        .collect();
    clocks.sort_unstable_by(f64::total_cmp);
    let others = pieces.iter().filter(|piece| !is_held(held, **piece));
    let others = others.count();
    Some(RelativeClock {
        median: clocks.get(clocks.len() / 2).copied()?,
        least: clocks[0],
        is_unsteady: others as f64 > FEW * clocks.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Context;
    use crate::frame::{ClockMeter, Spinner};
    use crate::harness::MachineLimits;
    use crate::harness::environment::{Build, Environment};
    use crate::harness::run::simulated_device_tests::{self as device, Behaviour};
    use crate::harness::run::{StageTimes, Status};
    use crate::registry;
    use crate::report::{Screen, card, run_table, run_text};
    use crate::results::compare::compare;
    use crate::results::{MeasuredScene, Recorded};
    use crate::scene::{DeviceLoad, Scene, Settings};
    use std::cell::Cell;

    /// A frame of tests/fixtures/h100-asleep.csv.
    #[derive(Debug, serde::Deserialize)]
    struct RecordedFrame {
        backend: String,
        #[expect(dead_code, reason = "frames are in their order")]
        frame: u32,
        skin_ns: u64,
        clock_pct: f64,
    }

    /// The frames of a backend on a device that sleeps.
    fn recorded(backend: &str) -> Vec<RecordedFrame> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/h100-asleep.csv"
        );
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_path(path)
            .unwrap();
        let frames = reader.deserialize().map(|row| row.unwrap());
        frames
            .filter(|row: &RecordedFrame| row.backend == backend)
            .collect()
    }

    /// Recorded frames, each at its clock. If the device `wakes`, arithmetic after a frame brings the best clock for the
    /// next attempt.
    struct Replay {
        frames: Vec<RecordedFrame>,
        wakes: bool,
        meter: ClockMeter,
        clock: Cell<f64>,
        /// Number of frames that began, and that ran, with those that were measured again.
        begun: usize,
        ran: usize,
        is_over: Cell<bool>,
    }

    impl Replay {
        fn new(frames: Vec<RecordedFrame>, wakes: bool) -> Self {
            Self {
                frames,
                wakes,
                meter: ClockMeter::default(),
                clock: Cell::new(1.0),
                begun: 0,
                ran: 0,
                is_over: Cell::new(false),
            }
        }

        /// Measures all frames: the result of a backend of this name.
        fn outcome(&mut self, name: &'static str) -> Outcome {
            // The run begins on a device that is awake.
            self.pacer().unwrap().wake().unwrap();
            let mut pacing = Pacing::default();
            let mut clocks = Clocks::default();
            let mut times = StageTimes {
                stage: Stage::Frame,
                ..StageTimes::default()
            };
            for frame in 0..self.frames.len() {
                let kept = pacing.frame(self).unwrap();
                let ns = kept.time.as_nanos() as u64;
                times.samples.push((frame as u32, ns));
                clocks.frames.extend(kept.clocked(frame as u32));
            }
            let mut outcome = Outcome::new(name, 0, Status::Ok);
            outcome.stages.push(times);
            clocks.state(&mut outcome, self.pacer().unwrap().piece());
            outcome
        }
    }

    impl Spinner for Replay {
        fn spin(&self, rounds: u32, pieces: u32) -> Result<[Duration; 2]> {
            if self.wakes && self.is_over.get() && pieces > 1 {
                self.clock.set(1.0);
            }
            let piece = f64::from(rounds) / self.clock.get();
            Ok([Duration::from_nanos(piece as u64); 2])
        }

        fn shortest(&self) -> Duration {
            Duration::from_micros(250)
        }
    }

    impl MeasuredFrame for Replay {
        fn pacer(&self) -> Option<Pacer<'_>> {
            Some(Pacer {
                spinner: self,
                meter: &self.meter,
            })
        }

        fn prepare(&mut self, is_first: bool) -> Result<()> {
            self.is_over.set(false);
            if is_first {
                let recorded = &self.frames[self.begun];
                self.clock.set(recorded.clock_pct / 100.0);
                self.begun += 1;
            }
            Ok(())
        }

        fn frame(&mut self) -> Result<Duration> {
            self.ran += 1;
            self.is_over.set(true);
            let recorded = &self.frames[self.begun - 1];
            let work = recorded.skin_ns as f64 * recorded.clock_pct / 100.0;
            Ok(Duration::from_nanos((work / self.clock.get()) as u64))
        }
    }

    fn low(frames: &[RecordedFrame]) -> usize {
        let is_low = |frame: &&RecordedFrame| frame.clock_pct < 100.0 * STEADY;
        frames.iter().filter(is_low).count()
    }

    fn clock_of(outcome: &Outcome) -> RelativeClock {
        outcome.stages[0].device_clock.unwrap()
    }

    /// A scene, and the machine that measures it.
    fn measured_scene<R>(load: DeviceLoad, use_it: impl FnOnce(&MeasuredScene) -> R) -> R {
        let settings = Settings {
            instances: Some(3),
            device: Some(load),
            ..Settings::default()
        };
        let scene = Scene::load("smoke").unwrap().with(settings);
        let scene = scene.build(1 << 30).unwrap();
        let environment = Environment::collect(Build::default(), &Context::default());
        use_it(&MeasuredScene::new(&environment, &scene))
    }

    /// What `run` prints about results.
    fn said(measured: &MeasuredScene, outcomes: &[Outcome], with_card: bool) -> String {
        let limits = MachineLimits::default();
        let study = run_table::study_of(measured, outcomes);
        let mut text = run_table::measured(measured, &study, &limits, outcomes, Screen::Wide);
        if with_card {
            text += &card::text(&study, Screen::Wide);
        }
        text + &run_text::of_run(&study, with_card)
    }

    /// The same of results of the scene.
    fn table_of(outcomes: &[Outcome]) -> String {
        measured_scene(DeviceLoad::Busy, |measured| said(measured, outcomes, false))
    }

    #[test]
    fn frames_of_a_sleeping_device_are_measured_again_and_the_bound_holds() {
        for backend in ["gpu-compute", "gpu-compute:naive"] {
            let frames = recorded(backend);
            let count = frames.len();
            assert!(low(&frames) > 9 * count / 10, "{backend}");
            let mut replay = Replay::new(frames, true);
            let clock = clock_of(&replay.outcome(backend_name(backend)));
            assert_eq!(replay.ran, count + AGAIN_IN_ALL as usize);
            assert!(clock.is_unsteady && clock.least < 0.5, "{clock:?}");

            let mut replay = Replay::new(recorded(backend), false);
            let clock = clock_of(&replay.outcome(backend_name(backend)));
            assert!(
                replay.ran < count + AGAIN_IN_ALL as usize,
                "it does not wake"
            );
            assert!(clock.is_unsteady, "{clock:?}");
        }
    }

    #[test]
    fn frames_that_are_measured_again_take_the_time_of_an_awake_device() {
        let mut frames = recorded("gpu-compute");
        frames.truncate(AGAIN_IN_ALL as usize);
        let least = recorded("gpu-compute").iter().map(|f| f.skin_ns).min();
        let least = least.unwrap() as f64;
        let again = low(&frames);
        let mut replay = Replay::new(frames, true);
        let outcome = replay.outcome("gpu-compute");
        assert_eq!(replay.ran, AGAIN_IN_ALL as usize + again);
        let clock = clock_of(&outcome);
        assert!(!clock.is_unsteady && clock.least >= STEADY, "{clock:?}");
        let worst = outcome.stages[0].summary().unwrap().max as f64;
        assert!(worst < least / STEADY * 1.001, "{worst} of {least}");
    }

    #[test]
    fn no_verdict_rests_on_an_unsteady_clock() {
        let of = |wakes: bool, backend: &str| {
            let mut frames = recorded(backend);
            frames.truncate(AGAIN_IN_ALL as usize);
            Replay::new(frames, wakes).outcome(backend_name(backend))
        };
        let [shared, naive] = ["gpu-compute", "gpu-compute:naive"];
        let asleep = [of(false, shared), of(false, naive)];
        let text = table_of(&asleep);
        assert!(
            text.contains("No verdict: the device's clock was unsteady."),
            "{text}"
        );
        assert!(
            text.contains("ok, unsteady") && text.contains("unsteady: the device's clock changed"),
            "{text}"
        );
        let awake = [of(true, shared), of(true, naive)];
        let text = table_of(&awake);
        assert!(
            text.contains("gpu-compute is fastest") && !text.contains("unsteady"),
            "{text}"
        );
        let results = |outcomes: &[Outcome]| {
            measured_scene(DeviceLoad::Busy, |measured| Recorded {
                rows: outcomes
                    .iter()
                    .flat_map(|outcome| measured.rows(outcome))
                    .collect(),
                ..Recorded::default()
            })
        };
        let compared = compare(&results(&awake), &results(&asleep), 0.02);
        assert_eq!(compared.compared(), 0, "{compared:?}");
        assert!(compared.rows.iter().all(|row| {
            row.change == Err("the device's clock was unsteady in the new results".into())
        }));
        assert_eq!(
            compare(&results(&awake), &results(&awake), 0.02).compared(),
            2,
            "a steady clock"
        );
    }

    fn backend_name(name: &str) -> &'static str {
        registry::find(name).unwrap().name
    }

    /// Outcomes on the simulated device, and what `run` says about them.
    fn simulated(load: DeviceLoad) -> (Vec<Outcome>, String) {
        measured_scene(load, |measured| {
            let outcomes = device::run(measured.scene, 40, Behaviour::Sleepy);
            let text = said(measured, &outcomes, true);
            println!("{text}");
            (outcomes, text)
        })
    }

    #[test]
    fn a_sleepy_device_is_measured_awake_if_it_is_kept_busy() {
        let (outcomes, text) = simulated(DeviceLoad::Busy);
        assert_eq!(outcomes.len(), 2);
        for outcome in &outcomes {
            assert_eq!(outcome.problem, None);
            let skin = outcome.median(Stage::Skin).unwrap() as f64;
            let ratio = skin / device::work_of(outcome.name);
            assert!((0.98..1.02).contains(&ratio), "{ratio}");
            for times in &outcome.stages {
                let has_clock = times.clock != Clock::ThreadSum;
                assert_eq!(times.device_clock.is_some(), has_clock, "{times:?}");
                assert!(times.device_clock.is_none_or(|clock| !clock.is_unsteady));
            }
            assert!(outcome.device_mhz > Some(1_900), "{outcome:?}");
        }
        assert_eq!(text.matches("clock %").count(), 2, "table and card: {text}");
        assert!(!text.contains("unsteady"), "{text}");
    }

    /// A device whose clock changes during the run. The second backend has 5 % more work on it.
    fn changing(behaviour: Behaviour) -> (Vec<Outcome>, String) {
        measured_scene(DeviceLoad::Busy, |measured| {
            let outcomes = device::run(measured.scene, 400, behaviour);
            let text = said(measured, &outcomes, false);
            println!("{behaviour:?}: {text}");
            (outcomes, text)
        })
    }

    #[test]
    fn backends_rank_rightly_whatever_the_clock_does() {
        for behaviour in Behaviour::CHANGING {
            let (outcomes, text) = changing(behaviour);
            let median = |name: &str| {
                let mut all = outcomes.iter();
                let outcome = all.find(|outcome| outcome.name == name).unwrap();
                outcome.median(Stage::Skin).unwrap() as f64
            };
            let ratio = median("simulated:more") / median("simulated");
            assert!((1.03..1.07).contains(&ratio), "{behaviour:?}: {ratio}");
            for outcome in &outcomes {
                assert_eq!(outcome.problem, None);
                let frames = outcome.stages.last().unwrap();
                let is_unsteady = frames.device_clock.unwrap().is_unsteady;
                let said = ["left out", "unsteady"].map(|word| text.contains(word));
                assert_eq!(said, [frames.dropped > 0, is_unsteady], "{behaviour:?}");
            }
        }
    }

    #[test]
    fn a_device_that_settles_is_measured_at_the_clock_that_it_holds() {
        let (outcomes, text) = changing(Behaviour::Boost);
        for outcome in &outcomes {
            let frames = outcome.stages.last().unwrap();
            assert!((1..392).contains(&frames.dropped), "{}", frames.dropped);
            let clock = frames.device_clock.unwrap();
            assert!(!clock.is_unsteady && clock.least >= STEADY, "{clock:?}");
        }
        let skin = outcomes[0].median(Stage::Skin).unwrap() as f64;
        let held = device::WORK / device::SETTLED;
        assert!((0.98..1.02).contains(&(skin / held)), "{skin} of {held}");
        assert!(text.contains("simulated is fastest"), "{text}");
    }

    #[test]
    fn a_sleepy_device_is_recognised_if_it_is_left_idle() {
        let (outcomes, text) = simulated(DeviceLoad::Idle);
        for outcome in &outcomes {
            let skin = outcome.median(Stage::Skin).unwrap() as f64;
            assert!(skin > 1.5 * device::WORK, "{skin}");
            let frames = outcome.stages.last().unwrap();
            let clock = frames.device_clock.unwrap();
            assert!(clock.is_unsteady && clock.median < 0.9, "{clock:?}");
            assert!(outcome.device_mhz < Some(1_900), "{outcome:?}");
        }
        assert!(text.contains("No verdict"), "{text}");
    }
}
