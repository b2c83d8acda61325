// A mesh in full precision with 64 bytes per vertex.
//
// import chunk from numbers
// import LoadedVertex, more_of, tangent_of from vertex.wgsl

struct Vertex {
    position: vec3f,
    padding: u32,
    normal: vec3f,
    more_padding: u32,
    entries: vec4u,
    weights: vec4f,
}

// Palette entries that a vertex can name.
const MESH_ENTRIES = 65536u;

// [vertex]
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;

fn load_vertex(index: u32) -> LoadedVertex {
    let v = vertices[chunk.mesh_vertex + index];
    return LoadedVertex(v.position, v.normal, tangent_of(index), v.entries, v.weights, more_of(index));
}
