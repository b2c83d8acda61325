//! The draws of a source of vertices: pipelines, bindings, ranges of indices, and arguments that the device computes.

use crate::crowd::table::{Visible, VisibleChunk};
use crate::device::{
    BindGroup, Buffer, COLOR, Command, EntryPoint, FragmentDescription, Named, PipelineDescription,
    Recorder, RenderPipeline, named,
};
use crate::draw::overlay::unorm8;
use crate::draw::surfaces::Surfaces;
use crate::forms::kind::ShaderVariant;
use crate::kernel::{GroupLayout, module, once_per_key, pipeline_layout};
use crate::passes::vertices::{
    DrawnBatch, StoredVertices, VertexAccess, VertexSource, draw_root, for_each_binding,
};
use crate::shader::layout;
use crate::{Chunk, Commands, Gpu};
use skinbench_frame::{Mode, Purpose};
use skinbench_kernels::model::Model;
use skinbench_kernels::vertex::Cube;
use std::ops::Range;
use std::sync::Arc;
use wgpu::util::DrawIndexedIndirectArgs;

/// Motion of a pixel since the last frame, in units of half the picture; 16 bits per axis.
pub const MOTION: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;
/// Bytes of a draw's arguments, and offset of the instance count in them.
const BYTES: u64 = size_of::<DrawIndexedIndirectArgs>() as u64;
const COUNT: u64 = std::mem::offset_of!(DrawIndexedIndirectArgs, instance_count) as u64;

/// A group's paint, triangles and edges.
pub struct GroupDraw {
    /// Everything that group 1 of a draw binds besides the view and the placements: colours of vertices for timed
    /// frames, textured surfaces for pictures.
    paint: Vec<Named>,
    indices: Buffer,
    /// Ranges of the indices.
    triangles: Range<u32>,
    edges: Range<u32>,
}

impl GroupDraw {
    /// Uploads the triangles of models, their edges if the mode draws any, and their colours unless they have
    /// `surfaces`.
    pub fn all(
        gpu: &Gpu,
        mode: Mode,
        models: &[Arc<Model>],
        surfaces: Option<&Surfaces>,
    ) -> Vec<Self> {
        let mut groups = Vec::with_capacity(models.len());
        for (index, model) in models.iter().enumerate() {
            let paint = surfaces.map(|surfaces| surfaces.paints[index].clone());
            groups.extend(Self::sharing(gpu, mode, std::slice::from_ref(model), paint));
        }
        groups
    }

    /// As [`GroupDraw::all`], in buffers that the models share: a vertex has its index among those of all models, one
    /// model after the other. The paint is their colours unless it is given.
    fn sharing(
        gpu: &Gpu,
        mode: Mode,
        models: &[Arc<Model>],
        paint: Option<Vec<Named>>,
    ) -> Vec<Self> {
        let paint = paint.unwrap_or_else(|| {
            let colors: Vec<u32> = models.iter().flat_map(|model| colors(model)).collect();
            let colors = gpu.storage(Purpose::Targets, "colors", &colors);
            vec![named("colors", &colors)]
        });
        let mut all: Vec<u32> = Vec::new();
        let mut first = 0;
        let mut ranges = Vec::with_capacity(models.len());
        for model in models {
            let mesh = model.mesh();
            let begin = all.len() as u32;
            all.extend(mesh.indices().iter().map(|index| first + index));
            let middle = all.len() as u32;
            all.extend(edges(mode, model).iter().map(|index| first + index));
            ranges.push([begin..middle, middle..all.len() as u32]);
            first += mesh.vertex_count() as u32;
        }
        let contents = bytemuck::cast_slice(&all);
        let usage = wgpu::BufferUsages::INDEX;
        let indices = gpu.buffer_with(Purpose::Targets, "indices", contents, usage);
        let group = |[triangles, edges]: [Range<u32>; 2]| Self {
            paint: paint.clone(),
            indices: indices.clone(),
            triangles,
            edges,
        };
        ranges.into_iter().map(group).collect()
    }
}

/// Every edge of a model's triangles once, as a line list; none if the mode draws none.
pub fn edges(mode: Mode, model: &Model) -> Vec<u32> {
    if mode == Mode::Skin {
        return Vec::new();
    }
    let triangles = model.mesh().indices().as_chunks::<3>().0;
    let corners = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<[u32; 2]> = corners.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.into_flattened()
}

/// Each vertex's material colour, linear RGBA with 8 bits each.
pub fn colors(model: &Model) -> Vec<u32> {
    let mut colors = vec![0xffff_ffff; model.mesh().vertex_count()];
    for subset in model.mesh().primitives().iter().flat_map(|p| &p.subsets) {
        let color = unorm8(model.materials()[usize::from(subset.material)].base_color);
        for &vertex in
            &model.mesh().indices()[subset.indices.start as usize..subset.indices.end as usize]
        {
            colors[vertex as usize] = color;
        }
    }
    colors
}

/// Everything that is the same for all draws of a presenter.
pub struct Scenery {
    pub gpu: Arc<Gpu>,
    pub mode: Mode,
    /// For a picture, whether instances are tinted; `None` for timed frames.
    pub picture: Option<bool>,
    /// Samples per pixel.
    pub samples: u32,
    /// Layout of group 1.
    pub layout: GroupLayout,
    /// The view as shaders read it.
    pub view: Buffer,
    pub placements: Buffer,
    /// The model of each group, its kind, of which skinning makes no difference, and its buffers.
    pub models: Vec<Arc<Model>>,
    pub kinds: Vec<ShaderVariant>,
    pub groups: Vec<GroupDraw>,
    /// The chunks of the crowd, and the numbers of each.
    pub chunks: Vec<Chunk>,
    pub uniforms: Vec<Buffer>,
}

/// The pipelines that draw one source's vertices of one kind.
struct Pipelines {
    depth_only: RenderPipeline,
    color: RenderPipeline,
    /// Of a wireframe: triangles write their depth, or their colours too, then edges their colour.
    wireframe: Option<[RenderPipeline; 2]>,
}

/// The draws of a source.
pub struct Draws {
    list: Vec<Draw>,
    /// The calls of all draws.
    calls: Vec<DrawIndexedIndirectArgs>,
    /// The calls on the device, if it computes them or takes several at once.
    arguments: Option<Buffer>,
    /// The instances in view, if only those are drawn: their numbers are copied into the arguments.
    visible: Option<Arc<Visible>>,
    /// Bytes from one instance's palette to the next, if each instance is drawn separately.
    stride: Option<u32>,
    /// `true` if the motion of pixels is drawn.
    pub motion: bool,
}

/// Chunks that are drawn with one set of bindings.
struct Draw {
    pipelines: Arc<Pipelines>,
    vertices: BindGroup,
    paint: BindGroup,
    indices: Buffer,
    /// Ranges among the calls of all draws, with a call for each chunk.
    triangles: Range<usize>,
    edges: Range<usize>,
}

impl Draws {
    /// Prepares the draws of a source.
    pub fn new(scenery: &Scenery, source: &VertexSource) -> Self {
        let mut draws = Self {
            list: Vec::new(),
            calls: Vec::new(),
            arguments: None,
            visible: source.visible.clone(),
            stride: source.stride,
            motion: source.motion && scenery.picture.is_none(),
        };
        draws.push_all(scenery, source);
        let gpu = &scenery.gpu;
        let at_once = scenery.draws_together(source.access) && gpu.adapter.multi_draws;
        if source.visible.is_some() || at_once {
            let calls = draws.calls.iter();
            let contents: Vec<u8> = calls.flat_map(|call| call.as_bytes()).copied().collect();
            let usage = wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST;
            let arguments = gpu.buffer_with(Purpose::Targets, "draws", &contents, usage);
            draws.arguments = Some(arguments);
        }
        let calls = &draws.calls;
        draws.list.retain(|draw| {
            let mut triangles = calls[draw.triangles.clone()].iter();
            triangles.any(|call| call.index_count > 0)
        });
        draws
    }

    /// Adds the draws of all batches.
    fn push_all(&mut self, scenery: &Scenery, source: &VertexSource) {
        let visible = source.visible.as_deref();
        let together = scenery.draws_together(source.access);
        let shared =
            together.then(|| GroupDraw::sharing(&scenery.gpu, scenery.mode, &scenery.models, None));
        let groups = shared.as_ref().unwrap_or(&scenery.groups);
        let placements = visible.map_or(&scenery.placements, |visible| &visible.placements);
        let pipelines = once_per_key(source.kinds.iter().copied(), |&kind| {
            Arc::new(scenery.pipelines(source, kind))
        });
        let shown = [
            named("view", &scenery.view),
            named("placements", placements),
        ];
        let at_once = if together { usize::MAX } else { 1 };
        let merged = source.access.is_merged();
        for batch in &source.batches {
            for chunks in batch.chunks.chunks(at_once) {
                let group = &groups[chunks[0].group];
                let paint = [&shown[..], &group.paint].concat();
                let begin = self.calls.len();
                for chunk in chunks {
                    let triangles = &groups[chunk.group].triangles;
                    self.calls.push(call(chunk, triangles, merged));
                }
                let middle = self.calls.len();
                for chunk in chunks {
                    let edges = &groups[chunk.group].edges;
                    self.calls.push(call(chunk, edges, merged));
                }
                self.list.push(Draw {
                    pipelines: Arc::clone(&pipelines[chunks[0].group]),
                    vertices: batch.group.clone(),
                    paint: scenery.layout.bind(&scenery.gpu, "draw", &paint),
                    indices: group.indices.clone(),
                    triangles: begin..middle,
                    edges: middle..self.calls.len(),
                });
            }
        }
    }

    /// Copies the numbers of instances in view to the arguments of draws.
    pub fn update(&self, commands: &mut Commands) {
        let (Some(visible), Some(arguments)) = (&self.visible, &self.arguments) else {
            return;
        };
        for (index, chunk) in (0..).zip(&visible.chunks) {
            for place in [2 * index, 2 * index + 1] {
                commands.run(Command::Copy {
                    from: &chunk.numbers,
                    from_offset: VisibleChunk::COUNT_OFFSET,
                    to: arguments,
                    to_offset: place * BYTES + COUNT,
                    bytes: size_of::<u32>() as u64,
                });
            }
        }
    }

    /// Records all draws of a pass: in colours if it is the last, and then with edges if a wireframe is asked for.
    pub fn record(&self, pass: &mut Commands, last: bool) {
        for draw in &self.list {
            let Pipelines {
                depth_only,
                color,
                wireframe,
            } = &*draw.pipelines;
            let wireframe = wireframe.as_ref().filter(|_| last);
            let triangles = if last { color } else { depth_only };
            pass.run(Command::Pipeline {
                pipeline: wireframe.map_or(triangles, |[hidden, _]| hidden),
            });
            pass.bind(1, &draw.paint, &[]);
            pass.run(Command::Indices {
                buffer: &draw.indices,
            });
            self.call(pass, draw, &draw.triangles);
            if let Some([_, edges]) = wireframe {
                pass.run(Command::Pipeline { pipeline: edges });
                self.call(pass, draw, &draw.edges);
            }
        }
    }

    fn call(&self, pass: &mut Commands, draw: &Draw, range: &Range<usize>) {
        if let Some(arguments) = &self.arguments {
            pass.bind(0, &draw.vertices, &[]);
            return pass.run(Command::DrawIndexedIndirect {
                arguments,
                offset: range.start as u64 * BYTES,
                count: range.len() as u32,
            });
        }
        for call in &self.calls[range.clone()] {
            if call.index_count == 0 {
                continue;
            }
            let indices = call.first_index..call.first_index + call.index_count;
            let instances = call.first_instance..call.first_instance + call.instance_count;
            let draw_bound = |pass: &mut Commands, instances| {
                pass.run(Command::DrawIndexed {
                    indices: indices.clone(),
                    instances,
                });
            };
            for_each_binding(pass, &draw.vertices, self.stride, instances, draw_bound);
        }
    }
}

/// The draw of a chunk's indices.
fn call(chunk: &Chunk, indices: &Range<u32>, merged: bool) -> DrawIndexedIndirectArgs {
    DrawIndexedIndirectArgs {
        index_count: indices.len() as u32,
        instance_count: chunk.instances.len() as u32,
        first_index: indices.start,
        base_vertex: 0,
        first_instance: if merged { chunk.instances.start } else { 0 },
    }
}

impl Scenery {
    /// Returns whether a draw takes several models: a picture binds the surfaces of one model at a time.
    fn draws_together(&self, access: VertexAccess) -> bool {
        access.is_merged() && self.picture.is_none()
    }

    /// Stored vertices as a source. A vertex has its index in the model, or, if models are drawn together, among those
    /// of all models.
    pub fn source(&self, stored: &StoredVertices) -> VertexSource {
        let gpu = &self.gpu;
        let motion = !stored.previous.is_empty();
        let access = VertexAccess::Reads {
            output: stored.form.output,
            merged: stored.merged,
        };
        let first = self
            .kinds
            .first()
            .map(|&kind| access.shader(kind, draw_root(motion, false)))
            .unwrap_or_default();
        let layout = GroupLayout::new(gpu, "vertices", &[&first], 0, wgpu::ShaderStages::VERTEX);
        let tables = access.is_merged().then(|| self.tables(stored, access));
        let mut batches = Vec::with_capacity(stored.batches.len());
        for (index, chunks) in stored.batches.iter().enumerate() {
            let mut resources: Vec<Named> = match (&tables, &stored.form.visible) {
                (Some(tables), _) => tables.to_vec(),
                (None, Some(visible)) => vec![("chunk", visible.chunks[index].chunk())],
                (None, None) => vec![named("chunk", &self.uniforms[index])],
            };
            if let Some(buffer) = stored.buffers.get(index) {
                resources.push(named("vertices", buffer));
            }
            if let Some(buffer) = stored.previous.get(index) {
                resources.push(named("previous", buffer));
            }
            batches.push(DrawnBatch {
                group: layout.bind(gpu, "vertices", &resources),
                chunks: chunks.clone(),
            });
        }
        let visible = stored.form.visible.clone();
        VertexSource {
            access,
            kinds: self.kinds.clone(),
            layout,
            batches,
            stride: None,
            motion,
            visible,
        }
    }

    /// Tables of the instances of batches of several models, and of these models' cubes.
    fn tables(&self, stored: &StoredVertices, access: VertexAccess) -> [Named; 2] {
        let mut firsts = Vec::with_capacity(self.models.len());
        let mut next = 0;
        for model in &self.models {
            firsts.push(next);
            if self.draws_together(access) {
                next += model.mesh().vertex_count() as u32;
            }
        }
        let mut instances = Vec::new();
        for batch in &stored.batches {
            let mut place = 0u32;
            for chunk in batch {
                for _ in chunk.instances.clone() {
                    let model = chunk.group as u32;
                    instances.push(layout::DrawnInstance {
                        place: place.wrapping_sub(firsts[chunk.group]),
                        model,
                    });
                    place += self.models[chunk.group].mesh().vertex_count() as u32;
                }
            }
        }
        let cubes: Vec<Cube> = self
            .models
            .iter()
            .map(|model| *model.mesh().cube())
            .collect();
        let instances = self
            .gpu
            .storage(Purpose::Targets, "drawn instances", &instances);
        let cubes = self.gpu.storage(Purpose::Targets, "cubes", &cubes);
        [named("drawn_instances", &instances), named("cubes", &cubes)]
    }

    fn pipelines(&self, source: &VertexSource, kind: ShaderVariant) -> Pipelines {
        let gpu = &self.gpu;
        let picture = self.picture.is_some();
        let motion = source.motion && !picture;
        let wgsl = source.access.shader(kind, draw_root(motion, picture));
        let module = module(gpu, "draw", wgsl, true);
        let layout = pipeline_layout(gpu, "draw", &[&source.layout, &self.layout]);
        let mut constants = kind.constants();
        constants.extend(
            self.picture
                .map(|tinted| ("TINTED", f64::from(u8::from(tinted)))),
        );
        let vertex = EntryPoint {
            module: &module,
            entry_point: if motion { "vertex_motion" } else { "vertex" },
            constants: &constants,
        };
        let shaded = FragmentDescription {
            shader: EntryPoint {
                entry_point: if motion {
                    "fragment_motion"
                } else {
                    "fragment"
                },
                ..vertex
            },
            formats: &[COLOR, MOTION][..1 + usize::from(motion)],
            write_mask: wgpu::ColorWrites::ALL,
        };
        let color = PipelineDescription {
            label: "color",
            layout: &layout,
            vertex,
            vertex_buffers: &[],
            topology: wgpu::PrimitiveTopology::TriangleList,
            depth_bias: Some(0),
            samples: self.samples,
            fragment: Some(shaded),
        };
        // Depth passes need positions alone.
        let depth_only = PipelineDescription {
            label: "depth",
            vertex: EntryPoint {
                entry_point: if picture { "vertex" } else { "vertex_depth" },
                ..vertex
            },
            fragment: None,
            ..color.clone()
        };
        let mut wireframe = None;
        if self.mode != Mode::Skin {
            let both = self.mode == Mode::SkinAndWireframe;
            let mut beneath = shaded;
            let mut edge = shaded;
            if !both {
                beneath.write_mask = wgpu::ColorWrites::empty();
            } else if picture {
                // Over lit triangles, edges need a colour of their own.
                edge.shader.entry_point = "fragment_edge";
            }
            let hidden = PipelineDescription {
                label: "hidden",
                depth_bias: Some(2),
                fragment: Some(beneath),
                ..color.clone()
            };
            let edges = PipelineDescription {
                label: "edges",
                topology: wgpu::PrimitiveTopology::LineList,
                fragment: Some(edge),
                ..color.clone()
            };
            wireframe = Some([gpu.pipeline(&hidden), gpu.pipeline(&edges)]);
        }
        Pipelines {
            depth_only: gpu.pipeline(&depth_only),
            color: gpu.pipeline(&color),
            wireframe,
        }
    }
}
