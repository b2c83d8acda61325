// A crowd without morph targets: vertices stay as they are.
//
// import LoadedVertex from mesh

fn morphed(vertex: LoadedVertex, index: u32, instance: u32) -> LoadedVertex {
    return vertex;
}
