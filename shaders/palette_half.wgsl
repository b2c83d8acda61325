// Palette entries in half precision, 32 bytes: the translation as f32, then three rows of rotation and scale as f16.
// gpu/src/forms/half_palette.rs writes them and states their error. They are read in two loads of 16 bytes.
//
// import chunk from numbers
// import Rows from rows.wgsl

// [instance][entry][x y z of the translation and two numbers; seven numbers and padding]
@group(0) @binding(4) var<storage, read> palettes: array<vec4u>;

fn entry_of(instance: u32, entry: u32) -> Rows {
    let at = 2u * (instance * chunk.entries + entry);
    let first = palettes[at];
    let second = palettes[at + 1u];
    let t = bitcast<vec3f>(first.xyz);
    let y = unpack2x16float(second.x);
    let x = vec4f(unpack2x16float(first.w), y.x, t.x);
    let z = vec4f(unpack2x16float(second.z), unpack2x16float(second.w).x, t.z);
    return Rows(x, vec4f(y.y, unpack2x16float(second.y), t.y), z);
}
