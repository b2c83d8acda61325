// Output of compute kernels: vertices of any number of floats.
//
// import FLOATS, Skinned from chunk.wgsl
// import chunk from numbers

// [instance][vertex][FLOATS]
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let at = (chunk.first_vertex + instance * chunk.vertices + vertex) * FLOATS;
    output[at] = skinned.position.x;
    output[at + 1u] = skinned.position.y;
    output[at + 2u] = skinned.position.z;
    if FLOATS >= 6u {
        output[at + 3u] = skinned.normal.x;
        output[at + 4u] = skinned.normal.y;
        output[at + 5u] = skinned.normal.z;
    }
    if FLOATS >= 10u {
        output[at + 6u] = skinned.tangent.x;
        output[at + 7u] = skinned.tangent.y;
        output[at + 8u] = skinned.tangent.z;
        output[at + 9u] = skinned.tangent.w;
    }
}
