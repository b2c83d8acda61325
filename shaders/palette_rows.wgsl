// A palette entry as three rows of four: 48 bytes.
//
// import chunk from numbers
// import Rows from rows.wgsl

// [instance][entry][3 rows]
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

fn entry_of(instance: u32, entry: u32) -> Rows {
    let row = (chunk.first_entry + instance * chunk.entries + entry) * 3u;
    return Rows(palettes[row], palettes[row + 1u], palettes[row + 2u]);
}
