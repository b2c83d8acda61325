// The numbers of the only chunk that a dispatch or a draw handles. Its mesh, palettes and vertices have buffers of their
// own.
//
// import Chunk from chunk.wgsl

@group(0) @binding(0) var<uniform> chunk: Chunk;

// Index in the mesh's buffers of a vertex.
fn stored_vertex(vertex: u32) -> u32 {
    return vertex;
}

// Index in the mesh's buffers of the first influence after a vertex's fourth.
fn first_influence() -> u32 {
    return 0u;
}

// Index of the first palette entry of an instance.
fn first_entry(instance: u32) -> u32 {
    return instance * chunk.entries;
}

// Index of a skinned vertex of an instance.
fn stored_place(vertex: u32, instance: u32) -> u32 {
    return instance * chunk.vertices + vertex;
}
