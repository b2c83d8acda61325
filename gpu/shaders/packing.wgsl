// Numbers of packed vertices. kernels/src/vertex.rs defines the bits.
//
// import Skinned from chunk.wgsl
// import chunk from numbers

fn packed_direction(v: vec3f) -> u32 {
    let sum = abs(v.x) + abs(v.y) + abs(v.z);
    let d = v.xy * select(0.0, 1.0 / sum, sum > 0.0);
    let folded = (1.0 - abs(d.yx)) * select(vec2f(-1.0), vec2f(1.0), d >= vec2f(0.0));
    let octahedral = select(folded, d, v.z >= 0.0);
    return pack2x16snorm(octahedral);
}

// The position in the chunk's cube, and the handedness of the tangent.
fn packed_place(skinned: Skinned) -> vec2u {
    let place = (skinned.position - chunk.centre) * (1.0 / chunk.half);
    return vec2u(pack2x16snorm(place.xy), pack2x16snorm(vec2f(place.z, skinned.tangent.w)));
}
