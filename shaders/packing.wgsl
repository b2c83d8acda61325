// Numbers of packed vertices. kernels/src/vertex.rs defines the bits.
//
// import Skinned from chunk.wgsl
// import chunk from numbers

// 1 to round by `pack2x16snorm`, which is one instruction on AMD's hardware; 0 by adding a number so large that the sum's last
// bit is worth 1, which takes other hardware a third of the instructions.
override BUILTIN_PACKING: u32;
const ROUNDS = 12582912.0; // 1.5 * 2^23

// Two numbers from -1 to 1.
fn packed_pair(pair: vec2f) -> u32 {
    if BUILTIN_PACKING == 1u {
        return pack2x16snorm(pair);
    }
    let bits = bitcast<vec2u>(fma(pair, vec2f(32767.0), vec2f(ROUNDS)));
    return (bits.x & 0xffffu) | (bits.y << 16u);
}

// A direction of any length.
fn packed_direction(v: vec3f) -> u32 {
    let sum = abs(v.x) + abs(v.y) + abs(v.z);
    let d = v.xy * select(0.0, 1.0 / sum, sum > 0.0);
    let folded = (1.0 - abs(d.yx)) * select(vec2f(-1.0), vec2f(1.0), d >= vec2f(0.0));
    return packed_pair(select(folded, d, v.z >= 0.0));
}

// The position in the chunk's cube, and the handedness of the tangent.
fn packed_place(skinned: Skinned) -> vec2u {
    let in_cube = (skinned.position - chunk.centre) * (1.0 / chunk.half);
    let place = clamp(in_cube, vec3f(-1.0), vec3f(1.0));
    return vec2u(packed_pair(place.xy), packed_pair(vec2f(place.z, skinned.tangent.w)));
}
