// Output of compute kernels: packed positions.
//
// import Skinned from chunk.wgsl
// import chunk from numbers
// import packed_place from packing.wgsl

// [instance][vertex]
@group(0) @binding(5) var<storage, read_write> output: array<vec2u>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    output[chunk.first_vertex + instance * chunk.vertices + vertex] = packed_place(skinned);
}
