// Shared by all skinning shaders: `skin` transforms a vertex with the matrix that `blended` (blend_linear.wgsl or
// palette_dual_quaternions.wgsl) makes from palette entries. The mesh_*.wgsl file put before this one defines how a
// vertex is loaded (`load_vertex`), the palette_*.wgsl file how a palette entry is (`entry_of`).

// A 3x4 matrix.
struct Rows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}

// A vertex in registers, used for one instance or for several: its four largest influences, the number of them, and the
// range of the other influences.
struct LoadedVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
    entries: vec4u,
    weights: vec4f,
    count: u32,
    more: vec2u,
}

// An influence after a vertex's fourth.
struct Influence {
    entry: u32,
    weight: f32,
}

@group(0) @binding(2) var<storage, read> influences: array<Influence>;
// One tangent per vertex if FLOATS includes tangents; otherwise a single unused one.
@group(0) @binding(3) var<storage, read> tangents: array<vec4f>;

fn count_of(weights: vec4f) -> u32 {
    return countOneBits(dot(vec4u(weights > vec4f(0.0)), vec4u(1u, 2u, 4u, 8u)));
}

// Range of a vertex's influences after the fourth.
fn more_of(vertex: u32) -> vec2u {
    let before = min(vertex, chunk.sixteens);
    let first = (before - min(before, chunk.eights)) * 4u + (vertex - before) * 12u;
    return vec2u(first, first + select(select(0u, 4u, vertex >= chunk.eights), 12u, vertex >= chunk.sixteens));
}

fn finished(v: vec3f) -> vec3f {
    if NORMALS == 1u {
        return v;
    }
    let length_squared = dot(v, v);
    // A vector of zero length stays zero instead of NaN.
    return v * select(0.0, inverseSqrt(length_squared), length_squared > 0.0);
}

fn rotated(m: Rows, v: vec3f) -> vec3f {
    return vec3f(dot(m.x.xyz, v), dot(m.y.xyz, v), dot(m.z.xyz, v));
}

fn transformed(m: Rows, vertex: LoadedVertex) -> Skinned {
    let p = vec4f(vertex.position, 1.0);
    var skinned = Skinned(vec3f(dot(m.x, p), dot(m.y, p), dot(m.z, p)), vec3f(0.0), vec4f(0.0));
    if FLOATS >= 6u {
        if NORMALS == 2u {
            let cofactors = mat3x3f(cross(m.y.xyz, m.z.xyz), cross(m.z.xyz, m.x.xyz), cross(m.x.xyz, m.y.xyz));
            skinned.normal = finished(vertex.normal * cofactors);
        } else {
            skinned.normal = finished(rotated(m, vertex.normal));
        }
    }
    if FLOATS >= 10u {
        skinned.tangent = vec4f(finished(rotated(m, vertex.tangent.xyz)), vertex.tangent.w);
    }
    return skinned;
}

fn skin(vertex: LoadedVertex, instance: u32) -> Skinned {
    return transformed(blended(vertex, instance), vertex);
}

fn tangent_of(vertex: u32) -> vec4f {
    if FLOATS >= 10u {
        return tangents[vertex];
    }
    return vec4f(0.0);
}
