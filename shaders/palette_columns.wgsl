// A palette entry as a 4x4 matrix: 64 bytes, a quarter of them the row 0 0 0 1.
//
// import chunk from numbers
// import Rows from rows.wgsl

// [instance][entry]
@group(0) @binding(4) var<storage, read> palettes: array<mat4x4f>;

fn entry_of(instance: u32, entry: u32) -> Rows {
    let m = transpose(palettes[instance * chunk.entries + entry]);
    return Rows(m[0], m[1], m[2]);
}
