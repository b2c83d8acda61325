//! Offscreen drawing of any backend's crowd: one instanced draw per chunk and pass, or one per pass if models share
//! buffers.

use super::binding::{GroupLayout, pipeline_layout};
use super::capture::copy_texture;
use super::group_draw::{GroupDraw, Paint, plain, textured};
use super::merged::MergedVertices;
use super::merged_draw::MergedDraw;
use super::overlay::{COLOR, DEPTH, OverlayPipelines};
use super::shader::module;
use super::skinning::Kind;
use super::source::{Drawable, Drawn, Preskinned, VertexSource, draw_root, preskinned_shader};
use super::surfaces::Surfaces;
use super::visibility::Visible;
use super::{Commands, Gpu, MeshForm, chunk_uniform, layout};
use crate::crowd::Crowd;
use crate::frame::{Arena, BackendError, FrameWork, Mode, Purpose, Result, Stage, StageTimer, View};
use crate::model::Rows;
use crate::vertex::Encoding;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// Motion of a pixel since the last frame, in units of half the picture; 16 bits per axis.
const MOTION: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;
/// Bytes of a texel of any target.
const TEXEL_BYTES: u64 = 4;
/// Linear RGB of the background.
pub const BACKGROUND: wgpu::Color = wgpu::Color { r: 0.55, g: 0.65, b: 0.75, a: 1.0 };

/// Storage buffers that drawing reads, besides the source of vertices.
pub const STORAGE_BUFFERS: u32 = 2;

/// Samples per pixel of a picture, which is not timed.
const SAMPLES: u32 = 4;

/// A chunk's part of a draw.
struct ChunkDraw {
    group: usize,
    instances: u32,
    uniform: wgpu::Buffer,
    /// Range of its floats in the arena's host side.
    floats: Range<usize>,
}

/// Draws of the instances in view, with counts from the device.
struct Indirect {
    visible: Rc<Visible>,
    /// The groups that are drawn instead of the presenter's, if the device chooses among levels.
    drawn: Option<Vec<GroupDraw>>,
    /// The group of each chunk.
    groups: Vec<usize>,
    /// As the bindings of each group, for instances in view.
    bindings: Vec<wgpu::BindGroup>,
    /// For each chunk the arguments of drawing its triangles, then of drawing its edges.
    arguments: wgpu::Buffer,
}

impl Indirect {
    /// Bytes of a draw's arguments, and offset of the instance count in them.
    const BYTES: u64 = size_of::<wgpu::util::DrawIndexedIndirectArgs>() as u64;
    const COUNT: u64 = std::mem::offset_of!(wgpu::util::DrawIndexedIndirectArgs, instance_count) as u64;

    fn place(chunk: usize, edges: bool) -> u64 {
        (2 * chunk + usize::from(edges)) as u64 * Self::BYTES
    }

    /// Copies the number of instances in view to the draw arguments.
    fn update(&self, commands: &mut Commands) {
        for (chunk, (count, at)) in self.visible.counts.iter().enumerate() {
            for edges in [false, true] {
                let place = Self::place(chunk, edges) + Self::COUNT;
                commands.encoder.copy_buffer_to_buffer(count, *at, &self.arguments, place, size_of::<u32>() as u64);
            }
        }
    }
}

/// A texture that is a render target.
struct Target {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl Target {
    fn new(gpu: &Gpu, view: &View, label: &str, format: wgpu::TextureFormat, sample_count: u32) -> Self {
        gpu.count(Purpose::Targets, u64::from(view.width * sample_count) * u64::from(view.height) * TEXEL_BYTES);
        let copied = if sample_count == 1 { wgpu::TextureUsages::COPY_SRC } else { wgpu::TextureUsages::empty() };
        let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d { width: view.width, height: view.height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | copied,
            view_formats: &[],
        });
        Self { view: texture.create_view(&Default::default()), texture }
    }
}

/// The pipelines that draw one source's vertices of one kind.
struct Pipelines {
    kind: Kind,
    depth_only: wgpu::RenderPipeline,
    color: wgpu::RenderPipeline,
    // Wireframe: triangles write their depth, or their colours too, then edges their colour.
    hidden: wgpu::RenderPipeline,
    edges: wgpu::RenderPipeline,
}

impl Pipelines {
    /// The pipeline of triangles: for depth only unless the pass is the last, and beneath edges in a wireframe.
    fn triangles(&self, last: bool, wireframe: bool) -> &wgpu::RenderPipeline {
        match (last, wireframe) {
            (false, _) => &self.depth_only,
            (true, false) => &self.color,
            (true, true) => &self.hidden,
        }
    }
}

/// Offscreen targets and pipelines for a crowd.
pub struct Presenter {
    gpu: Rc<Gpu>,
    view: View,
    passes: u32,
    chunks: Vec<ChunkDraw>,
    kinds: Vec<Kind>,
    drawn: Vec<GroupDraw>,
    layout: GroupLayout,
    uniform: wgpu::Buffer,
    placements: wgpu::Buffer,
    /// For a picture, whether instances are tinted; `None` for timed frames.
    picture: Option<bool>,
    pub(super) overlay: OnceCell<OverlayPipelines>,
    color: Target,
    /// Texture with several samples per pixel, from which `color` is resolved in a picture.
    multisampled: Option<Target>,
    depth: Target,
    motion: Option<Target>,
    // For each first buffer of the arena's device side, and whether it holds streams: two buffers alternate if the last
    // frame is kept.
    arena: Vec<(wgpu::Buffer, bool, Rc<VertexSource>)>,
    // By source, created when it is drawn for the first time.
    pipelines: Vec<(Rc<VertexSource>, Vec<Pipelines>)>,
    // By visibility, created when it is drawn for the first time.
    indirect: Vec<Indirect>,
    // By vertices, created when they are drawn for the first time.
    merged: Vec<MergedDraw>,
}

impl Presenter {
    /// Bytes of device memory that a presenter takes for a crowd.
    pub fn device_bytes(crowd: &Crowd, view: &View) -> u64 {
        let targets = u64::from(view.width) * u64::from(view.height) * 2 * TEXEL_BYTES;
        let meshes =
            crowd.groups().iter().map(|g| (g.model.mesh().indices().len() + g.model.mesh().vertex_count()) * 4);
        targets + meshes.sum::<usize>() as u64 + (crowd.instance_count() * size_of::<Rows>()) as u64
    }

    /// Bytes of device memory that a presenter of pictures takes for a crowd, with its surfaces.
    pub fn picture_bytes(crowd: &Crowd, view: &View, surfaces: &Surfaces) -> u64 {
        let samples = u64::from(view.width) * u64::from(view.height) * 8 * u64::from(SAMPLES);
        Self::device_bytes(crowd, view) + samples + surfaces.bytes()
    }

    /// A presenter of timed frames: plain colours, one sample per pixel. Creates targets of the view's size and
    /// everything that does not change from frame to frame.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if the crowd or the view exceeds a limit of the adapter.
    pub fn new(gpu: Rc<Gpu>, crowd: &Crowd, view: View, passes: u32) -> Result<Self> {
        let paints = plain(&gpu, crowd.groups().iter().map(|group| &*group.model));
        Self::painted(gpu, crowd, view, passes, paints, None)
    }

    /// A presenter of pictures, which are not timed: textures, several samples per pixel, and, if `tinted` is set, a
    /// colour of its own for each instance. It draws no motion, and its depths cannot be read.
    ///
    /// # Errors
    /// As [`Presenter::new`].
    pub fn for_pictures(gpu: Rc<Gpu>, crowd: &Crowd, view: View, surfaces: &Surfaces, tinted: bool) -> Result<Self> {
        Self::painted(gpu, crowd, view, 1, textured(surfaces), Some(tinted))
    }

    fn painted(
        gpu: Rc<Gpu>,
        crowd: &Crowd,
        view: View,
        passes: u32,
        paints: Vec<Paint>,
        picture: Option<bool>,
    ) -> Result<Self> {
        let device = gpu.device();
        let largest = device.limits().max_texture_dimension_2d;
        if view.width > largest || view.height > largest {
            return Err(BackendError::TooLarge(format!(
                "a picture of {} x {} pixels; the adapter draws at most {largest} x {largest}",
                view.width, view.height
            )));
        }
        let mut floats = 0;
        let chunks = gpu.chunks(crowd)?.into_iter().map(|chunk| {
            let first = floats;
            floats += chunk.instances.len() * crowd.groups()[chunk.group].instance_words();
            ChunkDraw {
                group: chunk.group,
                instances: chunk.instances.len() as u32,
                uniform: chunk_uniform(&gpu, Purpose::Targets, crowd, &chunk),
                floats: first..floats,
            }
        });
        let chunks = chunks.collect();
        // Every source's shader has the same group 1.
        let wgsl = preskinned_shader(
            Preskinned::Vertices(Encoding::F32),
            Drawn::Chunk,
            draw_root(false, picture.is_some()),
            &[],
        );
        let layout = GroupLayout::new(&gpu, "draw", &wgsl, 1, wgpu::ShaderStages::VERTEX_FRAGMENT, None);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let uniform = gpu.filled(Purpose::Targets, "view", bytemuck::bytes_of(&view_uniform(&view)), usage);
        let placements = gpu.storage(Purpose::Targets, "placements", bytemuck::cast_slice(crowd.placements()));
        let drawn = crowd
            .groups()
            .iter()
            .zip(paints)
            .map(|(group, paint)| {
                GroupDraw::new(&gpu, &layout, (&uniform, &placements), view.mode, &group.model, paint)
            })
            .collect();
        let samples = if picture.is_some() { SAMPLES } else { 1 };
        let color = Target::new(&gpu, &view, "color", COLOR, 1);
        let multisampled = picture.map(|_| Target::new(&gpu, &view, "samples", COLOR, samples));
        let depth = Target::new(&gpu, &view, "depth", DEPTH, samples);
        gpu.check()?;
        Ok(Self {
            gpu,
            view,
            passes,
            chunks,
            kinds: Kind::all(crowd, MeshForm::Plain, super::PaletteForm::Rows),
            drawn,
            layout,
            uniform,
            placements,
            picture,
            overlay: OnceCell::new(),
            color,
            multisampled,
            depth,
            motion: None,
            arena: Vec::new(),
            pipelines: Vec::new(),
            indirect: Vec::new(),
            merged: Vec::new(),
        })
    }

    /// Looks from elsewhere in the frames that follow.
    pub fn set_view_projection(&mut self, view_projection: glam::Mat4) {
        self.view.view_projection = view_projection;
        self.gpu.queue().write_buffer(&self.uniform, 0, bytemuck::bytes_of(&view_uniform(&self.view)));
    }

    /// Records uploads (if vertices are on the host) and all passes after `commands`, or at the beginning of a frame.
    /// The last pass draws colours, those before it only depth.
    pub fn draw(
        &mut self,
        commands: Option<Commands>,
        drawable: &Drawable,
        arena: &Arena,
        timer: &mut StageTimer,
    ) -> Commands {
        let gpu = Rc::clone(&self.gpu);
        let mut commands = commands.unwrap_or_else(|| gpu.frame("frame"));
        if let Drawable::Host = drawable {
            timer.wall(Stage::Upload, || self.upload(&mut commands, arena));
        }
        let source = match drawable {
            Drawable::Shader(source) => Rc::clone(source),
            Drawable::Merged(vertices) => self.merged_source(vertices),
            Drawable::Own(own) => Rc::clone(&own.source),
            Drawable::Host | Drawable::Device | Drawable::Visible(_) => self.arena_source(arena, false),
            Drawable::Streams => self.arena_source(arena, true),
        };
        let known = self.pipelines.iter().position(|(s, _)| Rc::ptr_eq(s, &source));
        let known = known.unwrap_or_else(|| {
            let pipelines =
                source.distinct_kinds().into_iter().map(|kind| self.make_pipelines(&source, kind)).collect();
            self.pipelines.push((Rc::clone(&source), pipelines));
            self.pipelines.len() - 1
        });
        let motion = self.draws_motion(&source);
        if motion && self.motion.is_none() {
            self.motion = Some(Target::new(&gpu, &self.view, "motion", MOTION, 1));
        }
        let visible = match drawable {
            Drawable::Visible(visible) => Some(visible),
            _ => source.visible.as_ref(),
        };
        let indirect = visible.map(|visible| self.indirect(visible));
        let pipelines = &self.pipelines[known].1;
        let indirect = indirect.map(|index| &self.indirect[index]);
        indirect.iter().for_each(|indirect| indirect.update(&mut commands));
        let merged = match drawable {
            Drawable::Merged(vertices) => self.merged.iter().find(|merged| merged.draws(vertices)),
            _ => None,
        };
        let fenced = gpu.begin_fenced(&mut commands);
        let span = gpu.span(Stage::Draw);
        for pass in 0..self.passes {
            let last = pass + 1 == self.passes;
            let motions = self.motion.as_ref().map(|target| cleared(target, None, wgpu::Color::TRANSPARENT));
            let attachments = [Some(self.color_attachment(BACKGROUND)), motions];
            let attachments = &attachments[..1 + usize::from(motion)];
            let descriptor = wgpu::RenderPassDescriptor {
                label: Some("draw"),
                color_attachments: if last { attachments } else { &[] },
                depth_stencil_attachment: Some(self.depth_attachment()),
                ..Default::default()
            };
            let ends = (span.filter(|_| pass == 0), span.filter(|_| last));
            let wireframe = last && self.view.mode != Mode::Skin;
            gpu.render_pass(&mut commands, descriptor, ends, |pass| {
                if let Some(merged) = merged {
                    // Vertices of all models have one format, and drawing knows no other kinds.
                    let Some(pipelines) = pipelines.first() else { return };
                    pass.set_pipeline(pipelines.triangles(last, wireframe));
                    merged.draw(&gpu, pass, &self.drawn, false);
                    if wireframe {
                        pass.set_pipeline(&pipelines.edges);
                        merged.draw(&gpu, pass, &self.drawn, true);
                    }
                    return;
                }
                for (index, group) in source.groups.iter().enumerate() {
                    let of_chunk = indirect.map_or_else(|| self.chunks[index].group, |indirect| indirect.groups[index]);
                    let drawn = &indirect.and_then(|i| i.drawn.as_ref()).unwrap_or(&self.drawn)[of_chunk];
                    let one_draw = || gpu.add_work(FrameWork { draws: 1, ..FrameWork::default() });
                    let draw = |pass: &mut wgpu::RenderPass, edges: bool| match indirect {
                        None => source.draw(pass, group, 0..self.chunks[index].instances, |pass, instances| {
                            one_draw();
                            let count = if edges { drawn.edge_count } else { drawn.index_count };
                            pass.draw_indexed(0..count, 0, instances);
                        }),
                        Some(indirect) => {
                            one_draw();
                            pass.set_bind_group(0, group, &[]);
                            pass.draw_indexed_indirect(&indirect.arguments, Indirect::place(index, edges));
                        }
                    };
                    if drawn.index_count == 0 {
                        continue;
                    }
                    let kind = source.kinds[of_chunk];
                    let Some(pipelines) = pipelines.iter().find(|p| p.kind == kind) else { continue };
                    pass.set_pipeline(pipelines.triangles(last, wireframe));
                    let bindings = indirect.map_or(&drawn.bindings, |indirect| &indirect.bindings[of_chunk]);
                    pass.set_bind_group(1, bindings, &[]);
                    pass.set_index_buffer(drawn.indices.slice(..), wgpu::IndexFormat::Uint32);
                    draw(pass, false);
                    if wireframe {
                        pass.set_pipeline(&pipelines.edges);
                        pass.set_index_buffer(drawn.edges.slice(..), wgpu::IndexFormat::Uint32);
                        draw(pass, true);
                    }
                }
            });
        }
        if fenced {
            gpu.end_fenced(&mut commands, Stage::Draw);
        }
        commands
    }

    /// The last frame's colours, 8-bit sRGB with alpha, rows from the top.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_color(&self) -> Result<Vec<u8>> {
        Ok(bytemuck::cast_slice(&self.read_target(&self.color.texture)?).to_vec())
    }

    /// Index of the draws of the instances in view.
    fn indirect(&mut self, visible: &Rc<Visible>) -> usize {
        if let Some(known) = self.indirect.iter().position(|indirect| Rc::ptr_eq(&indirect.visible, visible)) {
            return known;
        }
        let own = visible.families.as_ref().map(|families| {
            let models = || families.models.iter().map(|model| &**model);
            let paints = match self.picture {
                Some(_) => textured(&Surfaces::of_models(&self.gpu, families.models.iter())),
                None => plain(&self.gpu, models()),
            };
            let draw = |(model, paint)| {
                GroupDraw::new(
                    &self.gpu,
                    &self.layout,
                    (&self.uniform, &visible.placements),
                    self.view.mode,
                    model,
                    paint,
                )
            };
            models().zip(paints).map(draw).collect::<Vec<_>>()
        });
        let drawn = own.as_ref().unwrap_or(&self.drawn);
        let groups = match &visible.families {
            Some(families) => families.groups.clone(),
            None => self.chunks.iter().map(|chunk| chunk.group).collect(),
        };
        let bound = |drawn: &GroupDraw| drawn.paint.bind(&self.gpu, &self.layout, &self.uniform, &visible.placements);
        let draws = groups.iter().flat_map(|&group| [drawn[group].index_count, drawn[group].edge_count]);
        let arguments = |index_count| wgpu::util::DrawIndexedIndirectArgs { index_count, ..Default::default() };
        let contents: Vec<u8> = draws.flat_map(|count| arguments(count).as_bytes().to_vec()).collect();
        let usage = wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST;
        let arguments = self.gpu.filled(Purpose::Targets, "draws", &contents, usage);
        let bindings = drawn.iter().map(bound).collect();
        self.indirect.push(Indirect { visible: Rc::clone(visible), drawn: own, groups, bindings, arguments });
        self.indirect.len() - 1
    }

    /// The source of vertices in buffers that models share.
    fn merged_source(&mut self, vertices: &Rc<MergedVertices>) -> Rc<VertexSource> {
        if let Some(known) = self.merged.iter().find(|merged| merged.draws(vertices)) {
            return Rc::clone(known.source());
        }
        let bind = |paint: Paint| paint.bind(&self.gpu, &self.layout, &self.uniform, &self.placements);
        let wireframe = self.view.mode != Mode::Skin;
        let merged = MergedDraw::new(&self.gpu, vertices, wireframe, self.picture.is_none().then_some(bind));
        let source = Rc::clone(merged.source());
        self.merged.push(merged);
        source
    }

    /// The source of vertices that are in the arena.
    fn arena_source(&mut self, arena: &Arena, streams: bool) -> Rc<VertexSource> {
        let known = self.arena.iter().find(|(first, s, _)| arena.device.first() == Some(first) && *s == streams);
        if let Some((.., source)) = known {
            return Rc::clone(source);
        }
        let uniforms: Vec<_> = self.chunks.iter().map(|c| &c.uniform).collect();
        let source = Rc::new(VertexSource::arena(&self.gpu, &self.kinds, &uniforms, arena, streams));
        if let Some(first) = arena.device.first() {
            self.arena.push((first.clone(), streams, Rc::clone(&source)));
        }
        source
    }

    /// Motion of each pixel since the last frame, as two half floats in the order x, y; rows from the top. `None` if no
    /// motion was drawn.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_motion(&self) -> Result<Option<Vec<[u16; 2]>>> {
        let Some(target) = &self.motion else { return Ok(None) };
        let texels = self.read_target(&target.texture)?;
        Ok(Some(texels.into_iter().map(bytemuck::cast).collect()))
    }

    /// The last frame's depths, rows from the top.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read_depth(&self) -> Result<Vec<f32>> {
        self.read_target(&self.depth.texture)
    }

    fn read_target(&self, texture: &wgpu::Texture) -> Result<Vec<f32>> {
        let row = (self.view.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let buffer = self.gpu.buffer(Purpose::Staging, "picture", u64::from(row) * u64::from(self.view.height), usage);
        let mut commands = self.gpu.commands("picture");
        copy_texture(&mut commands.encoder, texture, &buffer, row, self.view.height);
        commands.finish()?;
        let mut padded = Vec::new();
        self.gpu.read_back(&buffer, 0, (row * self.view.height / 4) as usize, &mut padded)?;
        Ok(padded.chunks_exact((row / 4) as usize).flat_map(|r| &r[..self.view.width as usize]).copied().collect())
    }

    pub(super) fn gpu(&self) -> &Rc<Gpu> {
        &self.gpu
    }

    /// The view as shaders read it.
    pub(super) fn uniform(&self) -> &wgpu::Buffer {
        &self.uniform
    }

    /// The target of colours, as it is.
    pub(super) fn kept_color(&self) -> wgpu::RenderPassColorAttachment<'_> {
        let ops = wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store };
        wgpu::RenderPassColorAttachment { ops, ..self.color_attachment(BACKGROUND) }
    }

    /// The target of depths, as it is.
    pub(super) fn kept_depth(&self) -> wgpu::RenderPassDepthStencilAttachment<'_> {
        let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store });
        wgpu::RenderPassDepthStencilAttachment { depth_ops, ..self.depth_attachment() }
    }

    pub(super) fn color_attachment(&self, background: wgpu::Color) -> wgpu::RenderPassColorAttachment<'_> {
        match &self.multisampled {
            Some(samples) => cleared(samples, Some(&self.color.view), background),
            None => cleared(&self.color, None, background),
        }
    }

    /// Samples per pixel.
    pub(super) fn samples(&self) -> u32 {
        if self.picture.is_some() { SAMPLES } else { 1 }
    }

    fn draws_motion(&self, source: &VertexSource) -> bool {
        source.motion && self.picture.is_none()
    }

    pub(super) fn depth_attachment(&self) -> wgpu::RenderPassDepthStencilAttachment<'_> {
        wgpu::RenderPassDepthStencilAttachment {
            view: &self.depth.view,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store }),
            stencil_ops: None,
        }
    }

    fn upload(&self, commands: &mut Commands, arena: &Arena) {
        let gpu = Rc::clone(&self.gpu);
        gpu.timed(commands, Stage::Upload, |commands| {
            for (chunk, buffer) in self.chunks.iter().zip(&arena.device) {
                gpu.upload(commands, buffer, bytemuck::cast_slice(&arena.host[chunk.floats.clone()]));
            }
        });
    }

    fn make_pipelines(&self, source: &VertexSource, kind: Kind) -> Pipelines {
        let device = self.gpu.device();
        let motion = self.draws_motion(source);
        let wgsl = (source.wgsl)(kind, draw_root(motion, self.picture.is_some()), &[]);
        let module = module(&self.gpu, "draw", wgsl, source.trusted);
        let (vertex, shaded) = if motion { ("vertex_motion", "fragment_motion") } else { ("vertex", "fragment") };
        let layout = pipeline_layout(&self.gpu, "draw", &[&source.layout, &self.layout]);
        let mut constants = kind.constants();
        constants.extend(self.picture.map(|tinted| ("TINTED", f64::from(u8::from(tinted)))));
        let options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        // Over lit triangles, edges need a colour of their own.
        let both = self.view.mode == Mode::SkinAndWireframe;
        let edge = if both && self.picture.is_some() { "fragment_edge" } else { shaded };
        let pipeline = |label, topology, fragment: Option<wgpu::ColorWrites>, bias| {
            let targets = [COLOR, MOTION]
                .map(|format| fragment.map(|write_mask| wgpu::ColorTargetState { format, blend: None, write_mask }));
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(label),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    // Depth passes need positions alone.
                    entry_point: Some(match fragment {
                        Some(_) => vertex,
                        None if self.picture.is_some() => "vertex",
                        None => "vertex_depth",
                    }),
                    compilation_options: options.clone(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState { topology, ..Default::default() },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(true),
                    depth_compare: Some(wgpu::CompareFunction::Less),
                    stencil: Default::default(),
                    bias: wgpu::DepthBiasState { constant: bias, slope_scale: bias as f32, clamp: 0.0 },
                }),
                multisample: wgpu::MultisampleState { count: self.samples(), ..Default::default() },
                fragment: fragment.map(|_| wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(if topology == wgpu::PrimitiveTopology::LineList { edge } else { shaded }),
                    compilation_options: options.clone(),
                    targets: &targets[..1 + usize::from(motion)],
                }),
                multiview_mask: None,
                cache: self.gpu.pipeline_cache(),
            })
        };
        let beneath = if both { wgpu::ColorWrites::ALL } else { wgpu::ColorWrites::empty() };
        let (triangles, lines) = (wgpu::PrimitiveTopology::TriangleList, wgpu::PrimitiveTopology::LineList);
        Pipelines {
            kind,
            depth_only: pipeline("depth", triangles, None, 0),
            color: pipeline("color", triangles, Some(wgpu::ColorWrites::ALL), 0),
            hidden: pipeline("hidden", triangles, Some(beneath), 2),
            edges: pipeline("edges", lines, Some(wgpu::ColorWrites::ALL), 0),
        }
    }
}

fn view_uniform(view: &View) -> layout::View {
    layout::View {
        view_projection: view.view_projection.to_cols_array_2d(),
        light: view.light.normalize_or_zero().to_array(),
        padding: 0.0,
    }
}

/// A render target that is cleared to one colour, and the texture that its samples are averaged into.
fn cleared<'a>(
    target: &'a Target,
    resolve_target: Option<&'a wgpu::TextureView>,
    color: wgpu::Color,
) -> wgpu::RenderPassColorAttachment<'a> {
    wgpu::RenderPassColorAttachment {
        view: &target.view,
        depth_slice: None,
        resolve_target,
        ops: wgpu::Operations { load: wgpu::LoadOp::Clear(color), store: wgpu::StoreOp::Store },
    }
}
