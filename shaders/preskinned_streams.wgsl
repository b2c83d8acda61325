// Vertices that a compute kernel left in the output buffers, positions apart from normals. Drawing needs no tangents.
//
// import FLOATS, Skinned from chunk.wgsl
// import chunk from numbers_uniform.wgsl

// [instance][3 * vertices, 3 * vertices, 4 * vertices]
@group(0) @binding(1) var<storage, read> vertices: array<f32>;

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    let at = instance * chunk.vertices * FLOATS + 3u * vertex;
    var normal = vec3f(0.0);
    if FLOATS >= 6u {
        let second = at + 3u * chunk.vertices;
        normal = vec3f(vertices[second], vertices[second + 1u], vertices[second + 2u]);
    }
    return Skinned(vec3f(vertices[at], vertices[at + 1u], vertices[at + 2u]), normal, vec4f(0.0));
}
