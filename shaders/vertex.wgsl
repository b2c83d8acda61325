// A vertex in registers, and the streams that all forms of meshes share: tangents, and influences after a vertex's fourth.
//
// import FLOATS from chunk.wgsl
// import chunk from numbers

// Used for one instance or for several. Weights fall, so those that are 0 come last. `more` is the range of the influences
// after the fourth.
struct LoadedVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
    entries: vec4u,
    weights: vec4f,
    more: vec2u,
}

struct Influence {
    entry: u32,
    weight: f32,
}

// Influences after a vertex's fourth.
@group(0) @binding(2) var<storage, read> influences: array<Influence>;
// One tangent per vertex if FLOATS includes tangents; otherwise a single unused one.
@group(0) @binding(3) var<storage, read> tangents: array<vec4f>;

// Range of a vertex's influences after the fourth.
fn more_of(vertex: u32) -> vec2u {
    let before = min(vertex, chunk.sixteens);
    let first = chunk.mesh_influence + (before - min(before, chunk.eights)) * 4u + (vertex - before) * 12u;
    return vec2u(first, first + select(select(0u, 4u, vertex >= chunk.eights), 12u, vertex >= chunk.sixteens));
}

fn tangent_of(vertex: u32) -> vec4f {
    if FLOATS >= 10u {
        return tangents[chunk.mesh_vertex + vertex];
    }
    return vec4f(0.0);
}
