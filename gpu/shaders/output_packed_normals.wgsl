// Output of compute kernels: packed positions and normals.
//
// import Skinned from chunk.wgsl
// import chunk from numbers
// import packed_direction, packed_place from packing.wgsl

// The words of one element are stored together; a compiler cannot see this of elements of an array of words.
// [instance][vertex]
@group(0) @binding(5) var<storage, read_write> output: array<array<u32, 3>>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let place = packed_place(skinned);
    let normal = packed_direction(skinned.normal);
    output[chunk.first_vertex + instance * chunk.vertices + vertex] = array(place.x, place.y, normal);
}
