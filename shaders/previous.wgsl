// Positions of vertices in the last frame.
//
// import FLOATS from chunk.wgsl
// import skinned_place from drawn

// [instance][vertex][FLOATS]
@group(0) @binding(2) var<storage, read> previous: array<f32>;

fn previous_position(vertex: u32, instance: u32) -> vec3f {
    let at = skinned_place(vertex, instance) * FLOATS;
    return vec3f(previous[at], previous[at + 1u], previous[at + 2u]);
}
