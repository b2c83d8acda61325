//! Commands: what a frame asks of the device, as data. A device of wgpu executes each at once, in one `match`
//! ([`Pass::run`]); a [tape](crate::device::Tape) keeps what it serialises to.

use crate::device::staging::Staging;
use crate::device::{BindGroup, Buffer, ComputePipeline, RenderPipeline, Texture, TextureView};
use arrayvec::ArrayVec;
use serde::Serialize;
use skinbench_frame::Stage;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The queries that a pass takes at its beginning and at its end, if it takes any.
pub type PassEnds = [Option<u32>; 2];

/// A command. Its serialised form names objects by their number.
#[derive(Clone, Serialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command<'a> {
    /// Begins a compute pass. The label of one that is timed is the name of its stage.
    Compute {
        /// Name.
        label: &'a str,
    },
    /// Begins a render pass.
    Render(Targets<'a>),
    /// Ends the pass.
    End,
    /// Begins a stage of commands outside passes.
    #[serde(skip)]
    Stage(Stage),
    /// Ends the stage.
    #[serde(skip)]
    EndStage,
    /// Sets the kernel of the dispatches that follow.
    #[serde(rename = "pipeline")]
    Kernel {
        /// The compiled kernel.
        pipeline: &'a ComputePipeline,
    },
    /// Sets the shaders of the draws that follow.
    Pipeline {
        /// The compiled shaders.
        pipeline: &'a RenderPipeline,
    },
    /// Binds resources.
    Bind {
        /// Number of the group in shaders.
        index: u32,
        /// The resources.
        group: &'a BindGroup,
        /// An offset for each of its bindings that has one.
        offsets: &'a [u32],
    },
    /// Runs workgroups of the kernel.
    Dispatch {
        /// Workgroups in each dimension.
        workgroups: [u32; 3],
    },
    /// Runs as many workgroups as a buffer says.
    DispatchIndirect {
        /// The buffer.
        counts: &'a Buffer,
        /// Offset of three numbers there.
        offset: u64,
    },
    /// Sets the buffer of 32-bit indices.
    Indices {
        /// The buffer.
        buffer: &'a Buffer,
    },
    /// Sets the only buffer of vertices.
    Vertices {
        /// The buffer.
        buffer: &'a Buffer,
    },
    /// Draws vertices one after the other.
    Draw {
        /// The vertices.
        vertices: Range<u32>,
        /// The instances.
        instances: Range<u32>,
    },
    /// Draws vertices by their indices.
    DrawIndexed {
        /// Places among the indices.
        indices: Range<u32>,
        /// The instances.
        instances: Range<u32>,
    },
    /// Draws as a buffer says.
    DrawIndexedIndirect {
        /// The buffer.
        arguments: &'a Buffer,
        /// Offset of the first draw there.
        offset: u64,
        /// Number of draws. Only wgpu's own adapters take several.
        count: u32,
    },
    /// Copies bytes from the host to the beginning of a buffer.
    Write {
        /// The buffer.
        buffer: &'a Buffer,
        /// The bytes, which a tape keeps apart.
        #[serde(skip)]
        bytes: &'a [u8],
    },
    /// Copies between buffers.
    Copy {
        /// Source.
        from: &'a Buffer,
        /// Offset in the source.
        from_offset: u64,
        /// Destination.
        to: &'a Buffer,
        /// Offset in the destination.
        to_offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Copies to all texels of a texture.
    ToTexture {
        /// Source.
        from: &'a Buffer,
        /// Bytes from row to row.
        bytes_per_row: u32,
        /// Destination.
        to: &'a Texture,
    },
    /// Copies a texture's first rows.
    FromTexture {
        /// Source.
        from: &'a Texture,
        /// Destination.
        to: &'a Buffer,
        /// Bytes from row to row.
        bytes_per_row: u32,
        /// Number of rows.
        rows: u32,
    },
    /// Maps a buffer for reading once the commands so far have been executed, and sets `mapped` then.
    #[serde(skip)]
    Map {
        /// The buffer.
        buffer: &'a Buffer,
        /// Set when it can be read.
        mapped: &'a Arc<AtomicBool>,
    },
    /// Reads a buffer's first bytes, once the commands so far have been executed. Only tapes have this command.
    Read {
        /// The buffer.
        buffer: &'a Buffer,
        /// Number of bytes.
        bytes: usize,
    },
}

/// Where the commands of a frame go.
pub trait Recorder: Send {
    /// Executes a command at once, or keeps it.
    fn run(&mut self, command: Command);

    /// Copies bytes from the host to the beginning of a buffer.
    fn upload(&mut self, buffer: &Buffer, bytes: &[u8]) {
        self.run(Command::Write { buffer, bytes });
    }

    /// Makes room for so many bytes of a frame that threads will write.
    fn open(&mut self, staging: &mut Staging, bytes: usize) {
        staging.open_on_host(bytes);
    }

    /// Copies a range of closed staging memory to the beginning of a buffer. `kept` are parts of all staging memory, in
    /// ascending order, that threads did not write because the buffer still holds them from the frame before. Recorders
    /// may leave them out.
    fn send(
        &mut self,
        staging: &mut Staging,
        range: Range<usize>,
        _kept: &[Range<usize>],
        to: &Buffer,
    ) {
        self.upload(to, &staging.on_host()[range]);
    }

    /// Binds resources, with an offset for each binding that has one.
    fn bind(&mut self, index: u32, group: &BindGroup, offsets: &[u32]) {
        self.run(Command::Bind {
            index,
            group,
            offsets,
        });
    }

    /// Dispatches a kernel with its first group of bindings, in a compute pass.
    fn dispatch(&mut self, pipeline: &ComputePipeline, group: &BindGroup, workgroups: Command) {
        self.run(Command::Kernel { pipeline });
        self.bind(0, group, &[]);
        self.run(workgroups);
    }
}

/// Targets of a render pass: at most two of colours, and one of depths.
#[derive(Clone, Copy, Serialize)]
pub struct Targets<'a> {
    /// Name.
    pub label: &'a str,
    /// Targets of colours.
    pub colors: &'a [ColorTarget<'a>],
    /// Target of depths, if any.
    pub depth: Option<DepthTarget<'a>>,
    /// The part of the stage `draw` that the pass is.
    #[serde(skip)]
    pub part: DrawPart,
}

/// Part of the stage `draw` that a render pass is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawPart {
    /// `true` if the stage begins with it.
    pub first: bool,
    /// `true` if the stage ends with it.
    pub last: bool,
}

impl DrawPart {
    /// All of it.
    pub const WHOLE: Self = Self {
        first: true,
        last: true,
    };
}

/// A target of colours.
#[derive(Clone, Copy, Serialize)]
pub struct ColorTarget<'a> {
    /// The texture.
    pub view: &'a TextureView,
    /// The target that several samples are averaged into.
    #[serde(skip)]
    pub resolve: Option<&'a TextureView>,
    /// The colour that it is cleared to; without one it is kept. NaN, which WebGPU's colours lack, becomes null.
    pub clear: Option<[f64; 4]>,
}

/// A target of depths.
#[derive(Clone, Copy, Serialize)]
pub struct DepthTarget<'a> {
    /// The texture.
    pub view: &'a TextureView,
    /// The depth that it is cleared to; without one it is kept.
    pub clear: Option<f32>,
}

/// The pass that is being recorded.
#[derive(Default)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box would be allocated for each pass"
)]
pub enum Pass {
    /// None.
    #[default]
    Outside,
    /// A compute pass.
    Compute(wgpu::ComputePass<'static>),
    /// A render pass.
    Render(wgpu::RenderPass<'static>),
}

impl Pass {
    fn compute(&mut self) -> &mut wgpu::ComputePass<'static> {
        match self {
            Self::Compute(pass) => pass,
            _ => panic!("a command of compute passes outside one"),
        }
    }

    fn render(&mut self) -> &mut wgpu::RenderPass<'static> {
        match self {
            Self::Render(pass) => pass,
            _ => panic!("a command of render passes outside one"),
        }
    }

    /// Executes a command in an encoder at once; passes take the queries at their ends. [`Command::Write`] is the caller's,
    /// who has the staging memory.
    ///
    /// # Panics
    /// A command of a pass comes outside of one.
    pub fn run(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        command: &Command,
        queries: Option<&wgpu::QuerySet>,
        [begin, end]: PassEnds,
    ) {
        let queries = queries.filter(|_| begin.or(end).is_some());
        match command {
            Command::Compute { label } => {
                let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(label),
                    timestamp_writes: queries.map(|query_set| wgpu::ComputePassTimestampWrites {
                        query_set,
                        beginning_of_pass_write_index: begin,
                        end_of_pass_write_index: end,
                    }),
                });
                *self = Self::Compute(pass.forget_lifetime());
            }
            Command::Render(targets) => {
                let colors: ArrayVec<_, 2> = targets.colors.iter().map(attachment).collect();
                let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some(targets.label),
                    color_attachments: &colors,
                    depth_stencil_attachment: targets.depth.map(|depth| {
                        wgpu::RenderPassDepthStencilAttachment {
                            view: depth.view.get(),
                            depth_ops: Some(operations(depth.clear)),
                            stencil_ops: None,
                        }
                    }),
                    timestamp_writes: queries.map(|query_set| wgpu::RenderPassTimestampWrites {
                        query_set,
                        beginning_of_pass_write_index: begin,
                        end_of_pass_write_index: end,
                    }),
                    ..Default::default()
                });
                *self = Self::Render(pass.forget_lifetime());
            }
            Command::End => *self = Self::Outside,
            Command::Stage(_) | Command::EndStage => {}
            Command::Pipeline { pipeline } => self.render().set_pipeline(pipeline.get()),
            Command::Bind {
                index,
                group,
                offsets,
            } => match self {
                Self::Render(pass) => pass.set_bind_group(*index, group.get(), offsets),
                _ => compute(self.compute(), command),
            },
            Command::Kernel { .. }
            | Command::Dispatch { .. }
            | Command::DispatchIndirect { .. } => {
                compute(self.compute(), command);
            }
            Command::Indices { buffer } => self
                .render()
                .set_index_buffer(buffer.object.get().slice(..), wgpu::IndexFormat::Uint32),
            Command::Vertices { buffer } => self
                .render()
                .set_vertex_buffer(0, buffer.object.get().slice(..)),
            Command::Draw {
                vertices,
                instances,
            } => self.render().draw(vertices.clone(), instances.clone()),
            Command::DrawIndexed { indices, instances } => {
                self.render()
                    .draw_indexed(indices.clone(), 0, instances.clone());
            }
            Command::DrawIndexedIndirect {
                arguments,
                offset,
                count: 1,
            } => self
                .render()
                .draw_indexed_indirect(arguments.object.get(), *offset),
            Command::DrawIndexedIndirect {
                arguments,
                offset,
                count,
            } => self
                .render()
                .multi_draw_indexed_indirect(arguments.object.get(), *offset, *count),
            Command::Copy {
                from,
                from_offset,
                to,
                to_offset,
                bytes,
            } => encoder.copy_buffer_to_buffer(
                from.object.get(),
                *from_offset,
                to.object.get(),
                *to_offset,
                *bytes,
            ),
            Command::ToTexture {
                from,
                bytes_per_row,
                to,
            } => encoder.copy_buffer_to_texture(
                image(from, *bytes_per_row),
                to.object.get().as_image_copy(),
                to.size,
            ),
            Command::FromTexture {
                from,
                to,
                bytes_per_row,
                rows,
            } => encoder.copy_texture_to_buffer(
                from.object.get().as_image_copy(),
                image(to, *bytes_per_row),
                wgpu::Extent3d {
                    height: *rows,
                    ..from.size
                },
            ),
            Command::Map { buffer, mapped } => {
                let mapped = Arc::clone(mapped);
                encoder.map_buffer_on_submit(
                    buffer.object.get(),
                    wgpu::MapMode::Read,
                    ..,
                    move |result| mapped.store(result.is_ok(), Ordering::Release),
                );
            }
            Command::Write { .. } | Command::Read { .. } => {
                unreachable!("writes and reads are not commands of an encoder")
            }
        }
    }
}

/// Executes a command of compute passes in one.
///
/// # Panics
/// The command is another one.
pub fn compute(pass: &mut wgpu::ComputePass, command: &Command) {
    match command {
        Command::Kernel { pipeline } => pass.set_pipeline(pipeline.get()),
        Command::Bind {
            index,
            group,
            offsets,
        } => pass.set_bind_group(*index, group.get(), offsets),
        Command::Dispatch {
            workgroups: [x, y, z],
        } => pass.dispatch_workgroups(*x, *y, *z),
        Command::DispatchIndirect { counts, offset } => {
            pass.dispatch_workgroups_indirect(counts.object.get(), *offset);
        }
        _ => panic!("a compute pass has no such command"),
    }
}

fn attachment<'a>(color: &ColorTarget<'a>) -> Option<wgpu::RenderPassColorAttachment<'a>> {
    let clear = color.clear.map(|[r, g, b, a]| wgpu::Color { r, g, b, a });
    Some(wgpu::RenderPassColorAttachment {
        view: color.view.get(),
        depth_slice: None,
        resolve_target: color.resolve.map(TextureView::get),
        ops: operations(clear),
    })
}

fn operations<T: Default>(clear: Option<T>) -> wgpu::Operations<T> {
    wgpu::Operations {
        load: clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
        store: wgpu::StoreOp::Store,
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
