// Deltas for every target and vertex in a storage buffer.

// [target][vertex]: position, normal if FLOATS of chunk.wgsl includes normals, tangent likewise.
@group(0) @binding(7) var<storage, read> morph_deltas: array<vec4f>;

fn delta_of(at: u32) -> vec3f {
    return morph_deltas[at].xyz;
}
