//! Commands of a frame on their way to the device: counted, timed by stages, and submitted.

use crate::Gpu;
use crate::device::Buffer;
use crate::device::command::{Command, DrawPart, Pass, PassEnds, Recorder};
use crate::device::gpu::{Medium, WgpuDevice};
use crate::device::staging::{STAGING_BYTES, Staging, allocate, fill};
use crate::device::timestamps::{CAPACITY, OUTER, StageQueries};
use arrayvec::ArrayVec;
use skinbench_frame::{Result, Stage};
use skinbench_kernels::threads::Threads;
use std::ops::Range;
use std::rc::Rc;

/// A frame's commands before submission.
pub struct Commands {
    gpu: Rc<Gpu>,
    /// Commands of the current submission; `None` where they go to a tape or nowhere.
    encoder: Option<wgpu::CommandEncoder>,
    pass: Pass,
    /// Commands recorded before, one buffer per submission.
    cut: ArrayVec<Piece, { CAPACITY as usize }>,
    /// `true` if stages are timed.
    pub(crate) timed: bool,
    /// `true` if timestamps mark the beginning and the end of all.
    pub(crate) outer: bool,
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
    gpu: Rc<Gpu>,
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
    pub fn commands(self: &Rc<Self>, label: &str) -> Commands {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some(label) };
        let encoder = self
            .wgpu()
            .map(|open| open.device.create_command_encoder(&descriptor));
        Commands {
            gpu: Rc::clone(self),
            encoder,
            pass: Pass::Outside,
            cut: ArrayVec::new(),
            timed: false,
            outer: false,
            stage: None,
            draw: None,
        }
    }
}

impl Commands {
    /// Submits without waiting, unless stages are timed by fences. Everything has been recorded by then, so that the
    /// device does not wait between submissions.
    pub fn launch(mut self) -> Flight {
        let gpu = Rc::clone(&self.gpu);
        if self.outer {
            self.mark(OUTER[1]);
            self.flush();
        }
        let submission = match (self.encoder, gpu.wgpu()) {
            (Some(mut encoder), Some(open)) => {
                if let Some(timestamps) = &open.timestamps {
                    timestamps.resolve(&mut encoder);
                }
                let mut belt = open.belt.borrow_mut();
                belt.finish();
                let submission = self
                    .cut
                    .into_iter()
                    .try_for_each(|piece| gpu.submit(&open.queue, piece));
                let submission = submission.map(|()| Some(open.queue.submit([encoder.finish()])));
                belt.recall();
                submission
            }
            _ => Ok(None),
        };
        Flight { gpu, submission }
    }

    /// Submits and blocks until the device is done.
    ///
    /// # Errors
    /// As [`Flight::land`].
    pub fn finish(self) -> Result<()> {
        self.launch().land()
    }

    fn count(&self, command: &Command) {
        let mut work = self.gpu.work.borrow_mut();
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
        let Some(stage) = Stage::named(label).filter(|_| self.timed) else {
            return PassEnds::default();
        };
        let by_marks = self.gpu.adapter.summary.software && self.gpu.times_in_encoder();
        if by_marks || self.gpu.clock().is_fenced() {
            self.begin_stage(stage, true);
            return PassEnds::default();
        }
        match self.gpu.span(stage) {
            Some([begin, end]) => [Some(begin), Some(end)],
            None => PassEnds::default(),
        }
    }

    fn begin_named(&mut self, name: &str) {
        if let Some(stage) = Stage::named(name).filter(|_| self.timed) {
            self.begin_stage(stage, false);
        }
    }

    /// Begins a stage between passes, if the clock of the device can time it.
    fn begin_stage(&mut self, stage: Stage, ends_with_pass: bool) {
        let fenced = self.begin_fenced();
        let mut last_query = None;
        if self.gpu.times_in_encoder()
            && let Some([begin, end]) = self.gpu.span(stage)
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
        if part == DrawPart::default() || !self.timed {
            return PassEnds::default();
        }
        if part.first {
            let fenced = self.begin_fenced();
            self.draw = self.gpu.span(Stage::Draw);
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
        let timing = &self.gpu.timing;
        let begins = self.cut.remaining_capacity() >= 2
            && !timing.off.get()
            && timing.clock.get().is_fenced();
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
        if let (Some(encoder), Some(timestamps)) = (&mut self.encoder, self.gpu.timestamps()) {
            encoder.write_timestamp(&timestamps.queries.set, index);
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
            return tape.borrow_mut().append(&command);
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
        let timestamps = open.timestamps.as_ref();
        let set = timestamps.map(|timestamps| &timestamps.queries.set);
        self.pass.run(encoder, &command, set, ends);
        if let (Command::End, Some(stage)) = (&command, &self.stage)
            && stage.ends_with_pass
        {
            self.end_stage();
        }
    }

    fn open(&mut self, staging: &mut Staging, bytes: usize) {
        match self.gpu.wgpu() {
            Some(open) => staging.open_mapped(&mut open.belt.borrow_mut(), bytes),
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
                self.gpu.work.borrow_mut().uploaded += sent;
            }
            None => self.upload(to, &staging.on_host()[range]),
        }
    }
}

impl WgpuDevice {
    /// Copies bytes to the beginning of a buffer through recycled staging memory.
    fn write(&self, encoder: &mut wgpu::CommandEncoder, buffer: &Buffer, bytes: &[u8]) {
        let mut belt = self.belt.borrow_mut();
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
