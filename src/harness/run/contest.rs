//! The course of a run: which backends run together, what admits them, and in which order they are measured.

use super::audit::Auditor;
use super::bench::{Bench, Contender};
use super::demand::{Demand, crowd_for};
use super::observer::{Observer, Step};
use super::options::RunOptions;
use super::order::{Order, Pace, WarmUp, Window};
use super::outcome::{Floor, Outcome, StageTimes, Status};
use crate::backend::{Backend, Context};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Clock, Footprint, FrameInput, Memory, Result, Stage, StageTimer};
use crate::harness::picture::depth_difference;
use crate::harness::{Coverage, DeviceSide, Limits, Parity, SAMPLED, Tolerance, gameplay, opened_device, parity};
use crate::reference::Blending;
use crate::registry::BackendEntry;
use crate::scene::BuiltScene;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::ops::Range;
use std::time::Duration;

/// Ticks of the verified frames: the first two, one a little later, and one after almost five hours.
const VERIFIED_TICKS: [u32; 4] = [0, 1, 97, 1_000_003];
/// Number of samples per stage for which memory is reserved before the first frame, however many `--frames` asks for.
const ROOM: u32 = 1 << 16;
/// Fraction of a backend's work that its verification counts for in the progress.
const VERIFYING: f64 = 0.3;
/// Time from which a frame is so long that an audit before it makes no difference: what an audit displaces from the
/// caches is read again in less than a hundredth of it.
const LONG_FRAME: Duration = Duration::from_millis(25);
/// Frames before an audited one whose vertices are recognised.
const RECOGNISED: u32 = 10;

/// Last step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Verified,
    Measured,
}

/// A backend that this machine can run.
struct Candidate<'a> {
    /// Index in the options' backends.
    index: usize,
    entry: &'static BackendEntry,
    /// As [`crowd_for`] says.
    crowd: &'a Crowd,
    backend: Box<dyn Backend>,
    footprint: Footprint,
}

/// A run of some backends on a scene.
pub(super) struct Contest<'a> {
    scene: &'a BuiltScene,
    context: &'a Context,
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    depth: Depth,
    demand: Demand,
    pace: Pace,
    first_depths: Option<Vec<f32>>,
    limits: Limits,
    auditor: Auditor,
    /// One per backend of the options, once it is finished.
    outcomes: Vec<Option<Outcome>>,
}

impl<'a> Contest<'a> {
    pub fn new(
        scene: &'a BuiltScene,
        context: &'a Context,
        options: &'a RunOptions,
        observer: &'a mut dyn Observer,
        depth: Depth,
    ) -> Self {
        let demand = Demand::new(context, scene);
        let by_software = demand.shared.device_is_host && demand.passes > 0;
        let pace = match (options.sustain, options.frames) {
            (Some(time), _) => Pace::Sustained(time),
            (None, Some(frames)) => Pace::Frames(frames),
            (None, None) if options.brief_on_software && by_software => Pace::Brief,
            (None, None) => Pace::Full,
        };
        let outcomes = vec![None; options.backends.len()];
        let limits = Limits::new(context.isa);
        let auditor = Auditor::new(options.seed.unwrap_or_else(|| RandomState::new().hash_one(0)));
        Self { scene, context, options, observer, depth, demand, pace, first_depths: None, limits, auditor, outcomes }
    }

    pub fn all(mut self) -> io::Result<Vec<Outcome>> {
        let candidates = self.candidates()?;
        let (first, second) = match self.pace {
            // What a software adapter draws takes long; the processor's own rows need not wait for all of it.
            Pace::Brief => candidates.into_iter().partition(|candidate| candidate.footprint.host_output),
            Pace::Frames(_) | Pace::Full | Pace::Sustained(_) => (candidates, Vec::new()),
        };
        for candidates in [first, second] {
            let limit = self.options.memory();
            for rotation in self.demand.shared.rotations(candidates, |candidate| &candidate.footprint, limit) {
                if !self.observer.interrupted() {
                    self.rotation(rotation)?;
                }
            }
        }
        Ok(self.outcomes.into_iter().flatten().collect())
    }

    /// Creates the backends; those that the machine cannot run are finished immediately.
    fn candidates(&mut self) -> io::Result<Vec<Candidate<'a>>> {
        let mut candidates = Vec::new();
        for (index, &entry) in self.options.backends.iter().enumerate() {
            let created = entry.create(self.context).and_then(|backend| {
                let crowd = crowd_for(self.scene, entry)?;
                let footprint = backend.footprint(crowd, &self.demand.job)?;
                self.demand.shared.check(&footprint, self.options.memory())?;
                Ok(Candidate { index, entry, crowd, backend, footprint })
            });
            match created {
                Ok(candidate) => candidates.push(candidate),
                Err(error) => self.fail(index, None, error)?,
            }
        }
        Ok(candidates)
    }

    fn rotation(&mut self, candidates: Vec<Candidate<'a>>) -> io::Result<()> {
        let mut bench = match self.bench(&candidates) {
            Ok(bench) => bench,
            Err(error) => return candidates.into_iter().try_for_each(|c| self.fail(c.index, None, error.clone())),
        };
        let mut verified = Vec::with_capacity(candidates.len());
        for Candidate { index, entry, crowd, backend, .. } in candidates {
            if self.observer.interrupted() {
                return Ok(());
            }
            let done = self.done(verified.len(), 0.0);
            let step = Step { activity: "verifying", backend: Some(entry.name), parity: None, done };
            self.observer.progress(&step);
            bench.device.work_for(entry.name);
            let prepared = match backend.prepare(crowd, &self.demand.job) {
                Ok(prepared) => prepared,
                Err(error) => {
                    self.fail(index, None, error)?;
                    continue;
                }
            };
            let outcome = self.outcome(index, Status::Ok, None, None);
            let (warm_up, spent) = (WarmUp::default(), Default::default());
            let mut contender = Contender { index, entry, crowd, prepared, outcome, warm_up, spent };
            match self.gate(&mut contender, &mut bench) {
                Ok(None) => verified.push(contender),
                Ok(Some((status, problem))) => self.finish_with(contender, status, Some(problem))?,
                Err(error) => self.fail(contender.index, contender.outcome.parity, error)?,
            }
        }
        match self.depth {
            Depth::Verified => verified.into_iter().try_for_each(|c| self.finish_with(c, Status::Ok, None)),
            Depth::Measured => self.measure(verified, &mut bench),
        }
    }

    /// Allocates the resources that the backends of a rotation share.
    fn bench(&self, candidates: &[Candidate]) -> Result<Bench> {
        let mut device = opened_device::open(self.context);
        device.present(self.scene, self.demand.passes)?;
        let footprints: Vec<_> = candidates.iter().map(|candidate| candidate.footprint).collect();
        let arena = self.demand.shared.arena(&*device, &self.scene.crowd, self.demand.job.keep, &footprints)?;
        Ok(Bench::new(arena, device, &self.context.threads, self.options))
    }

    /// Compares a backend's vertices and its picture. Returns why it may not be measured.
    fn gate(&mut self, contender: &mut Contender, bench: &mut Bench) -> Result<Option<(Status, String)>> {
        let refusal = bench.device.refusal(&*contender.prepared);
        if let Some(refusal) = refusal.filter(|_| self.depth == Depth::Measured) {
            return Ok(Some((Status::Skipped, refusal.into())));
        }
        let coverage = self.coverage(contender, &*bench.device)?;
        let tolerance = self.tolerance(contender.crowd);
        let (backend, arena) = (&mut *contender.prepared, &mut bench.arena);
        let parity = parity::verify(backend, self.context, contender.crowd, arena, &coverage, tolerance)?;
        let mut failure = parity.failure.clone();
        contender.outcome.parity = Some(parity);
        if failure.is_none() {
            failure = self.gameplay_failure(contender, bench)?;
        }
        if failure.is_none() && refusal.is_none() && !contender.prepared.times_itself() {
            let time = bench.frame(contender, VERIFIED_TICKS[0])?;
            contender.warm_up.record(time);
            failure = self.picture_failure(contender, &*bench.device)?;
        }
        Ok(failure.map(|failure| (Status::ParityFailed, failure)))
    }

    /// Ticks and instances on which a backend is verified.
    fn coverage(&self, contender: &Contender, device: &dyn DeviceSide) -> Result<Coverage> {
        let coverage = match self.depth {
            Depth::Verified => Coverage::all(contender.crowd, &VERIFIED_TICKS),
            Depth::Measured => {
                let mut also = device.chunk_ends(contender.crowd)?;
                // Of each model and level that the scene shows.
                if let Some(levels) = self.scene.levels.as_ref().filter(|_| contender.entry.chooses_levels()) {
                    let chosen: Vec<u32> = levels.chosen().collect();
                    let shown = self.scene.crowd.groups().iter().flat_map(|group| parity::spread(group, SAMPLED));
                    also.extend(shown.map(|instance| chosen[instance as usize]));
                }
                Coverage::sampled(contender.crowd, &VERIFIED_TICKS, &also)
            }
        };
        Ok(Coverage { frustum: self.demand.job.frustum, eye: self.demand.job.eye, ..coverage })
    }

    /// The first difference of bounds and sockets from the reference, if they are read.
    fn gameplay_failure(&self, contender: &mut Contender, bench: &mut Bench) -> Result<Option<String>> {
        let Some(gameplay) = &self.scene.gameplay else { return Ok(None) };
        let (backend, crowd) = (&mut *contender.prepared, &self.scene.crowd);
        for tick in VERIFIED_TICKS {
            let mut frame = FrameInput { crowd, tick, arena: &mut bench.arena };
            backend.submit(&mut frame, &mut StageTimer::default())?.finish()?;
            let read = backend.read_gameplay()?;
            let failure = gameplay::failure(crowd, gameplay, read, backend.approximation(), tick);
            if failure.is_some() {
                return Ok(failure);
            }
        }
        Ok(None)
    }

    /// The difference of the last frame's picture from the first backend's, unless the backend's vertices differ on
    /// purpose.
    fn picture_failure(&mut self, contender: &Contender, device: &dyn DeviceSide) -> Result<Option<String>> {
        let backend = &contender.prepared;
        let exact = backend.blending() == Blending::Linear && backend.approximation().is_none();
        let Some(depths) = device.depths()?.filter(|_| exact) else { return Ok(None) };
        let difference = depth_difference(self.first_depths.as_ref().unwrap_or(&depths), &depths);
        if difference.is_none() {
            self.first_depths.get_or_insert(depths);
        }
        Ok(difference)
    }

    /// Warms up, then measures the backends in alternation.
    fn measure(&mut self, contenders: Vec<Contender>, bench: &mut Bench) -> io::Result<()> {
        self.measure_limits(&contenders, &*bench.device);
        let (mut estimates, mut racing) = (Vec::new(), Vec::new());
        let at_hand = contenders.len();
        for mut contender in contenders {
            self.tell("warming up", &contender, self.done(at_hand, 0.0));
            match bench.warm_up(&mut contender, || self.observer.interrupted()) {
                Ok(()) => {
                    estimates.push(contender.warm_up.estimate());
                    racing.push(Some(contender));
                }
                Err(error) => self.fail(contender.index, contender.outcome.parity, error)?,
            }
        }
        let mut schedule = Order::new(self.pace, estimates);
        for contender in racing.iter_mut().flatten() {
            self.prepare_times(contender, &*bench.device);
        }
        let mut window = Window::First;
        while let Some((index, frames)) = schedule.next_block() {
            if window != schedule.window() {
                if window == Window::First && schedule.window() == Window::Between {
                    self.observer.first_window_ended();
                    racing.iter_mut().flatten().for_each(Contender::end_first_window);
                }
                window = schedule.window();
                racing.iter_mut().flatten().for_each(Contender::clear_times);
            }
            if window == Window::Between {
                racing[index].iter_mut().for_each(Contender::clear_times);
            }
            let at_hand = racing.iter().flatten().count();
            let Some(mut contender) = racing[index].take() else { break };
            self.tell("measuring", &contender, self.done(at_hand, schedule.progress()));
            let measured = self.measure_block(&mut contender, bench, &mut schedule, index, frames);
            match measured {
                Ok(Some(wrong)) => {
                    schedule.retire(index);
                    contender.outcome.stages.clear();
                    contender.outcome.resources = None;
                    self.finish_with(contender, Status::ParityFailed, Some(wrong))?;
                }
                Ok(None) if schedule.is_done(index) => self.finish_with(contender, Status::Ok, None)?,
                Ok(None) => racing[index] = Some(contender),
                Err(error) => {
                    schedule.retire(index);
                    self.fail(contender.index, contender.outcome.parity, error)?;
                }
            }
            if self.observer.interrupted() {
                break;
            }
        }
        // After an interruption, backends that have samples keep them.
        let measured = |c: &Contender| c.outcome.stages.iter().any(|s| !s.samples.is_empty());
        racing.into_iter().flatten().filter(measured).try_for_each(|c| self.finish_with(c, Status::Ok, None))
    }

    /// Measures a block of frames, or its beginning up to a frame that is audited. Returns what an audit found wrong.
    fn measure_block(
        &mut self,
        contender: &mut Contender,
        bench: &mut Bench,
        schedule: &mut Order,
        index: usize,
        frames: Range<u32>,
    ) -> Result<Option<String>> {
        let (frames, chosen) = self.auditor.cut(frames);
        let record = |frame| schedule.record(index, frame);
        let measured = bench.block(contender, frames.clone(), || self.observer.interrupted(), record)?;
        let is_last = schedule.is_done(index);
        if measured == frames && (chosen || is_last) {
            let last = frames.end - 1;
            let wrong = self.audit(contender, bench, last)?;
            if wrong.is_some() {
                return Ok(wrong);
            }
            if schedule.mean(index) < LONG_FRAME {
                // The next frame that is recorded finds the caches as if nothing had been read back.
                bench.again(contender, last)?;
            }
        }
        if contender.prepared.times_itself() {
            return Ok(None);
        }
        if let Some(last) = measured.clone().next_back() {
            bench.counted_frame(contender, last)?;
        }
        bench.fenced_frames(contender, measured)?;
        if is_last
            && matches!(self.pace, Pace::Frames(_) | Pace::Full)
            && !self.options.disturbance.cold
            && let Some(last) = bench.throughput(contender, schedule.mean(index), self.pace.most())?
        {
            return self.audit(contender, bench, last);
        }
        Ok(None)
    }

    /// The tolerance of backends that state no error.
    fn tolerance(&self, crowd: &Crowd) -> Tolerance {
        self.options.tolerance.unwrap_or_else(|| Tolerance::of(crowd.format()))
    }

    /// Compares some vertices of the last frame with the reference of its tick. Returns what is wrong.
    fn audit(&mut self, contender: &mut Contender, bench: &mut Bench, tick: u32) -> Result<Option<String>> {
        let (backend, crowd) = (&mut *contender.prepared, contender.crowd);
        let instances = self.auditor.instances(crowd, backend.visible()?.as_deref());
        let coverage = Coverage {
            ticks: vec![tick],
            instances: instances.into_iter().map(|instance| instance..instance + 1).collect(),
            frustum: self.demand.job.frustum,
            eye: self.demand.job.eye,
        };
        let before = (1..=RECOGNISED).filter_map(|back| tick.checked_sub(back));
        let earlier: Vec<u32> = before.chain(VERIFIED_TICKS).filter(|earlier| *earlier != tick).collect();
        let wrong = parity::audit(backend, crowd, &bench.arena, &coverage, tick, &earlier, self.tolerance(crowd))?;
        Ok(wrong.map(|what| format!("measured frame {tick}: {what}")))
    }

    /// Measures the machine's limits for the stages' traffic.
    fn measure_limits(&mut self, contenders: &[Contender], device: &dyn DeviceSide) {
        let done = self.done(contenders.len(), 0.0);
        self.observer.progress(&Step { activity: "measuring", backend: None, parity: None, done });
        for traffic in contenders.iter().flat_map(|c| c.prepared.traffic(c.crowd)) {
            if matches!(traffic.memory, Memory::Device | Memory::Upload) && self.limits.device.is_none() {
                // A bandwidth that was not measured sets no limit.
                self.limits.device = device.bandwidths();
            }
            self.limits.of(&traffic, &self.context.threads);
        }
    }

    /// Empties a backend's times, makes room for those to come, and adds the least that each stage could take.
    fn prepare_times(&mut self, contender: &mut Contender, device: &dyn DeviceSide) {
        contender.clear_times();
        for stage in &mut contender.outcome.stages {
            stage.samples.reserve_exact(self.pace.most().min(ROOM) as usize);
        }
        for traffic in contender.prepared.traffic(contender.crowd) {
            let limit = self.limits.of(&traffic, &self.context.threads);
            let on_host = matches!(traffic.memory, Memory::Host { .. });
            let clock = if on_host { Clock::Wall } else { device.clock().label() };
            let times = |s: &&mut StageTimes| (s.stage, s.clock) == (traffic.stage, clock);
            if let (Some(limit), Some(times)) = (limit, contender.outcome.stages.iter_mut().find(times)) {
                times.floor = Some(Floor { bytes: traffic.bytes(), limit: limit as u64 });
            }
        }
    }

    fn tell(&mut self, activity: &'static str, contender: &Contender, done: f64) {
        let (backend, parity) = (Some(contender.entry.name), contender.outcome.parity.as_ref());
        self.observer.progress(&Step { activity, backend, parity, done });
    }

    /// Fraction of the scene's work that is done, when `at_hand` backends are verified and measured to `measured`.
    fn done(&self, at_hand: usize, measured: f64) -> f64 {
        let finished = self.outcomes.iter().flatten().count() as f64;
        let verifying = if self.depth == Depth::Verified { 1.0 } else { VERIFYING };
        let at_hand = at_hand as f64 * (verifying + (1.0 - verifying) * measured);
        ((finished + at_hand) / self.outcomes.len().max(1) as f64).min(1.0)
    }

    fn fail(&mut self, index: usize, parity: Option<Parity>, error: BackendError) -> io::Result<()> {
        let status = match error {
            BackendError::Unavailable(_) => Status::Skipped,
            BackendError::TooLarge(_) => Status::TooLarge,
            BackendError::Device(_) | BackendError::Failed(_) => Status::Error,
        };
        let outcome = self.outcome(index, status, Some(error.to_string()), parity);
        self.finish(index, outcome)
    }

    fn finish_with(&mut self, contender: Contender, status: Status, problem: Option<String>) -> io::Result<()> {
        let Contender { index, prepared, mut outcome, .. } = contender;
        (outcome.status, outcome.problem) = (status, problem);
        (outcome.device, outcome.gameplay_delay) = (prepared.device(), prepared.gameplay_delay());
        drop(prepared);
        // The frame's time is written last, so that its presence marks a complete group of rows.
        outcome.stages.sort_by_key(|s| ((s.stage, s.clock) == (Stage::Frame, Clock::Wall), s.stage, s.clock));
        self.finish(index, outcome)
    }

    /// An outcome without times.
    fn outcome(&self, index: usize, status: Status, problem: Option<String>, parity: Option<Parity>) -> Outcome {
        let entry = self.options.backends[index];
        let outcome = Outcome::new(entry.name, self.demand.passes, status);
        Outcome { owner: entry.owner, disturbance: self.options.disturbance, problem, parity, ..outcome }
    }

    fn finish(&mut self, index: usize, outcome: Outcome) -> io::Result<()> {
        self.observer.finished(&outcome)?;
        self.outcomes[index] = Some(outcome);
        Ok(())
    }
}
