//! A frame's commands: recording and submission.

use crate::frame::{Result, Stage};
use crate::gpu::Gpu;
use crate::gpu::device::gpu::STAGING_BYTES;
use crate::gpu::device::timestamps::{CAPACITY, OUTER, StageQueries};
use crate::gpu::device::{
    BindGroup, Buffer, ComputePipeline, Entry, RenderPipeline, Texture, TextureView,
};
use arrayvec::ArrayVec;
use serde_json::{Value, json};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A frame's commands before submission.
pub struct Commands {
    gpu: Rc<Gpu>,
    /// Commands of the current submission; `None` where they go to a tape or nowhere.
    encoder: Option<wgpu::CommandEncoder>,
    /// Commands recorded before, one buffer per submission.
    cut: ArrayVec<Piece, { CAPACITY as usize }>,
    /// `true` if timestamps mark the beginning and the end of all.
    pub(in crate::gpu) outer: bool,
}

/// Commands of one submission.
pub(in crate::gpu) struct Piece {
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
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost, refused a command, or did
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
            cut: ArrayVec::new(),
            outer: false,
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

    fn record(
        &mut self,
        real: impl FnOnce(&mut wgpu::CommandEncoder),
        recorded: impl FnOnce() -> Value,
    ) {
        match &mut self.encoder {
            Some(encoder) => real(encoder),
            None => self.gpu.record(recorded()),
        }
    }

    /// Returns whether another stage may be cut off.
    pub(in crate::gpu) fn has_room_for_stage(&self) -> bool {
        self.cut.remaining_capacity() >= 2
    }

    /// Ends the current submission, which is timed as a stage if one is named; later commands go to another submission
    /// of the same frame.
    pub(in crate::gpu) fn cut(&mut self, stage: Option<Stage>) {
        let (Some(encoder), Some(open)) = (&mut self.encoder, self.gpu.wgpu()) else {
            return;
        };
        let next = open
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("next"),
            });
        self.cut.push(Piece {
            buffer: std::mem::replace(encoder, next).finish(),
            stage,
        });
    }

    /// Takes a timestamp, if the adapter has any.
    pub(in crate::gpu) fn mark(&mut self, index: u32) {
        if let (Some(encoder), Some(timestamps)) = (&mut self.encoder, self.gpu.timestamps()) {
            encoder.write_timestamp(&timestamps.set, index);
        }
    }

    /// Makes a software adapter take the timestamps recorded so far before it continues.
    pub(in crate::gpu) fn flush(&mut self) {
        if self.gpu.adapter.summary.software {
            self.cut(None);
        }
    }

    /// Records a copy from host to device through recycled staging memory.
    pub fn upload(&mut self, target: &Buffer, data: &[u8]) {
        self.gpu.work.borrow_mut().uploaded += data.len() as u64;
        let (Some(encoder), Some(open)) = (&mut self.encoder, self.gpu.wgpu()) else {
            return self.gpu.record(Entry {
                value: json!(["write", target.object.id, 0]),
                bytes: Some(data.into()),
            });
        };
        let mut belt = open.belt.borrow_mut();
        for (piece, offset) in data
            .chunks(STAGING_BYTES as usize)
            .zip((0..).step_by(STAGING_BYTES as usize))
        {
            if let Some(size) = wgpu::BufferSize::new(piece.len() as u64) {
                belt.write_buffer(encoder, target.object.get(), offset, size)
                    .copy_from_slice(piece);
            }
        }
    }

    /// Records a copy of `bytes` bytes, from an offset to an offset.
    pub fn copy(&mut self, (from, at): (&Buffer, u64), (to, offset): (&Buffer, u64), bytes: u64) {
        self.record(
            |encoder| {
                encoder.copy_buffer_to_buffer(from.object.get(), at, to.object.get(), offset, bytes)
            },
            || json!(["copy", from.object.id, at, to.object.id, offset, bytes]),
        );
    }

    /// Maps a buffer for reading once the commands so far have been executed; sets `mapped` then.
    pub(in crate::gpu) fn map(&mut self, buffer: &Buffer, mapped: &Arc<AtomicBool>) {
        let Some(encoder) = &self.encoder else { return };
        let mapped = Arc::clone(mapped);
        let done = move |result: Result<(), _>| mapped.store(result.is_ok(), Ordering::Release);
        encoder.map_buffer_on_submit(buffer.object.get(), wgpu::MapMode::Read, .., done);
    }

    /// Records a copy to all texels of a texture.
    pub(in crate::gpu) fn copy_to_texture(
        &mut self,
        from: &Buffer,
        bytes_per_row: u32,
        to: &Texture,
    ) {
        self.record(
            |encoder| {
                encoder.copy_buffer_to_texture(
                    image(from, bytes_per_row),
                    to.object.get().as_image_copy(),
                    to.size,
                )
            },
            || {
                let wgpu::Extent3d { width, height, .. } = to.size;
                json!([
                    "toTexture",
                    from.object.id,
                    bytes_per_row,
                    to.object.id,
                    width,
                    height
                ])
            },
        );
    }

    /// Records a copy of a texture's first rows.
    pub(in crate::gpu) fn copy_texture(
        &mut self,
        from: &Texture,
        to: &Buffer,
        bytes_per_row: u32,
        rows: u32,
    ) {
        let size = wgpu::Extent3d {
            height: rows,
            ..from.size
        };
        self.record(
            |encoder| {
                encoder.copy_texture_to_buffer(
                    from.object.get().as_image_copy(),
                    image(to, bytes_per_row),
                    size,
                )
            },
            || {
                let (texture, buffer) = (from.object.id, to.object.id);
                json!([
                    "fromTexture",
                    texture,
                    buffer,
                    bytes_per_row,
                    size.width,
                    rows
                ])
            },
        );
    }

    /// Runs `record` in a compute pass, between the queries of `span` if there are any.
    pub fn compute_pass(
        &mut self,
        label: &str,
        span: Option<StageQueries>,
        record: impl FnOnce(&mut ComputePass),
    ) {
        match &mut self.encoder {
            Some(encoder) => {
                let marked = self.gpu.timestamps().zip(span);
                let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(label),
                    timestamp_writes: marked.map(|(t, [begin, end])| {
                        wgpu::ComputePassTimestampWrites {
                            query_set: &t.set,
                            beginning_of_pass_write_index: Some(begin),
                            end_of_pass_write_index: Some(end),
                        }
                    }),
                });
                record(&mut Pass::Device(pass));
            }
            None => self
                .gpu
                .record(json!(["compute", {"label": label}, ComputePass::taped(record)])),
        }
    }

    /// Runs `record` in a render pass; `begin` and `end` tell which ends of a span this pass marks.
    pub(in crate::gpu) fn render_pass(
        &mut self,
        targets: &Targets,
        (begin, end): (Option<StageQueries>, Option<StageQueries>),
        record: impl FnOnce(&mut RenderPass),
    ) {
        match &mut self.encoder {
            Some(encoder) => {
                let marked = self
                    .gpu
                    .timestamps()
                    .filter(|_| begin.is_some() || end.is_some());
                let colors: ArrayVec<_, 2> = targets
                    .colors
                    .iter()
                    .map(|color| Some(color.attachment()))
                    .collect();
                let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some(targets.label),
                    color_attachments: &colors,
                    depth_stencil_attachment: targets.depth.map(|(view, clear)| {
                        wgpu::RenderPassDepthStencilAttachment {
                            view: view.get(),
                            depth_ops: Some(wgpu::Operations {
                                load: load(clear),
                                store: wgpu::StoreOp::Store,
                            }),
                            stencil_ops: None,
                        }
                    }),
                    timestamp_writes: marked.map(|t| wgpu::RenderPassTimestampWrites {
                        query_set: &t.set,
                        beginning_of_pass_write_index: begin.map(|[begin, _]| begin),
                        end_of_pass_write_index: end.map(|[_, end]| end),
                    }),
                    ..Default::default()
                });
                record(&mut Pass::Device(pass));
            }
            None => self.gpu.record(json!([
                "render",
                targets.recorded(),
                RenderPass::taped(record)
            ])),
        }
    }
}

fn image(buffer: &Buffer, bytes_per_row: u32) -> wgpu::TexelCopyBufferInfo<'_> {
    wgpu::TexelCopyBufferInfo {
        buffer: buffer.object.get(),
        layout: wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(bytes_per_row),
            rows_per_image: None,
        },
    }
}

fn load<T: Default>(clear: Option<T>) -> wgpu::LoadOp<T> {
    clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear)
}

/// Targets of a render pass: at most two of colours, and one of depths.
pub(in crate::gpu) struct Targets<'a> {
    pub label: &'a str,
    pub colors: &'a [ColorTarget<'a>],
    /// A view and the depth that it is cleared to; without one it is kept.
    pub depth: Option<(&'a TextureView, Option<f32>)>,
}

/// A target of colours.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct ColorTarget<'a> {
    pub view: &'a TextureView,
    /// The target that several samples are averaged into.
    pub resolve: Option<&'a TextureView>,
    /// The colour that it is cleared to; without one it is kept.
    pub clear: Option<wgpu::Color>,
}

impl<'a> ColorTarget<'a> {
    fn attachment(&self) -> wgpu::RenderPassColorAttachment<'a> {
        wgpu::RenderPassColorAttachment {
            view: self.view.get(),
            depth_slice: None,
            resolve_target: self.resolve.map(TextureView::get),
            ops: wgpu::Operations {
                load: load(self.clear),
                store: wgpu::StoreOp::Store,
            },
        }
    }
}

impl Targets<'_> {
    fn recorded(&self) -> Value {
        // NaN, which JSON and WebGPU's colours lack, becomes null.
        let clear = |color: wgpu::Color| json!([color.r, color.g, color.b, color.a]);
        let color =
            |color: &ColorTarget| json!({"view": color.view.id, "clear": color.clear.map(clear)});
        json!({
            "label": self.label,
            "colors": self.colors.iter().map(color).collect::<Vec<_>>(),
            "depth": self.depth.map(|(view, clear)| json!({"view": view.id, "clear": clear})),
        })
    }
}

/// A pass that is being recorded.
pub enum Pass<P> {
    /// By wgpu.
    Device(P),
    /// On a tape.
    Tape(Vec<Value>),
}

/// A compute pass that is being recorded.
pub type ComputePass<'a> = Pass<wgpu::ComputePass<'a>>;
/// A render pass that is being recorded.
pub type RenderPass<'a> = Pass<wgpu::RenderPass<'a>>;

impl<P> Pass<P> {
    fn record(&mut self, real: impl FnOnce(&mut P), recorded: impl FnOnce() -> Value) {
        match self {
            Self::Device(pass) => real(pass),
            Self::Tape(commands) => commands.push(recorded()),
        }
    }

    /// Records a pass on a tape, and returns its commands.
    fn taped(record: impl FnOnce(&mut Self)) -> Vec<Value> {
        let mut pass = Self::Tape(Vec::new());
        record(&mut pass);
        if let Self::Tape(commands) = pass {
            commands
        } else {
            Vec::new()
        }
    }
}

fn bound(index: u32, group: &BindGroup, offsets: &[u32]) -> Value {
    json!(["group", index, group.id, offsets])
}

impl ComputePass<'_> {
    pub(in crate::gpu) fn set_pipeline(&mut self, pipeline: &ComputePipeline) {
        self.record(
            |pass| pass.set_pipeline(pipeline.get()),
            || json!(["pipeline", pipeline.id]),
        );
    }

    pub(in crate::gpu) fn set_bind_group(
        &mut self,
        index: u32,
        group: &BindGroup,
        offsets: &[u32],
    ) {
        self.record(
            |pass| pass.set_bind_group(index, group.get(), offsets),
            || bound(index, group, offsets),
        );
    }

    pub(in crate::gpu) fn dispatch_workgroups(&mut self, x: u32, y: u32, z: u32) {
        self.record(
            |pass| pass.dispatch_workgroups(x, y, z),
            || json!(["dispatch", x, y, z]),
        );
    }

    pub(in crate::gpu) fn dispatch_workgroups_indirect(&mut self, counts: &Buffer, offset: u64) {
        self.record(
            |pass| pass.dispatch_workgroups_indirect(counts.object.get(), offset),
            || json!(["dispatchIndirect", counts.object.id, offset]),
        );
    }
}

impl RenderPass<'_> {
    pub(in crate::gpu) fn set_pipeline(&mut self, pipeline: &RenderPipeline) {
        self.record(
            |pass| pass.set_pipeline(pipeline.get()),
            || json!(["pipeline", pipeline.id]),
        );
    }

    pub(in crate::gpu) fn set_bind_group(
        &mut self,
        index: u32,
        group: &BindGroup,
        offsets: &[u32],
    ) {
        self.record(
            |pass| pass.set_bind_group(index, group.get(), offsets),
            || bound(index, group, offsets),
        );
    }

    pub(in crate::gpu) fn set_index_buffer(&mut self, indices: &Buffer) {
        self.record(
            |pass| pass.set_index_buffer(indices.object.get().slice(..), wgpu::IndexFormat::Uint32),
            || json!(["indices", indices.object.id, "uint32"]),
        );
    }

    /// Sets the only buffer of vertices. Backends have none, so it is never recorded.
    pub(in crate::gpu) fn set_vertex_buffer(&mut self, vertices: &Buffer) {
        if let Self::Device(pass) = self {
            pass.set_vertex_buffer(0, vertices.object.get().slice(..));
        }
    }

    pub(in crate::gpu) fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        self.record(
            |pass| pass.draw(vertices.clone(), instances.clone()),
            || {
                json!([
                    "draw",
                    vertices.len(),
                    instances.len(),
                    vertices.start,
                    instances.start
                ])
            },
        );
    }

    pub(in crate::gpu) fn draw_indexed(&mut self, indices: Range<u32>, instances: Range<u32>) {
        self.record(
            |pass| pass.draw_indexed(indices.clone(), 0, instances.clone()),
            || {
                json!([
                    "drawIndexed",
                    indices.len(),
                    instances.len(),
                    indices.start,
                    0,
                    instances.start
                ])
            },
        );
    }

    pub(in crate::gpu) fn draw_indexed_indirect(&mut self, arguments: &Buffer, offset: u64) {
        self.record(
            |pass| pass.draw_indexed_indirect(arguments.object.get(), offset),
            || json!(["drawIndexedIndirect", arguments.object.id, offset]),
        );
    }

    /// Draws several times at once. Only adapters of wgpu do, so it is never recorded.
    pub(in crate::gpu) fn multi_draw_indexed_indirect(
        &mut self,
        arguments: &Buffer,
        offset: u64,
        count: u32,
    ) {
        if let Self::Device(pass) = self {
            pass.multi_draw_indexed_indirect(arguments.object.get(), offset, count);
        }
    }
}
