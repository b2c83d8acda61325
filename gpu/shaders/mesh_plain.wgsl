// A mesh in full precision with 64 bytes per vertex.
//
// import chunk from numbers
// import more_of, tangent_of from vertex.wgsl

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
    let v = vertices[chunk.mesh_vertex + index];
    let count = countOneBits(dot(vec4u(v.weights > vec4f(0.0)), vec4u(1u, 2u, 4u, 8u)));
    return LoadedVertex(v.position, v.normal, tangent_of(index), v.entries, v.weights, count, more_of(index));
}

// The palette entry and the weight of one of the four largest influences.
fn influence_entry(vertex: LoadedVertex, k: u32) -> u32 {
    return vertex.entries[k];
}

fn influence_weight(vertex: LoadedVertex, k: u32) -> f32 {
    return vertex.weights[k];
}

fn heaviest_weight(vertex: LoadedVertex) -> f32 {
    return vertex.weights.x;
}
