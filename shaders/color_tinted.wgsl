// The colour of a vertex: its material's, tinted by a hash of where the instance stands, so that a crowd is not clones.
// The place, unlike the index, does not change when other instances are left out.
//
// import chunk from chunk.wgsl
// import colors, placements from draw_inputs.wgsl

fn hash(v: u32) -> u32 {
    // PCG output function (O'Neill 2014), as in Jarzynski and Olano, "Hash Functions for GPU Rendering" (2020).
    let state = v * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

fn base_color(index: u32, instance: u32) -> vec3f {
    let row = (chunk.first_instance + instance) * 3u;
    let place = bitcast<u32>(placements[row].w) ^ hash(bitcast<u32>(placements[row + 2u].w));
    let bits = hash(place);
    let hue = 6.2831853 * f32(bits & 0xffffu) / 65536.0;
    let light = 0.8 + 0.35 * f32(bits >> 16u) / 65536.0;
    // Three cosines a third of a turn apart: saturation 0.45 around grey.
    let tint = 0.55 + 0.45 * cos(hue - vec3f(0.0, 2.0943951, 4.1887902));
    return unpack4x8unorm(colors[index]).rgb * mix(vec3f(1.0), tint * 1.5, 0.4) * light;
}
