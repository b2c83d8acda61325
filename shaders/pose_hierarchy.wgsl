// gpu-full, stage `local_to_model`: what its kernels share, whichever way they walk.

// A 3x4 matrix.
struct Rows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}

// Whether any joint has a fixed matrix.
override MATRICES: u32;

@group(0) @binding(3) var<storage, read> players: array<Player>;
@group(0) @binding(8) var<storage, read> joints: array<Joint>;
@group(0) @binding(12) var<storage, read> locals: array<vec4f>;
// [level] of the first place among what follows, and the end; then joints, roots first.
@group(0) @binding(13) var<storage, read> levels: array<u32>;
// [matrix][3 rows]
@group(0) @binding(14) var<storage, read> matrices: array<vec4f>;
// [instance][joint][3 rows]
@group(0) @binding(15) var<storage, read_write> model: array<vec4f>;

// Rotation, translation and scale as rows.
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

// A joint's matrix to its parent; `slot` holds the instance's blended pose.
fn own_of(slot: u32, joint: u32) -> Rows {
    if MATRICES == 1u {
        let fixed = joints[joint].matrix;
        if fixed != NONE {
            return Rows(matrices[3u * fixed], matrices[3u * fixed + 1u], matrices[3u * fixed + 2u]);
        }
    }
    let at = 3u * (slot * batch.joints + joint);
    return affine(locals[at], locals[at + 1u].xyz, locals[at + 2u].xyz);
}

fn multiplied_row(a: vec4f, b: Rows) -> vec4f {
    return a.x * b.x + a.y * b.y + a.z * b.z + vec4f(0.0, 0.0, 0.0, a.w);
}

fn multiplied(a: Rows, b: Rows) -> Rows {
    return Rows(multiplied_row(a.x, b), multiplied_row(a.y, b), multiplied_row(a.z, b));
}

fn model_of(instance: u32, joint: u32) -> Rows {
    let at = 3u * (instance * batch.joints + joint);
    return Rows(model[at], model[at + 1u], model[at + 2u]);
}

fn put(instance: u32, joint: u32, rows: Rows) {
    let at = 3u * (instance * batch.joints + joint);
    model[at] = rows.x;
    model[at + 1u] = rows.y;
    model[at + 2u] = rows.z;
}

// Needs the parent's model pose.
fn pose_joint(instance: u32, slot: u32, joint: u32) {
    let own = own_of(slot, joint);
    let parent = joints[joint].parent;
    if parent == NONE {
        put(instance, joint, own);
    } else {
        put(instance, joint, multiplied(model_of(instance, parent), own));
    }
}
