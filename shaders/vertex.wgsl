// A loaded vertex, and the streams that all forms of meshes share.
//
// import FLOATS, chunk from chunk.wgsl

// A vertex in registers, used for one instance or for several: its four largest influences, the number of them, and the
// range of the other influences.
struct LoadedVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
    entries: vec4u,
    weights: vec4f,
    count: u32,
    more: vec2u,
}

// An influence after a vertex's fourth.
struct Influence {
    entry: u32,
    weight: f32,
}

@group(0) @binding(2) var<storage, read> influences: array<Influence>;
// One tangent per vertex if FLOATS includes tangents; otherwise a single unused one.
@group(0) @binding(3) var<storage, read> tangents: array<vec4f>;

fn count_of(weights: vec4f) -> u32 {
    return countOneBits(dot(vec4u(weights > vec4f(0.0)), vec4u(1u, 2u, 4u, 8u)));
}

// Range of a vertex's influences after the fourth.
fn more_of(vertex: u32) -> vec2u {
    let before = min(vertex, chunk.sixteens);
    let first = (before - min(before, chunk.eights)) * 4u + (vertex - before) * 12u;
    return vec2u(first, first + select(select(0u, 4u, vertex >= chunk.eights), 12u, vertex >= chunk.sixteens));
}

fn tangent_of(vertex: u32) -> vec4f {
    if FLOATS >= 10u {
        return tangents[vertex];
    }
    return vec4f(0.0);
}
