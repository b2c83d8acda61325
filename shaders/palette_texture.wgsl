// Palettes in a texture; each texel holds one row of a 3x4 matrix.
//
// import chunk from numbers_uniform.wgsl
// import Rows from rows.wgsl

const WIDTH = 4096u;

// [instance][entry][3 rows], wrapped at WIDTH
@group(0) @binding(4) var palettes: texture_2d<f32>;

fn row_of(texel: u32) -> vec4f {
    return textureLoad(palettes, vec2u(texel % WIDTH, texel / WIDTH), 0);
}

fn entry_of(instance: u32, entry: u32) -> Rows {
    let texel = (instance * chunk.entries + entry) * 3u;
    return Rows(row_of(texel), row_of(texel + 1u), row_of(texel + 2u));
}
