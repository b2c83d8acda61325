//! Commands of a frame on their way to the device: counted, timed by stages, and submitted.

use crate::Gpu;
use crate::device::Buffer;
use crate::device::command::{Command, DrawPart, Pass, PassEnds, Recorder};
use crate::device::gpu::{FrameTimes, Medium, WgpuDevice};
use crate::device::staging::{STAGING_BYTES, Staging, allocate, fill};
use crate::device::timestamps::{CAPACITY, OUTER, QueriedStages, StageQueries};
use arrayvec::ArrayVec;
use skinbench_frame::{DeviceClock, FrameWork, Result, Stage};
use skinbench_kernels::threads::{Threads, lock};
use std::ops::Range;
use std::sync::Arc;

/// A frame's commands before submission.
pub struct Commands {
    gpu: Arc<Gpu>,
    /// Commands of the current submission; `None` where they go to a tape or nowhere.
    encoder: Option<wgpu::CommandEncoder>,
    pass: Pass,
    /// Commands recorded before, one buffer per submission.
    cut: ArrayVec<Piece, { CAPACITY as usize }>,
    work: FrameWork,
    /// Clock of the stages; `None` if they are not timed.
    pub(crate) clock: Option<DeviceClock>,
    pub(crate) queried: QueriedStages,
    stage: Option<OpenStage>,
    /// The queries of the stage `draw`.
    draw: Option<StageQueries>,
}

/// The stage that is being recorded.
struct OpenStage {
    stage: Stage,
    /// The query that the encoder takes at its end.
    last_query: Option<u32>,
    /// `true` if it is timed by fences.
    fenced: bool,
    ends_with_pass: bool,
}

/// Commands of one submission.
pub(crate) struct Piece {
    pub buffer: wgpu::CommandBuffer,
    /// The stage that it is timed as by fences.
    pub stage: Option<Stage>,
}

/// Commands that the device is executing.
pub struct Flight {
    gpu: Arc<Gpu>,
    /// `None` where nothing is executed.
    submission: Result<Option<wgpu::SubmissionIndex>>,
}

impl Flight {
    /// Blocks until the device is done.
    ///
    /// # Errors
    /// [`BackendError::Device`](skinbench_frame::BackendError::Device) if the device was lost, refused a command, or did
    /// not finish in time.
    pub fn land(self) -> Result<()> {
        match self.submission? {
            Some(submission) => self.gpu.wait(Some(submission), "a frame"),
            None => self.gpu.check(),
        }
    }
}

impl Gpu {
    /// Starts recording.
    pub fn commands(self: &Arc<Self>, label: &str) -> Commands {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some(label) };
        let encoder = self
            .wgpu()
            .map(|open| open.device.create_command_encoder(&descriptor));
        Commands {
            gpu: Arc::clone(self),
            encoder,
            pass: Pass::Outside,
            cut: ArrayVec::new(),
            work: FrameWork::default(),
            clock: None,
            queried: QueriedStages::default(),
            stage: None,
            draw: None,
        }
    }
}

impl Commands {
    /// Submits without waiting, unless stages are timed by fences. Everything has been recorded by then, so that the
    /// device does not wait between submissions.
    pub fn launch(mut self) -> Flight {
        if self.queried.outer {
            self.mark(OUTER[1]);
            self.flush();
        }
        *lock(&self.gpu.work) += self.work;
        let gpu = Arc::clone(&self.gpu);
        let submission = match gpu.wgpu() {
            Some(open) => self.submit(open),
            None => Ok(None),
        };
        Flight { gpu, submission }
    }

    fn submit(self, open: &WgpuDevice) -> Result<Option<wgpu::SubmissionIndex>> {
        let Some(mut encoder) = self.encoder else {
            return Ok(None);
        };
        if let Some(queries) = &open.queries {
            queries.resolve(&mut encoder, self.queried.used());
        }
        let mut belt = lock(&open.belt);
        belt.finish();
        let mut fences = ArrayVec::new();
        let submitted = self.cut.into_iter().try_for_each(|piece| {
            fences.extend(self.gpu.submit(&open.queue, piece, self.clock)?);
            Ok(())
        });
        let submission = submitted.map(|()| Some(open.queue.submit([encoder.finish()])));
        belt.recall();
        if self.clock.is_some() {
            lock(&self.gpu.timing).last = FrameTimes {
                fences,
                queried: self.queried,
            };
        }
        submission
    }

    /// Submits and blocks until the device is done.
    ///
    /// # Errors
    /// As [`Flight::land`].
    pub fn finish(self) -> Result<()> {
        self.launch().land()
    }

    fn count(&mut self, command: &Command) {
        let work = &mut self.work;
        match command {
            Command::Dispatch { .. } | Command::DispatchIndirect { .. } => work.dispatches += 1,
            Command::DrawIndexed { .. } | Command::DrawIndexedIndirect { .. } => work.draws += 1,
            Command::Write { bytes, .. } => work.uploaded += bytes.len() as u64,
            _ => {}
        }
    }

    /// Begins the stage of a compute pass, if it is timed. Returns the queries at the ends of the pass.
    ///
    /// A software adapter gets one submission per stage: llvmpipe runs dispatches and copies at once but takes
    /// timestamps at its next flush, so that in a single submission 130 ms of skinning were measured as 0.1 ms. The
    /// begin is flushed before the work. The end may share its flush with the next stage's begin, because the work
    /// before both is done by then.
    fn begin_compute(&mut self, label: &str) -> PassEnds {
        let (Some(stage), Some(clock)) = (Stage::named(label), self.clock) else {
            return PassEnds::default();
        };
        let by_marks = self.gpu.adapter.summary.software && self.gpu.times_in_encoder();
        if by_marks || clock.is_fenced() {
            self.begin_stage(stage, true);
            return PassEnds::default();
        }
        match self.span(stage) {
            Some([begin, end]) => [Some(begin), Some(end)],
            None => PassEnds::default(),
        }
    }

    fn begin_named(&mut self, name: &str) {
        if let Some(stage) = Stage::named(name).filter(|_| self.clock.is_some()) {
            self.begin_stage(stage, false);
        }
    }

    /// Queries for a stage, if it is timed by any.
    fn span(&mut self, stage: Stage) -> Option<StageQueries> {
        let by_queries = self.clock.is_some_and(|clock| !clock.is_fenced());
        let queries = self.gpu.queries().filter(|_| by_queries);
        queries.and_then(|_| self.queried.span(stage))
    }

    /// Begins a stage between passes, if the clock of the device can time it.
    fn begin_stage(&mut self, stage: Stage, ends_with_pass: bool) {
        let fenced = self.begin_fenced();
        let mut last_query = None;
        if self.gpu.times_in_encoder()
            && let Some([begin, end]) = self.span(stage)
        {
            self.mark(begin);
            self.flush();
            last_query = Some(end);
        }
        self.stage = Some(OpenStage {
            stage,
            last_query,
            fenced,
            ends_with_pass,
        });
    }

    /// Begins or continues the stage `draw`. Returns the queries at the ends of the pass.
    fn begin_draw(&mut self, part: DrawPart) -> PassEnds {
        if part == DrawPart::default() || self.clock.is_none() {
            return PassEnds::default();
        }
        if part.first {
            let fenced = self.begin_fenced();
            self.draw = self.span(Stage::Draw);
            self.stage = Some(OpenStage {
                stage: Stage::Draw,
                last_query: None,
                fenced,
                ends_with_pass: false,
            });
        }
        if let Some(stage) = &mut self.stage {
            stage.ends_with_pass = part.last;
        }
        match self.draw {
            Some([begin, end]) => [part.first.then_some(begin), part.last.then_some(end)],
            None => PassEnds::default(),
        }
    }

    fn end_stage(&mut self) {
        let Some(stage) = self.stage.take() else {
            return;
        };
        if let Some(query) = stage.last_query {
            self.mark(query);
        }
        if stage.fenced {
            self.cut(Some(stage.stage));
        }
    }

    /// Begins a stage that is timed by fences, if any are: what was recorded before goes to another submission. Returns
    /// whether its end must be cut off, too. A stage beyond the capacity stays untimed, as with timestamps.
    fn begin_fenced(&mut self) -> bool {
        let fenced = self.clock.is_some_and(DeviceClock::is_fenced);
        let begins = fenced && self.cut.remaining_capacity() >= 2;
        if begins {
            self.cut(None);
        }
        begins
    }

    /// Ends the current submission, which is timed as a stage if one is named; later commands go to another submission
    /// of the same frame.
    fn cut(&mut self, stage: Option<Stage>) {
        let (Some(encoder), Some(open)) = (&mut self.encoder, self.gpu.wgpu()) else {
            return;
        };
        let descriptor = wgpu::CommandEncoderDescriptor {
            label: Some("next"),
        };
        let next = open.device.create_command_encoder(&descriptor);
        self.cut.push(Piece {
            buffer: std::mem::replace(encoder, next).finish(),
            stage,
        });
    }

    /// Takes a timestamp, if the adapter has any.
    pub(crate) fn mark(&mut self, index: u32) {
        if let (Some(encoder), Some(queries)) = (&mut self.encoder, self.gpu.queries()) {
            encoder.write_timestamp(&queries.set, index);
        }
    }

    /// Makes a software adapter take the timestamps recorded so far before it continues.
    fn flush(&mut self) {
        if self.gpu.adapter.summary.software {
            self.cut(None);
        }
    }
}

impl Recorder for Commands {
    fn run(&mut self, command: Command) {
        self.count(&command);
        if let Medium::Tape(tape) = &self.gpu.medium {
            return lock(tape).append(&command);
        }
        let ends = match &command {
            Command::Stage(name) => return self.begin_named(name),
            Command::EndStage => return self.end_stage(),
            Command::Compute { label } => self.begin_compute(label),
            Command::Render(targets) => self.begin_draw(targets.part),
            _ => PassEnds::default(),
        };
        let (Some(encoder), Some(open)) = (&mut self.encoder, self.gpu.wgpu()) else {
            return;
        };
        if let Command::Write { buffer, bytes } = command {
            return open.write(encoder, buffer, bytes);
        }
        let set = open.queries.as_ref().map(|queries| &queries.set);
        self.pass.run(encoder, &command, set, ends);
        if let (Command::End, Some(stage)) = (&command, &self.stage)
            && stage.ends_with_pass
        {
            self.end_stage();
        }
    }

    fn open(&mut self, staging: &mut Staging, bytes: usize) {
        match self.gpu.wgpu() {
            Some(open) => staging.open_mapped(&mut lock(&open.belt), bytes),
            None => staging.open_on_host(bytes),
        }
    }

    fn send(
        &mut self,
        staging: &mut Staging,
        range: Range<usize>,
        kept: &[Range<usize>],
        to: &Buffer,
    ) {
        match &mut self.encoder {
            Some(encoder) => {
                let sent = staging.copy(range, kept, encoder, to.object.get());
                self.work.uploaded += sent;
            }
            None => self.upload(to, &staging.on_host()[range]),
        }
    }
}

impl WgpuDevice {
    /// Copies bytes to the beginning of a buffer through recycled staging memory.
    fn write(&self, encoder: &mut wgpu::CommandEncoder, buffer: &Buffer, bytes: &[u8]) {
        let mut belt = lock(&self.belt);
        for (index, piece) in bytes.chunks(STAGING_BYTES as usize).enumerate() {
            let staging = allocate(&mut belt, piece.len());
            fill(&staging, piece, &Threads::All);
            encoder.copy_buffer_to_buffer(
                staging.buffer(),
                staging.offset(),
                buffer.object.get(),
                index as u64 * STAGING_BYTES,
                piece.len() as u64,
            );
        }
    }
}
