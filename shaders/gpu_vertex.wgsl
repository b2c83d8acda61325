// gpu-vertex: `skinned_vertex` for draw.wgsl, one vertex shader invocation per vertex, instance and pass. `load_vertex`
// comes from mesh_*.wgsl, `skin` from skinning.wgsl.

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    return skin(load_vertex(vertex), instance);
}
