//! Read-back of vertices that a vertex shader skins: points are drawn into texels, with the WGSL function and bind
//! groups of the drawn pass.

use super::binding::{GroupLayout, pipeline_layout};
use super::counts::room_bytes;
use super::device::CAPTURE_FORMAT;
use super::shader::module;
use super::skinning::{CAPTURE, Kind};
use super::source::VertexSource;
use super::{Chunk, Gpu, layout};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Purpose, Result};
use std::ops::Range;
use std::rc::Rc;

/// Texels per row: a multiple of 256-byte copy rows.
const WIDTH: u32 = 2048;
/// Most texels of a capture.
const TEXELS: u32 = 4 << 20;
/// Bytes of a texel.
const TEXEL_BYTES: u32 = 16;

/// The pipelines for one kind of group.
struct CapturePipelines {
    kind: Kind,
    position_and_normal: wgpu::RenderPipeline,
    tangent: wgpu::RenderPipeline,
}

/// The pipelines and targets of captures.
pub struct Capture {
    source: Rc<VertexSource>,
    pipelines: Vec<CapturePipelines>,
    uniform: wgpu::Buffer,
    group: wgpu::BindGroup,
    targets: [wgpu::Texture; 2],
    texels: wgpu::Buffer,
}

impl Capture {
    /// Bytes on the device.
    pub fn bytes(crowd: &Crowd) -> u64 {
        let picture = u64::from(WIDTH) * u64::from(height(crowd)) * u64::from(TEXEL_BYTES);
        room_bytes(size_of::<layout::Capture>() as u64) + 3 * picture
    }

    /// A capture for a crowd whose vertices come from `source`.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if an instance has more vertices than a texture has texels.
    pub fn new(gpu: &Rc<Gpu>, crowd: &Crowd, source: &Rc<VertexSource>) -> Result<Self> {
        let (height, device) = (height(crowd), gpu.device());
        if height > device.limits().max_texture_dimension_2d {
            return Err(BackendError::TooLarge(format!(
                "{} vertices of one instance; a texture holds at most {}",
                largest(crowd),
                device.limits().max_texture_dimension_2d * WIDTH
            )));
        }
        let kinds = source.distinct_kinds();
        let wgsl = |kind| (source.wgsl)(kind, CAPTURE, &[]);
        let first = kinds.first().map(|&kind| wgsl(kind)).unwrap_or_default();
        let own = GroupLayout::new(gpu, "capture", &first, 1, wgpu::ShaderStages::VERTEX, None);
        let uniform = gpu.buffer(
            Purpose::Staging,
            "capture",
            size_of::<layout::Capture>() as u64,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        );
        let target = |label| {
            gpu.count(Purpose::Staging, u64::from(WIDTH * TEXEL_BYTES) * u64::from(height));
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: WIDTH, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: CAPTURE_FORMAT,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        };
        let layout = pipeline_layout(gpu, "capture", &[&source.layout, &own]);
        let pipeline = |kind: Kind, entry| {
            let module = module(gpu, "capture", wgsl(kind), source.trusted);
            let constants = kind.constants();
            let options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some("capture"),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("vertex"),
                    compilation_options: options.clone(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::PointList, ..Default::default() },
                depth_stencil: None,
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: options,
                    targets: &[Some(CAPTURE_FORMAT.into()), Some(CAPTURE_FORMAT.into())],
                }),
                multiview_mask: None,
                cache: gpu.pipeline_cache(),
            })
        };
        let pipelines = kinds.into_iter().map(|kind| CapturePipelines {
            kind,
            position_and_normal: pipeline(kind, "position_and_normal"),
            tangent: pipeline(kind, "tangent"),
        });
        let pipelines = pipelines.collect();
        gpu.check()?;
        Ok(Self {
            group: own.bind_buffers(gpu, "capture", &[("capture", &uniform)]),
            source: Rc::clone(source),
            pipelines,
            uniform,
            targets: [target("captured first"), target("captured second")],
            texels: gpu.buffer(
                Purpose::Staging,
                "captured texels",
                u64::from(WIDTH * height * TEXEL_BYTES),
                wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            ),
        })
    }

    /// Appends the vertices of some of a chunk's instances, `[instance][vertex][floats]`; `instances` is relative to
    /// the chunk.
    ///
    /// # Errors
    /// [`BackendError::Device`] if the device was lost or refused a command.
    pub fn read(
        &self,
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        chunk: &Chunk,
        bindings: &wgpu::BindGroup,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let group = &crowd.groups()[chunk.group];
        let kind = self.source.kinds[chunk.group];
        let Some(pipelines) = self.pipelines.iter().find(|p| p.kind == kind) else { return Ok(()) };
        let vertices = group.model.mesh().vertex_count() as u32;
        let floats = group.format.floats();
        let at_once = (WIDTH * self.targets[0].height() / vertices).max(1);
        for first in instances.clone().step_by(at_once as usize) {
            let count = at_once.min(instances.end - first);
            let draw = |pipeline| self.draw(gpu, pipeline, bindings, 0..vertices, first..first + count);
            draw(&pipelines.position_and_normal)?;
            let texels = (count * vertices) as usize;
            let positions = self.texels_of(gpu, &self.targets[0], texels)?;
            let normals = self.texels_of(gpu, &self.targets[1], texels)?;
            let tangents = if floats >= 10 {
                draw(&pipelines.tangent)?;
                self.texels_of(gpu, &self.targets[0], texels)?
            } else {
                vec![0.0; texels * 4]
            };
            out.reserve(texels * floats);
            let [p, n, t] = [&positions, &normals, &tangents].map(|texels| texels.as_chunks::<4>().0);
            for ((p, n), t) in p.iter().zip(n).zip(t) {
                out.extend([p[0], p[1], p[2], n[0], n[1], n[2], t[0], t[1], t[2], t[3]].iter().take(floats));
            }
        }
        Ok(())
    }

    /// Draws the points of some instances over NaN; `instances` is relative to the chunk.
    fn draw(
        &self,
        gpu: &Rc<Gpu>,
        pipeline: &wgpu::RenderPipeline,
        bindings: &wgpu::BindGroup,
        vertices: Range<u32>,
        instances: Range<u32>,
    ) -> Result<()> {
        let uniform =
            layout::Capture { first: instances.start, width: WIDTH, height: self.targets[0].height(), padding: 0 };
        let mut commands = gpu.commands("capture");
        gpu.upload(&mut commands, &self.uniform, bytemuck::bytes_of(&uniform));
        let views = self.targets.each_ref().map(|t| t.create_view(&Default::default()));
        let nan = wgpu::Color { r: f64::NAN, g: f64::NAN, b: f64::NAN, a: f64::NAN };
        let attachments = views.each_ref().map(|view| {
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(nan), store: wgpu::StoreOp::Store },
            })
        });
        let descriptor = wgpu::RenderPassDescriptor {
            label: Some("capture"),
            color_attachments: &attachments,
            ..Default::default()
        };
        gpu.render_pass(&mut commands, descriptor, (None, None), |pass| {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, &self.group, &[]);
            self.source.draw(pass, bindings, instances, |pass, instances| pass.draw(vertices.clone(), instances));
        });
        commands.finish()
    }

    fn texels_of(&self, gpu: &Rc<Gpu>, texture: &wgpu::Texture, texels: usize) -> Result<Vec<f32>> {
        let rows = (texels as u32).div_ceil(WIDTH);
        let mut commands = gpu.commands("texels");
        copy_texture(&mut commands.encoder, texture, &self.texels, WIDTH * TEXEL_BYTES, rows);
        commands.finish()?;
        let mut floats = Vec::new();
        gpu.read_back(&self.texels, 0, texels * 4, &mut floats)?;
        Ok(floats)
    }
}

/// Vertices of the largest instance.
fn largest(crowd: &Crowd) -> u32 {
    crowd.groups().iter().map(|g| g.model.mesh().vertex_count()).max().unwrap_or(0) as u32
}

/// Rows of a capture, which holds the crowd or as many instances as fit, at least one.
fn height(crowd: &Crowd) -> u32 {
    let most = crowd.vertex_count().min(TEXELS.into()) as u32;
    largest(crowd).max(most).div_ceil(WIDTH)
}

/// Records a copy of a texture's first rows.
pub(super) fn copy_texture(
    encoder: &mut wgpu::CommandEncoder,
    texture: &wgpu::Texture,
    buffer: &wgpu::Buffer,
    bytes_per_row: u32,
    rows: u32,
) {
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(bytes_per_row), rows_per_image: None },
        },
        wgpu::Extent3d { width: texture.width(), height: rows, depth_or_array_layers: 1 },
    );
}
