// Output of compute kernels: packed vertices. kernels/src/vertex.rs defines the bits.
//
// import FLOATS, Skinned from chunk.wgsl
// import chunk from numbers

// [instance][vertex][2, 3 or 4 words]
@group(0) @binding(5) var<storage, read_write> output: array<u32>;

fn octahedral(v: vec3f) -> vec2f {
    let sum = dot(abs(v), vec3f(1.0));
    if sum == 0.0 {
        return vec2f(0.0);
    }
    let d = v.xy / sum;
    let folded = (1.0 - abs(d.yx)) * select(vec2f(-1.0), vec2f(1.0), d >= vec2f(0.0));
    return select(folded, d, v.z >= 0.0);
}

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let p = (skinned.position - chunk.centre) / chunk.half;
    let words = select(select(2u, 3u, FLOATS >= 6u), 4u, FLOATS >= 10u);
    let at = (chunk.first_vertex + instance * chunk.vertices + vertex) * words;
    output[at] = pack2x16snorm(p.xy);
    output[at + 1u] = pack2x16snorm(vec2f(p.z, skinned.tangent.w));
    if FLOATS >= 6u {
        output[at + 2u] = pack2x16snorm(octahedral(skinned.normal));
    }
    if FLOATS >= 10u {
        output[at + 3u] = pack2x16snorm(octahedral(skinned.tangent.xyz));
    }
}
