// A draw of the instances of one chunk, counted from the chunk's first one.
//
// import chunk from numbers_uniform.wgsl

// Index in the crowd of a drawn instance.
fn crowd_instance(instance: u32) -> u32 {
    return chunk.first_instance + instance;
}

// Index of a drawn vertex among the skinned ones.
fn skinned_place(vertex: u32, instance: u32) -> u32 {
    return chunk.first_vertex + instance * chunk.vertices + vertex;
}

// Centre, and half the length of the edges, of the cube that packed vertices of an instance are relative to.
fn cube_of(instance: u32) -> vec4f {
    return vec4f(chunk.centre, chunk.half);
}
