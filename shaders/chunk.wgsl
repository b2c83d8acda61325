// What every kernel shares: the numbers of a chunk, and what skinning yields.

struct Chunk {
    first_instance: u32, // in the crowd
    instances: u32,
    vertices: u32, // of one instance
    entries: u32, // palette entries of one instance
}

struct Skinned {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
}

// Floats of a skinned vertex: 3 position, 6 and normal, 10 and tangent.
override FLOATS: u32;
// What becomes of normals: 0 unit, 1 raw, 2 exact (cofactors).
override NORMALS: u32;

@group(0) @binding(0) var<uniform> chunk: Chunk;
