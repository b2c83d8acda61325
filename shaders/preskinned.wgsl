// Vertices that a compute kernel or an upload left in the output buffers. Drawing needs no tangents.
//
// import FLOATS, Skinned from chunk.wgsl
// import skinned_place from drawn

// [instance][vertex][FLOATS]
@group(0) @binding(1) var<storage, read> vertices: array<f32>;

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    let at = skinned_place(vertex, instance) * FLOATS;
    var normal = vec3f(0.0);
    if FLOATS >= 6u {
        normal = vec3f(vertices[at + 3u], vertices[at + 4u], vertices[at + 5u]);
    }
    return Skinned(vec3f(vertices[at], vertices[at + 1u], vertices[at + 2u]), normal, vec4f(0.0));
}
