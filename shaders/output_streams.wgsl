// Output of compute kernels: for each instance first all positions, then all normals, then all tangents, so that passes
// that need positions alone read 12 bytes per vertex.
//
// import FLOATS, Skinned from chunk.wgsl
// import chunk from numbers

// [instance][3 * vertices, 3 * vertices, 4 * vertices]
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let first = instance * chunk.vertices * FLOATS;
    let at = first + 3u * vertex;
    output[at] = skinned.position.x;
    output[at + 1u] = skinned.position.y;
    output[at + 2u] = skinned.position.z;
    if FLOATS >= 6u {
        let normal = at + 3u * chunk.vertices;
        output[normal] = skinned.normal.x;
        output[normal + 1u] = skinned.normal.y;
        output[normal + 2u] = skinned.normal.z;
    }
    if FLOATS >= 10u {
        let tangent = first + 6u * chunk.vertices + 4u * vertex;
        output[tangent] = skinned.tangent.x;
        output[tangent + 1u] = skinned.tangent.y;
        output[tangent + 2u] = skinned.tangent.z;
        output[tangent + 3u] = skinned.tangent.w;
    }
}
