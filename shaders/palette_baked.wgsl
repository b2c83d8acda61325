// Palette entries of baked clips: those of an instance's layers, averaged as matrices by their weights.
//
// import FramePair from baked.wgsl
// import LAYERS from chunk.wgsl
// import Rows from rows.wgsl
// import baked_entry from frames

// [instance][layer]
@group(0) @binding(6) var<storage, read> frame_pairs: array<FramePair>;

fn entry_of(instance: u32, entry: u32) -> Rows {
    if LAYERS == 1u {
        return baked_entry(frame_pairs[instance], entry);
    }
    var sum = Rows(vec4f(), vec4f(), vec4f());
    for (var layer = 0u; layer < LAYERS; layer++) {
        let at = frame_pairs[LAYERS * instance + layer];
        if at.weight > 0.0 {
            let own = baked_entry(at, entry);
            sum.x += at.weight * own.x;
            sum.y += at.weight * own.y;
            sum.z += at.weight * own.z;
        }
    }
    return sum;
}
