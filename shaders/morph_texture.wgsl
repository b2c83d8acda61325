// As morph_dense.wgsl, in the texels of a float texture, row after row.

@group(0) @binding(7) var morph_deltas: texture_2d<f32>;

const MORPH_TEXTURE_WIDTH = 2048u;

fn delta_of(at: u32) -> vec3f {
    return textureLoad(morph_deltas, vec2u(at % MORPH_TEXTURE_WIDTH, at / MORPH_TEXTURE_WIDTH), 0).xyz;
}
