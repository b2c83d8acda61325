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
}

/// The stage that is being recorded.
struct OpenStage {
    stage: Stage,
    queries: Option<StageQueries>,
    /// `true` if the encoder takes the queries, not a pass.
    by_marks: bool,
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

    /// Begins a stage, if it is timed. A stage beyond the capacity stays untimed.
    fn begin(&mut self, stage: Stage, by_marks: bool) {
        let Some(clock) = self.clock else {
            return;
        };
        // What was recorded before goes to another submission.
        let fenced = clock.is_fenced() && self.cut.remaining_capacity() >= 2;
        if fenced {
            self.cut(None);
        }
        let mut queries = None;
        let takes_queries = self.gpu.queries().is_some() && !clock.is_fenced();
        if takes_queries && (!by_marks || self.gpu.times_in_encoder()) {
            queries = self.queried.span(stage);
        }
        if let (true, Some([begin, _])) = (by_marks, queries) {
            self.mark(begin);
            self.flush();
        }
        self.stage = Some(OpenStage {
            stage,
            queries,
            by_marks,
            fenced,
            ends_with_pass: false,
        });
    }

    /// Begins a pass, which is a part of the stage. Returns the queries at its ends.
    ///
    /// A software adapter gets one submission per stage of compute passes: llvmpipe runs dispatches and copies at once but
    /// takes timestamps at its next flush, so that in a single submission 130 ms of skinning were measured as 0.1 ms. The
    /// begin is flushed before the work. The end may share its flush with the next stage's begin, because the work
    /// before both is done by then.
    fn begin_pass(&mut self, stage: Option<Stage>, part: DrawPart) -> PassEnds {
        if let (Some(stage), true) = (stage, part.first) {
            let software = self.gpu.adapter.summary.software && self.gpu.times_in_encoder();
            self.begin(stage, software && stage != Stage::Draw);
        }
        let Some(open) = &mut self.stage else {
            return PassEnds::default();
        };
        open.ends_with_pass = part.last;
        match open.queries.filter(|_| !open.by_marks) {
            Some([begin, end]) => [part.first.then_some(begin), part.last.then_some(end)],
            None => PassEnds::default(),
        }
    }

    fn end(&mut self) {
        let Some(open) = self.stage.take() else {
            return;
        };
        if let (true, Some([_, end])) = (open.by_marks, open.queries) {
            self.mark(end);
        }
        if open.fenced {
            self.cut(Some(open.stage));
        }
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
            Command::Stage(stage) => return self.begin(*stage, true),
            Command::EndStage => return self.end(),
            Command::Compute { label } => self.begin_pass(Stage::named(label), DrawPart::WHOLE),
            Command::Render(targets) => self.begin_pass(Some(Stage::Draw), targets.part),
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
            self.end();
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
