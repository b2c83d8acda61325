//! The course of a run: which backends run together, what admits them, and in which order they are measured.

use super::audit::Auditor;
use super::bench::{Bench, Contender};
use super::demand::{Demand, crowd_for};
use super::observer::{Observer, Step};
use super::options::RunOptions;
use super::order::{Order, Pace, Window};
use super::outcome::{Floor, Outcome, Status, times_of};
use crate::backend::{Context, LaterPasses};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Clock, Footprint, FrameInput, Memory, Result, Stage, StageTimer};
use crate::harness::picture::{Sight, depth_difference, is_empty};
use crate::harness::{
    Coverage, DeviceSide, Limits, OpenDevice, Parity, SAMPLED, Tolerance, gameplay, opened_device,
    parity,
};
use crate::reference::{Blending, shown};
use crate::registry::BackendEntry;
use crate::scene::BuiltScene;
use glam::Vec3;
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

/// The remark on a scene of which the camera sees nothing: vertices decide whether backends agree.
const EMPTY_PICTURE: &str =
    "the picture is empty: no triangle is in view, so times of drawing say little";

/// Last step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Verified,
    Measured,
}

/// Fails if there is a difference from the reference.
fn agreed(difference: Option<String>) -> Result<()> {
    difference.map_or(Ok(()), |difference| Err(BackendError::Differs(difference)))
}

/// A backend that this machine can run, and the memory that it promises to take.
type Candidate = (&'static BackendEntry, Footprint);

/// A run of some backends on a scene.
pub(super) struct Contest<'a> {
    scene: &'a BuiltScene,
    context: &'a Context,
    /// Tests open another one than the context's.
    pub open_device: OpenDevice,
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    depth: Depth,
    demand: Demand,
    pace: Pace,
    first_depths: Option<Vec<f32>>,
    limits: Limits,
    auditor: Auditor,
    /// Those of the backends that are finished.
    outcomes: Vec<Outcome>,
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
        let (limits, outcomes) = (Limits::new(context.isa), Vec::new());
        let auditor = Auditor::new(
            options
                .seed
                .unwrap_or_else(|| RandomState::new().hash_one(0)),
        );
        Self {
            scene,
            context,
            open_device: opened_device::open,
            options,
            observer,
            depth,
            demand,
            pace,
            first_depths: None,
            limits,
            auditor,
            outcomes,
        }
    }

    pub fn all(mut self) -> io::Result<Vec<Outcome>> {
        let candidates = self.candidates()?;
        let (first, second) = match self.pace {
            // What a software adapter draws takes long; the processor's own rows need not wait for all of it.
            Pace::Brief => candidates
                .into_iter()
                .partition(|(_, footprint)| footprint.host_output),
            Pace::Frames(_) | Pace::Full | Pace::Sustained(_) => (candidates, Vec::new()),
        };
        for candidates in [first, second] {
            for rotation in self
                .demand
                .shared
                .rotations(candidates, self.options.memory())
            {
                if !self.observer.interrupted() {
                    self.rotation(rotation)?;
                }
            }
        }
        let place = |outcome: &Outcome| {
            self.options
                .backends
                .iter()
                .position(|entry| entry.name == outcome.name)
        };
        self.outcomes.sort_by_key(place);
        Ok(self.outcomes)
    }

    /// The backends that the machine can run; others are finished immediately.
    fn candidates(&mut self) -> io::Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for &entry in &self.options.backends {
            let footprint = self.demand.footprint(self.context, self.scene, entry);
            match footprint
                .and_then(|footprint| self.demand.shared.check(footprint, self.options.memory()))
            {
                Ok(footprint) => candidates.push((entry, footprint)),
                Err(error) => self.refuse(entry, &error)?,
            }
        }
        Ok(candidates)
    }

    fn rotation(&mut self, candidates: Vec<Candidate>) -> io::Result<()> {
        let mut bench = match self.bench(&candidates) {
            Ok(bench) => bench,
            Err(error) => {
                return candidates
                    .iter()
                    .try_for_each(|(entry, _)| self.refuse(entry, &error));
            }
        };
        let mut verified = Vec::with_capacity(candidates.len());
        for (entry, _) in candidates {
            if self.observer.interrupted() {
                return Ok(());
            }
            self.tell("verifying", Some(entry), None, (verified.len(), 0.0));
            bench.device.work_for(entry.name);
            let mut contender = match self.contender(entry) {
                Ok(contender) => contender,
                Err(error) => {
                    self.refuse(entry, &error)?;
                    continue;
                }
            };
            match self.gate(&mut contender, &mut bench) {
                Ok(()) => verified.push(contender),
                failed => self.end(contender, failed)?,
            }
        }
        match self.depth {
            Depth::Verified => verified
                .into_iter()
                .try_for_each(|contender| self.end(contender, Ok(()))),
            Depth::Measured => self.measure(verified, &mut bench),
        }
    }

    /// Allocates a backend's buffers.
    fn contender(&self, entry: &'static BackendEntry) -> Result<Contender<'a>> {
        let crowd = crowd_for(self.scene, entry)?;
        let prepared = entry
            .create(self.context)?
            .prepare(crowd, &self.demand.job)?;
        Ok(Contender::new(entry, crowd, prepared, self.outcome(entry)))
    }

    /// Allocates the resources that the backends of a rotation share.
    fn bench(&self, candidates: &[Candidate]) -> Result<Bench> {
        let mut device = (self.open_device)(self.context);
        device.present(self.scene, self.demand.passes)?;
        let footprints: Vec<_> = candidates.iter().map(|(_, footprint)| *footprint).collect();
        let output = self.demand.shared.allocate(
            &*device,
            &self.scene.crowd,
            self.demand.job.keep,
            &footprints,
        )?;
        Ok(Bench::new(
            output,
            device,
            &self.context.threads,
            self.options,
            self.scene.settings.device.unwrap_or_default(),
        ))
    }

    /// Compares a backend's vertices and its picture. Fails if it may not be measured.
    fn gate(&mut self, contender: &mut Contender, bench: &mut Bench) -> Result<()> {
        let unpresentable = self.unpresentable(contender);
        if let Some(reason) = unpresentable.filter(|_| self.depth == Depth::Measured) {
            return Err(BackendError::Unavailable(reason.into()));
        }
        let coverage = self.coverage(contender, &*bench.device)?;
        let tolerance = self.tolerance(contender.crowd);
        let (backend, output) = (&mut *contender.prepared, &mut bench.output);
        let parity = parity::verify(
            backend,
            self.context,
            contender.crowd,
            output,
            &coverage,
            tolerance,
        )?;
        agreed(contender.outcome.parity.insert(parity).failure.clone())?;
        self.compare_gameplay(contender, bench)?;
        if unpresentable.is_none() && contender.prepared.self_timed().is_none() {
            let time = bench.frame(contender, VERIFIED_TICKS[0])?;
            contender.warm_up.record(time);
            self.compare_picture(contender, &*bench.device)?;
        }
        Ok(())
    }

    /// Reason why a backend's frames cannot be measured with the run's number of passes, if any.
    fn unpresentable(&self, contender: &mut Contender) -> Option<&'static str> {
        match (contender.entry.abilities().later_passes, self.demand.passes) {
            (LaterPasses::SkinAgain, 0) => Some("skins in the draw; needs --passes 1 or more"),
            // What times itself does not draw.
            (LaterPasses::NotDrawn, 1..) if contender.prepared.self_timed().is_none() => {
                Some("its output cannot be drawn; needs --passes 0")
            }
            _ => None,
        }
    }

    /// Ticks and instances on which a backend is verified.
    fn coverage(&self, contender: &Contender, device: &dyn DeviceSide) -> Result<Coverage> {
        let coverage = match self.depth {
            Depth::Verified => Coverage::all(contender.crowd, &VERIFIED_TICKS),
            Depth::Measured => {
                let mut also = device.chunk_ends(contender.crowd)?;
                // Of each model and level that the scene shows.
                if let Some(levels) = self
                    .scene
                    .levels
                    .as_ref()
                    .filter(|_| contender.entry.chooses_levels())
                {
                    let chosen: Vec<u32> = levels.chosen().collect();
                    let shown = self
                        .scene
                        .crowd
                        .groups()
                        .iter()
                        .flat_map(|group| parity::spread(group, SAMPLED));
                    also.extend(shown.map(|instance| chosen[instance as usize]));
                }
                Coverage::sampled(contender.crowd, &VERIFIED_TICKS, &also)
            }
        };
        Ok(Coverage {
            frustum: self.demand.job.frustum,
            eye: self.demand.job.eye,
            ..coverage
        })
    }

    /// Compares bounds and sockets with the reference, if they are read.
    fn compare_gameplay(&self, contender: &mut Contender, bench: &mut Bench) -> Result<()> {
        let Some(gameplay) = &self.scene.gameplay else {
            return Ok(());
        };
        let (backend, crowd) = (&mut *contender.prepared, &self.scene.crowd);
        for tick in VERIFIED_TICKS {
            let mut frame = FrameInput {
                crowd,
                tick,
                output: &mut bench.output,
            };
            backend
                .submit(&mut frame, &mut StageTimer::default())?
                .finish()?;
            let read = backend.read_gameplay()?;
            agreed(gameplay::failure(
                crowd,
                gameplay,
                read,
                backend.approximation(),
                tick,
            ))?;
        }
        Ok(())
    }

    /// Compares the last frame's picture with the first backend's, unless the backend's vertices differ on purpose.
    fn compare_picture(&mut self, contender: &Contender, device: &dyn DeviceSide) -> Result<()> {
        let backend = &contender.prepared;
        let exact = backend.blending() == Blending::Linear && backend.approximation().is_none();
        if let Some(depths) = device.depths()?.filter(|_| exact) {
            let Some(first) = &self.first_depths else {
                if is_empty(&depths) {
                    self.observer.remark(EMPTY_PICTURE);
                }
                self.first_depths = Some(depths);
                return Ok(());
            };
            agreed(depth_difference(first, &depths, &self.sight()))?;
        }
        Ok(())
    }

    /// What the pictures of two backends that pass may differ by.
    fn sight(&self) -> Sight {
        let crowd = &self.scene.crowd;
        let tolerance = self.tolerance(crowd);
        let mut off = 0.0f64;
        for group in crowd.groups() {
            let shown = shown(crowd, group);
            let relative = tolerance.of_group(group, shown).position;
            let placements = group.instances.start as usize..group.instances.end as usize;
            let scale = crowd.placements()[placements]
                .iter()
                .flat_map(|placement| (0..3).map(|row| &placement[4 * row..][..3]))
                .map(|row| Vec3::from_slice(row).length())
                .fold(0.0, f32::max);
            off = off.max(relative * shown.diagonal * f64::from(scale));
        }
        Sight {
            width: self.scene.resolution[0] as usize,
            range: self.scene.depth_range().map(f64::from),
            pixels: self.scene.eye().scale.into(),
            apart: 2.0 * off,
        }
    }

    /// Warms up, then measures the backends in alternation.
    fn measure(&mut self, mut contenders: Vec<Contender>, bench: &mut Bench) -> io::Result<()> {
        self.measure_limits(&mut contenders, &*bench.device);
        let (mut estimates, mut racing) = (Vec::new(), Vec::new());
        let (at_hand, room) = (contenders.len(), self.pace.most().min(ROOM) as usize);
        for mut contender in contenders {
            self.tell(
                "warming up",
                Some(contender.entry),
                contender.outcome.parity.as_ref(),
                (at_hand, 0.0),
            );
            match bench.warm_up(&mut contender, || self.observer.interrupted()) {
                Ok(()) => {
                    contender.clear_times(room);
                    estimates.push(contender.warm_up.estimate());
                    racing.push(Some(contender));
                }
                failed => self.end(contender, failed)?,
            }
        }
        let mut schedule = Order::new(self.pace, estimates);
        let mut window = Window::First;
        while let Some((index, frames)) = schedule.next_block() {
            if window != schedule.window() {
                if window == Window::First && schedule.window() == Window::Between {
                    self.observer.first_window_ended();
                    for contender in racing.iter_mut().flatten() {
                        contender.outcome.first_ns = contender.outcome.median(Stage::Frame);
                    }
                }
                window = schedule.window();
                racing
                    .iter_mut()
                    .flatten()
                    .for_each(|contender| contender.clear_times(room));
            }
            if window == Window::Between {
                racing[index]
                    .iter_mut()
                    .for_each(|contender| contender.clear_times(room));
            }
            let at_hand = racing.iter().flatten().count();
            let Some(mut contender) = racing[index].take() else {
                break;
            };
            let done = (at_hand, schedule.progress());
            self.tell(
                "measuring",
                Some(contender.entry),
                contender.outcome.parity.as_ref(),
                done,
            );
            match self.measure_block(&mut contender, bench, &mut schedule, index, frames) {
                Ok(()) if !schedule.is_done(index) => racing[index] = Some(contender),
                ended => {
                    schedule.retire(index);
                    self.end(contender, ended)?;
                }
            }
            if self.observer.interrupted() {
                break;
            }
        }
        // After an interruption, backends that have samples keep them.
        let measured = |c: &Contender| c.outcome.stages.iter().any(|s| !s.samples.is_empty());
        racing
            .into_iter()
            .flatten()
            .filter(measured)
            .try_for_each(|c| self.end(c, Ok(())))
    }

    /// Measures a block of frames, or its beginning up to a frame that is audited. Fails if an audit finds something
    /// wrong.
    fn measure_block(
        &mut self,
        contender: &mut Contender,
        bench: &mut Bench,
        schedule: &mut Order,
        index: usize,
        frames: Range<u32>,
    ) -> Result<()> {
        let (frames, chosen) = self.auditor.cut(frames);
        let record = |frame| schedule.record(index, frame);
        let measured = bench.block(
            contender,
            frames.clone(),
            || self.observer.interrupted(),
            record,
        )?;
        let is_last = schedule.is_done(index);
        if measured == frames && (chosen || is_last) {
            let last = frames.end - 1;
            self.audit(contender, bench, last)?;
            if schedule.mean(index) < LONG_FRAME {
                // The next frame that is recorded finds the caches as if nothing had been read back.
                bench.again(contender, last)?;
            }
        }
        if contender.prepared.self_timed().is_some() {
            return Ok(());
        }
        if let Some(last) = measured.clone().next_back() {
            bench.counted_frame(contender, last)?;
        }
        bench.fenced_frames(contender, measured)?;
        if is_last
            && matches!(self.pace, Pace::Frames(_) | Pace::Full)
            && !self.options.disturbance.cold
            && let Some(last) =
                bench.throughput(contender, schedule.mean(index), self.pace.most())?
        {
            self.audit(contender, bench, last)?;
        }
        if is_last {
            bench.energy(contender, || self.observer.interrupted())?;
        }
        Ok(())
    }

    /// The tolerance of backends that state no error.
    fn tolerance(&self, crowd: &Crowd) -> Tolerance {
        self.options
            .tolerance
            .unwrap_or_else(|| Tolerance::of(crowd.format()))
    }

    /// Compares some vertices of the last frame with the reference of its tick. Fails if they are wrong.
    fn audit(&mut self, contender: &mut Contender, bench: &mut Bench, tick: u32) -> Result<()> {
        let (backend, crowd) = (&mut *contender.prepared, contender.crowd);
        let instances = self.auditor.instances(crowd, backend.visible()?.as_deref());
        let coverage = Coverage {
            ticks: vec![tick],
            instances: instances
                .into_iter()
                .map(|instance| instance..instance + 1)
                .collect(),
            frustum: self.demand.job.frustum,
            eye: self.demand.job.eye,
        };
        let before = (1..=RECOGNISED).filter_map(|back| tick.checked_sub(back));
        let earlier: Vec<u32> = before
            .chain(VERIFIED_TICKS)
            .filter(|earlier| *earlier != tick)
            .collect();
        let wrong = parity::audit(
            backend,
            crowd,
            &bench.output,
            &coverage,
            tick,
            &earlier,
            self.tolerance(crowd),
        )?;
        agreed(wrong.map(|what| format!("measured frame {tick}: {what}")))
    }

    /// Adds the least that each stage could take, for which the machine's limits are measured.
    fn measure_limits(&mut self, contenders: &mut [Contender], device: &dyn DeviceSide) {
        self.tell("measuring", None, None, (contenders.len(), 0.0));
        for contender in contenders {
            for traffic in contender.prepared.traffic(contender.crowd) {
                let on_host = matches!(traffic.memory, Memory::Host { .. });
                let clock = if on_host {
                    Clock::Wall
                } else {
                    device.clock().label()
                };
                let limit = self.limits.of(&traffic, &self.context.threads, device);
                let floor = limit.map(|limit| Floor {
                    bytes: traffic.bytes(),
                    limit: limit as u64,
                });
                times_of(&mut contender.outcome.stages, traffic.stage, clock).floor = floor;
            }
        }
    }

    /// Reports a step, at which so many backends are at hand: they are verified, and measured to a fraction.
    fn tell(
        &mut self,
        activity: &'static str,
        entry: Option<&BackendEntry>,
        parity: Option<&Parity>,
        (at_hand, measured): (usize, f64),
    ) {
        let verifying = if self.depth == Depth::Verified {
            1.0
        } else {
            VERIFYING
        };
        let at_hand = at_hand as f64 * (verifying + (1.0 - verifying) * measured);
        let done =
            (self.outcomes.len() as f64 + at_hand) / self.options.backends.len().max(1) as f64;
        let backend = entry.map(|entry| entry.name);
        self.observer.progress(&Step {
            activity,
            backend,
            parity,
            done: done.min(1.0),
        });
    }

    /// Ends a backend that has no buffers.
    fn refuse(&mut self, entry: &BackendEntry, error: &BackendError) -> io::Result<()> {
        self.finish(self.outcome(entry).failed(error))
    }

    /// Ends a backend, which has no times if it failed.
    fn end(&mut self, contender: Contender, ended: Result<()>) -> io::Result<()> {
        let Contender {
            prepared,
            mut outcome,
            ..
        } = contender;
        (outcome.device, outcome.gameplay_delay) = (prepared.device(), prepared.gameplay_delay());
        drop(prepared);
        if let Err(error) = ended {
            outcome = outcome.failed(&error);
        }
        // Not those that have a limit and were never run.
        outcome
            .stages
            .retain(|times| !times.samples.is_empty() || times.dropped > 0);
        // The frame's time is written last, so that its presence marks a complete group of rows.
        outcome.stages.sort_by_key(|s| {
            (
                (s.stage, s.clock) == (Stage::Frame, Clock::Wall),
                s.stage,
                s.clock,
            )
        });
        self.finish(outcome)
    }

    /// An outcome without times.
    fn outcome(&self, entry: &BackendEntry) -> Outcome {
        let outcome = Outcome::new(entry.name, self.demand.passes, Status::Ok);
        Outcome {
            owner: entry.owner,
            disturbance: self.options.disturbance,
            ..outcome
        }
    }

    fn finish(&mut self, outcome: Outcome) -> io::Result<()> {
        self.observer.finished(&outcome)?;
        self.outcomes.push(outcome);
        Ok(())
    }
}
