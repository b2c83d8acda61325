// Morph targets as a delta for every target and vertex: a vertex reads those of the targets that are active on the
// instance, also where they are zero.
//
// import FLOATS from chunk.wgsl
// import chunk from numbers
// import LoadedVertex from vertex.wgsl
// import delta_of from deltas

// The elements of an instance. Then for each instance the number of its active targets, the targets and their weights.
@group(0) @binding(8) var<storage, read> morph_weights: array<vec2f>;

fn morphed(vertex: LoadedVertex, index: u32, instance: u32) -> LoadedVertex {
    var morphed = vertex;
    let stride = select(select(3u, 2u, FLOATS < 10u), 1u, FLOATS < 6u);
    let first = 1u + instance * u32(morph_weights[0].x);
    let end = first + u32(morph_weights[first].x);
    for (var at = first + 1u; at <= end; at++) {
        let target_and_weight = morph_weights[at];
        let delta = (u32(target_and_weight.x) * chunk.vertices + index) * stride;
        morphed.position += target_and_weight.y * delta_of(delta);
        if FLOATS >= 6u {
            morphed.normal += target_and_weight.y * delta_of(delta + 1u);
        }
        if FLOATS >= 10u {
            morphed.tangent += vec4f(target_and_weight.y * delta_of(delta + 2u), 0.0);
        }
    }
    return morphed;
}
