// The streams that all forms of meshes share: tangents, and influences after a vertex's fourth.
//
// import FLOATS from chunk.wgsl
// import chunk from numbers

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
