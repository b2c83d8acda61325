// Matrices from local poses.
//
// import Rows from rows.wgsl

// Matrix rows from rotation, translation and scale.
fn affine(q: vec4f, t: vec3f, s: vec3f) -> Rows {
    let d = q.xyz + q.xyz;
    let w = q.w * d;
    let a = q.x * d;
    let yy = q.y * d.y;
    let yz = q.y * d.z;
    let zz = q.z * d.z;
    return Rows(
        vec4f((1.0 - yy - zz) * s.x, (a.y - w.z) * s.y, (a.z + w.y) * s.z, t.x),
        vec4f((a.y + w.z) * s.x, (1.0 - a.x - zz) * s.y, (yz - w.x) * s.z, t.y),
        vec4f((a.z - w.y) * s.x, (yz + w.x) * s.y, (1.0 - a.x - yy) * s.z, t.z),
    );
}
