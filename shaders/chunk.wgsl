// Declarations that every skinning kernel shares: the type of a chunk's numbers, the overrides, and the result of
// skinning.

struct Chunk {
    first_instance: u32, // index in the crowd
    instances: u32,
    vertices: u32, // per instance
    entries: u32, // palette entries per instance
    origin: vec3f, // position of step 0 of packed positions
    eights: u32, // first vertex with eight influences instead of up to four
    step: vec3f, // length of one step of a packed position
    sixteens: u32, // first vertex with sixteen influences
    centre: vec3f, // of the cube that packed output is relative to
    half: f32, // half the length of its edge
}

struct Skinned {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
}

// Floats of a skinned vertex: 3 position, 6 and normal, 10 and tangent.
override FLOATS: u32;
// Treatment of normals: 0 unit, 1 raw, 2 exact (cofactors).
override NORMALS: u32;
// Most influences of a vertex of the model.
override INFLUENCES: u32;
// Baked frames that an instance blends; 1 unless clips are baked.
override LAYERS: u32;
