//! Offscreen drawing of any backend's crowd: one instanced draw per chunk and pass, or one per pass if models share
//! buffers.

use crate::crowd::table::{Visible, chunk_uniform};
use crate::device::{
    Buffer, COLOR, ColorTarget, Command, DEPTH, DepthTarget, DrawPart, Recorder, Targets, Texture,
    flat,
};
use crate::draw::draws::{Draws, GroupDraw, MOTION, Scenery};
use crate::draw::overlay::{Beneath, LineEnd, Overlay, OverlayPipelines};
use crate::draw::surfaces::Surfaces;
use crate::forms::kind::ShaderVariant;
use crate::forms::output::OutputForm;
use crate::kernel::GroupLayout;
use crate::passes::update::{Record, Update};
use crate::passes::vertices::{BufferForm, Drawable, StoredVertices, draw_root, preskinned_shader};
use crate::shader::layout;
use crate::{Commands, Gpu, MeshForm};
use arrayvec::ArrayVec;
use skinbench_frame::{
    BackendError, FrameInput, OutputBuffers, Purpose, Result, Stage, StageTimer, View,
};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::model::Model;
use std::sync::{Arc, OnceLock};

/// Linear RGB of the background.
pub const BACKGROUND: [f64; 4] = [0.55, 0.65, 0.75, 1.0];

/// Samples per pixel of a picture, which is not timed.
const SAMPLES: u32 = 4;

/// A texture that is a render target.
fn target(
    gpu: &Gpu,
    view: &View,
    label: &str,
    format: wgpu::TextureFormat,
    samples: u32,
) -> Texture {
    let copied = if samples == 1 {
        wgpu::TextureUsages::COPY_SRC
    } else {
        wgpu::TextureUsages::empty()
    };
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | copied;
    let description = wgpu::TextureDescriptor {
        sample_count: samples,
        ..flat(label, [view.width, view.height], format, usage)
    };
    gpu.texture(Purpose::Targets, &description)
}

/// The instances in view of vertices in the output buffers, by which two forms are told apart.
fn in_view(form: &BufferForm) -> Option<*const Visible> {
    form.visible.as_ref().map(Arc::as_ptr)
}

/// Returns whether two drawables are the same vertices, those of the output buffers in the same form.
fn same(one: &Drawable, other: &Drawable) -> bool {
    match (one, other) {
        (Drawable::Output(a), Drawable::Output(b)) => {
            a.output == b.output && in_view(a) == in_view(b)
        }
        (Drawable::Stored(a), Drawable::Stored(b)) => Arc::ptr_eq(a, b),
        (Drawable::Shader(a), Drawable::Shader(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// Offscreen targets, and the draws of a crowd.
pub struct Presenter {
    scenery: Scenery,
    view: View,
    passes: u32,
    overlay: OnceLock<OverlayPipelines>,
    color: Texture,
    /// Texture with several samples per pixel, from which `color` is resolved in a picture.
    multisampled: Option<Texture>,
    depth: Texture,
    motion: Option<Texture>,
    update: Option<Update>,
    /// Created when vertices are drawn for the first time.
    draws: Vec<KnownDraws>,
}

/// The draws of some vertices.
struct KnownDraws {
    vertices: Drawable,
    /// The first of the output buffers, if these hold the vertices: two buffers alternate if the last frame is kept.
    buffer: Option<Buffer>,
    draws: Draws,
}

impl Presenter {
    /// Bytes of device memory that a presenter of timed frames takes for a crowd before it draws; `None` if the adapter
    /// binds too few buffers to draw.
    pub fn device_bytes(gpu: &Gpu, crowd: &Crowd, view: &View) -> Option<u64> {
        let gpu = gpu.counting();
        gpu.has(wgpu::ShaderStages::VERTEX, &[simplest_shader(false)])
            .ok()?;
        Some(
            gpu.counted(|| Self::new(Arc::clone(&gpu), crowd, *view, 1).is_ok())
                .1
                .total(),
        )
    }

    /// A presenter of timed frames: plain colours, one sample per pixel. Creates targets of the view's size and
    /// everything that does not change from frame to frame.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if the crowd or the view exceeds a limit of the adapter.
    pub fn new(gpu: Arc<Gpu>, crowd: &Crowd, view: View, passes: u32) -> Result<Self> {
        Self::painted(gpu, crowd, view, passes, None)
    }

    /// A presenter of pictures, which are not timed: textures, several samples per pixel, and, if `tinted` is set, a
    /// colour of its own for each instance. It draws no motion, and its depths cannot be read.
    ///
    /// # Errors
    /// As [`Presenter::new`].
    pub fn for_pictures(
        gpu: Arc<Gpu>,
        crowd: &Crowd,
        view: View,
        surfaces: &Surfaces,
        tinted: bool,
    ) -> Result<Self> {
        Self::painted(gpu, crowd, view, 1, Some((surfaces, tinted)))
    }

    fn painted(
        gpu: Arc<Gpu>,
        crowd: &Crowd,
        view: View,
        passes: u32,
        picture: Option<(&Surfaces, bool)>,
    ) -> Result<Self> {
        let models: Vec<Arc<Model>> = crowd
            .groups()
            .iter()
            .map(|group| Arc::clone(&group.model))
            .collect();
        let kind = |group| ShaderVariant {
            influences: 1,
            ..ShaderVariant::of(group, MeshForm::Nothing)
        };
        let (surfaces, picture) = picture.unzip();
        let largest = gpu.adapter.limits.max_texture_dimension_2d;
        if view.width > largest || view.height > largest {
            return Err(BackendError::TooLarge(format!(
                "a picture of {} x {} pixels; the device draws at most {largest} x {largest}",
                view.width, view.height
            )));
        }
        let chunks = gpu.chunks(crowd)?;
        let stages = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let samples = if picture.is_some() { SAMPLES } else { 1 };
        let scenery = Scenery {
            mode: view.mode,
            picture,
            samples,
            layout: GroupLayout::new(
                &gpu,
                "draw",
                &[simplest_shader(picture.is_some())],
                1,
                stages,
            ),
            view: gpu.uniform(Purpose::Targets, "view", &view_uniform(&view)),
            placements: gpu.storage(Purpose::Targets, "placements", crowd.placements()),
            groups: GroupDraw::all(&gpu, view.mode, &models, surfaces),
            models,
            kinds: crowd.groups().iter().map(kind).collect(),
            uniforms: chunks
                .iter()
                .map(|chunk| chunk_uniform(&gpu, Purpose::Targets, crowd, chunk))
                .collect(),
            chunks,
            gpu,
        };
        let gpu = &scenery.gpu;
        let mut update = None;
        if crowd.turnover().is_some() {
            let mut placements = Update::new(gpu, Record::Placement)?;
            let instances = 0..crowd.instance_count() as u32;
            placements.push(gpu, crowd, instances, &scenery.placements, Vec::new());
            update = Some(placements);
        }
        let color = target(gpu, &view, "color", COLOR, 1);
        let multisampled = picture.map(|_| target(gpu, &view, "samples", COLOR, samples));
        let depth = target(gpu, &view, "depth", DEPTH, samples);
        gpu.check()?;
        Ok(Self {
            scenery,
            view,
            passes,
            overlay: OnceLock::new(),
            color,
            multisampled,
            depth,
            motion: None,
            update,
            draws: Vec::new(),
        })
    }

    /// Moves the camera for the frames that follow.
    pub fn set_view_projection(&mut self, view_projection: glam::Mat4) {
        self.view.view_projection = view_projection;
        self.gpu().write_buffer(
            &self.scenery.view,
            0,
            bytemuck::bytes_of(&view_uniform(&self.view)),
        );
    }

    /// Records the places of replaced instances, uploads (without a `drawable`: vertices are in the host side of the output buffers)
    /// and all passes after `commands`, or at the beginning of a frame. The last pass draws colours, those before it
    /// only depth.
    pub fn draw(
        &mut self,
        commands: Option<Commands>,
        drawable: Option<&Drawable>,
        frame: &FrameInput,
        timer: &mut StageTimer,
    ) -> Commands {
        let gpu = Arc::clone(self.gpu());
        let output = &*frame.output;
        let mut commands = commands.unwrap_or_else(|| gpu.frame("frame"));
        if let Some(update) = &mut self.update {
            update.submit(&gpu, frame.crowd, frame.tick, timer, &mut commands);
        }
        if drawable.is_none() {
            timer.wall(Stage::Upload, || self.upload(&mut commands, frame));
        }
        let uploaded = Drawable::Output(BufferForm::default());
        let drawable = drawable.unwrap_or(&uploaded);
        let buffer = output
            .device
            .first()
            .filter(|_| matches!(drawable, Drawable::Output(_)));
        let known = self
            .draws
            .iter()
            .position(|known| same(&known.vertices, drawable) && known.buffer.as_ref() == buffer);
        let known = known.unwrap_or_else(|| {
            self.draws.push(KnownDraws {
                vertices: drawable.clone(),
                buffer: buffer.cloned(),
                draws: self.draws_of(drawable, output),
            });
            self.draws.len() - 1
        });
        let draws = &self.draws[known].draws;
        if draws.motion && self.motion.is_none() {
            self.motion = Some(target(&gpu, &self.view, "motion", MOTION, 1));
        }
        draws.update(&mut commands);
        for pass in 0..self.passes {
            let last = pass + 1 == self.passes;
            let mut colors = ArrayVec::<_, 2>::new();
            if last {
                colors.push(self.color_target(Some(BACKGROUND)));
            }
            if let (true, true, Some(motion)) = (last, draws.motion, &self.motion) {
                colors.push(ColorTarget {
                    view: &motion.view,
                    resolve: None,
                    clear: Some([0.0; 4]),
                });
            }
            commands.run(Command::Render(Targets {
                label: "draw",
                colors: &colors,
                depth: Some(DepthTarget {
                    view: &self.depth.view,
                    clear: Some(1.0),
                }),
                part: DrawPart {
                    first: pass == 0,
                    last,
                },
            }));
            draws.record(&mut commands, last);
            commands.run(Command::End);
        }
        commands
    }

    /// Prepares the draws of vertices.
    fn draws_of(&self, vertices: &Drawable, output: &OutputBuffers) -> Draws {
        let stored = match vertices {
            Drawable::Shader(source) => return Draws::new(&self.scenery, source),
            Drawable::Stored(stored) => Arc::clone(stored),
            Drawable::Output(form) => Arc::new(StoredVertices {
                batches: self.scenery.chunks.chunks(1).map(<[_]>::to_vec).collect(),
                buffers: output.device.clone(),
                previous: output.previous.clone(),
                merged: false,
                form: form.clone(),
            }),
        };
        Draws::new(&self.scenery, &self.scenery.source(&stored))
    }

    /// Draws lines and triangles into the picture and waits: for pictures, not for timing.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn draw_overlay(&self, beneath: Beneath, overlay: &Overlay) -> Result<()> {
        let pipelines = self.overlay.get_or_init(|| {
            OverlayPipelines::new(self.gpu(), &self.scenery.view, self.scenery.samples)
        });
        let gpu = self.gpu();
        let ends = vertex_buffer(gpu, "lines", &overlay.lines);
        let corners = vertex_buffer(gpu, "corners", &overlay.corners);
        let contents = bytemuck::cast_slice(&overlay.indices);
        let usage = wgpu::BufferUsages::INDEX;
        let indices = gpu.buffer_with(Purpose::Targets, "triangles", contents, usage);
        let mut commands = gpu.commands("overlay");
        let color = self.color_target((beneath == Beneath::Nothing).then_some(BACKGROUND));
        commands.run(Command::Render(Targets {
            label: "overlay",
            colors: &[color],
            depth: Some(DepthTarget {
                view: &self.depth.view,
                clear: (beneath != Beneath::Picture).then_some(1.0),
            }),
            part: DrawPart::default(),
        }));
        commands.bind(0, &pipelines.bindings, &[]);
        commands.run(Command::Pipeline {
            pipeline: &pipelines.triangles,
        });
        commands.run(Command::Vertices { buffer: &corners });
        commands.run(Command::Indices { buffer: &indices });
        commands.run(Command::DrawIndexed {
            indices: 0..overlay.indices.len() as u32,
            instances: 0..1,
        });
        commands.run(Command::Pipeline {
            pipeline: &pipelines.lines,
        });
        commands.run(Command::Vertices { buffer: &ends });
        commands.run(Command::Draw {
            vertices: 0..overlay.lines.len() as u32,
            instances: 0..1,
        });
        commands.run(Command::End);
        commands.finish()
    }

    /// The last frame's colours, 8-bit sRGB with alpha, rows from the top.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_color(&self) -> Result<Vec<u8>> {
        Ok(bytemuck::cast_slice(&self.read_target(&self.color)?).to_vec())
    }

    /// Motion of each pixel since the frame before, as two half floats in the order x, y, in the last frame that drew
    /// motion; rows from the top. `None` if no frame did.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_motion(&self) -> Result<Option<Vec<[u16; 2]>>> {
        let Some(target) = &self.motion else {
            return Ok(None);
        };
        Ok(Some(
            self.read_target(target)?
                .into_iter()
                .map(bytemuck::cast)
                .collect(),
        ))
    }

    /// The last frame's depths, rows from the top.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_depth(&self) -> Result<Vec<f32>> {
        self.read_target(&self.depth)
    }

    fn read_target(&self, target: &Texture) -> Result<Vec<f32>> {
        let gpu = self.gpu();
        let height = self.view.height;
        let row = (self.view.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let bytes = u64::from(row) * u64::from(height);
        let buffer = gpu.scratch(Purpose::Staging, "picture", bytes);
        let mut commands = gpu.commands("picture");
        commands.run(Command::FromTexture {
            from: target,
            to: &buffer,
            bytes_per_row: row,
            rows: height,
        });
        commands.finish()?;
        let mut padded = Vec::new();
        gpu.read_back(&buffer, 0, (row * height / 4) as usize, &mut padded)?;
        Ok(padded
            .chunks_exact((row / 4) as usize)
            .flat_map(|r| &r[..self.view.width as usize])
            .copied()
            .collect())
    }

    fn gpu(&self) -> &Arc<Gpu> {
        &self.scenery.gpu
    }

    /// The target of colours: cleared, or as it is.
    fn color_target(&self, clear: Option<[f64; 4]>) -> ColorTarget<'_> {
        let samples = self.multisampled.as_ref();
        ColorTarget {
            view: &samples.unwrap_or(&self.color).view,
            resolve: samples.map(|_| &self.color.view),
            clear,
        }
    }

    /// Uploads the host side of the output buffers, which holds the chunks one after the other.
    fn upload(&self, commands: &mut Commands, FrameInput { crowd, output, .. }: &FrameInput) {
        commands.run(Command::Stage(Stage::Upload));
        let mut bytes: &[u8] = bytemuck::cast_slice(&output.host[..]);
        for (chunk, buffer) in self.scenery.chunks.iter().zip(&output.device) {
            let (vertices, rest) = bytes.split_at(chunk.output_bytes(crowd) as usize);
            commands.upload(buffer, vertices);
            bytes = rest;
        }
        commands.run(Command::EndStage);
    }
}

fn vertex_buffer(gpu: &Gpu, label: &str, ends: &[LineEnd]) -> Buffer {
    let usage = wgpu::BufferUsages::VERTEX;
    gpu.buffer_with(Purpose::Targets, label, bytemuck::cast_slice(ends), usage)
}

/// The shader that draws vertices as most backends store them. Every source's shader has the same group 1.
fn simplest_shader(picture: bool) -> String {
    preskinned_shader(OutputForm::Floats, false, draw_root(false, picture))
}

fn view_uniform(view: &View) -> layout::View {
    layout::View {
        view_projection: view.view_projection.to_cols_array_2d(),
        light: view.light.normalize_or_zero().to_array(),
        padding: 0.0,
    }
}
