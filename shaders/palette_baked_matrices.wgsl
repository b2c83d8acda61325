// Palette entries baked frame by frame as three rows of four: 48 bytes.
//
// import FramePair from baked.wgsl
// import Rows from rows.wgsl

// [frame of a clip][entry][3 rows]
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

fn baked_entry(at: FramePair, entry: u32) -> Rows {
    let earlier = 3u * (at.first + entry);
    let later = 3u * (at.next + entry);
    return Rows(
        mix(palettes[earlier], palettes[later], at.part),
        mix(palettes[earlier + 1u], palettes[later + 1u], at.part),
        mix(palettes[earlier + 2u], palettes[later + 2u], at.part),
    );
}
