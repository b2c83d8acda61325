// Declarations that every skinning kernel shares: the numbers of a chunk, and the result of skinning.

// Threads of a workgroup in every compute kernel.
const WORKGROUP = 64u;

struct Chunk {
    first_instance: u32, // in the crowd
    instances: u32,
    vertices: u32, // of one instance
    entries: u32, // palette entries of one instance
    origin: vec3f, // where packed positions begin
    eights: u32, // first vertex with eight influences instead of up to four
    step: vec3f, // what one step of a packed position is
    sixteens: u32, // first vertex with sixteen influences
    centre: vec3f, // of the cube of packed output
    half: f32, // of its edge
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

@group(0) @binding(0) var<uniform> chunk: Chunk;
