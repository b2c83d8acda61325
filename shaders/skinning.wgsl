// Matrix palette skinning: v' = sum w_k * palette_k * v. Blends the rows first, then transforms once.

struct Vertex {
    position: vec3f,
    influences: u32, // first << 5 | count
    normal: vec3f,
    padding: u32,
}

struct Influence {
    entry: u32,
    weight: f32,
}

@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> influences: array<Influence>;
// One a vertex where FLOATS asks for them, else a single one that nobody reads.
@group(0) @binding(3) var<storage, read> tangents: array<vec4f>;
// [instance][entry][3 rows]
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

fn finished(v: vec3f) -> vec3f {
    if NORMALS == 1u {
        return v;
    }
    let length_squared = dot(v, v);
    // A vector of zero length stays zero instead of NaN.
    return v * select(0.0, inverseSqrt(length_squared), length_squared > 0.0);
}

fn skin(index: u32, vertex: Vertex, instance: u32) -> Skinned {
    let palette = instance * chunk.entries * 3u;
    let first = vertex.influences >> 5u;
    let end = first + (vertex.influences & 31u);
    var x = vec4f(0.0);
    var y = vec4f(0.0);
    var z = vec4f(0.0);
    for (var i = first; i < end; i++) {
        let influence = influences[i];
        let row = palette + influence.entry * 3u;
        x += influence.weight * palettes[row];
        y += influence.weight * palettes[row + 1u];
        z += influence.weight * palettes[row + 2u];
    }
    let p = vec4f(vertex.position, 1.0);
    var skinned = Skinned(vec3f(dot(x, p), dot(y, p), dot(z, p)), vec3f(0.0), vec4f(0.0));
    if FLOATS >= 6u {
        let n = vertex.normal;
        if NORMALS == 2u {
            let cofactors = mat3x3f(cross(y.xyz, z.xyz), cross(z.xyz, x.xyz), cross(x.xyz, y.xyz));
            skinned.normal = finished(n * cofactors);
        } else {
            skinned.normal = finished(vec3f(dot(x.xyz, n), dot(y.xyz, n), dot(z.xyz, n)));
        }
    }
    if FLOATS >= 10u {
        let t = tangents[index];
        skinned.tangent = vec4f(finished(vec3f(dot(x.xyz, t.xyz), dot(y.xyz, t.xyz), dot(z.xyz, t.xyz))), t.w);
    }
    return skinned;
}
