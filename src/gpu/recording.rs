//! A frame's commands: recording, timing by timestamp, submission.

use super::Gpu;
use super::timestamps::{CAPACITY, GpuSpan};
use crate::frame::{Result, Stage, StageTimer};
use arrayvec::ArrayVec;
use std::rc::Rc;

/// A frame's commands before submission.
pub struct Commands {
    gpu: Rc<Gpu>,
    /// Encoder of the current submission.
    pub encoder: wgpu::CommandEncoder,
    /// Commands recorded before, one buffer per submission.
    cut: ArrayVec<wgpu::CommandBuffer, { CAPACITY as usize }>,
}

/// Commands that the device is executing.
pub struct Flight {
    gpu: Rc<Gpu>,
    submission: wgpu::SubmissionIndex,
}

impl Flight {
    /// Blocks until the device is done.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    pub fn land(self) -> Result<()> {
        self.gpu.poll(wgpu::PollType::Wait { submission_index: Some(self.submission), timeout: None })
    }
}

impl Commands {
    /// Submits without waiting. Everything has been recorded by then, so that the device does not wait between
    /// submissions.
    pub fn launch(mut self) -> Flight {
        let gpu = Rc::clone(&self.gpu);
        gpu.mark_end(&mut self);
        if let Some(timestamps) = &gpu.timestamps {
            timestamps.borrow().resolve(&mut self.encoder);
        }
        let mut belt = gpu.belt.borrow_mut();
        belt.finish();
        for piece in self.cut {
            gpu.queue.submit([piece]);
        }
        let submission = gpu.queue.submit([self.encoder.finish()]);
        belt.recall();
        drop(belt);
        Flight { gpu, submission }
    }

    /// Submits and blocks until the device is done.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    pub fn finish(self) -> Result<()> {
        self.launch().land()
    }

    /// Ends the current submission; later commands go to another submission of the same frame.
    fn cut(&mut self) {
        let next = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("next") });
        self.cut.push(std::mem::replace(&mut self.encoder, next).finish());
    }
}

impl Gpu {
    /// Starts recording a frame whose stages are timed, with the first of the outer pair of timestamps.
    pub fn frame(self: &Rc<Self>, label: &str) -> Commands {
        let mut commands = self.commands(label);
        if self.timestamps_in_encoder
            && self.timing.get()
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

    /// Switches timestamps on or off: a query set serves one frame at a time.
    pub fn set_timing(&self, on: bool) {
        self.timing.set(on);
    }

    /// Starts recording.
    pub fn commands(self: &Rc<Self>, label: &str) -> Commands {
        let encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });
        Commands { gpu: Rc::clone(self), encoder, cut: ArrayVec::new() }
    }

    /// Queries for a stage, if the adapter has them.
    pub(super) fn span(&self, stage: Stage) -> Option<GpuSpan> {
        if !self.timing.get() {
            return None;
        }
        self.timestamps.as_ref().and_then(|t| t.borrow_mut().span(stage))
    }

    /// Runs `record` in a compute pass timed as `stage`.
    pub fn compute_pass(&self, commands: &mut Commands, stage: Stage, record: impl FnOnce(&mut wgpu::ComputePass)) {
        if self.summary.software && self.timestamps_in_encoder {
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

    /// Records commands other than passes, timed as `stage` if the adapter can time them.
    ///
    /// A software adapter gets one submission per stage: llvmpipe runs dispatches and copies at once but takes
    /// timestamps at its next flush, so that in a single submission 130 ms of skinning were measured as 0.1 ms. The
    /// begin is flushed before the work. The end may share its flush with the next stage's begin, because the work
    /// before both is done by then.
    pub fn timed(&self, commands: &mut Commands, stage: Stage, record: impl FnOnce(&mut Commands)) {
        let span = if self.timestamps_in_encoder { self.span(stage) } else { None };
        if let Some(span) = span {
            self.mark(commands, span.begin());
            self.flush(commands);
        }
        record(commands);
        if let Some(span) = span {
            self.mark(commands, span.end());
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
            commands.cut();
        }
    }

    /// Moves the finished frame's GPU spans into the timer. Not timed.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or the timestamps cannot be
    /// read.
    pub fn collect(&self, timer: &mut StageTimer) -> Result<()> {
        match &self.timestamps {
            Some(timestamps) => timestamps.borrow_mut().collect(|buffer, out| self.read_mapped(buffer, out), timer),
            None => Ok(()),
        }
    }
}
