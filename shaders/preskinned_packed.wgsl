// Packed vertices that a compute kernel or an upload left in the output buffers.
// kernels/src/vertex.rs defines the bits.
//
// import FLOATS, Skinned from chunk.wgsl
// import cube_of, skinned_place from drawn
// import unfolded from octahedral.wgsl

// [instance][vertex][2, 3 or 4 words]
@group(0) @binding(1) var<storage, read> vertices: array<u32>;

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    let words = select(select(2u, 3u, FLOATS >= 6u), 4u, FLOATS >= 10u);
    let at = skinned_place(vertex, instance) * words;
    var normal = vec3f(0.0);
    if FLOATS >= 6u {
        normal = unfolded(unpack2x16snorm(vertices[at + 2u]));
    }
    let p = vec3f(unpack2x16snorm(vertices[at]), unpack2x16snorm(vertices[at + 1u]).x);
    let cube = cube_of(instance);
    return Skinned(cube.xyz + cube.w * p, normal, vec4f(0.0));
}
