//! The course of a run: which backends run together, what admits them, and in which order they are measured.

use super::audit::Auditor;
use super::bench::{Bench, Contender, Probe};
use super::demand::Demand;
use super::observer::{Observer, RunStep};
use super::options::RunOptions;
use super::order::{Event, Order, Pace};
use super::outcome::{Floor, Outcome, Status, times_of};
use crate::backend::{Context, LaterPasses};
use crate::frame::{BackendError, Clock, Footprint, FrameInput, Memory, Result, Stage, StageTimer};
use crate::harness::picture::{Sight, depth_difference, is_empty};
use crate::harness::{
    Coverage, DeviceSide, Limits, OpenDevice, Tolerance, gameplay, opened_device, parity,
};
use crate::reference::{Blending, shown};
use crate::registry::BackendEntry;
use crate::scene::BuiltScene;
use glam::Vec3;
use std::collections::BTreeMap;
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
struct Candidate {
    entry: &'static BackendEntry,
    footprint: Footprint,
}

impl AsRef<Footprint> for Candidate {
    fn as_ref(&self) -> &Footprint {
        &self.footprint
    }
}

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
        let pace = match options.frames {
            Some(frames) => Pace::Frames(frames),
            None if options.brief_on_software && by_software => Pace::Brief,
            None => Pace::Full,
        };
        let seed = options
            .seed
            .unwrap_or_else(|| RandomState::new().hash_one(0));
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
            limits: Limits::new(context.isa),
            auditor: Auditor::new(seed),
            outcomes: Vec::new(),
        }
    }

    pub fn all(mut self) -> io::Result<Vec<Outcome>> {
        let mut first = self.candidates()?;
        let mut second = Vec::new();
        if self.pace == Pace::Brief {
            // What a software adapter draws takes long; the processor's own rows need not wait for all of it.
            second = first
                .extract_if(.., |candidate| !candidate.footprint.host_output)
                .collect();
        }
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
        self.outcomes.sort_by_key(|outcome| {
            let backends = &self.options.backends;
            backends.iter().position(|entry| entry.name == outcome.name)
        });
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
                Ok(footprint) => candidates.push(Candidate { entry, footprint }),
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
                    .try_for_each(|candidate| self.refuse(candidate.entry, &error));
            }
        };
        let mut verified = Vec::with_capacity(candidates.len());
        for Candidate { entry, .. } in candidates {
            if self.observer.interrupted() {
                return Ok(());
            }
            self.tell("verifying", Some(entry), verified.len(), 0.0);
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
    fn contender(&self, entry: &'static BackendEntry) -> Result<Contender> {
        let prepared = entry
            .create(self.context)?
            .prepare(&self.scene.crowd, &self.demand.job)?;
        if let Some(stated) = prepared.approximation() {
            stated.check()?;
        }
        Ok(Contender::new(entry, prepared, self.outcome(entry)))
    }

    /// Allocates the resources that the backends of a rotation share.
    fn bench(&self, candidates: &[Candidate]) -> Result<Bench<'a>> {
        let mut device = (self.open_device)(self.context);
        device.present(self.scene, self.demand.passes)?;
        let output = self.demand.shared.allocate(
            &*device,
            &self.scene.crowd,
            self.demand.job.keep,
            candidates,
        )?;
        let threads = &self.context.threads;
        Ok(Bench::new(
            self.scene,
            output,
            device,
            threads,
            self.options,
        ))
    }

    /// Compares a backend's vertices and its picture. Fails if it may not be measured.
    fn gate(&mut self, contender: &mut Contender, bench: &mut Bench) -> Result<()> {
        let unpresentable = self.unpresentable(contender);
        if let Some(reason) = unpresentable.filter(|_| self.depth == Depth::Measured) {
            return Err(BackendError::Unavailable(reason.into()));
        }
        let coverage = self.coverage(&*bench.device)?;
        let parity = parity::verify(
            &mut *contender.subject.prepared,
            self.context,
            &self.scene.crowd,
            &mut bench.output,
            &coverage,
            self.tolerance(),
        )?;
        agreed(contender.outcome.parity.insert(parity).failure.clone())?;
        self.compare_gameplay(contender, bench)?;
        if unpresentable.is_none() && contender.subject.prepared.self_timed().is_none() {
            let time = bench.frame(&mut contender.subject, VERIFIED_TICKS[0], Probe::Stages)?;
            contender.warm_up.record(time);
            self.compare_picture(contender, &*bench.device)?;
        }
        Ok(())
    }

    /// Reason why a backend's frames cannot be measured with the run's number of passes, if any.
    fn unpresentable(&self, contender: &Contender) -> Option<&'static str> {
        let later_passes = contender.subject.entry.abilities().later_passes;
        match (later_passes, self.demand.passes) {
            (LaterPasses::SkinAgain, 0) => Some("skins in the draw; needs --passes 1 or more"),
            (LaterPasses::NotDrawn, 1..) => Some("its output cannot be drawn; needs --passes 0"),
            _ => None,
        }
    }

    /// Ticks and instances on which a backend is verified.
    fn coverage(&self, device: &dyn DeviceSide) -> Result<Coverage> {
        let crowd = &self.scene.crowd;
        let coverage = match self.depth {
            Depth::Verified => Coverage::all(crowd, &VERIFIED_TICKS),
            Depth::Measured => {
                let also = device.chunk_ends(crowd)?;
                Coverage::sampled(crowd, &VERIFIED_TICKS, &also)
            }
        };
        Ok(Coverage {
            frustum: self.demand.job.frustum,
            ..coverage
        })
    }

    /// Compares bounds and sockets with the reference, if they are read.
    fn compare_gameplay(&self, contender: &mut Contender, bench: &mut Bench) -> Result<()> {
        let Some(gameplay) = &self.scene.gameplay else {
            return Ok(());
        };
        let backend = &mut *contender.subject.prepared;
        let crowd = &self.scene.crowd;
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
        let backend = &contender.subject.prepared;
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
        let tolerance = self.tolerance();
        let mut off = 0.0f64;
        for group in crowd.groups() {
            let shown = shown(crowd, group);
            let relative = tolerance.of_group(group, shown).position;
            let mut scale = 0.0f32;
            for instance in group.instances.clone() {
                for row in crowd.placements()[instance as usize].chunks_exact(4) {
                    scale = scale.max(Vec3::from_slice(row).length());
                }
            }
            off = off.max(relative * shown.diagonal * f64::from(scale));
        }
        Sight {
            width: self.scene.resolution[0] as usize,
            range: self.scene.depth_range().map(f64::from),
            pixels: self
                .scene
                .camera
                .pixels_of_metre(self.scene.resolution)
                .into(),
            apart: 2.0 * off,
        }
    }

    /// Warms up, then measures the backends in alternation.
    fn measure(&mut self, mut contenders: Vec<Contender>, bench: &mut Bench) -> io::Result<()> {
        self.measure_limits(&mut contenders, &*bench.device);
        let room = self.pace.most().min(ROOM) as usize;
        // Those that are not finished, by their numbers in the order.
        let mut racing = self.warm_up(contenders, bench, room)?;
        let estimates = racing.values().map(|racer| racer.warm_up.estimate());
        let mut order = Order::new(self.pace, estimates);
        while let Some(event) = order.next_event() {
            let at_hand = racing.len();
            match event {
                Event::Block(index, frames) => {
                    let Some(contender) = racing.get_mut(&index) else {
                        continue;
                    };
                    self.tell(
                        "measuring",
                        Some(contender.subject.entry),
                        at_hand,
                        order.progress(),
                    );
                    let measured = self.measure_block(contender, bench, &mut order, index, frames);
                    if measured.is_err()
                        && let Some(contender) = racing.remove(&index)
                    {
                        order.retire(index);
                        self.end(contender, measured)?;
                    }
                    if self.observer.interrupted() {
                        break;
                    }
                }
                Event::End(index) => {
                    if let Some(mut contender) = racing.remove(&index) {
                        bench.settle_clocks(&mut contender);
                        self.end(contender, Ok(()))?;
                    }
                }
            }
        }
        // After an interruption, backends that have samples keep them.
        for mut contender in racing.into_values() {
            bench.settle_clocks(&mut contender);
            let stages = &contender.outcome.stages;
            if stages.iter().any(|times| !times.samples.is_empty()) {
                self.end(contender, Ok(()))?;
            }
        }
        Ok(())
    }

    /// Warms backends up, and reserves memory for so many samples of each; returns those that did not fail, numbered
    /// from 0.
    fn warm_up(
        &mut self,
        contenders: Vec<Contender>,
        bench: &mut Bench,
        room: usize,
    ) -> io::Result<BTreeMap<usize, Contender>> {
        let at_hand = contenders.len();
        let mut warm = BTreeMap::new();
        for mut contender in contenders {
            self.tell("warming up", Some(contender.subject.entry), at_hand, 0.0);
            match bench.warm_up(&mut contender, || self.observer.interrupted()) {
                Ok(()) => {
                    contender.clear_times(room);
                    warm.insert(warm.len(), contender);
                }
                failed => self.end(contender, failed)?,
            }
        }
        Ok(warm)
    }

    /// Measures a block of frames, or its beginning up to a frame that is audited. Fails if an audit finds something
    /// wrong.
    fn measure_block(
        &mut self,
        contender: &mut Contender,
        bench: &mut Bench,
        order: &mut Order,
        index: usize,
        frames: Range<u32>,
    ) -> Result<()> {
        let cut = self.auditor.cut(frames);
        let measured = bench.block(
            contender,
            cut.frames.clone(),
            || self.observer.interrupted(),
            |frame| order.record(index, frame),
        )?;
        let is_last = order.is_done(index);
        if measured == cut.frames && (cut.is_audited || is_last) {
            let last = cut.frames.end - 1;
            self.audit(contender, bench, last)?;
            if order.mean(index) < LONG_FRAME {
                // The next frame that is recorded finds the caches as if nothing had been read back.
                bench.again(contender, last)?;
            }
        }
        if contender.subject.prepared.self_timed().is_some() {
            return Ok(());
        }
        bench.fenced_frames(contender, measured)?;
        if is_last
            && matches!(self.pace, Pace::Frames(_) | Pace::Full)
            && !self.options.disturbance.cold
            && let Some(last) = bench.throughput(contender, order.mean(index), self.pace.most())?
        {
            self.audit(contender, bench, last)?;
        }
        Ok(())
    }

    /// The tolerance of backends that state no error.
    fn tolerance(&self) -> Tolerance {
        self.options
            .tolerance
            .unwrap_or_else(|| Tolerance::of(self.scene.crowd.format()))
    }

    /// Compares some vertices of the last frame with the reference of its tick. Fails if they are wrong.
    fn audit(&mut self, contender: &mut Contender, bench: &mut Bench, tick: u32) -> Result<()> {
        let backend = &mut *contender.subject.prepared;
        let crowd = &self.scene.crowd;
        let instances = self.auditor.instances(crowd, backend.visible()?.as_deref());
        let coverage = Coverage {
            ticks: vec![tick],
            instances: instances
                .into_iter()
                .map(|instance| instance..instance + 1)
                .collect(),
            frustum: self.demand.job.frustum,
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
            self.tolerance(),
        )?;
        agreed(wrong.map(|what| format!("measured frame {tick}: {what}")))
    }

    /// Adds the least that each stage could take, for which the machine's limits are measured.
    fn measure_limits(&mut self, contenders: &mut [Contender], device: &dyn DeviceSide) {
        self.tell("measuring", None, contenders.len(), 0.0);
        for contender in contenders {
            for traffic in contender.subject.prepared.traffic(&self.scene.crowd) {
                let clock = match traffic.memory {
                    Memory::Host { .. } | Memory::Staging { .. } => Clock::Wall,
                    Memory::Device | Memory::Upload => device.clock().label(),
                };
                let limit = self.limits.of(&traffic, &self.context.threads, device);
                let times = times_of(&mut contender.outcome.stages, traffic.stage, clock);
                times.floor = limit.map(|limit| Floor {
                    bytes: traffic.bytes(),
                    limit: limit as u64,
                });
            }
        }
    }

    /// Reports a step, at which so many backends are at hand: they are verified, and measured to a fraction.
    fn tell(
        &mut self,
        activity: &'static str,
        entry: Option<&BackendEntry>,
        at_hand: usize,
        measured: f64,
    ) {
        let verifying = match self.depth {
            Depth::Verified => 1.0,
            Depth::Measured => VERIFYING,
        };
        let at_hand = at_hand as f64 * (verifying + (1.0 - verifying) * measured);
        let done =
            (self.outcomes.len() as f64 + at_hand) / self.options.backends.len().max(1) as f64;
        self.observer.progress(&RunStep {
            activity,
            backend: entry.map(|entry| entry.name),
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
            subject,
            mut outcome,
            ..
        } = contender;
        outcome.device = subject.prepared.device();
        outcome.gameplay_delay = subject.prepared.gameplay_delay();
        drop(subject);
        if let Err(error) = ended {
            outcome = outcome.failed(&error);
        }
        // Not those that have a limit and were never run.
        outcome
            .stages
            .retain(|times| !times.samples.is_empty() || times.dropped > 0);
        // The frame's time is written last, so that its presence marks a complete group of rows.
        outcome.stages.sort_by_key(|times| {
            let is_frame = (times.stage, times.clock) == (Stage::Frame, Clock::Wall);
            (is_frame, times.stage, times.clock)
        });
        self.finish(outcome)
    }

    /// An outcome without times.
    fn outcome(&self, entry: &BackendEntry) -> Outcome {
        Outcome {
            owner: entry.owner,
            disturbance: self.options.disturbance,
            ..Outcome::new(entry.name, self.demand.passes, Status::Ok)
        }
    }

    fn finish(&mut self, outcome: Outcome) -> io::Result<()> {
        self.observer.finished(&outcome)?;
        self.outcomes.push(outcome);
        Ok(())
    }
}
