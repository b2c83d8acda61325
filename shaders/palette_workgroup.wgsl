// The palette of one instance in workgroup memory; entries that do not fit stay in the storage buffer.
//
// import chunk from numbers
// import Rows from rows.wgsl
// import MESH_ENTRIES from mesh

// 256 entries: 12 of the 16 KiB that every adapter has.
const ROWS = 768u;

// [instance][entry][3 rows]
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;
var<workgroup> near: array<vec4f, ROWS>;

fn entry_of(instance: u32, entry: u32) -> Rows {
    let row = entry * 3u;
    if MESH_ENTRIES * 3u > ROWS && row >= ROWS {
        let far = (chunk.first_entry + instance * chunk.entries) * 3u + row;
        return Rows(palettes[far], palettes[far + 1u], palettes[far + 2u]);
    }
    return Rows(near[row], near[row + 1u], near[row + 2u]);
}
