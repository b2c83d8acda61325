// Output of compute kernels: vertices of an even number of floats, written in pairs. On llvmpipe this makes a kernel a
// sixth faster.
//
// import FLOATS, Skinned from chunk.wgsl
// import chunk from numbers

// [instance][vertex][FLOATS / 2]
@group(0) @binding(5) var<storage, read_write> output: array<vec2f>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let at = (chunk.first_vertex + instance * chunk.vertices + vertex) * (FLOATS / 2u);
    output[at] = skinned.position.xy;
    output[at + 1u] = vec2f(skinned.position.z, skinned.normal.x);
    output[at + 2u] = skinned.normal.yz;
    if FLOATS >= 10u {
        output[at + 3u] = skinned.tangent.xy;
        output[at + 4u] = skinned.tangent.zw;
    }
}
