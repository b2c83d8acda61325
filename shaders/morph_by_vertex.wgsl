// The deltas of morph targets by vertex, and the weights of instances. gpu/src/forms/morph.rs writes both.

// Four to an element, the elements at which each vertex's deltas begin and those of the last one end; then what
// morph_sparse.wgsl describes.
@group(0) @binding(7) var<storage, read> morph_deltas: array<vec4u>;
// The number of targets, then [instance][target].
@group(0) @binding(8) var<storage, read> morph_weights: array<f32>;

fn first_delta(index: u32) -> u32 {
    return morph_deltas[index / 4u][index % 4u];
}
