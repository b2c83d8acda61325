//! The draws of a source of vertices: pipelines, bindings, ranges of indices, and arguments that the device computes.

use crate::frame::{Mode, Purpose};
use crate::gpu::device::{
    BindGroup, Buffer, COLOR, RenderPass, RenderPipeline, RenderPipelineParts, Resource, Sampler,
};
use crate::gpu::draw::overlay::unorm8;
use crate::gpu::draw::source::{VertexSource, draw_root, for_each_binding};
use crate::gpu::draw::surfaces::{GroupSurface, Surfaces};
use crate::gpu::pose::visibility::Visible;
use crate::gpu::shader::{GroupLayout, made_once, module, pipeline_layout};
use crate::gpu::skin::skinning::Kind;
use crate::gpu::{Chunk, Commands, Gpu};
use crate::model::Model;
use std::rc::Rc;
use std::sync::Arc;
use wgpu::util::DrawIndexedIndirectArgs;

/// Motion of a pixel since the last frame, in units of half the picture; 16 bits per axis.
pub(in crate::gpu) const MOTION: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;
/// Bytes of a draw's arguments, and offset of the instance count in them.
const BYTES: u64 = size_of::<DrawIndexedIndirectArgs>() as u64;
const COUNT: u64 = std::mem::offset_of!(DrawIndexedIndirectArgs, instance_count) as u64;

/// Everything that group 1 of a draw binds besides the view and the placements.
pub(in crate::gpu) enum Paint {
    /// Colours of vertices, for timed frames.
    Plain(Buffer),
    /// Textured surfaces, for pictures.
    Surface(GroupSurface, Sampler),
}

impl Paint {
    /// Group 1 of a draw, with a view and placements.
    pub fn bind(&self, gpu: &Gpu, layout: &GroupLayout, view: &Buffer, placements: &Buffer) -> BindGroup {
        let mut resources: Vec<(&str, Resource)> = vec![("view", view.into()), ("placements", placements.into())];
        match self {
            Self::Plain(colors) => resources.push(("colors", colors.into())),
            Self::Surface(surface, sampler) => resources.extend([
                ("surfaces", (&surface.vertices).into()),
                ("layers", Resource::View(&surface.layers)),
                ("repeating", Resource::Sampler(sampler)),
            ]),
        }
        layout.bind(gpu, "draw", &resources)
    }
}

/// Indices on the device, and how many there are.
#[derive(Clone)]
pub(in crate::gpu) struct IndexList {
    pub indices: Buffer,
    pub count: u32,
}

impl IndexList {
    pub fn new(gpu: &Gpu, label: &str, indices: &[u32]) -> Self {
        let contents = bytemuck::cast_slice(indices);
        let buffer = gpu.buffer_with(Purpose::Targets, label, contents, wgpu::BufferUsages::INDEX);
        Self { indices: buffer, count: indices.len() as u32 }
    }
}

/// A group's paint, triangles and edges.
pub(in crate::gpu) struct GroupDraw {
    pub paint: Paint,
    pub triangles: IndexList,
    pub edges: IndexList,
}

impl GroupDraw {
    /// Uploads the triangles of models, their edges if the mode draws any, and their colours unless they have
    /// `surfaces`.
    pub fn all(gpu: &Gpu, mode: Mode, models: &[Arc<Model>], surfaces: Option<&Surfaces>) -> Vec<Self> {
        let of_model = |(index, model): (usize, &Arc<Model>)| Self {
            paint: match surfaces {
                Some(surfaces) => Paint::Surface(surfaces.groups[index].clone(), surfaces.sampler.clone()),
                None => Paint::Plain(gpu.storage(Purpose::Targets, "colors", &colors(model))),
            },
            triangles: IndexList::new(gpu, "indices", model.mesh().indices()),
            edges: IndexList::new(gpu, "edges", &edges(mode, model)),
        };
        models.iter().enumerate().map(of_model).collect()
    }
}

/// Every edge of a model's triangles once, as a line list; none if the mode draws none.
pub(in crate::gpu) fn edges(mode: Mode, model: &Model) -> Vec<u32> {
    if mode == Mode::Skin {
        return Vec::new();
    }
    let triangles = model.mesh().indices().as_chunks::<3>().0;
    let corners = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<[u32; 2]> = corners.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.into_flattened()
}

/// Each vertex's material colour, linear RGBA with 8 bits each.
pub(in crate::gpu) fn colors(model: &Model) -> Vec<u32> {
    let mut colors = vec![0xffff_ffff; model.mesh().vertex_count()];
    for subset in model.mesh().primitives().iter().flat_map(|p| &p.subsets) {
        let color = unorm8(model.materials()[usize::from(subset.material)].base_color);
        for &vertex in &model.mesh().indices()[subset.indices.start as usize..subset.indices.end as usize] {
            colors[vertex as usize] = color;
        }
    }
    colors
}

/// Everything that is the same for all draws of a presenter.
pub(in crate::gpu) struct Scenery {
    pub gpu: Rc<Gpu>,
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
    /// The model of each group, and its buffers.
    pub models: Vec<Arc<Model>>,
    pub groups: Vec<GroupDraw>,
}

/// The pipelines that draw one source's vertices of one kind.
struct Pipelines {
    depth_only: RenderPipeline,
    color: RenderPipeline,
    /// Of a wireframe: triangles write their depth, or their colours too, then edges their colour.
    wireframe: Option<[RenderPipeline; 2]>,
}

/// The draws of a source.
pub(in crate::gpu) struct Draws {
    list: Vec<Draw>,
    /// The instances in view, and the arguments into which their numbers are copied.
    counted: Option<(Rc<Visible>, Buffer)>,
    /// `true` if the motion of pixels is drawn.
    pub motion: bool,
}

/// Chunks that are drawn with one set of bindings.
struct Draw {
    pipelines: Rc<Pipelines>,
    vertices: BindGroup,
    stride: Option<u32>,
    paint: BindGroup,
    triangles: Calls,
    edges: Calls,
}

/// Draws that share an index list.
struct Calls {
    indices: Buffer,
    calls: Vec<DrawIndexedIndirectArgs>,
    /// The calls on the device, and the first byte there, if the device computes them or takes several at once.
    arguments: Option<(Buffer, u64)>,
}

impl Calls {
    /// A chunk, or as many of its instances as the device counts.
    fn of_chunk(list: &IndexList, chunk: &Chunk, first_instance: u32, arguments: Option<(Buffer, u64)>) -> Self {
        let call = DrawIndexedIndirectArgs {
            index_count: list.count,
            instance_count: chunk.instances.len() as u32,
            first_instance,
            ..Default::default()
        };
        Self { indices: list.indices.clone(), calls: vec![call], arguments }
    }

    fn record(&self, gpu: &Gpu, pass: &mut RenderPass, draw: &Draw) {
        let Some(first) = self.calls.first() else { return };
        pass.set_bind_group(1, &draw.paint, &[]);
        pass.set_index_buffer(&self.indices);
        if let Some((arguments, offset)) = &self.arguments {
            gpu.work.borrow_mut().draws += 1;
            pass.set_bind_group(0, &draw.vertices, &[]);
            return match self.calls.len() {
                1 => pass.draw_indexed_indirect(arguments, *offset),
                count => pass.multi_draw_indexed_indirect(arguments, *offset, count as u32),
            };
        }
        let instances = |call: &DrawIndexedIndirectArgs| call.first_instance..call.first_instance + call.instance_count;
        if draw.stride.is_none() {
            pass.set_bind_group(0, &draw.vertices, &[]);
            for call in self.calls.iter().filter(|call| call.index_count > 0) {
                gpu.work.borrow_mut().draws += 1;
                pass.draw_indexed(call.first_index..call.first_index + call.index_count, instances(call));
            }
            return;
        }
        for_each_binding(pass, &draw.vertices, draw.stride, instances(first), |pass, instance| {
            gpu.work.borrow_mut().draws += 1;
            pass.draw_indexed(0..first.index_count, instance);
        });
    }
}

impl Draws {
    /// Prepares the draws of a source; with `merged`, the chunks of a part share buffers. `firsts` holds the index of
    /// each model's first vertex among those of a merged source.
    pub fn new(scenery: &Scenery, source: &VertexSource, merged: bool, firsts: &[u32]) -> Self {
        let Scenery { gpu, layout, view, .. } = scenery;
        let families = source.visible.as_ref().and_then(|visible| visible.families.as_ref());
        let own = families.map(|models| scenery.groups_of(models));
        let groups = own.as_ref().unwrap_or(&scenery.groups);
        let placements = source.visible.as_ref().map_or(&scenery.placements, |visible| &visible.placements);
        let pipelines = made_once(source.kinds.iter().copied(), |&kind| Rc::new(scenery.pipelines(source, kind)));
        let draw = |chunk: &Chunk, vertices: &BindGroup, paint: &BindGroup, triangles, edges| Draw {
            pipelines: Rc::clone(&pipelines[chunk.group]),
            vertices: vertices.clone(),
            stride: source.stride,
            paint: paint.clone(),
            triangles,
            edges,
        };
        let motion = source.motion && scenery.picture.is_none();
        if merged && scenery.picture.is_none() {
            let colors: Vec<u32> = scenery.models.iter().flat_map(|model| colors(model)).collect();
            let colors = Paint::Plain(gpu.storage(Purpose::Targets, "merged colors", &colors));
            let paint = colors.bind(gpu, layout, view, placements);
            let triangles = scenery.merged(source, firsts, |model| model.mesh().indices().to_vec());
            let edges = scenery.merged(source, firsts, |model| edges(scenery.mode, model));
            let parts = source.parts.iter().zip(triangles.into_iter().zip(edges));
            let list = parts.filter_map(|((vertices, chunks), (triangles, edges))| {
                Some(draw(chunks.first()?, vertices, &paint, triangles, edges))
            });
            return Self { list: list.collect(), counted: None, motion };
        }
        let chunks =
            source.parts.iter().flat_map(|(vertices, chunks)| chunks.iter().map(move |chunk| (vertices, chunk)));
        let counted = source.visible.as_ref().map(|visible| {
            let counts = chunks.clone().map(|(_, chunk)| &groups[chunk.group]);
            let counts = counts.flat_map(|group| [group.triangles.count, group.edges.count]);
            let arguments = |index_count| DrawIndexedIndirectArgs { index_count, ..Default::default() };
            let contents: Vec<u8> = counts.flat_map(|count| arguments(count).as_bytes().to_vec()).collect();
            let usage = wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST;
            (Rc::clone(visible), gpu.buffer_with(Purpose::Targets, "draws", &contents, usage))
        });
        let arguments = |index: u64| counted.as_ref().map(|(_, buffer)| (buffer.clone(), index * BYTES));
        let paints: Vec<_> = groups.iter().map(|group| group.paint.bind(gpu, layout, view, placements)).collect();
        let list = (0..).zip(chunks).map(|(index, (vertices, chunk))| {
            let group = &groups[chunk.group];
            let first = if merged { chunk.instances.start } else { 0 };
            let triangles = Calls::of_chunk(&group.triangles, chunk, first, arguments(2 * index));
            let edges = Calls::of_chunk(&group.edges, chunk, first, arguments(2 * index + 1));
            draw(chunk, vertices, &paints[chunk.group], triangles, edges)
        });
        Self { list: list.filter(|draw| draw.triangles.calls[0].index_count > 0).collect(), counted, motion }
    }

    /// Copies the numbers of instances in view to the arguments of draws.
    pub fn update(&self, commands: &mut Commands) {
        let Some((visible, arguments)) = &self.counted else { return };
        for (index, chunk) in (0..).zip(&visible.chunks) {
            let (counts, at) = chunk.count();
            for place in [2 * index, 2 * index + 1] {
                commands.copy((counts, at), (arguments, place * BYTES + COUNT), size_of::<u32>() as u64);
            }
        }
    }

    /// Records all draws of a pass: in colours if it is the last, and then with edges if a wireframe is asked for.
    pub fn record(&self, gpu: &Gpu, pass: &mut RenderPass, last: bool) {
        for draw in &self.list {
            let Pipelines { depth_only, color, wireframe } = &*draw.pipelines;
            let wireframe = wireframe.as_ref().filter(|_| last);
            let triangles = if last { color } else { depth_only };
            pass.set_pipeline(wireframe.map_or(triangles, |[hidden, _]| hidden));
            draw.triangles.record(gpu, pass, draw);
            if let Some([_, edges]) = wireframe {
                pass.set_pipeline(edges);
                draw.edges.record(gpu, pass, draw);
            }
        }
    }
}

impl Scenery {
    /// Buffers of other models: those of levels that the device chooses.
    fn groups_of(&self, models: &[Arc<Model>]) -> Vec<GroupDraw> {
        let surfaces = self.picture.map(|_| Surfaces::of_models(&self.gpu, models.iter()));
        GroupDraw::all(&self.gpu, self.mode, models, surfaces.as_ref())
    }

    /// For each part of a merged source the draws of its chunks, from one index list of all models.
    fn merged(&self, source: &VertexSource, firsts: &[u32], list: impl Fn(&Model) -> Vec<u32>) -> Vec<Calls> {
        let (mut indices, mut ranges) = (Vec::new(), Vec::new());
        for (model, first) in self.models.iter().zip(firsts) {
            let begin = indices.len() as u32;
            indices.extend(list(model).into_iter().map(|index| first + index));
            ranges.push(begin..indices.len() as u32);
        }
        let call = |chunk: &Chunk| DrawIndexedIndirectArgs {
            index_count: ranges[chunk.group].len() as u32,
            instance_count: chunk.instances.len() as u32,
            first_index: ranges[chunk.group].start,
            base_vertex: 0,
            first_instance: chunk.instances.start,
        };
        let calls: Vec<Vec<_>> = source.parts.iter().map(|(_, chunks)| chunks.iter().map(call).collect()).collect();
        let contents: Vec<u8> = calls.iter().flatten().flat_map(|call| call.as_bytes().to_vec()).collect();
        let arguments =
            self.gpu.adapter.multi_draws.get().then(|| {
                self.gpu.buffer_with(Purpose::Targets, "merged draws", &contents, wgpu::BufferUsages::INDIRECT)
            });
        let indices = IndexList::new(&self.gpu, "merged indices", &indices).indices;
        let mut offset = 0;
        let of_part = |calls: Vec<DrawIndexedIndirectArgs>| {
            let arguments = arguments.as_ref().map(|buffer| (buffer.clone(), offset));
            offset += calls.len() as u64 * BYTES;
            Calls { indices: indices.clone(), calls, arguments }
        };
        calls.into_iter().map(of_part).collect()
    }

    fn pipelines(&self, source: &VertexSource, kind: Kind) -> Pipelines {
        let (gpu, picture) = (&self.gpu, self.picture.is_some());
        let motion = source.motion && !picture;
        let module = module(gpu, "draw", (source.wgsl)(kind, draw_root(motion, picture)), true);
        let (vertex, shaded) = if motion { ("vertex_motion", "fragment_motion") } else { ("vertex", "fragment") };
        let layout = pipeline_layout(gpu, "draw", &[&source.layout, &self.layout]);
        let mut constants = kind.constants();
        constants.extend(self.picture.map(|tinted| ("TINTED", f64::from(u8::from(tinted)))));
        // Over lit triangles, edges need a colour of their own.
        let both = self.mode == Mode::SkinAndWireframe;
        let edge = if both && picture { "fragment_edge" } else { shaded };
        let pipeline = |label, topology, fragment: Option<(&str, wgpu::ColorWrites)>, bias| {
            let target = |format, write_mask| Some(wgpu::ColorTargetState { format, blend: None, write_mask });
            let targets = fragment.map(|(_, write_mask)| [COLOR, MOTION].map(|format| target(format, write_mask)));
            gpu.render_pipeline(&RenderPipelineParts {
                label,
                layout: &layout,
                module: &module,
                constants: &constants,
                // Depth passes need positions alone.
                vertex: if fragment.is_some() || picture { vertex } else { "vertex_depth" },
                vertex_buffers: &[],
                topology,
                depth_bias: Some(bias),
                samples: self.samples,
                fragment: fragment.zip(targets.as_ref()).map(|((entry, _), t)| (entry, &t[..1 + usize::from(motion)])),
            })
        };
        let all = wgpu::ColorWrites::ALL;
        let beneath = if both { all } else { wgpu::ColorWrites::empty() };
        let (triangles, lines) = (wgpu::PrimitiveTopology::TriangleList, wgpu::PrimitiveTopology::LineList);
        Pipelines {
            depth_only: pipeline("depth", triangles, None, 0),
            color: pipeline("color", triangles, Some((shaded, all)), 0),
            wireframe: (self.mode != Mode::Skin).then(|| {
                let hidden = pipeline("hidden", triangles, Some((shaded, beneath)), 2);
                [hidden, pipeline("edges", lines, Some((edge, all)), 0)]
            }),
        }
    }
}
