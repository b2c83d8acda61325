// The palette of one character as 4x4 matrices in a uniform block; dynamic offsets select the character.
//
// import Rows from rows.wgsl

const MOST_ENTRIES = 96u;

@group(0) @binding(4) var<uniform> palettes: array<mat4x4f, MOST_ENTRIES>;

fn entry_of(_instance: u32, entry: u32) -> Rows {
    let m = transpose(palettes[entry]);
    return Rows(m[0], m[1], m[2]);
}
