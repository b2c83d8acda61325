// The colour of a vertex: its material's.
//
// import colors from draw_inputs.wgsl

fn base_color(index: u32, instance: u32) -> vec3f {
    return unpack4x8unorm(colors[index]).rgb;
}
