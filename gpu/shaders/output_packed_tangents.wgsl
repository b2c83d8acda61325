// Output of compute kernels: packed positions, normals and tangents.
//
// import Skinned from chunk.wgsl
// import chunk from numbers
// import packed_direction, packed_place from packing.wgsl

// [instance][vertex]
@group(0) @binding(5) var<storage, read_write> output: array<vec4u>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let normal = packed_direction(skinned.normal);
    let tangent = packed_direction(skinned.tangent.xyz);
    output[chunk.first_vertex + instance * chunk.vertices + vertex] = vec4u(packed_place(skinned), normal, tangent);
}
