// Dual quaternion skinning (Kavan and others 2008): each entry is a rigid motion and a uniform scale. They are blended
// and normalised, so twisted joints keep their volume. An entry takes 48 bytes, of which 36 are used.
//
// import INFLUENCES from chunk.wgsl
// import chunk from numbers
// import Rows from rows.wgsl
// import LoadedVertex, influences from vertex.wgsl

struct DualQuaternion {
    real: vec4f,
    dual: vec4f,
    scale: vec4f, // x
}

// [instance][entry]
@group(0) @binding(4) var<storage, read> palettes: array<DualQuaternion>;

// q and -q are the same rotation: all are taken to the hemisphere of the heaviest.
fn add(sum: ptr<function, DualQuaternion>, weight: f32, entry: DualQuaternion) {
    let signed = select(-weight, weight, dot((*sum).real, entry.real) >= 0.0);
    (*sum).real += signed * entry.real;
    (*sum).dual += signed * entry.dual;
    (*sum).scale.x += weight * entry.scale.x;
}

fn blended(vertex: LoadedVertex, instance: u32) -> Rows {
    let first = instance * chunk.entries;
    let largest = palettes[first + vertex.entries.x];
    let weights = vertex.weights;
    var sum = DualQuaternion(weights.x * largest.real, weights.x * largest.dual, weights.x * largest.scale);
    if weights.y > 0.0 {
        add(&sum, weights.y, palettes[first + vertex.entries.y]);
        if weights.z > 0.0 {
            add(&sum, weights.z, palettes[first + vertex.entries.z]);
            if weights.w > 0.0 {
                add(&sum, weights.w, palettes[first + vertex.entries.w]);
            }
        }
    }
    if INFLUENCES > 4u {
        for (var i = vertex.more.x; i < vertex.more.y; i++) {
            add(&sum, influences[i].weight, palettes[first + influences[i].entry]);
        }
    }
    let length = inverseSqrt(dot(sum.real, sum.real));
    let q = sum.real * length;
    let d = sum.dual * length;
    let t = 2.0 * (q.w * d.xyz - d.w * q.xyz + cross(q.xyz, d.xyz));
    let two = 2.0 * q.xyz;
    let x = vec3f(1.0 - two.y * q.y - two.z * q.z, two.x * q.y - two.z * q.w, two.x * q.z + two.y * q.w);
    let y = vec3f(two.x * q.y + two.z * q.w, 1.0 - two.x * q.x - two.z * q.z, two.y * q.z - two.x * q.w);
    let z = vec3f(two.x * q.z - two.y * q.w, two.y * q.z + two.x * q.w, 1.0 - two.x * q.x - two.y * q.y);
    let scale = sum.scale.x;
    return Rows(vec4f(scale * x, t.x), vec4f(scale * y, t.y), vec4f(scale * z, t.z));
}
