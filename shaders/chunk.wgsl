// Declarations that every skinning kernel shares: the overrides, and the result of skinning.

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
