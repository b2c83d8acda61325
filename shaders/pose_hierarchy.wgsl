// gpu-full, stage `local_to_model`: declarations that its three kernels (pose_levels, pose_series, pose_paths) share.
//
// import posed, places from batch
// import Joint, local_at from pose.wgsl
// import NONE, Player from pose_chunk.wgsl
// import affine from pose_rows.wgsl
// import Rows from rows.wgsl

// Whether any joint has a fixed matrix.
override MATRICES: u32;
// Whether joints only rotate and translate: a model pose is then a rotation and a translation.
override RIGID: u32;

// [instance]
@group(0) @binding(3) var<storage, read> players: array<Player>;
// [joint]
@group(0) @binding(8) var<storage, read> joints: array<Joint>;
// [slot][rotation, translation, scale][joint]
@group(0) @binding(12) var<storage, read> locals: array<vec4f>;
// For each model: for each level the index in this array of its first joint, and the end of the last level; then the
// joints, roots first.
@group(0) @binding(13) var<storage, read> levels: array<u32>;
// [matrix][3 rows]
@group(0) @binding(14) var<storage, read> matrices: array<vec4f>;
// [instance][joint][3 rows], or [rotation, translation] if RIGID
@group(0) @binding(15) var<storage, read_write> model: array<vec4f>;

// A rotation and a translation, used instead of matrix rows.
fn rigid(rotation: vec4f, translation: vec3f) -> Rows {
    return Rows(rotation, vec4f(translation, 0.0), vec4f(0.0));
}

// A joint's matrix relative to its parent; `slot` holds the instance's blended pose.
fn own_of(slot: u32, joint: u32) -> Rows {
    if MATRICES == 1u {
        let fixed = joints[places.first_rest + joint].matrix;
        if fixed != NONE {
            return Rows(matrices[3u * fixed], matrices[3u * fixed + 1u], matrices[3u * fixed + 2u]);
        }
    }
    let at = local_at(slot, joint);
    let rotation = locals[at];
    let translation = locals[at + posed.joints].xyz;
    if RIGID == 1u {
        return rigid(rotation, translation);
    }
    return affine(rotation, translation, locals[at + 2u * posed.joints].xyz);
}

fn multiplied_row(a: vec4f, b: Rows) -> vec4f {
    return a.x * b.x + a.y * b.y + a.z * b.z + vec4f(0.0, 0.0, 0.0, a.w);
}

fn multiplied(a: Rows, b: Rows) -> Rows {
    if RIGID == 1u {
        let q = a.x;
        let r = b.x;
        let moved = b.y.xyz + 2.0 * cross(q.xyz, cross(q.xyz, b.y.xyz) + q.w * b.y.xyz);
        let rotation = vec4f(q.w * r.xyz + r.w * q.xyz + cross(q.xyz, r.xyz), q.w * r.w - dot(q.xyz, r.xyz));
        return rigid(rotation, a.y.xyz + moved);
    }
    return Rows(multiplied_row(a.x, b), multiplied_row(a.y, b), multiplied_row(a.z, b));
}

fn model_of(instance: u32, joint: u32) -> Rows {
    let index = posed.first_joint + instance * posed.joints + joint;
    if RIGID == 1u {
        return rigid(model[2u * index], model[2u * index + 1u].xyz);
    }
    return Rows(model[3u * index], model[3u * index + 1u], model[3u * index + 2u]);
}

fn put(instance: u32, joint: u32, pose: Rows) {
    let index = posed.first_joint + instance * posed.joints + joint;
    if RIGID == 1u {
        model[2u * index] = pose.x;
        model[2u * index + 1u] = pose.y;
    } else {
        model[3u * index] = pose.x;
        model[3u * index + 1u] = pose.y;
        model[3u * index + 2u] = pose.z;
    }
}

fn parent_of(joint: u32) -> u32 {
    return joints[places.first_rest + joint].parent;
}

// The slot with the blended pose of an instance of the chunk.
fn slot_of(instance: u32) -> u32 {
    return players[posed.first_instance + instance].first_slot;
}

// Requires the parent's model pose.
fn pose_joint(instance: u32, slot: u32, joint: u32) {
    let own = own_of(slot, joint);
    let parent = parent_of(joint);
    if parent == NONE {
        put(instance, joint, own);
    } else {
        put(instance, joint, multiplied(model_of(instance, parent), own));
    }
}
