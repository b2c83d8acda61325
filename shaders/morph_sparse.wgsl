// Morph targets as the deltas of each vertex: a vertex reads those of the targets that move it, and nothing of the
// others.
//
// import FLOATS from chunk.wgsl
// import LoadedVertex from vertex.wgsl
// import first_delta, morph_deltas, morph_weights from morph_by_vertex.wgsl

// Elements of a delta: the position and the target, the normal if FLOATS includes normals, and the tangent likewise; all
// as bits.
fn morphed(vertex: LoadedVertex, index: u32, instance: u32) -> LoadedVertex {
    var morphed = vertex;
    let stride = select(select(3u, 2u, FLOATS < 10u), 1u, FLOATS < 6u);
    let weights = 1u + instance * u32(morph_weights[0]);
    let end = first_delta(index + 1u);
    for (var at = first_delta(index); at < end; at += stride) {
        let position = morph_deltas[at];
        let weight = morph_weights[weights + position.w];
        if weight != 0.0 {
            morphed.position += weight * bitcast<vec3f>(position.xyz);
            if FLOATS >= 6u {
                morphed.normal += weight * bitcast<vec3f>(morph_deltas[at + 1u].xyz);
            }
            if FLOATS >= 10u {
                morphed.tangent += vec4f(weight * bitcast<vec3f>(morph_deltas[at + 2u].xyz), 0.0);
            }
        }
    }
    return morphed;
}
