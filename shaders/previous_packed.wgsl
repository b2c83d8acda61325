// Positions of packed vertices in the last frame.
//
// import FLOATS from chunk.wgsl
// import cube_of, skinned_place from drawn

// [instance][vertex][2, 3 or 4 words]
@group(0) @binding(2) var<storage, read> previous: array<u32>;

fn previous_position(vertex: u32, instance: u32) -> vec3f {
    let words = select(select(2u, 3u, FLOATS >= 6u), 4u, FLOATS >= 10u);
    let at = skinned_place(vertex, instance) * words;
    let p = vec3f(unpack2x16snorm(previous[at]), unpack2x16snorm(previous[at + 1u]).x);
    let cube = cube_of(instance);
    return cube.xyz + cube.w * p;
}
