//! A frame's commands: recording, timing by timestamps or fences, submission.

use super::Gpu;
use super::timestamps::{CAPACITY, GpuSpan};
use crate::frame::{Clock, DeviceClock, Result, Span, Stage, StageTimer};
use arrayvec::ArrayVec;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A frame's commands before submission.
pub struct Commands {
    gpu: Rc<Gpu>,
    /// Encoder of the current submission.
    pub encoder: wgpu::CommandEncoder,
    /// Commands recorded before, one buffer per submission.
    cut: ArrayVec<Piece, { CAPACITY as usize }>,
}

/// Commands of one submission.
struct Piece {
    buffer: wgpu::CommandBuffer,
    /// The stage that it is timed as by fences.
    stage: Option<Stage>,
}

/// Commands that the device is executing.
pub struct Flight {
    gpu: Rc<Gpu>,
    submission: Result<wgpu::SubmissionIndex>,
}

impl Flight {
    /// Blocks until the device is done.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost, refused a command, or did
    /// not finish in time.
    pub fn land(self) -> Result<()> {
        self.gpu.wait(Some(self.submission?), "a frame")
    }
}

impl Commands {
    /// Submits without waiting, unless stages are timed by fences. Everything has been recorded by then, so that the
    /// device does not wait between submissions.
    pub fn launch(mut self) -> Flight {
        let gpu = Rc::clone(&self.gpu);
        gpu.mark_end(&mut self);
        if let Some(timestamps) = &gpu.timestamps {
            timestamps.borrow().resolve(&mut self.encoder);
        }
        let mut belt = gpu.belt.borrow_mut();
        belt.finish();
        let submission = self.cut.into_iter().try_for_each(|piece| gpu.submit(piece));
        let submission = submission.map(|()| gpu.queue.submit([self.encoder.finish()]));
        belt.recall();
        drop(belt);
        Flight { gpu, submission }
    }

    /// Submits and blocks until the device is done.
    ///
    /// # Errors
    /// As [`Flight::land`].
    pub fn finish(self) -> Result<()> {
        self.launch().land()
    }

    /// Ends the current submission; later commands go to another submission of the same frame.
    fn cut(&mut self, stage: Option<Stage>) {
        let next = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("next") });
        self.cut.push(Piece { buffer: std::mem::replace(&mut self.encoder, next).finish(), stage });
    }
}

impl Gpu {
    /// Starts recording a frame whose stages are timed, with the first of the outer pair of timestamps.
    pub fn frame(self: &Rc<Self>, label: &str) -> Commands {
        let mut commands = self.commands(label);
        self.fences.borrow_mut().clear();
        if self.timestamps_in_encoder
            && self.takes_timestamps()
            && let Some(timestamps) = &self.timestamps
        {
            let index = timestamps.borrow_mut().begin_outer();
            self.mark(&mut commands, index);
        }
        commands
    }

    /// Records the second of the outer pair of timestamps, if there is a first.
    fn mark_end(&self, commands: &mut Commands) {
        let end = self.timestamps.as_ref().and_then(|t| t.borrow_mut().end_outer());
        if let Some(index) = end {
            self.mark(commands, index);
            self.flush(commands);
        }
    }

    /// Switches the timing of stages on or off, by whichever clock: a query set serves one frame at a time, and fences
    /// keep frames from overlapping.
    pub fn set_timing(&self, on: bool) {
        self.timing.set(on);
    }

    fn takes_timestamps(&self) -> bool {
        self.timing.get() && self.clock.get() == DeviceClock::Timestamps
    }

    /// Begins a stage that is timed by fences, if any are: what was recorded before goes to another submission. Returns
    /// whether [`Gpu::end_fenced`] must end it.
    pub(super) fn begin_fenced(&self, commands: &mut Commands) -> bool {
        // A stage beyond the capacity stays untimed, as with timestamps.
        let room = commands.cut.remaining_capacity() >= 2;
        let begins = room && self.timing.get() && self.clock.get() != DeviceClock::Timestamps;
        if begins {
            commands.cut(None);
        }
        begins
    }

    /// Ends a stage that is timed by fences.
    pub(super) fn end_fenced(&self, commands: &mut Commands, stage: Stage) {
        commands.cut(Some(stage));
    }

    /// Starts recording.
    pub fn commands(self: &Rc<Self>, label: &str) -> Commands {
        let encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });
        Commands { gpu: Rc::clone(self), encoder, cut: ArrayVec::new() }
    }

    /// Queries for a stage, if the adapter has them.
    pub(super) fn span(&self, stage: Stage) -> Option<GpuSpan> {
        if !self.takes_timestamps() {
            return None;
        }
        self.timestamps.as_ref().and_then(|t| t.borrow_mut().span(stage))
    }

    /// Runs `record` in a compute pass timed as `stage`.
    pub fn compute_pass(&self, commands: &mut Commands, stage: Stage, record: impl FnOnce(&mut wgpu::ComputePass)) {
        let fenced = self.clock.get() != DeviceClock::Timestamps;
        if fenced || (self.summary.software && self.timestamps_in_encoder) {
            return self.timed(commands, stage, |commands| {
                let descriptor = wgpu::ComputePassDescriptor { label: Some(stage.name()), timestamp_writes: None };
                record(&mut commands.encoder.begin_compute_pass(&descriptor));
            });
        }
        let span = self.span(stage);
        let timestamps = self.timestamps.as_ref().map(|t| t.borrow());
        let mut pass = commands.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(stage.name()),
            timestamp_writes: timestamps.as_ref().zip(span).map(|(t, span)| wgpu::ComputePassTimestampWrites {
                query_set: t.set(),
                beginning_of_pass_write_index: Some(span.begin()),
                end_of_pass_write_index: Some(span.end()),
            }),
        });
        record(&mut pass);
    }

    /// Runs `record` in a render pass; `begin` and `end` tell which ends of `span` this pass marks.
    pub(super) fn render_pass(
        &self,
        commands: &mut Commands,
        descriptor: wgpu::RenderPassDescriptor,
        (begin, end): (Option<GpuSpan>, Option<GpuSpan>),
        record: impl FnOnce(&mut wgpu::RenderPass),
    ) {
        let timestamps = self.timestamps.as_ref().map(|t| t.borrow());
        let marked = begin.is_some() || end.is_some();
        let mut pass = commands.encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            timestamp_writes: timestamps.as_ref().filter(|_| marked).map(|t| wgpu::RenderPassTimestampWrites {
                query_set: t.set(),
                beginning_of_pass_write_index: begin.map(GpuSpan::begin),
                end_of_pass_write_index: end.map(GpuSpan::end),
            }),
            ..descriptor
        });
        record(&mut pass);
    }

    /// Records commands other than passes, timed as `stage` if the clock of the device can time them.
    ///
    /// A software adapter gets one submission per stage: llvmpipe runs dispatches and copies at once but takes
    /// timestamps at its next flush, so that in a single submission 130 ms of skinning were measured as 0.1 ms. The
    /// begin is flushed before the work. The end may share its flush with the next stage's begin, because the work
    /// before both is done by then.
    pub fn timed(&self, commands: &mut Commands, stage: Stage, record: impl FnOnce(&mut Commands)) {
        let fenced = self.begin_fenced(commands);
        let span = if self.timestamps_in_encoder { self.span(stage) } else { None };
        if let Some(span) = span {
            self.mark(commands, span.begin());
            self.flush(commands);
        }
        record(commands);
        if let Some(span) = span {
            self.mark(commands, span.end());
        }
        if fenced {
            self.end_fenced(commands, stage);
        }
    }

    fn mark(&self, commands: &mut Commands, index: u32) {
        if let Some(timestamps) = &self.timestamps {
            commands.encoder.write_timestamp(timestamps.borrow().set(), index);
        }
    }

    /// Makes a software adapter take the timestamps recorded so far before it continues.
    fn flush(&self, commands: &mut Commands) {
        if self.summary.software {
            commands.cut(None);
        }
    }

    /// Submits a piece of a frame. A stage is timed from an idle device until it is idle again.
    fn submit(&self, piece: Piece) -> Result<()> {
        let (Some(stage), DeviceClock::Fenced { empty }) = (piece.stage, self.clock.get()) else {
            self.queue.submit([piece.buffer]);
            return Ok(());
        };
        self.wait(None, "what comes before a stage")?;
        let took = self.time_submission(piece.buffer, stage.name())?.saturating_sub(empty).as_nanos() as u64;
        // What took no longer than nothing is kept as the least time: dropping it would leave only larger samples.
        self.fences.borrow_mut().push(Span { stage, clock: Clock::Fenced, ns: Some(took.max(1)) });
        Ok(())
    }

    /// Time from before commands are submitted until an idle device is idle again.
    pub(super) fn time_submission(&self, commands: wgpu::CommandBuffer, what: &str) -> Result<Duration> {
        let start = Instant::now();
        let submission = self.queue.submit([commands]);
        self.wait(Some(submission), what)?;
        Ok(start.elapsed())
    }

    /// Moves the finished frame's spans of the device into the timer. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or the timestamps cannot be
    /// read.
    pub fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        self.fences.borrow_mut().drain(..).for_each(|span| timer.push(span));
        match &self.timestamps {
            Some(timestamps) => timestamps.borrow_mut().collect(|buffer, out| self.read_mapped(buffer, out), timer),
            None => Ok(()),
        }
    }
}
