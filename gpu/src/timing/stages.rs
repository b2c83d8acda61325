//! Timing of a frame's stages on the device: by timestamps, if they are what they should be, or by fences around
//! submissions.

use crate::Gpu;
use crate::device::commands::Piece;
use crate::device::gpu::FrameTimes;
use crate::device::timestamps::{CAPACITY, OUTER, Queries, fault};
use crate::device::{Command, Commands, Recorder, TIMING, named};
use crate::kernel::Kernel;
use crate::shader::shader;
use crate::timing::bandwidth::TILE as FILL_TILE;
use arrayvec::ArrayVec;
use skinbench_frame::{
    BackendError, Clock, ClockChoice, DeviceClock, Purpose, Result, Stage, StageTime, StageTimer,
};
use skinbench_kernels::threads::lock;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that the known work of the check writes.
const BYTES: u64 = 16 << 20;
/// Rounds of the check. One with a fault may be an accident, which a run drops; more are not.
const ROUNDS: usize = 8;
/// Empty submissions that are timed, and those before them that are not.
const EMPTY: usize = 31;
const WARM_UP: usize = 8;

/// The ticks of a frame's queries.
type Ticks = ArrayVec<u64, { CAPACITY as usize }>;

impl Gpu {
    /// Clock of the stages.
    pub fn clock(&self) -> DeviceClock {
        lock(&self.timing).clock
    }

    /// Sets the clock of the stages of all later frames; measures what it needs. Returns why timestamps are not used
    /// although they were not ruled out.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if timestamps are chosen and the adapter has none, or [`BackendError::Device`] if
    /// the device was lost.
    pub fn choose_clock(self: &Arc<Self>, choice: ClockChoice) -> Result<Option<&'static str>> {
        lock(&self.timing).clock = DeviceClock::default();
        let fault = match choice {
            ClockChoice::Auto => self.timestamps_fault()?,
            ClockChoice::Timestamps if self.queries().is_none() => {
                let name = &self.adapter.summary.name;
                return Err(BackendError::Unavailable(format!(
                    "{name} has no timestamp queries; expected the clock fenced or auto"
                )));
            }
            ClockChoice::Timestamps | ClockChoice::Fenced => None,
        };
        if fault.is_some() || choice == ClockChoice::Fenced {
            let empty_submission = Some(self.empty_submission()?);
            lock(&self.timing).clock = DeviceClock { empty_submission };
        }
        Ok(fault)
    }

    /// Times known work by timestamps; returns what is wrong with them.
    fn timestamps_fault(self: &Arc<Self>) -> Result<Option<&'static str>> {
        let Some(queries) = self.queries() else {
            return Ok(Some("the device has no timestamp queries"));
        };
        let target = self.scratch(Purpose::Staging, "clock check", BYTES);
        let kernel = Kernel::new(self, "fill", shader("fill.wgsl", &[]), &[], true)?;
        let group = kernel.bind(self, 0, &[named("output", &target)]);
        let workgroups = [(BYTES / FILL_TILE) as u32, 1, 1];
        let mut faults = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let mut commands = self.frame("clock check");
            let label = Stage::Skin.name();
            commands.run(Command::Compute { label });
            commands.dispatch(&kernel.pipeline, &group, Command::Dispatch { workgroups });
            commands.run(Command::End);
            commands.finish()?;
            let wall = start.elapsed();
            let queried = std::mem::take(&mut lock(&self.timing).last).queried;
            let ticks = self.ticks(queries, queried.ticks())?;
            faults.extend(fault(&ticks, queries.ns_per_tick, queried.outer, wall));
        }
        Ok(faults.first().copied().filter(|_| faults.len() > 1))
    }

    /// Median time of a submission without work.
    pub(crate) fn empty_submission(&self) -> Result<Duration> {
        let Some((device, queue)) = self.device() else {
            return Ok(Duration::ZERO);
        };
        let mut times = Vec::new();
        for _ in 0..WARM_UP + EMPTY {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.begin_compute_pass(&Default::default());
            times.push(self.time_submission(queue, encoder.finish(), "an empty submission")?);
        }
        times[WARM_UP..].sort_unstable();
        Ok(times[WARM_UP + EMPTY / 2])
    }

    /// Starts recording a frame whose stages are timed, with the first of the outer pair of timestamps.
    pub fn frame(self: &Arc<Self>, label: &str) -> Commands {
        let mut commands = self.commands(label);
        let timing = lock(&self.timing);
        if timing.off {
            return commands;
        }
        commands.clock = Some(timing.clock);
        if self.times_in_encoder() && !timing.clock.is_fenced() {
            commands.queried.outer = true;
            commands.mark(OUTER[0]);
        }
        commands
    }

    /// Returns whether timestamps can be taken between passes.
    pub(crate) fn times_in_encoder(&self) -> bool {
        self.queries().is_some() && self.adapter.features.contains(TIMING)
    }

    /// Switches the timing of stages on or off, by whichever clock: a query set serves one frame at a time, and fences
    /// keep frames from overlapping.
    pub fn set_timing(&self, on: bool) {
        lock(&self.timing).off = !on;
    }

    /// Submits a piece of a frame. Returns the time of its stage from an idle device until it is idle again, if stages are
    /// timed by fences.
    pub(crate) fn submit(
        &self,
        queue: &wgpu::Queue,
        piece: Piece,
        clock: Option<DeviceClock>,
    ) -> Result<Option<StageTime>> {
        let empty = clock.and_then(|clock| clock.empty_submission);
        let (Some(stage), Some(empty)) = (piece.stage, empty) else {
            queue.submit([piece.buffer]);
            return Ok(None);
        };
        self.wait(None, "what comes before a stage")?;
        let took = self
            .time_submission(queue, piece.buffer, stage.name())?
            .saturating_sub(empty)
            .as_nanos() as u64;
        // What took no longer than nothing is kept as the least time: dropping it would leave only larger samples.
        Ok(Some(StageTime {
            stage,
            clock: Clock::Fenced,
            ns: Some(took.max(1)),
        }))
    }

    /// Time from before commands are submitted until an idle device is idle again.
    pub(crate) fn time_submission(
        &self,
        queue: &wgpu::Queue,
        commands: wgpu::CommandBuffer,
        what: &str,
    ) -> Result<Duration> {
        let start = Instant::now();
        let submission = queue.submit([commands]);
        self.wait(Some(submission), what)?;
        Ok(start.elapsed())
    }

    /// Moves the finished frame's spans of the device into the timer. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or the timestamps cannot be read.
    pub fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        let FrameTimes { fences, queried } = std::mem::take(&mut lock(&self.timing).last);
        timer.spans.extend(fences);
        if let Some(queries) = self.queries() {
            let ticks = self.ticks(queries, queried.ticks())?;
            queried.collect(&ticks, queries.ns_per_tick, timer);
        }
        Ok(())
    }

    /// The first ticks of the finished frame. The device must be idle.
    fn ticks(&self, queries: &Queries, count: usize) -> Result<Ticks> {
        let mut ticks = Ticks::from([0; CAPACITY as usize]);
        ticks.truncate(count);
        if !ticks.is_empty() {
            self.read_wgpu(&queries.mappable, bytemuck::cast_slice_mut(&mut ticks))?;
        }
        Ok(ticks)
    }
}
