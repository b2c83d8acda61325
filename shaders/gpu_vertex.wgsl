// gpu-vertex: vertices that the vertex shader skins, one invocation per vertex, instance and pass.
//
// import Skinned from chunk.wgsl
// import skin from skinning.wgsl
// import load_vertex from mesh
// import morphed from morph

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    return skin(morphed(load_vertex(vertex), vertex, instance), instance);
}
