//! Frames of a backend, and the resources that the backends of a rotation share for them.

use super::disturbance::Disturber;
use super::options::RunOptions;
use super::order::WarmUp;
use super::outcome::{Outcome, Resources, StageTimes, add, times_of};
use super::pacing::{ClockedFrame, Clocks, MeasuredFrame, PacedFrame, Pacing};
use super::processor_clock::ProcessorClock;
use super::thread_clocks::ThreadClocks;
use crate::backend::{Flight, Prepared, SelfTimed, Ticket};
use crate::crowd::Crowd;
use crate::frame::{
    Clock, FrameInput, FrameWork, OutputBuffers, Pacer, Result, Stage, StageGroup, StageTime,
    StageTimer,
};
use crate::harness::{BackendMemory, DeviceSide, SharedMemory};
use crate::registry::BackendEntry;
use crate::scene::{BuiltScene, DeviceLoad};
use crate::threads::Threads;
use std::ops::{Range, RangeInclusive};
use std::time::{Duration, Instant};

/// Time for frames with two in flight, and their smallest and largest number.
const THROUGHPUT: Duration = Duration::from_secs(1);
const THROUGHPUT_FRAMES: RangeInclusive<u32> = 3..=100;
/// Most frames that a backend with a clock of its own is asked for at once.
const MOST_OWN_FRAMES: u32 = 1 << 13;

/// A backend with its buffers.
pub(super) struct Subject {
    pub entry: &'static BackendEntry,
    pub prepared: Box<dyn Prepared>,
    /// `true` once a frame gave work to the device.
    pub uses_device: bool,
}

/// A backend that takes part in a run.
pub(super) struct Contender {
    pub subject: Subject,
    /// The result so far. Its memory and device work are those of the last measured frame.
    pub outcome: Outcome,
    pub warm_up: WarmUp,
    pub pacing: Pacing,
    pub clocks: Clocks,
}

/// What a frame is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    /// The whole frame and its stages, but for those that fences time.
    Stages,
    /// The stages that fences time: in frames of their own, so that no measured frame waits within itself.
    Fences,
}

impl Contender {
    /// A backend that was not warmed up yet.
    pub fn new(
        entry: &'static BackendEntry,
        prepared: Box<dyn Prepared>,
        outcome: Outcome,
    ) -> Self {
        Self {
            subject: Subject {
                entry,
                prepared,
                uses_device: false,
            },
            outcome,
            warm_up: WarmUp::default(),
            pacing: Pacing::default(),
            clocks: Clocks::default(),
        }
    }

    /// Empties the times, and makes room for so many frames.
    pub fn clear_times(&mut self, room: usize) {
        for stage in &mut self.outcome.stages {
            stage.samples.clear();
            stage.samples.reserve_exact(room);
            stage.dropped = 0;
        }
        self.clocks.clear();
    }
}

/// Runs frames of a backend that times them itself, and adds their spans to its stages; records the time of each.
fn measure_program(
    program: &mut dyn SelfTimed,
    stages: &mut Vec<StageTimes>,
    frames: Range<u32>,
    mut record: impl FnMut(Duration),
) -> Result<()> {
    for (frame, spans) in frames.clone().zip(program.measure(frames)?) {
        add(stages, frame, &spans);
        let whole = spans
            .iter()
            .find(|span| span.stage.group() == StageGroup::Whole);
        let ns = match whole {
            Some(whole) => whole.ns.unwrap_or_default(),
            None => spans.iter().filter_map(|span| span.ns).sum(),
        };
        record(Duration::from_nanos(ns));
    }
    Ok(())
}

/// Resources that the backends of a rotation share.
pub(super) struct Bench<'a> {
    crowd: &'a Crowd,
    pub output: OutputBuffers,
    pub device: Box<dyn DeviceSide>,
    timer: StageTimer,
    clocks: ThreadClocks,
    threads: Threads,
    disturber: Disturber,
    load: DeviceLoad,
    processor: ProcessorClock,
    /// Reads the device's clock in MHz, where its driver tells it.
    megahertz: Option<Box<dyn Fn() -> Option<u32>>>,
}

impl<'a> Bench<'a> {
    pub fn new(
        scene: &'a BuiltScene,
        output: OutputBuffers,
        device: Box<dyn DeviceSide>,
        threads: &Threads,
        options: &RunOptions,
    ) -> Self {
        Self {
            crowd: &scene.crowd,
            output,
            timer: StageTimer::default(),
            clocks: ThreadClocks::new(threads),
            threads: threads.clone(),
            disturber: Disturber::new(options.disturbance),
            load: scene.settings.device.unwrap_or_default(),
            processor: ProcessorClock::default(),
            megahertz: device.megahertz_reader(),
            device,
        }
    }

    /// What keeps the device's clock up while a backend is measured; `None` if nothing does.
    fn pacer(&self, subject: &Subject) -> Option<Pacer<'_>> {
        self.device
            .pacer()
            .filter(|_| subject.uses_device && self.load == DeviceLoad::Busy)
    }

    /// Notes the clocks at the end of a block of frames, and states those of all frames so far.
    fn note_clocks(&self, contender: &mut Contender, frames: Range<u32>) -> Result<()> {
        let clocks = &mut contender.clocks;
        if contender.subject.uses_device
            && let Some(pacer) = self.device.pacer()
        {
            clocks
                .megahertz
                .extend(self.megahertz.as_ref().and_then(|read| read()));
            if self.load == DeviceLoad::Idle {
                // Once a block and not between frames: it would keep the device awake.
                let [piece, _] = pacer.pace(1)?;
                let block = frames.map(|frame| ClockedFrame { frame, piece });
                clocks.frames.extend(block);
            }
            clocks.state(&mut contender.outcome, pacer.piece());
        }
        contender.outcome.processor_clock = self.processor.relative(&clocks.processor);
        Ok(())
    }

    /// Leaves out frames at other clocks than the one that the device held in the end, and states the clocks of the rest.
    pub fn settle_clocks(&self, contender: &mut Contender) {
        if contender.subject.uses_device
            && let Some(pacer) = self.device.pacer()
        {
            let held = pacer.piece();
            contender.clocks.keep_held(&mut contender.outcome, held);
            contender.clocks.state(&mut contender.outcome, held);
        }
    }

    /// Runs one frame, from the crowd's tick to its last pixel; leaves in the timer what the probe asks for.
    pub fn frame(&mut self, subject: &mut Subject, tick: u32, probe: Probe) -> Result<Duration> {
        let is_fenced = self.device.clock().is_fenced();
        self.device.take_work();
        self.device.set_timing(probe == Probe::Fences || !is_fenced);
        self.begin();
        let computed_before = self.clocks.now();
        let start = self.device.now();
        self.submit(subject, tick)?.finish()?;
        let time = self.device.now().duration_since(start);
        let computed_after = self.clocks.now();
        self.device.set_timing(true);
        self.device.collect(&mut self.timer)?;
        let spans = &mut self.timer.spans;
        if probe == Probe::Fences {
            spans.retain(|span| span.clock == Clock::Fenced);
            return Ok(time);
        }
        let ns = time.as_nanos() as u64;
        spans.push(StageTime::new(Stage::Frame, Clock::Wall, ns));
        if let (Some(before), Some(after)) = (computed_before, computed_after) {
            let ns = after.saturating_sub(before);
            spans.push(StageTime::new(Stage::Frame, Clock::ThreadSum, ns));
        }
        Ok(time)
    }

    /// Measures some frames of a backend, or fewer if interrupted; returns those that were measured.
    pub fn block(
        &mut self,
        contender: &mut Contender,
        frames: Range<u32>,
        interrupted: impl Fn() -> bool,
        mut record: impl FnMut(Duration),
    ) -> Result<Range<u32>> {
        let Some(program) = contender.subject.prepared.self_timed() else {
            return self.timed_block(contender, frames, interrupted, record);
        };
        // One at a time if caches are emptied before each.
        let at_once = if self.disturber.disturbance.cold {
            1
        } else {
            frames.len().max(1)
        };
        for first in frames.clone().step_by(at_once) {
            self.disturber.before_frame(&self.threads);
            let some = first..frames.end.min(first + at_once as u32);
            measure_program(program, &mut contender.outcome.stages, some, &mut record)?;
        }
        let host = contender.subject.prepared.footprint(self.crowd).host;
        // A program that does not say what it holds has no memory to report.
        contender.outcome.resources = (host.total() > 0).then(|| Resources {
            memory: BackendMemory {
                host,
                ..BackendMemory::default()
            },
            work: FrameWork::default(),
        });
        Ok(frames)
    }

    /// Measures some frames of a backend, or fewer if interrupted; returns those that were measured.
    fn timed_block(
        &mut self,
        contender: &mut Contender,
        frames: Range<u32>,
        interrupted: impl Fn() -> bool,
        mut record: impl FnMut(Duration),
    ) -> Result<Range<u32>> {
        let mut measured = frames.start..frames.start;
        self.device.work_for(contender.subject.entry.name);
        if self.crowd.has_frozen() && !interrupted() {
            // Other backends overwrote the frozen vertices in the shared buffers; one unrecorded frame restores them.
            let before = frames.start.saturating_sub(1);
            self.frame(&mut contender.subject, before, Probe::Stages)?;
        }
        contender.clocks.processor.push(self.processor.measure());
        contender.pacing.wake(self.pacer(&contender.subject))?;
        for frame in frames {
            if interrupted() {
                break;
            }
            // Frame numbers are ticks, so that every backend computes the same poses.
            let paced = self.paced(contender, frame, Probe::Stages)?;
            record(paced.time);
            contender.clocks.frames.extend(paced.clocked(frame));
            add(&mut contender.outcome.stages, frame, &self.timer.spans);
            measured.end = frame + 1;
        }
        self.note_clocks(contender, measured.clone())?;
        if !measured.is_empty() {
            let shared = SharedMemory {
                host_output: self.output.host.allocated(),
                device_output: self.output.device_bytes(),
                presenter: self.device.target_bytes(),
                device_is_host: self.device.is_software(),
            };
            contender.outcome.resources = Some(Resources {
                memory: shared.of(&contender.subject.prepared.footprint(self.crowd)),
                // Each frame clears the count first, so this is the work of the last one.
                work: self.device.take_work(),
            });
        }
        Ok(measured)
    }

    /// Runs a frame with the device's clock kept up.
    fn paced(&mut self, contender: &mut Contender, tick: u32, probe: Probe) -> Result<PacedFrame> {
        contender.pacing.frame(&mut BenchRig {
            bench: self,
            subject: &mut contender.subject,
            tick,
            run: |bench: &mut Self, subject: &mut Subject| bench.frame(subject, tick, probe),
        })
    }

    /// Runs a frame again, without recording it.
    pub fn again(&mut self, contender: &mut Contender, tick: u32) -> Result<()> {
        match contender.subject.prepared.self_timed() {
            Some(program) => program.measure(tick..tick + 1).map(drop),
            None => self
                .frame(&mut contender.subject, tick, Probe::Stages)
                .map(drop),
        }
    }

    /// Runs frames that are not recorded until the backend is warm; the fewest if interrupted, or if caches are emptied
    /// before each, which takes longer than most frames and keeps the processor at work. Caches are not emptied for
    /// programs that time themselves.
    pub fn warm_up(
        &mut self,
        contender: &mut Contender,
        interrupted: impl Fn() -> bool,
    ) -> Result<()> {
        self.device.work_for(contender.subject.entry.name);
        if let Some(pacer) = self.device.pacer() {
            pacer.wake()?;
        }
        let mut count = 1;
        let times_itself = contender.subject.prepared.self_timed().is_some();
        let empties_caches = self.disturber.disturbance.cold && !times_itself;
        while let Some(frame) = contender
            .warm_up
            .next_frame(empties_caches || interrupted())
        {
            if let Some(program) = contender.subject.prepared.self_timed() {
                let stages = &mut contender.outcome.stages;
                let frames = frame..frame + count;
                measure_program(program, stages, frames, |time| {
                    contender.warm_up.record(time)
                })?;
                // Ever longer requests, so that at least one is long enough for its times to be checked.
                count = (2 * count).min(MOST_OWN_FRAMES);
                continue;
            }
            let time = self.paced(contender, frame, Probe::Stages)?.time;
            contender.subject.uses_device |= self.device.take_work().reaches_device();
            contender.warm_up.record(time);
            // Creates the stages' rows, so that none is allocated while measuring.
            add(&mut contender.outcome.stages, frame, &self.timer.spans);
        }
        self.fenced_frames(contender, 0..1)
    }

    /// Measures frames with two in flight, if there is anything to wait for: at most `most`, if that is more than the
    /// fewest. A frame takes approximately `frame`. Returns the number of the last one.
    pub fn throughput(
        &mut self,
        contender: &mut Contender,
        frame: Duration,
        most: u32,
    ) -> Result<Option<u32>> {
        let fitting = (THROUGHPUT.as_nanos() / frame.as_nanos().max(1)) as u32;
        let frames = fitting
            .min(most)
            .clamp(*THROUGHPUT_FRAMES.start(), *THROUGHPUT_FRAMES.end());
        let mut samples = Vec::new();
        let paced = contender.pacing.frame(&mut BenchRig {
            bench: self,
            subject: &mut contender.subject,
            tick: 0,
            run: |bench: &mut Self, subject: &mut Subject| {
                samples = bench.in_flight(subject, frames)?;
                Ok(frame)
            },
        })?;
        contender.clocks.in_flight.extend(paced.piece);
        let last = (!samples.is_empty()).then_some(frames);
        if last.is_some() {
            times_of(
                &mut contender.outcome.stages,
                Stage::Throughput,
                Clock::Wall,
            )
            .samples = samples;
            self.note_clocks(contender, 0..0)?;
        }
        Ok(last)
    }

    /// Times from one frame's end to the next one's with two in flight; empty if frames end when they are submitted.
    fn in_flight(&mut self, subject: &mut Subject, frames: u32) -> Result<Vec<(u32, u64)>> {
        self.device.set_timing(false);
        let mut ends = Vec::with_capacity(frames as usize + 1);
        let mut earlier: Option<Flight> = None;
        // One frame more than is recorded: the first end has no predecessor.
        for frame in 0..=frames {
            self.begin();
            let Some(flight) = self.submit(subject, frame)?.launch() else {
                ends.clear();
                break;
            };
            if let Some(earlier) = earlier.replace(flight) {
                earlier.land()?;
                ends.push(Instant::now());
            }
        }
        if let Some(last) = earlier {
            last.land()?;
            ends.push(Instant::now());
        }
        self.device.set_timing(true);
        let times = ends
            .windows(2)
            .map(|ends| (ends[1] - ends[0]).as_nanos() as u64);
        Ok((0..).zip(times).collect())
    }

    /// Runs frames whose stages on the device are timed by fences, if they are; adds only these stages. They have
    /// frames of their own, with the numbers of measured ones, so that no frame waits within itself.
    pub fn fenced_frames(&mut self, contender: &mut Contender, frames: Range<u32>) -> Result<()> {
        if !self.device.clock().is_fenced() {
            return Ok(());
        }
        for frame in frames {
            let paced = self.paced(contender, frame, Probe::Fences)?;
            contender.clocks.fenced.extend(paced.clocked(frame));
            add(&mut contender.outcome.stages, frame, &self.timer.spans);
        }
        self.note_clocks(contender, 0..0)
    }

    fn begin(&mut self) {
        self.timer.clear();
        self.output.swap();
    }

    /// Submits a frame and what draws it.
    fn submit(&mut self, subject: &mut Subject, tick: u32) -> Result<Ticket> {
        let Self {
            crowd,
            output,
            device,
            timer,
            ..
        } = self;
        let mut frame = FrameInput {
            crowd,
            tick,
            output,
        };
        let ticket = subject.prepared.submit(&mut frame, timer)?;
        device.draw(ticket, &*subject.prepared, &frame, timer)
    }
}

/// A frame of a backend on a bench, or several that are paced as one.
struct BenchRig<'b, 'a, F> {
    bench: &'b mut Bench<'a>,
    subject: &'b mut Subject,
    tick: u32,
    run: F,
}

impl<'a, F> MeasuredFrame for BenchRig<'_, 'a, F>
where
    F: FnMut(&mut Bench<'a>, &mut Subject) -> Result<Duration>,
{
    fn pacer(&self) -> Option<Pacer<'_>> {
        self.bench.pacer(self.subject)
    }

    fn prepare(&mut self, is_first: bool) -> Result<()> {
        if !is_first && self.bench.crowd.turnover().is_some() {
            // The same instances are to be replaced again.
            let before = self.tick.saturating_sub(1);
            self.bench.frame(self.subject, before, Probe::Stages)?;
        }
        self.bench.disturber.before_frame(&self.bench.threads);
        Ok(())
    }

    fn frame(&mut self) -> Result<Duration> {
        (self.run)(self.bench, self.subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Context, FrameData, Skinned};
    use crate::harness::opened_device;
    use crate::harness::run::{Disturbance, Status};
    use crate::model::RotationBlend;
    use crate::registry::REGISTRY;
    use crate::scene::{Scene, Settings};
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    /// A backend that does nothing but count the frames of each request.
    struct Watcher {
        times_itself: bool,
        requests: Rc<RefCell<Vec<usize>>>,
    }

    impl Prepared for Watcher {
        fn device(&self) -> String {
            String::new()
        }
        fn footprint(&self, _: &Crowd) -> crate::frame::Footprint {
            crate::frame::Footprint::default()
        }
        fn self_timed(&mut self) -> Option<&mut dyn SelfTimed> {
            if self.times_itself { Some(self) } else { None }
        }
        fn submit(&mut self, _: &mut FrameInput, _: &mut StageTimer) -> Result<Ticket> {
            self.requests.borrow_mut().push(1);
            Ok(Ticket::default())
        }
        fn skinned(&self) -> Skinned {
            Skinned::Host
        }
        fn read(
            &mut self,
            _: &Crowd,
            _: &OutputBuffers,
            _: FrameData,
            _: Range<u32>,
            _: &mut Vec<f32>,
        ) -> Result<()> {
            Ok(())
        }
    }

    impl SelfTimed for Watcher {
        fn rotation_blend(&self) -> RotationBlend {
            RotationBlend::Nlerp
        }
        fn has(&self, _: FrameData) -> bool {
            false
        }
        fn measure(&mut self, frames: Range<u32>) -> Result<Vec<Vec<StageTime>>> {
            self.requests.borrow_mut().push(frames.len());
            let whole = StageTime::new(Stage::Frame, Clock::Wall, 1_000_000);
            Ok(vec![vec![whole]; frames.len()])
        }
    }

    fn scene() -> BuiltScene {
        let few = Settings {
            instances: Some(3),
            ..Settings::default()
        };
        Scene::load("smoke")
            .unwrap()
            .with(few)
            .build(1 << 30)
            .unwrap()
    }

    /// Runs frames of a watcher on a bench; returns its requests.
    fn requests(
        disturbance: Disturbance,
        times_itself: bool,
        run: impl FnOnce(&mut Bench, &mut Contender),
    ) -> Vec<usize> {
        let scene = scene();
        let context = Context::default();
        let options = RunOptions {
            disturbance,
            ..RunOptions::default()
        };
        let mut bench = Bench::new(
            &scene,
            OutputBuffers::default(),
            opened_device::open(&context),
            &context.threads,
            &options,
        );
        let requests = Rc::default();
        let watcher = Box::new(Watcher {
            times_itself,
            requests: Rc::clone(&requests),
        });
        let outcome = Outcome::new("watcher", 0, Status::Ok);
        let mut contender = Contender::new(&REGISTRY[0], watcher, outcome);
        run(&mut bench, &mut contender);
        requests.take()
    }

    /// The requests for a block of one frame and for one of two, and how many lines of memory were written for each
    /// frame of both.
    fn watched(disturbance: Disturbance, times_itself: bool) -> (Vec<usize>, [u64; 2]) {
        let mut written = [0; 2];
        let requests = requests(disturbance, times_itself, |bench, contender| {
            bench.block(contender, 0..1, || false, |_| ()).unwrap();
            written[0] = bench.disturber.written();
            bench.block(contender, 1..3, || false, |_| ()).unwrap();
            written[1] = (bench.disturber.written() - written[0]) / 2;
        });
        (requests, written)
    }

    #[test]
    fn caches_are_emptied_before_each_frame() {
        for times_itself in [false, true] {
            let (requests, written) = watched(Disturbance { cold: true }, times_itself);
            assert_eq!(requests, [1, 1, 1]);
            assert!(written[0] > 0 && written[0] == written[1], "{written:?}");
        }
        let (_, written) = watched(Disturbance::default(), false);
        assert_eq!(written, [0, 0]);
    }

    #[test]
    fn only_emptied_caches_shorten_the_warm_up() {
        let warmed = |cold, times_itself| {
            requests(Disturbance { cold }, times_itself, |bench, contender| {
                // Ends a warm-up that sweeps a large cache before each of thousands of frames.
                let asked = Cell::new(0);
                let is_long = || asked.replace(asked.get() + 1) > 50;
                bench.warm_up(contender, is_long).unwrap();
            })
        };
        assert_eq!(warmed(true, false), [1, 1]);
        assert!(warmed(false, false).len() > 2);
        // Programs time ever longer requests, none of which empties a cache.
        let of_program = warmed(true, true);
        assert_eq!(of_program, warmed(false, true));
        assert!(of_program.len() > 2, "{of_program:?}");
    }
}
