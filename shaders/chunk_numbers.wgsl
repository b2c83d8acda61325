// The numbers of a chunk.

struct Chunk {
    first_instance: u32, // index in the crowd, or among all instances in view
    instances: u32,
    vertices: u32, // per instance
    entries: u32, // palette entries per instance
    origin: vec3f, // position of step 0 of packed positions
    eights: u32, // first vertex with eight influences instead of up to four
    step: vec3f, // length of one step of a packed position
    sixteens: u32, // first vertex with sixteen influences
    centre: vec3f, // of the cube that packed output is relative to
    half: f32, // half the length of its edge
    // Where the chunk begins in buffers that it shares with other models.
    first_vertex: u32, // among skinned vertices
    first_entry: u32, // among palette entries
    mesh_vertex: u32, // among vertices of meshes
    mesh_influence: u32, // among influences after the fourth of a vertex
}
