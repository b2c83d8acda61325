//! Read-back of vertices that a vertex shader skins: points are drawn into texels, with the WGSL function and bind
//! groups of the drawn pass.

use crate::device::{
    BindGroup, Buffer, CAPTURE_FORMAT, ColorTarget, Command, DrawPart, EntryPoint,
    FragmentDescription, PipelineDescription, Recorder, RenderPipeline, Targets, Texture, flat,
    named,
};
use crate::forms::kind::CAPTURE;
use crate::kernel::{GroupLayout, module, once_per_key, pipeline_layout};
use crate::passes::vertices::{VertexSource, for_each_binding};
use crate::shader::layout;
use crate::{Chunk, Gpu};
use bytemuck::Zeroable;
use skinbench_frame::{BackendError, Purpose, Result};
use skinbench_kernels::crowd::Crowd;
use std::ops::Range;
use std::sync::Arc;

/// Texels per row: a multiple of 256-byte copy rows.
const WIDTH: u32 = 2048;
/// Most texels of a capture.
const TEXELS: u32 = 4 << 20;
/// Bytes of a texel.
const TEXEL_BYTES: u32 = 16;

/// The pipelines and targets of captures.
pub struct Capture {
    source: Arc<VertexSource>,
    /// Those of each group: for positions with normals, and for tangents.
    pipelines: Vec<[RenderPipeline; 2]>,
    uniform: Buffer,
    group: BindGroup,
    targets: [Texture; 2],
    texels: Buffer,
}

impl Capture {
    /// A capture for a crowd whose vertices come from `source`.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if an instance has more vertices than a texture has texels.
    pub fn new(gpu: &Arc<Gpu>, crowd: &Crowd, source: &Arc<VertexSource>) -> Result<Self> {
        let height = height(crowd);
        let most = gpu.adapter.limits.max_texture_dimension_2d;
        if height > most {
            return Err(BackendError::TooLarge(format!(
                "{} vertices of one instance; a texture holds at most {}",
                largest(crowd),
                most * WIDTH
            )));
        }
        let first = source.kinds.first();
        let first = first.map_or(String::new(), |&kind| source.access.shader(kind, CAPTURE));
        let own = GroupLayout::new(gpu, "capture", &[&first], 1, wgpu::ShaderStages::VERTEX);
        let uniform = gpu.uniform(Purpose::Staging, "capture", &layout::Capture::zeroed());
        let layout = pipeline_layout(gpu, "capture", &[&source.layout, &own]);
        let pipelines = once_per_key(source.kinds.iter().copied(), |&kind| {
            let module = module(gpu, "capture", source.access.shader(kind, CAPTURE), true);
            let constants = kind.constants();
            let vertex = EntryPoint {
                module: &module,
                entry_point: "vertex",
                constants: &constants,
            };
            ["position_and_normal", "tangent"].map(|entry_point| {
                gpu.pipeline(&PipelineDescription {
                    label: "capture",
                    layout: &layout,
                    vertex,
                    vertex_buffers: &[],
                    topology: wgpu::PrimitiveTopology::PointList,
                    depth_bias: None,
                    samples: 1,
                    fragment: Some(FragmentDescription {
                        shader: EntryPoint {
                            entry_point,
                            ..vertex
                        },
                        formats: &[CAPTURE_FORMAT; 2],
                        write_mask: wgpu::ColorWrites::ALL,
                    }),
                })
            })
        });
        gpu.check()?;
        Ok(Self {
            group: own.bind(gpu, "capture", &[named("capture", &uniform)]),
            source: Arc::clone(source),
            pipelines,
            uniform,
            targets: ["captured first", "captured second"].map(|label| target(gpu, label, height)),
            texels: gpu.scratch(
                Purpose::Staging,
                "captured texels",
                u64::from(WIDTH * height * TEXEL_BYTES),
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
        gpu: &Arc<Gpu>,
        crowd: &Crowd,
        chunk: &Chunk,
        bindings: &BindGroup,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let group = &crowd.groups()[chunk.group];
        let [position_and_normal, tangent] = &self.pipelines[chunk.group];
        let vertices = group.model.mesh().vertex_count() as u32;
        let floats = group.format.floats();
        let at_once = (WIDTH * self.targets[0].size.height / vertices).max(1);
        for first in instances.clone().step_by(at_once as usize) {
            let count = at_once.min(instances.end - first);
            let drawn = first..first + count;
            self.draw(
                gpu,
                position_and_normal,
                bindings,
                0..vertices,
                drawn.clone(),
            )?;
            let texels = (count * vertices) as usize;
            let positions = self.texels_of(gpu, &self.targets[0], texels)?;
            let normals = self.texels_of(gpu, &self.targets[1], texels)?;
            let tangents = if floats >= 10 {
                self.draw(gpu, tangent, bindings, 0..vertices, drawn)?;
                self.texels_of(gpu, &self.targets[0], texels)?
            } else {
                vec![0.0; texels * 4]
            };
            out.reserve(texels * floats);
            let [p, n, t] =
                [&positions, &normals, &tangents].map(|texels| texels.as_chunks::<4>().0);
            for ((p, n), t) in p.iter().zip(n).zip(t) {
                out.extend(
                    [p[0], p[1], p[2], n[0], n[1], n[2], t[0], t[1], t[2], t[3]]
                        .iter()
                        .take(floats),
                );
            }
        }
        Ok(())
    }

    /// Draws the points of some instances over NaN; `instances` is relative to the chunk.
    fn draw(
        &self,
        gpu: &Arc<Gpu>,
        pipeline: &RenderPipeline,
        bindings: &BindGroup,
        vertices: Range<u32>,
        instances: Range<u32>,
    ) -> Result<()> {
        let uniform = layout::Capture {
            first: instances.start,
            width: WIDTH,
            height: self.targets[0].size.height,
            padding: 0,
        };
        let mut commands = gpu.commands("capture");
        commands.upload(&self.uniform, bytemuck::bytes_of(&uniform));
        let colors = self.targets.each_ref().map(|target| ColorTarget {
            view: &target.view,
            resolve: None,
            clear: Some([f64::NAN; 4]),
        });
        commands.run(Command::Render(Targets {
            label: "capture",
            colors: &colors,
            depth: None,
            part: DrawPart::default(),
        }));
        commands.run(Command::Pipeline { pipeline });
        commands.bind(1, &self.group, &[]);
        let stride = self.source.stride;
        for_each_binding(
            &mut commands,
            bindings,
            stride,
            instances,
            |pass, instances| {
                let vertices = vertices.clone();
                pass.run(Command::Draw {
                    vertices,
                    instances,
                });
            },
        );
        commands.run(Command::End);
        commands.finish()
    }

    fn texels_of(&self, gpu: &Arc<Gpu>, texture: &Texture, texels: usize) -> Result<Vec<f32>> {
        let rows = (texels as u32).div_ceil(WIDTH);
        let mut commands = gpu.commands("texels");
        commands.run(Command::FromTexture {
            from: texture,
            to: &self.texels,
            bytes_per_row: WIDTH * TEXEL_BYTES,
            rows,
        });
        commands.finish()?;
        let mut floats = Vec::new();
        gpu.read_back(&self.texels, 0, texels * 4, &mut floats)?;
        Ok(floats)
    }
}

/// A texture that vertices are drawn into.
fn target(gpu: &Gpu, label: &str, height: u32) -> Texture {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
    let size = [WIDTH, height];
    gpu.texture(Purpose::Staging, &flat(label, size, CAPTURE_FORMAT, usage))
}

/// Vertices of the largest instance.
fn largest(crowd: &Crowd) -> u32 {
    crowd
        .groups()
        .iter()
        .map(|g| g.model.mesh().vertex_count())
        .max()
        .unwrap_or(0) as u32
}

/// Rows of a capture, which holds the crowd or as many instances as fit, at least one.
fn height(crowd: &Crowd) -> u32 {
    let most = crowd.vertex_count().min(TEXELS.into()) as u32;
    largest(crowd).max(most).div_ceil(WIDTH)
}
