//! A simulated device for tests, in simulated time. Frames of a backend on it take 0.15 ms on the host, then 0.2 ms on the
//! device at its best clock.

use super::contest::{Contest, Depth};
use super::options::RunOptions;
use super::outcome::Outcome;
use crate::backend::altered_tests::Altered;
use crate::backend::cpu::Cpu;
use crate::backend::cpu_kernels::SCALAR;
use crate::backend::{Backend, Context, Prepared, Ticket};
use crate::frame::{
    Clock, ClockMeter, FrameInput, FrameWork, Pacer, Result, Spinner, Stage, StageTime, StageTimer,
};
use crate::harness::DeviceSide;
use crate::registry::{BackendEntry, Constructor};
use crate::scene::BuiltScene;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What the device's clock does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It sleeps after 0.2 ms of idleness, and wakes slowly.
    Sleepy,
    /// It boosts for a while, and then holds a lower clock.
    Boost,
    /// It falls slowly and jumps up again.
    SawTooth,
    /// It falls for as long as the run lasts.
    Drift,
    /// Other processes halve it now and then.
    Steps,
}

impl Behaviour {
    /// Those that change by themselves, whatever the harness does.
    pub const CHANGING: [Self; 4] = [Self::Boost, Self::SawTooth, Self::Drift, Self::Steps];

    /// The clock at a time in nanoseconds, relative to the best; `None` if it depends on work.
    fn clock(self, now: f64) -> Option<f64> {
        let seconds = now / 1e9;
        match self {
            Self::Sleepy => None,
            Self::Boost => Some(if seconds < 1.4 { 1.0 } else { SETTLED }),
            Self::SawTooth => Some(1.0 - 0.3 * (seconds / 0.05).fract()),
            Self::Drift => Some((1.0 - 0.05 * seconds).max(0.4)),
            Self::Steps => Some(if seconds.fract() < 0.2 { 0.5 } else { 1.0 }),
        }
    }
}

/// The clock that a device holds after its boost.
pub(super) const SETTLED: f64 = 0.6;
/// Nanoseconds of idleness after which the device sleeps, and of work in which it wakes.
const DOZING: f64 = 200e3;
const WAKING: f64 = 2e6;
/// Its clock when it has just slept, relative to the best.
const ASLEEP: f64 = 0.2;
/// Nanoseconds of a frame on the host, and on the device at its best clock.
const HOST: f64 = 150e3;
pub(super) const WORK: f64 = 200e3;
const MORE_WORK: f64 = 1.05 * WORK;
/// Nanoseconds of the host for each submission of arithmetic, and for reading times.
const SUBMISSION: f64 = 20e3;
const READING: f64 = 60e3;
/// Nanoseconds by which the simulation advances.
const STEP: f64 = 1e3;

/// The device and the host's time.
pub(super) struct Simulation {
    behaviour: Behaviour,
    start: Instant,
    /// Nanoseconds since then.
    now: Cell<f64>,
    idle_since: Cell<f64>,
    clock: Cell<f64>,
    meter: ClockMeter,
    spans: RefCell<Vec<StageTime>>,
    dispatches: Cell<u64>,
}

thread_local! {
    /// The simulation of this thread's test.
    static CURRENT: RefCell<Rc<Simulation>> = RefCell::new(Rc::new(Simulation::new(Behaviour::Sleepy)));
}

fn current() -> Rc<Simulation> {
    CURRENT.with_borrow(Rc::clone)
}

impl Simulation {
    fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            start: Instant::now(),
            now: Cell::new(0.0),
            idle_since: Cell::new(0.0),
            clock: Cell::new(ASLEEP),
            meter: ClockMeter::default(),
            spans: RefCell::default(),
            dispatches: Cell::default(),
        }
    }

    fn pass(&self, nanoseconds: f64) {
        self.now.set(self.now.get() + nanoseconds);
    }

    /// Executes work of so many nanoseconds at the best clock; returns the time that it takes.
    fn execute(&self, work: f64) -> f64 {
        let start = self.now.get();
        if start - self.idle_since.get() > DOZING {
            self.clock.set(ASLEEP);
        }
        let mut left = work;
        while left > 0.0 {
            let own = self.behaviour.clock(self.now.get());
            let clock = own.unwrap_or_else(|| self.clock.get());
            let done = left.min(STEP * clock);
            left -= done;
            self.pass(done / clock);
            let woken = clock + (1.0 - ASLEEP) * STEP / WAKING;
            self.clock.set(woken.min(1.0));
        }
        self.idle_since.set(self.now.get());
        self.now.get() - start
    }
}

impl Spinner for Simulation {
    fn spin(&self, rounds: u32, pieces: u32) -> Result<[Duration; 2]> {
        self.pass(SUBMISSION);
        let times: Vec<Duration> = (0..pieces)
            .map(|_| Duration::from_nanos(self.execute(rounds.into()) as u64))
            .collect();
        Ok([times[0], times[times.len() - 1]])
    }

    fn shortest(&self) -> Duration {
        Duration::from_micros(250)
    }
}

/// The simulated device's side of the harness.
pub(super) struct SimulatedSide(Rc<Simulation>);

impl DeviceSide for SimulatedSide {
    fn now(&self) -> Instant {
        self.0.start + Duration::from_nanos(self.0.now.get() as u64)
    }

    fn pacer(&self) -> Option<Pacer<'_>> {
        Some(Pacer {
            spinner: &*self.0,
            meter: &self.0.meter,
        })
    }

    fn megahertz_reader(&self) -> Option<Box<dyn Fn() -> Option<u32>>> {
        let simulation = Rc::clone(&self.0);
        Some(Box::new(move || {
            Some((simulation.clock.get() * 1_980.0) as u32)
        }))
    }

    fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        timer.spans.append(&mut self.0.spans.borrow_mut());
        self.0.pass(READING);
        Ok(())
    }

    fn take_work(&self) -> FrameWork {
        FrameWork {
            dispatches: self.0.dispatches.take(),
            ..FrameWork::default()
        }
    }
}

/// Runs a frame, and passes its time on the simulated device.
fn submit(
    prepared: &mut dyn Prepared,
    frame: &mut FrameInput,
    _: &mut StageTimer,
) -> Result<Ticket> {
    work(prepared, frame, WORK)
}

/// As [`submit`], with 5 % more work.
fn submit_more(
    prepared: &mut dyn Prepared,
    frame: &mut FrameInput,
    _: &mut StageTimer,
) -> Result<Ticket> {
    work(prepared, frame, MORE_WORK)
}

fn work(prepared: &mut dyn Prepared, frame: &mut FrameInput, work: f64) -> Result<Ticket> {
    prepared.submit(frame, &mut StageTimer::default())?;
    let simulation = current();
    simulation.pass(HOST);
    let time = simulation.execute(work);
    simulation.spans.borrow_mut().push(StageTime {
        stage: Stage::Skin,
        clock: Clock::Gpu,
        ns: Some(time as u64),
    });
    simulation.dispatches.set(simulation.dispatches.get() + 1);
    Ok(Ticket::default())
}

/// `cpu-scalar`, but all time passes on the simulated device.
fn create(context: &Context) -> Box<dyn Backend> {
    Box::new(Altered {
        backend: Cpu::one_thread(&[&SCALAR], context),
        submit,
    })
}

fn create_more(context: &Context) -> Box<dyn Backend> {
    Box::new(Altered {
        backend: Cpu::one_thread(&[&SCALAR], context),
        submit: submit_more,
    })
}

/// Two backends of the simulated device.
static BACKENDS: [BackendEntry; 2] = [
    Constructor::Function(&create).named("simulated", "for tests"),
    Constructor::Function(&create_more).named("simulated:more", "for tests"),
];

/// Nanoseconds of a frame of a backend on the device at its best clock.
pub(super) fn work_of(backend: &str) -> f64 {
    if backend == BACKENDS[0].name {
        WORK
    } else {
        MORE_WORK
    }
}

/// Runs both backends on a simulated device.
pub(super) fn run(scene: &BuiltScene, frames: u32, behaviour: Behaviour) -> Vec<Outcome> {
    CURRENT.set(Rc::new(Simulation::new(behaviour)));
    let options = RunOptions {
        backends: BACKENDS.iter().collect(),
        frames: Some(frames),
        ..RunOptions::default()
    };
    let context = Context::default();
    let mut observer = ();
    let mut contest = Contest::new(scene, &context, &options, &mut observer, Depth::Measured);
    contest.open_device = |_| Box::new(SimulatedSide(current()));
    contest.all().expect("nothing is written")
}
