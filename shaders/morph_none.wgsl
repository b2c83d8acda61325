// A crowd without morph targets: vertices stay as they are.
//
// import LoadedVertex from vertex.wgsl

fn morphed(vertex: LoadedVertex, index: u32, instance: u32) -> LoadedVertex {
    return vertex;
}
