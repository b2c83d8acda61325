// A mesh with 20 bytes per vertex, for palettes of at most 256 entries. gpu/src/forms/packing.rs writes it.
//
// import INFLUENCES from chunk.wgsl
// import chunk from numbers
// import unfolded from octahedral.wgsl
// import LoadedVertex, influences, more_of, tangent_of from vertex.wgsl

struct PackedVertex {
    entries: u32, // 4 x 8 bits
    weights: u32, // of the second and third influence, 16 bits each, 0 to 1/2
    weight_x: u32, // weight of the fourth influence; upper 16 of the position's 17 bits in x
    yz: u32, // upper 16 bits of the position in y and z
    rest: u32, // lowest bits of x, y, z; octahedral normal, 14 bits each
}

// Palette entries that a vertex can name.
const MESH_ENTRIES = 256u;
// The largest number of 16 bits stands for a weight of one half.
const WEIGHT = 1.0 / 131070.0;

// [vertex]
@group(0) @binding(1) var<storage, read> vertices: array<PackedVertex>;

fn load_vertex(index: u32) -> LoadedVertex {
    let v = vertices[chunk.mesh_vertex + index];
    let upper = vec3u(v.weight_x >> 16u, v.yz & 0xffffu, v.yz >> 16u);
    let lower = (vec3u(v.rest) >> vec3u(0u, 1u, 2u)) & vec3u(1u);
    let position = chunk.origin + vec3f((upper << vec3u(1u)) | lower) * chunk.step;
    let normal = unfolded(vec2f((vec2u(v.rest) >> vec2u(3u, 17u)) & vec2u(0x3fffu)) / 8191.0 - 1.0);
    let entries = (vec4u(v.entries) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
    let others = vec3u(v.weights & 0xffffu, v.weights >> 16u, v.weight_x & 0xffffu);
    var heaviest = 1.0 - f32(others.x + others.y + others.z) * WEIGHT;
    let more = more_of(index);
    if INFLUENCES > 4u {
        for (var i = more.x; i < more.y; i++) {
            heaviest -= influences[i].weight;
        }
    }
    return LoadedVertex(position, normal, tangent_of(index), entries, vec4f(heaviest, vec3f(others) * WEIGHT), more);
}
