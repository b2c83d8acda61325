// skinbench's pose_levels. Generated: see README.md.
//# shaders/pose_chunk.wgsl
// The instances that are posed together, and what each of them plays.

// Index that stands for no layer, clip, joint or mask.
const NONE = 0xffffffffu;

// Neighbouring instances of one model.
struct PosedChunk {
    instances: u32,
    joints: u32, // of the skeleton
    entries: u32, // palette entries per instance
    slots: u32, // poses sampled for all instances
    levels: u32, // of the hierarchy
    clips: u32, // of the model, and its rest pose
    // Where the chunk begins in buffers that it shares with other models.
    first_instance: u32,
    first_joint: u32, // among model poses
    first_entry: u32, // among palette entries
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

// Where a chunk and its model begin in buffers that they share with other models.
struct Places {
    first_slot: u32,
    first_local: u32, // among local poses, each of which takes one place per channel
    first_clip: u32,
    first_rest: u32, // among joints at rest
    first_mask: u32, // among weights of masks
    first_level: u32,
    first_bind: u32, // among inverse bind matrices
    padding: u32,
}

// The layers of an instance and the slots of their poses. A layer with an inertial fade adds two slots for itself and
// for each layer beneath it: their poses when the fade began, and one tick before. An instance that is not posed every
// tick has one slot for the pose that it shows, followed by two sets of the slots above: one for the earlier and one
// for the later pose.
struct Player {
    first_layer: u32,
    layers: u32,
    first_slot: u32,
    inertial: u32, // index of that layer, or NONE
    every: u32, // ticks from pose to pose
    offset: u32, // added to the tick; a pose is due if the sum is a multiple of `every`
}

// Number of slots of an instance's layers, for one pose.
fn slots_of(player: Player) -> u32 {
    return player.layers + select(2u * (player.inertial + 1u), 0u, player.inertial == NONE);
}
//# shaders/workgroup.wgsl
// Workgroups of compute kernels, and the numbering of their threads.

const WORKGROUP = 64u;

// The number of a thread among all threads of a dispatch in two dimensions.
fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
//# shaders/batch_uniform.wgsl
// The numbers of the only chunk that a dispatch poses.

// Numbers of the instances and of their skeleton.
@group(0) @binding(0) var<uniform> posed: PosedChunk;

// It shares no buffers with other models.
const places = Places(0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);

// The number of a thread among those of its chunk.
fn thread_of_chunk(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return thread_of(group, groups, thread);
}
//# shaders/pose.wgsl
// Declarations that every pose kernel shares: the memory layout of poses.

// The two poses between which an instance is interpolated when it is not posed every tick.
struct PosePair {
    first_tick: u32,
    second_tick: u32,
    modes: u32, // bits 0 and 1: the pose exists; bits 2 and 3: it is computed now; bit 4: index of the earlier one
    part: f32, // fraction of the way from the earlier to the later one
}

// A joint at rest, and its parent.
struct Joint {
    rotation: vec4f,
    translation: vec3f,
    parent: u32, // index, or NONE
    scale: vec3f,
    matrix: u32, // index of the fixed matrix that replaces the transform, or NONE
}

// A slot's position in its clip, and its weight.
struct Cursor {
    tracks: u32, // index of the clip's first track, or NONE: not sampled
    key: u32, // index in the clip's own timeline; compact: of the frame's first word
    next: u32, // compact: index of the next frame's first word
    fraction: f32, // of the way from one to the other
    interval: f32, // in seconds, from one to the other
    time: f32, // in seconds
    weight: f32, // 0: not blended
    modes: u32, // bits 0-7: kind; from bit 8: mask, counted from 1
}

// An inertial fade under way.
struct Momentum {
    layer: u32, // index, or NONE
    coming: u32, // 1: the layer starts; 0: it ends
    offset: f32, // remaining fraction of the offset at the fade's start
    speed: f32, // factor for the change of that offset in the tick before the start
}

// A joint's local pose.
struct Local {
    rotation: vec4f,
    translation: vec3f,
    scale: vec3f,
}

// Index of a joint's rotation among local poses; translations follow all joints' rotations, then scales.
fn local_at(slot: u32, joint: u32) -> u32 {
    return places.first_local + 3u * (slot - places.first_slot) * posed.joints + joint;
}
//# shaders/rows.wgsl
// A 3x4 matrix.

struct Rows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}
//# shaders/pose_rows.wgsl
// Matrices from local poses.

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
//# shaders/pose_hierarchy.wgsl
// gpu-full, stage `local_to_model`: declarations that its three kernels (pose_levels, pose_series, pose_paths) share.

// Whether any joint has a fixed matrix.
override MATRICES: u32 = 1;
// Whether joints only rotate and translate: a model pose is then a rotation and a translation.
override RIGID: u32 = 0;

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
//# shaders/pose_levels.wgsl
// gpu-full, stage `local_to_model`, one workgroup per instance: level by level, with all joints of a level in parallel.

// Levels of the hierarchy of the workgroup's instance.
var<workgroup> depth: u32;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of_chunk(group, groups, thread) / WORKGROUP;
    if thread == 0u {
        depth = select(0u, posed.levels, instance < posed.instances);
    }
    // All threads of a workgroup must repeat the loop equally often because of the barrier in it.
    let count = workgroupUniformLoad(&depth);
    if count == 0u {
        return;
    }
    let slot = slot_of(instance);
    for (var level = 0u; level < count; level++) {
        let first = places.first_level + level;
        for (var at = levels[first] + thread; at < levels[first + 1u]; at += WORKGROUP) {
            pose_joint(instance, slot, levels[at]);
        }
        storageBarrier();
    }
}
