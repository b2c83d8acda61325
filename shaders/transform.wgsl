// The transformation of a vertex by a matrix, with the treatment of normals that the format asks for.
//
// import FLOATS, NORMALS, Skinned from chunk.wgsl
// import Rows from rows.wgsl

// Square of the length below which a normal or tangent shrinks to zero instead of having length 1: 2^-104.
const VANISHING = 4.9303807e-32;

fn finished(v: vec3f) -> vec3f {
    if NORMALS == 1u {
        return v;
    }
    return v * inverseSqrt(max(dot(v, v), VANISHING));
}

fn rotated(m: Rows, v: vec3f) -> vec3f {
    return vec3f(dot(m.x.xyz, v), dot(m.y.xyz, v), dot(m.z.xyz, v));
}

fn transformed(m: Rows, position: vec3f, normal: vec3f, tangent: vec4f) -> Skinned {
    let p = vec4f(position, 1.0);
    var skinned = Skinned(vec3f(dot(m.x, p), dot(m.y, p), dot(m.z, p)), vec3f(0.0), vec4f(0.0));
    if FLOATS >= 6u {
        if NORMALS == 2u {
            let cofactors = mat3x3f(cross(m.y.xyz, m.z.xyz), cross(m.z.xyz, m.x.xyz), cross(m.x.xyz, m.y.xyz));
            skinned.normal = finished(normal * cofactors);
        } else {
            skinned.normal = finished(rotated(m, normal));
        }
    }
    if FLOATS >= 10u {
        skinned.tangent = vec4f(finished(rotated(m, tangent.xyz)), tangent.w);
    }
    return skinned;
}
