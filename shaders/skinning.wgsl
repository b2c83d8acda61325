// Skinning: `skin` transforms a vertex with the matrix that its influences blend.
//
// import Skinned from chunk.wgsl
// import transformed from transform.wgsl
// import blended from blend
// import LoadedVertex from vertex.wgsl

fn skin(vertex: LoadedVertex, instance: u32) -> Skinned {
    return transformed(blended(vertex, instance), vertex.position, vertex.normal, vertex.tangent);
}
