// A mesh in full precision with 64 bytes per vertex.
//
// import Influence, more_of, tangent_of from vertex.wgsl

struct Vertex {
    position: vec3f,
    padding: u32,
    normal: vec3f,
    more_padding: u32,
    entries: vec4u,
    weights: vec4f,
}

// A vertex in registers, used for one instance or for several; `count` is that of its four largest influences which
// weigh anything, `more` the range of the other influences.
struct LoadedVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
    entries: vec4u,
    weights: vec4f,
    count: u32,
    more: vec2u,
}

// Palette entries that a vertex can name.
const MESH_ENTRIES = 65536u;

@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;

fn load_vertex(index: u32) -> LoadedVertex {
    let v = vertices[index];
    let count = countOneBits(dot(vec4u(v.weights > vec4f(0.0)), vec4u(1u, 2u, 4u, 8u)));
    return LoadedVertex(v.position, v.normal, tangent_of(index), v.entries, v.weights, count, more_of(index));
}

fn heaviest_of(vertex: LoadedVertex) -> Influence {
    return Influence(vertex.entries.x, vertex.weights.x);
}

// The second, third or fourth influence: `k` is 1, 2 or 3.
fn influence_of(vertex: LoadedVertex, k: u32) -> Influence {
    return Influence(vertex.entries[k], vertex.weights[k]);
}
