// A mesh with 20 bytes per vertex, for palettes of at most 256 entries. src/gpu/packing.rs writes it.
//
// import INFLUENCES, chunk from chunk.wgsl
// import unfolded from octahedral.wgsl
// import LoadedVertex, count_of, influences, more_of, tangent_of from vertex.wgsl

struct PackedVertex {
    entries: u32, // 4 x 8 bits
    weights: u32, // of the second and third influence, 16 bits each, 0 to 1/2
    weight_x: u32, // weight of the fourth influence; upper 16 of the position's 17 bits in x
    yz: u32, // upper 16 bits of the position in y and z
    rest: u32, // lowest bits of x, y, z; octahedral normal, 14 bits each
}

// Palette entries that a vertex can name.
const MESH_ENTRIES = 256u;

@group(0) @binding(1) var<storage, read> vertices: array<PackedVertex>;

fn load_vertex(index: u32) -> LoadedVertex {
    let v = vertices[index];
    let upper = vec3u(v.weight_x >> 16u, v.yz & 0xffffu, v.yz >> 16u);
    let lower = (vec3u(v.rest) >> vec3u(0u, 1u, 2u)) & vec3u(1u);
    let position = chunk.origin + vec3f((upper << vec3u(1u)) | lower) * chunk.step;
    let normal = unfolded(vec2f((vec2u(v.rest) >> vec2u(3u, 17u)) & vec2u(0x3fffu)) / 8191.0 - 1.0);
    let entries = (vec4u(v.entries) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
    var weights = vec4f(1.0, vec3f(vec3u(v.weights & 0xffffu, v.weights >> 16u, v.weight_x & 0xffffu)) / 131070.0);
    weights.x -= weights.y + weights.z + weights.w;
    let more = more_of(index);
    if INFLUENCES > 4u {
        for (var i = more.x; i < more.y; i++) {
            weights.x -= influences[i].weight;
        }
    }
    return LoadedVertex(position, normal, tangent_of(index), entries, weights, count_of(weights), more);
}
