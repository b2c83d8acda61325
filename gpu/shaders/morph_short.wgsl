// As morph_sparse.wgsl, with deltas in 16 bits per number and a scale for each target. Tangents stay as they are.
//
// import FLOATS from chunk.wgsl
// import chunk from numbers
// import LoadedVertex from mesh
// import first_delta, morph_deltas, morph_weights from morph_by_vertex.wgsl

// For each target an element with the largest number of its positions and of its normals, as bits. Then for each delta an
// element with six numbers and the target.
fn morphed(vertex: LoadedVertex, index: u32, instance: u32) -> LoadedVertex {
    var morphed = vertex;
    let scales = (chunk.vertices + 4u) / 4u;
    let weights = 1u + instance * u32(morph_weights[0]);
    let end = first_delta(index + 1u);
    for (var at = first_delta(index); at < end; at++) {
        let delta = morph_deltas[at];
        let weight = morph_weights[weights + delta.w];
        if weight != 0.0 {
            let scale = weight * bitcast<vec2f>(morph_deltas[scales + delta.w].xy);
            let middle = unpack2x16snorm(delta.y);
            morphed.position += scale.x * vec3f(unpack2x16snorm(delta.x), middle.x);
            if FLOATS >= 6u {
                morphed.normal += scale.y * vec3f(middle.y, unpack2x16snorm(delta.z));
            }
        }
    }
    return morphed;
}
