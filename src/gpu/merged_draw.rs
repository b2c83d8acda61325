//! Draws of a crowd whose models share buffers: all of a span at once where the adapter can, otherwise one draw per
//! chunk without changing a binding between them.

use super::binding::GroupLayout;
use super::group_draw::{GroupDraw, Paint, colors, edges};
use super::layout;
use super::merged::MergedVertices;
use super::skinning::Kind;
use super::source::{Drawn, Preskinned, VertexSource, draw_root, preskinned_shader};
use super::wgsl::Role;
use super::{Chunk, Gpu, MeshForm};
use crate::frame::{FrameWork, Purpose};
use crate::model::Model;
use std::ops::Range;
use std::rc::Rc;
use wgpu::util::DrawIndexedIndirectArgs;

/// Buffers and bindings that draw merged vertices.
pub(super) struct MergedDraw {
    vertices: Rc<MergedVertices>,
    /// A source for each set of vertices.
    sources: Vec<Rc<VertexSource>>,
    /// Buffers that the models share; `None` in pictures, whose models have textures of their own.
    shared: Option<Shared>,
}

/// Parts that models share in timed frames.
struct Shared {
    /// Group 1 of all draws.
    bindings: wgpu::BindGroup,
    triangles: Lists,
    /// Edges of wireframes.
    edges: Lists,
}

/// Index lists of all models, and the draws of all chunks.
struct Lists {
    indices: wgpu::Buffer,
    /// In the order of spans and chunks.
    draws: Vec<DrawIndexedIndirectArgs>,
    /// The draws on the device, if it draws several at once.
    arguments: Option<wgpu::Buffer>,
}

impl Lists {
    fn new(gpu: &Gpu, vertices: &MergedVertices, firsts: &[u32], list: impl Fn(&Model) -> Vec<u32>) -> Self {
        let (mut indices, mut ranges) = (Vec::new(), Vec::new());
        for (model, first) in vertices.models().iter().zip(firsts) {
            let begin = indices.len() as u32;
            indices.extend(list(model).into_iter().map(|index| first + index));
            ranges.push(begin..indices.len() as u32);
        }
        let draw = |chunk: &Chunk| DrawIndexedIndirectArgs {
            index_count: ranges[chunk.group].len() as u32,
            instance_count: chunk.instances.len() as u32,
            first_index: ranges[chunk.group].start,
            base_vertex: 0,
            first_instance: chunk.instances.start,
        };
        let draws: Vec<_> = vertices.spans().iter().flatten().map(draw).collect();
        let contents: Vec<u8> = draws.iter().flat_map(|draw| draw.as_bytes().to_vec()).collect();
        let filled = |label, contents: &[u8], usage| gpu.filled(Purpose::Targets, label, contents, usage);
        Self {
            indices: filled("merged indices", bytemuck::cast_slice(&indices), wgpu::BufferUsages::INDEX),
            arguments: gpu.multi_draws.get().then(|| filled("merged draws", &contents, wgpu::BufferUsages::INDIRECT)),
            draws,
        }
    }

    /// Records the draws of some chunks, by their number among all.
    fn draw(&self, gpu: &Gpu, pass: &mut wgpu::RenderPass, chunks: Range<usize>) {
        let add = |draws| gpu.add_work(FrameWork { draws, ..FrameWork::default() });
        let draws = &self.draws[chunks.clone()];
        match &self.arguments {
            Some(arguments) => {
                add(1);
                let first = (chunks.start * size_of::<DrawIndexedIndirectArgs>()) as u64;
                pass.multi_draw_indexed_indirect(arguments, first, draws.len() as u32);
            }
            None => {
                for draw in draws.iter().filter(|draw| draw.index_count > 0) {
                    add(1);
                    let instances = draw.first_instance..draw.first_instance + draw.instance_count;
                    pass.draw_indexed(draw.first_index..draw.first_index + draw.index_count, 0, instances);
                }
            }
        }
    }
}

impl MergedDraw {
    /// Creates what draws the vertices, with edges if `wireframe` is set. `bind` makes group 1 of timed frames; without
    /// it, as in pictures, each group is drawn with buffers of its own.
    pub fn new(
        gpu: &Gpu,
        vertices: &Rc<MergedVertices>,
        wireframe: bool,
        bind: Option<impl Fn(Paint) -> wgpu::BindGroup>,
    ) -> Self {
        // Indices of vertices are those in the model in pictures, otherwise those among all models.
        let firsts = vertices.models().iter().scan(0, |next, model| {
            let first = *next;
            *next += if bind.is_some() { model.mesh().vertex_count() as u32 } else { 0 };
            Some(first)
        });
        let firsts: Vec<u32> = firsts.collect();
        let shared = bind.map(|bind| {
            let colors: Vec<u32> = vertices.models().iter().flat_map(|model| colors(model)).collect();
            let colors = gpu.storage(Purpose::Targets, "merged colors", bytemuck::cast_slice(&colors));
            let edges = |model: &Model| if wireframe { edges(model.mesh().indices()) } else { Vec::new() };
            Shared {
                bindings: bind(Paint::Plain(colors)),
                triangles: Lists::new(gpu, vertices, &firsts, |model| model.mesh().indices().to_vec()),
                edges: Lists::new(gpu, vertices, &firsts, edges),
            }
        });
        let sources = sources(gpu, vertices, &firsts).into_iter().map(Rc::new).collect();
        Self { vertices: Rc::clone(vertices), sources, shared }
    }

    /// Returns whether it draws these vertices.
    pub fn draws(&self, vertices: &Rc<MergedVertices>) -> bool {
        Rc::ptr_eq(&self.vertices, vertices)
    }

    /// The source of the last frame's vertices.
    pub fn source(&self) -> &Rc<VertexSource> {
        &self.sources[self.vertices.current()]
    }

    /// Records the draws of all triangles, or of all edges. `drawn` holds the buffers of each group, for pictures.
    pub fn draw(&self, gpu: &Gpu, pass: &mut wgpu::RenderPass, drawn: &[GroupDraw], edges: bool) {
        let mut first = 0;
        for (span, bindings) in self.vertices.spans().iter().zip(&self.source().groups) {
            pass.set_bind_group(0, bindings, &[]);
            let chunks = first..first + span.len();
            first = chunks.end;
            match &self.shared {
                Some(shared) => {
                    let lists = if edges { &shared.edges } else { &shared.triangles };
                    pass.set_bind_group(1, &shared.bindings, &[]);
                    pass.set_index_buffer(lists.indices.slice(..), wgpu::IndexFormat::Uint32);
                    lists.draw(gpu, pass, chunks);
                }
                None => {
                    for chunk in span {
                        gpu.add_work(FrameWork { draws: 1, ..FrameWork::default() });
                        drawn[chunk.group].draw(pass, edges, chunk.instances.clone());
                    }
                }
            }
        }
    }
}

/// A source for each set of vertices, from which motion can be drawn if there are two. `firsts` holds the index of each
/// model's first vertex among those that are drawn.
fn sources(gpu: &Gpu, vertices: &MergedVertices, firsts: &[u32]) -> Vec<VertexSource> {
    let mut instances = Vec::new();
    for span in 0..vertices.spans().len() {
        for (chunk, place) in vertices.places(span) {
            let count = vertices.models()[chunk.group].mesh().vertex_count() as u32;
            let of_instance = |instance: u32| layout::DrawnInstance {
                place: (place as u32 + instance * count).wrapping_sub(firsts[chunk.group]),
                model: chunk.group as u32,
            };
            instances.extend((0..chunk.instances.len() as u32).map(of_instance));
        }
    }
    let cube = |model: &Model| {
        let cube = model.mesh().cube();
        [cube.centre[0], cube.centre[1], cube.centre[2], cube.half]
    };
    let cubes: Vec<[f32; 4]> = vertices.models().iter().map(|model| cube(model)).collect();
    let instances = gpu.storage(Purpose::Targets, "drawn instances", bytemuck::cast_slice(&instances));
    let cubes = gpu.storage(Purpose::Targets, "cubes", bytemuck::cast_slice(&cubes));
    let motion = vertices.sets().len() > 1;
    // The kind of skinning makes no difference to drawing.
    let kind = Kind { format: vertices.format(), mesh: MeshForm::Plain, influences: 1, layers: 1, morph: None };
    let wgsl = move |kind: Kind, root: &str, roles: &[Role]| {
        preskinned_shader(Preskinned::Vertices(kind.format.encoding), Drawn::Merged, root, roles)
    };
    let of_set = |(index, set): (usize, &Vec<wgpu::Buffer>)| {
        let root = draw_root(motion, false);
        let layout = GroupLayout::new(gpu, "merged", &wgsl(kind, root, &[]), 0, wgpu::ShaderStages::VERTEX, None);
        let previous = &vertices.sets()[(index + 1) % vertices.sets().len()];
        let bind = |span: usize| {
            // A ring has fewer buffers than spans, and is not drawn.
            let slot = span % set.len();
            let buffers = [
                ("drawn_instances", &instances),
                ("cubes", &cubes),
                ("arena", &set[slot]),
                ("previous", &previous[slot]),
            ];
            layout.bind_buffers(gpu, "merged", &buffers)
        };
        let groups = (0..vertices.spans().len()).map(bind).collect();
        let wgsl = Box::new(wgsl);
        VertexSource { wgsl, kinds: vec![kind], layout, groups, stride: None, trusted: true, motion, visible: None }
    };
    vertices.sets().iter().enumerate().map(of_set).collect()
}
