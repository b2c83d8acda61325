// skinbench's pose_palette. Generated: see README.md.
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
//# shaders/pose_palette.wgsl
// gpu-full, stage `palette`, one thread per palette entry of `AT_ONCE` neighbouring instances: multiplies model poses
// by inverse binds.

override AT_ONCE: u32 = 1;
// Whether joints only rotate and translate: a model pose is then a rotation and a translation.
override RIGID: u32 = 0;

// [entry]
@group(0) @binding(16) var<storage, read> entry_joints: array<u32>;
// [entry][3 rows]
@group(0) @binding(18) var<storage, read> inverse_binds: array<vec4f>;
// [instance][joint][3 rows], or [rotation, translation] if RIGID
@group(0) @binding(15) var<storage, read> model: array<vec4f>;
// [instance][entry][3 rows]
@group(0) @binding(17) var<storage, read_write> palettes: array<vec4f>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of_chunk(group, groups, thread);
    let part = index / posed.entries;
    let entry = index - part * posed.entries;
    let first = part * AT_ONCE;
    let end = min(first + AT_ONCE, posed.instances);
    if first >= end {
        return;
    }
    let bound = places.first_bind + entry;
    let own = entry_joints[bound];
    let bind = mat3x4f(inverse_binds[3u * bound], inverse_binds[3u * bound + 1u], inverse_binds[3u * bound + 2u]);
    for (var instance = first; instance < end; instance++) {
        let joint = posed.first_joint + instance * posed.joints + own;
        let at = 3u * (posed.first_entry + instance * posed.entries + entry);
        let pose = model_of(joint);
        palettes[at] = row(pose.x, bind);
        palettes[at + 1u] = row(pose.y, bind);
        palettes[at + 2u] = row(pose.z, bind);
    }
}

fn model_of(joint: u32) -> Rows {
    if RIGID == 1u {
        return affine(model[2u * joint], model[2u * joint + 1u].xyz, vec3f(1.0));
    }
    return Rows(model[3u * joint], model[3u * joint + 1u], model[3u * joint + 2u]);
}

fn row(m: vec4f, bind: mat3x4f) -> vec4f {
    return bind * m.xyz + vec4f(0.0, 0.0, 0.0, m.w);
}
