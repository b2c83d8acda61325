//! Verifies backends on a scene and measures those that pass.
//!
//! Backends that fit in memory together form a rotation. Each is prepared and compared with the reference, its picture
//! is compared with those of the others, and it is warmed up. Then they alternate in blocks of frames.

use super::limits::Limits;
use super::order::{Order, WarmUp};
use super::parity::{self, Coverage, Parity, SAMPLED, Tolerance};
use super::rotation::{BackendMemory, SharedMemory, rotations};
use super::screen::{Screen, depth_difference};
use super::stats::Summary;
use super::thread_clocks::ThreadClocks;
use crate::backend::{Backend, Context, Prepared, Ticket};
use crate::crowd::Crowd;
use crate::frame::{
    Arena, BackendError, Blending, Clock, DeviceClock, Footprint, FrameInput, FrameWork, Job, Memory, Result,
    Retention, Span, Stage, StageTimer,
};
use crate::frustum::Frustum;
use crate::registry::BackendEntry;
use crate::scene::BuiltScene;
use crate::wording;
use bytesize::ByteSize;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::time::{Duration, Instant};

/// Ticks of the verified frames: the first two, one a little later, and one after almost five hours.
const VERIFIED_TICKS: [u32; 4] = [0, 1, 97, 1_000_003];
/// Time for frames with two in flight, and their smallest and largest number.
const THROUGHPUT: Duration = Duration::from_secs(1);
const THROUGHPUT_FRAMES: RangeInclusive<u32> = 3..=100;
/// Most samples of a stage that have room before the first frame; more would be memory that `--frames` asks for.
const ROOM: u32 = 1 << 16;
/// Fraction of a backend's work that its verification counts for in the progress.
const VERIFYING: f64 = 0.25;

/// Options of a run. By default there are no backends, and memory is not limited.
#[derive(Clone)]
pub struct RunOptions {
    /// The backends, in the order of the results.
    pub backends: Vec<&'static BackendEntry>,
    /// Measured frames of each; by default as many as fit 2 s, 5 to 200.
    pub frames: Option<u32>,
    /// Largest differences from the reference; by default those of [`Tolerance::of`] the scene's vertex format.
    pub tolerance: Option<Tolerance>,
    /// Bytes of main memory that may be used.
    pub memory: u64,
    /// The skinned vertices that stay on the device.
    pub keep: Retention,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { backends: Vec::new(), frames: None, tolerance: None, memory: u64::MAX, keep: Retention::Frame }
    }
}

/// Status of a backend after a run. Its serialised form is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Status {
    /// Verified, and measured unless the run only verifies.
    Ok,
    /// The machine or the options do not allow it to run.
    Skipped,
    /// Its vertices or its picture are wrong; it has no times.
    ParityFailed,
    /// It does not fit in memory.
    TooLarge,
    /// It failed during the run.
    Error,
}

impl Status {
    const ALL: [Self; 5] = [Self::Ok, Self::Skipped, Self::ParityFailed, Self::TooLarge, Self::Error];

    /// Name in tables and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::ParityFailed => "parity_failed",
            Self::TooLarge => "too_large",
            Self::Error => "error",
        }
    }
}

impl From<Status> for &'static str {
    fn from(status: Status) -> Self {
        status.name()
    }
}

impl TryFrom<String> for Status {
    type Error = String;

    fn try_from(name: String) -> std::result::Result<Self, String> {
        wording::named("status", &name, &Self::ALL, Self::name)
    }
}

/// A stage's times by one clock, frame by frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageTimes {
    /// The stage.
    pub stage: Stage,
    /// Clock that measured it.
    pub clock: Clock,
    /// Frame numbers and nanoseconds.
    pub samples: Vec<(u32, u64)>,
    /// Frames left out because the clock gave a zero or negative difference.
    pub dropped: u32,
    /// Bytes that the stage must move and the machine's bandwidth; `None` where these are not known.
    pub floor: Option<Floor>,
}

/// The least time that a stage could take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    /// Bytes per frame.
    pub bytes: u64,
    /// Bytes per second that the machine moved in this run, in the stage's mix of reading and writing.
    pub limit: u64,
}

impl Floor {
    /// The least time in nanoseconds.
    pub fn ns(self) -> f64 {
        self.bytes as f64 * 1e9 / self.limit as f64
    }
}

impl StageTimes {
    /// Bandwidth reached in the median, in percent of the limit.
    pub fn percent_of_limit(&self) -> Option<f64> {
        Some(100.0 * self.floor?.ns() / self.summary()?.median as f64)
    }

    /// Median and spread; `None` without a sample.
    pub fn summary(&self) -> Option<Summary> {
        Summary::of(self.samples.iter().map(|&(_, ns)| ns))
    }
}

/// Results of a backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Name as in the registry, without the variant.
    pub backend: &'static str,
    /// Variant as in the registry; empty for the plain one.
    pub variant: &'static str,
    /// Number of times that a frame drew the crowd; 0 without an adapter.
    pub passes: u32,
    /// The skinned vertices that stayed on the device.
    pub keep: Retention,
    /// Status.
    pub status: Status,
    /// Reason why it is not [`Status::Ok`].
    pub problem: Option<String>,
    /// Comparison with the reference, if the run reached it.
    pub parity: Option<Parity>,
    /// Instruction set or adapter, threads, and the variant if the backend chose one.
    pub device: String,
    /// Times in the order of the stages, [`Stage::Frame`] last; empty if it was not measured.
    pub stages: Vec<StageTimes>,
    /// Memory and device work, if it was measured.
    pub resources: Option<Resources>,
    /// Frames after which the processor had bounds and sockets, at most; `None` if they were not read.
    pub gameplay_delay: Option<u32>,
}

/// Memory of a backend, and the work that each of its frames gives to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Memory, counted from its buffers.
    pub memory: BackendMemory,
    /// Work of a frame.
    pub work: FrameWork,
}

impl Outcome {
    /// Name as in the registry.
    pub fn name(&self) -> String {
        match self.variant {
            "" => self.backend.into(),
            variant => format!("{}:{variant}", self.backend),
        }
    }

    /// Number of instances that it did not leave out, if it leaves out any.
    pub fn visible(&self) -> Option<u64> {
        self.parity.as_ref()?.visible
    }

    /// A stage's median in nanoseconds by the clock closest to it: the device's if it has one.
    pub fn median(&self, stage: Stage) -> Option<u64> {
        let times = |clock| self.stages.iter().find(|s| s.stage == stage && s.clock == clock);
        Clock::BY_CLOSENESS.into_iter().find_map(times)?.summary().map(|s| s.median)
    }
}

/// Observer of a run. By default it ignores what is reported and lets the run go on; `()` is such an observer.
pub trait Observer {
    /// Reports the current step, and the fraction of the scene's work that is done, 0 to 1.
    fn progress(&mut self, what: &str, done: f64) {
        let _ = (what, done);
    }
    /// Returns whether to stop after the current frame.
    fn interrupted(&self) -> bool {
        false
    }
    /// Reports the outcome of a backend when it is finished.
    ///
    /// # Errors
    /// The outcome cannot be stored: the run stops.
    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        let _ = outcome;
        Ok(())
    }
}

impl Observer for () {}

/// Verifies backends on some instances of a scene, then measures them.
///
/// # Errors
/// The errors of [`Observer::finished`]. A failure of a backend is its outcome, not an error.
pub fn run(
    scene: &BuiltScene,
    context: &Context,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> io::Result<Vec<Outcome>> {
    RunState::new(scene, context, options, observer, Depth::Measured).all()
}

/// Verifies backends on every vertex of every instance of a scene; measures nothing.
///
/// # Errors
/// The errors of [`Observer::finished`]. A failure of a backend is its outcome, not an error.
pub fn verify(
    scene: &BuiltScene,
    context: &Context,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> io::Result<Vec<Outcome>> {
    RunState::new(scene, context, options, observer, Depth::Verified).all()
}

/// Number of times that a frame of a scene draws the crowd: 0 without an adapter, and 0 with a ring, which holds only
/// part of the crowd at a time.
pub fn passes(context: &Context, scene: &BuiltScene, keep: Retention) -> u32 {
    let drawn = keep != Retention::Ring && Screen::bytes(context, scene, scene.passes).is_some();
    if drawn { scene.passes } else { 0 }
}

/// Memory that all backends of a run share.
fn shared_memory(context: &Context, scene: &BuiltScene, keep: Retention) -> SharedMemory {
    SharedMemory {
        arena: Arena::bytes(&scene.crowd),
        device_arena: Screen::arena_bytes(context, &scene.crowd, keep),
        presenter: Screen::bytes(context, scene, passes(context, scene, keep)),
        device_is_host: Screen::is_software(context),
    }
}

/// The options that a run of a scene passes to its backends.
fn job(context: &Context, scene: &BuiltScene, keep: Retention) -> Job {
    Job {
        passes: passes(context, scene, keep),
        keep,
        frustum: Frustum::new(scene.view_projection()),
        eye: scene.eye(),
        gameplay: scene.gameplay.clone(),
    }
}

/// The crowd of a scene for a backend: that of all levels, if it chooses among them.
///
/// # Errors
/// [`BackendError::Unavailable`] if the scene has no levels to choose from.
pub(crate) fn crowd_for<'a>(scene: &'a BuiltScene, entry: &BackendEntry) -> Result<&'a Crowd> {
    match entry.chooses_levels() {
        true => scene.choices().map_err(BackendError::Unavailable),
        false => Ok(&scene.crowd),
    }
}

/// Memory that a backend would take for a scene, without running it.
///
/// # Errors
/// [`BackendError::Unavailable`] if the machine lacks what the backend needs or the backend does not support the scene,
/// or [`BackendError::TooLarge`] if the crowd exceeds a limit of the device.
pub fn promised_memory(
    context: &Context,
    scene: &BuiltScene,
    keep: Retention,
    entry: &BackendEntry,
) -> Result<BackendMemory> {
    let crowd = crowd_for(scene, entry)?;
    let footprint = entry.create(context)?.footprint(crowd, &job(context, scene, keep))?;
    Ok(shared_memory(context, scene, keep).of(&footprint))
}

/// Last step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
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

/// A backend with its buffers.
struct Contender<'a> {
    /// As in [`Candidate`].
    index: usize,
    entry: &'static BackendEntry,
    /// As in [`Candidate`].
    crowd: &'a Crowd,
    prepared: Box<dyn Prepared>,
    parity: Option<Parity>,
    stages: Vec<StageTimes>,
    /// As in [`Outcome`], from the last measured frame.
    resources: Option<Resources>,
}

struct RunState<'a> {
    scene: &'a BuiltScene,
    context: &'a Context,
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    depth: Depth,
    passes: u32,
    first_depths: Option<Vec<f32>>,
    limits: Limits,
    /// One per backend of the options, once it is finished.
    outcomes: Vec<Option<Outcome>>,
}

impl<'a> RunState<'a> {
    fn new(
        scene: &'a BuiltScene,
        context: &'a Context,
        options: &'a RunOptions,
        observer: &'a mut dyn Observer,
        depth: Depth,
    ) -> Self {
        let passes = passes(context, scene, options.keep);
        let outcomes = vec![None; options.backends.len()];
        let limits = Limits::new(context.isa);
        Self { scene, context, options, observer, depth, passes, first_depths: None, limits, outcomes }
    }

    fn all(mut self) -> io::Result<Vec<Outcome>> {
        let candidates = self.candidates()?;
        let shared = shared_memory(self.context, self.scene, self.options.keep);
        let footprints: Vec<_> = candidates.iter().map(|c| c.footprint).collect();
        let mut candidates: Vec<_> = candidates.into_iter().map(Some).collect();
        let (rotations, too_large) = rotations(&footprints, shared, self.options.memory);
        for candidate in too_large.into_iter().filter_map(|index| candidates[index].take()) {
            let error = BackendError::TooLarge(format!(
                "needs {}; {} may be taken",
                ByteSize(shared.bytes([&candidate.footprint])).display().si(),
                ByteSize(self.options.memory).display().si(),
            ));
            self.fail(candidate.index, None, error)?;
        }
        for rotation in rotations {
            if self.observer.interrupted() {
                break;
            }
            self.rotation(rotation.into_iter().filter_map(|index| candidates[index].take()).collect())?;
        }
        Ok(self.outcomes.into_iter().flatten().collect())
    }

    fn job(&self) -> Job {
        job(self.context, self.scene, self.options.keep)
    }

    /// Creates the backends; those that the machine cannot run are finished immediately.
    fn candidates(&mut self) -> io::Result<Vec<Candidate<'a>>> {
        let job = self.job();
        let mut candidates = Vec::new();
        for (index, &entry) in self.options.backends.iter().enumerate() {
            let created = entry.create(self.context).and_then(|backend| {
                let crowd = crowd_for(self.scene, entry)?;
                let footprint = backend.footprint(crowd, &job)?;
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
            self.observer.progress(&format!("verifying {}", entry.name), self.done(verified.len(), 0.0));
            bench.screen.work_for(entry.name);
            let prepared = match backend.prepare(crowd, &self.job()) {
                Ok(prepared) => prepared,
                Err(error) => {
                    self.fail(index, None, error)?;
                    continue;
                }
            };
            let (parity, stages, resources) = (None, Vec::new(), None);
            let mut contender = Contender { index, entry, crowd, prepared, parity, stages, resources };
            match self.gate(&mut contender, &mut bench) {
                Ok(Gate::Open) => verified.push(contender),
                Ok(Gate::Closed(status, problem)) => self.finish_with(contender, status, Some(problem))?,
                Err(error) => self.fail(contender.index, contender.parity, error)?,
            }
        }
        match self.depth {
            Depth::Verified => verified.into_iter().try_for_each(|c| self.finish_with(c, Status::Ok, None)),
            Depth::Measured => self.measure(verified, &mut bench),
        }
    }

    /// Allocates the resources that the backends of a rotation share.
    fn bench(&self, candidates: &[Candidate]) -> Result<Bench> {
        let screen = Screen::new(self.context, self.scene, self.passes)?;
        let mut arena = Arena::default();
        let host = candidates.iter().any(|c| c.footprint.host_output);
        if host {
            arena.allocate_host(&self.scene.crowd);
        }
        if (host && self.passes > 0) || candidates.iter().any(|c| c.footprint.device_output) {
            screen.allocate(self.scene, self.options.keep, &mut arena)?;
        }
        let clocks = ThreadClocks::new(&self.context.threads);
        let (timer, work) = (StageTimer::default(), FrameWork::default());
        Ok(Bench { arena, screen, timer, clocks, work, device_is_host: Screen::is_software(self.context) })
    }

    /// Compares a backend's vertices and its picture.
    fn gate(&mut self, contender: &mut Contender, bench: &mut Bench) -> Result<Gate> {
        let crowd = contender.crowd;
        let refusal = bench.screen.refusal(&*contender.prepared);
        if let Some(refusal) = refusal.filter(|_| self.depth == Depth::Measured) {
            return Ok(Gate::Closed(Status::Skipped, refusal.into()));
        }
        let coverage = match self.depth {
            Depth::Verified => Coverage::all(crowd, &VERIFIED_TICKS),
            Depth::Measured => {
                let mut also = bench.screen.chunk_ends(crowd)?;
                // Of each model and level that the scene shows.
                if let Some(levels) = self.scene.levels.as_ref().filter(|_| contender.entry.chooses_levels()) {
                    let chosen: Vec<u32> = levels.chosen().collect();
                    let shown = self.scene.crowd.groups().iter().flat_map(|group| parity::spread(group, SAMPLED));
                    also.extend(shown.map(|instance| chosen[instance as usize]));
                }
                Coverage::sampled(crowd, &VERIFIED_TICKS, &also)
            }
        };
        let tolerance = self.options.tolerance.unwrap_or_else(|| Tolerance::of(crowd.format()));
        let backend = &mut *contender.prepared;
        let Job { frustum, eye, .. } = self.job();
        let coverage = Coverage { frustum, eye, ..coverage };
        let parity = parity::verify(backend, self.context, crowd, &mut bench.arena, &coverage, tolerance)?;
        let failure = parity.failure.clone();
        contender.parity = Some(parity);
        if let Some(failure) = failure {
            return Ok(Gate::Closed(Status::ParityFailed, failure));
        }
        if let Some(failure) = bench.gameplay_failure(contender, self.scene)? {
            return Ok(Gate::Closed(Status::ParityFailed, failure));
        }
        if refusal.is_some() {
            return Ok(Gate::Open);
        }
        bench.frame(contender, VERIFIED_TICKS[0])?;
        let exact = contender.prepared.blending() == Blending::Linear && contender.prepared.approximation().is_none();
        if let Some(depths) = bench.screen.depths()?.filter(|_| exact) {
            let difference = match &self.first_depths {
                Some(first) => depth_difference(first, &depths),
                None => depth_difference(&depths, &depths),
            };
            if let Some(difference) = difference {
                return Ok(Gate::Closed(Status::ParityFailed, difference));
            }
            self.first_depths.get_or_insert(depths);
        }
        Ok(Gate::Open)
    }

    /// Warms up, then measures the backends in alternation.
    fn measure(&mut self, contenders: Vec<Contender>, bench: &mut Bench) -> io::Result<()> {
        self.measure_limits(&contenders);
        let mut estimates = Vec::with_capacity(contenders.len());
        let mut racing = Vec::with_capacity(contenders.len());
        for mut contender in contenders {
            match self.warm_up(&mut contender, bench) {
                Ok(estimate) => {
                    estimates.push(estimate);
                    racing.push(Some(contender));
                }
                Err(error) => self.fail(contender.index, contender.parity, error)?,
            }
        }
        let mut schedule = Order::new(self.options.frames, estimates);
        for stage in racing.iter_mut().flatten().flat_map(|c| &mut c.stages) {
            stage.samples.clear();
            stage.samples.reserve_exact(schedule.most().min(ROOM) as usize);
            stage.dropped = 0;
        }
        for contender in racing.iter_mut().flatten() {
            for traffic in contender.prepared.traffic(contender.crowd) {
                let limit = self.limits.of(&traffic, &self.context.threads);
                let clock = if traffic.clock.is_of_device() { bench.screen.clock().label() } else { traffic.clock };
                let times = |s: &&mut StageTimes| (s.stage, s.clock) == (traffic.stage, clock);
                if let (Some(limit), Some(times)) = (limit, contender.stages.iter_mut().find(times)) {
                    times.floor = Some(Floor { bytes: traffic.bytes(), limit: limit as u64 });
                }
            }
        }
        while let Some((index, frames)) = schedule.next_block() {
            let Some(mut contender) = racing[index].take() else { break };
            let at_hand = 1 + racing.iter().flatten().count();
            let what = format!("measuring {}", contender.entry.name);
            self.observer.progress(&what, self.done(at_hand, schedule.progress()));
            let mut measured = self.block(&mut contender, bench, frames, |frame| schedule.record(index, frame));
            if measured.is_ok() && schedule.is_done(index) {
                measured = self.throughput(&mut contender, bench, schedule.mean(index));
            }
            match measured {
                Ok(()) if schedule.is_done(index) => self.finish_with(contender, Status::Ok, None)?,
                Ok(()) => racing[index] = Some(contender),
                Err(error) => {
                    schedule.retire(index);
                    self.fail(contender.index, contender.parity, error)?;
                }
            }
            if self.observer.interrupted() {
                break;
            }
        }
        // After an interruption, backends that have samples keep them.
        let measured = |c: &Contender| c.stages.iter().any(|s| !s.samples.is_empty());
        racing.into_iter().flatten().filter(measured).try_for_each(|c| self.finish_with(c, Status::Ok, None))
    }

    /// Measures the machine's limits for the stages' traffic.
    fn measure_limits(&mut self, contenders: &[Contender]) {
        self.observer.progress("measuring the machine", self.done(contenders.len(), 0.0));
        for contender in contenders {
            for traffic in contender.prepared.traffic(contender.crowd) {
                if matches!(traffic.memory, Memory::Device | Memory::Upload) && self.limits.device.is_none() {
                    // A bandwidth that was not measured sets no limit.
                    self.limits.device = Screen::limits(self.context);
                }
                self.limits.of(&traffic, &self.context.threads);
            }
        }
    }

    /// Measures some frames of a backend, or fewer if interrupted. Stages that are timed by fences have frames of their
    /// own, with the same numbers, so that no frame waits within itself.
    fn block(
        &self,
        contender: &mut Contender,
        bench: &mut Bench,
        frames: Range<u32>,
        mut record: impl FnMut(Duration),
    ) -> Result<()> {
        let (mut work, mut measured) = (None, frames.start..frames.start);
        bench.screen.work_for(contender.entry.name);
        for frame in frames {
            if self.observer.interrupted() {
                break;
            }
            // Frame numbers are ticks, so that every backend computes the same poses.
            record(bench.frame(contender, frame)?);
            add(&mut contender.stages, frame, bench.timer.spans());
            work = Some(bench.work);
            measured.end = frame + 1;
        }
        let fenced = bench.is_fenced();
        for frame in measured.filter(|_| fenced) {
            bench.fenced_frame(contender, frame)?;
            add(&mut contender.stages, frame, bench.timer.spans());
        }
        if let Some(work) = work {
            let memory = bench.shared_memory().of(&contender.prepared.footprint(contender.crowd));
            contender.resources = Some(Resources { memory, work });
        }
        Ok(())
    }

    /// Measures frames with two in flight, if there is anything to wait for; a frame takes approximately `frame`.
    fn throughput(&self, contender: &mut Contender, bench: &mut Bench, frame: Duration) -> Result<()> {
        let fitting = (THROUGHPUT.as_nanos() / frame.as_nanos().max(1)) as u32;
        let frames = fitting.clamp(*THROUGHPUT_FRAMES.start(), *THROUGHPUT_FRAMES.end());
        bench.screen.set_timing(false);
        let samples = bench.throughput(contender, frames);
        bench.screen.set_timing(true);
        let samples = samples?;
        if !samples.is_empty() {
            contender.stages.push(StageTimes {
                stage: Stage::Throughput,
                clock: Clock::Wall,
                samples,
                dropped: 0,
                floor: None,
            });
        }
        Ok(())
    }

    /// Runs frames that are not recorded; returns the mean time of a frame, without the first.
    fn warm_up(&self, contender: &mut Contender, bench: &mut Bench) -> Result<Duration> {
        let mut warm_up = WarmUp::default();
        bench.screen.work_for(contender.entry.name);
        while let Some(frame) = warm_up.next_frame(self.observer.interrupted()) {
            warm_up.record(bench.frame(contender, frame)?);
            // Creates the stages' rows, so that none is allocated while measuring.
            add(&mut contender.stages, frame, bench.timer.spans());
        }
        if bench.is_fenced() {
            bench.fenced_frame(contender, 0)?;
            add(&mut contender.stages, 0, bench.timer.spans());
        }
        Ok(warm_up.estimate())
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
            BackendError::Device(_) => Status::Error,
        };
        let problem = Some(error.to_string());
        let outcome = self.outcome(index, status, problem, parity);
        self.finish(index, outcome)
    }

    fn finish_with(&mut self, mut contender: Contender, status: Status, problem: Option<String>) -> io::Result<()> {
        let device = contender.prepared.device();
        let gameplay_delay = contender.prepared.gameplay_delay();
        drop(contender.prepared);
        // The frame's time is written last, so that its presence marks a complete group of rows.
        contender.stages.sort_by_key(|s| ((s.stage, s.clock) == (Stage::Frame, Clock::Wall), s.stage, s.clock));
        let Contender { index, parity, stages, resources, .. } = contender;
        let outcome = self.outcome(index, status, problem, parity);
        self.finish(index, Outcome { device, stages, resources, gameplay_delay, ..outcome })
    }

    /// An outcome without times.
    fn outcome(&self, index: usize, status: Status, problem: Option<String>, parity: Option<Parity>) -> Outcome {
        let (backend, variant) = self.options.backends[index].name_and_variant();
        Outcome {
            backend,
            variant,
            passes: self.passes,
            keep: self.options.keep,
            status,
            problem,
            parity,
            device: String::new(),
            stages: Vec::new(),
            resources: None,
            gameplay_delay: None,
        }
    }

    fn finish(&mut self, index: usize, outcome: Outcome) -> io::Result<()> {
        self.observer.finished(&outcome)?;
        self.outcomes[index] = Some(outcome);
        Ok(())
    }
}

/// Decision whether a backend may be measured.
enum Gate {
    Open,
    Closed(Status, String),
}

/// Resources that the backends of a rotation share.
struct Bench {
    arena: Arena,
    screen: Screen,
    timer: StageTimer,
    clocks: ThreadClocks,
    /// The device's work in the last frame.
    work: FrameWork,
    device_is_host: bool,
}

impl Bench {
    /// Memory that the backends share, counted from its buffers.
    fn shared_memory(&self) -> SharedMemory {
        SharedMemory {
            arena: self.arena.host.allocated(),
            device_arena: self.arena.device_bytes(),
            presenter: self.screen.target_bytes(),
            device_is_host: self.device_is_host,
        }
    }

    /// Returns whether the device's stages are timed by fences.
    fn is_fenced(&self) -> bool {
        self.screen.clock() != DeviceClock::Timestamps
    }

    /// Runs one frame whose stages on the device are timed by fences; leaves only their spans in the timer.
    fn fenced_frame(&mut self, contender: &mut Contender, tick: u32) -> Result<()> {
        let (backend, crowd) = (&mut *contender.prepared, contender.crowd);
        let Self { arena, screen, timer, .. } = self;
        timer.clear();
        arena.swap();
        let ticket = backend.submit(&mut FrameInput { crowd, tick, arena }, timer)?;
        screen.draw(ticket, backend, arena, timer)?.finish()?;
        screen.collect(timer)?;
        timer.keep(Clock::Fenced);
        Ok(())
    }

    /// Runs one frame, from the crowd's tick to its last pixel; leaves its spans in the timer, without those that fences
    /// would measure.
    fn frame(&mut self, contender: &mut Contender, tick: u32) -> Result<Duration> {
        let fenced = self.is_fenced();
        let (backend, crowd) = (&mut *contender.prepared, contender.crowd);
        let Self { arena, screen, timer, clocks, work, .. } = self;
        screen.take_work();
        screen.set_timing(!fenced);
        timer.clear();
        arena.swap();
        let computed = clocks.now();
        let start = Instant::now();
        let ticket = backend.submit(&mut FrameInput { crowd, tick, arena }, timer)?;
        let ticket = screen.draw(ticket, backend, arena, timer)?;
        ticket.finish()?;
        let time = start.elapsed();
        let computed = clocks.now().zip(computed).map(|(after, before)| after.saturating_sub(before));
        screen.set_timing(true);
        screen.collect(timer)?;
        *work = screen.take_work();
        let ns = time.as_nanos() as u64;
        timer.push(Span { stage: Stage::Frame, clock: Clock::Wall, ns: (ns > 0).then_some(ns) });
        if let Some(ns) = computed {
            timer.push(Span { stage: Stage::Frame, clock: Clock::ThreadSum, ns: (ns > 0).then_some(ns) });
        }
        Ok(time)
    }
}

impl Bench {
    /// The first difference of bounds and sockets from the reference, if they are read.
    fn gameplay_failure(&mut self, contender: &mut Contender, scene: &BuiltScene) -> Result<Option<String>> {
        let Some(gameplay) = &scene.gameplay else { return Ok(None) };
        let backend = &mut *contender.prepared;
        for tick in VERIFIED_TICKS {
            let mut frame = FrameInput { crowd: &scene.crowd, tick, arena: &mut self.arena };
            backend.submit(&mut frame, &mut self.timer)?.finish()?;
            let read = backend.read_gameplay()?;
            let failure = super::gameplay::failure(&scene.crowd, gameplay, read, backend.approximation(), tick);
            if failure.is_some() {
                return Ok(failure);
            }
        }
        Ok(None)
    }

    /// Times from one frame's end to the next one's with two in flight; empty if frames end when they are submitted.
    fn throughput(&mut self, contender: &mut Contender, frames: u32) -> Result<Vec<(u32, u64)>> {
        let (backend, crowd) = (&mut *contender.prepared, contender.crowd);
        let Self { arena, screen, timer, .. } = self;
        let mut samples = Vec::with_capacity(frames as usize);
        let (mut earlier, mut end): (Option<Ticket>, Option<Instant>) = (None, None);
        // One frame more than is recorded: the first end has no predecessor.
        for frame in 0..=frames + 1 {
            let mut ticket = None;
            if frame <= frames {
                timer.clear();
                arena.swap();
                let submitted = backend.submit(&mut FrameInput { crowd, tick: frame, arena }, timer)?;
                let mut submitted = screen.draw(submitted, backend, arena, timer)?;
                if !submitted.launch() {
                    return Ok(Vec::new());
                }
                ticket = Some(submitted);
            }
            if let Some(earlier) = std::mem::replace(&mut earlier, ticket) {
                earlier.finish()?;
                let now = Instant::now();
                if let Some(end) = end.replace(now) {
                    samples.push((frame - 2, (now - end).as_nanos() as u64));
                }
            }
        }
        Ok(samples)
    }
}

/// Adds a frame's spans. Those of one stage and clock add up to one sample, which is dropped if any of them is invalid.
fn add(stages: &mut Vec<StageTimes>, frame: u32, spans: &[Span]) {
    for (at, span) in spans.iter().enumerate() {
        let same = |other: &&Span| (other.stage, other.clock) == (span.stage, span.clock);
        if spans[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let total = spans.iter().filter(same).try_fold(0u64, |sum, s| s.ns.map(|ns| sum + ns));
        let known = stages.iter().position(|s| (s.stage, s.clock) == (span.stage, span.clock));
        let known = known.unwrap_or_else(|| {
            let (stage, clock) = (span.stage, span.clock);
            stages.push(StageTimes { stage, clock, samples: Vec::new(), dropped: 0, floor: None });
            stages.len() - 1
        });
        match total {
            Some(ns) => stages[known].samples.push((frame, ns)),
            None => stages[known].dropped += 1,
        }
    }
}
