// Palette entries baked frame by frame as rotation, translation and uniform scale: 32 bytes. Rotations of neighbouring
// frames are in the same hemisphere.
//
// import FramePair from baked.wgsl
// import Rows from rows.wgsl

// [frame of a clip][entry][rotation, translation and scale]
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

fn baked_entry(at: FramePair, entry: u32) -> Rows {
    let earlier = 2u * (at.first + entry);
    let later = 2u * (at.next + entry);
    let q = normalize(mix(palettes[earlier], palettes[later], at.part));
    let t = mix(palettes[earlier + 1u], palettes[later + 1u], at.part);
    let two = 2.0 * t.w * q.xyz;
    let x = vec3f(t.w - two.y * q.y - two.z * q.z, two.x * q.y - two.z * q.w, two.x * q.z + two.y * q.w);
    let y = vec3f(two.x * q.y + two.z * q.w, t.w - two.x * q.x - two.z * q.z, two.y * q.z - two.x * q.w);
    let z = vec3f(two.x * q.z - two.y * q.w, two.y * q.z + two.x * q.w, t.w - two.x * q.x - two.y * q.y);
    return Rows(vec4f(x, t.x), vec4f(y, t.y), vec4f(z, t.z));
}
