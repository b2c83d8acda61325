// skinbench's pose_blend. Generated: see README.md.
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
//# shaders/pose_blend.wgsl
// gpu-full, stage `blend`, one thread per joint of an instance: combines the local poses of its layers in the first
// slot. docs/animation.md has the formulas.

const MERGE = 0u;
const OVERRIDE = 1u;

// Whether any layer fades inertially, and whether any instance is not posed at every tick.
override INERTIA: u32 = 1;
override RATES: u32 = 1;

// [instance]
@group(0) @binding(3) var<storage, read> players: array<Player>;
// [joint]
@group(0) @binding(8) var<storage, read> joints: array<Joint>;
// [slot]
@group(0) @binding(9) var<storage, read> cursors: array<Cursor>;
// [instance]
@group(0) @binding(10) var<storage, read> momenta: array<Momentum>;
// [mask][joint]
@group(0) @binding(11) var<storage, read> masks: array<f32>;
// [slot][rotation, translation, scale][joint]
@group(0) @binding(12) var<storage, read_write> locals: array<vec4f>;
// [instance]
@group(0) @binding(19) var<storage, read> pose_pairs: array<PosePair>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of_chunk(group, groups, thread);
    if index >= posed.instances * posed.joints {
        return;
    }
    let own = index / posed.joints;
    let joint = index - own * posed.joints;
    let instance = posed.first_instance + own;
    let player = players[instance];
    if RATES == 0u {
        blend(player, player.first_slot, instance, joint);
        return;
    }
    if player.every == 1u {
        blend(player, player.first_slot, 2u * instance, joint);
        return;
    }
    let pair = pose_pairs[instance];
    let slots = slots_of(player);
    for (var which = 0u; which < 2u; which++) {
        if (pair.modes & (4u << which)) != 0u {
            blend(player, player.first_slot + 1u + which * slots, 2u * instance + which, joint);
        }
    }
    let place = pair.modes >> 4u;
    let start = local_of(player.first_slot + 1u + place * slots, joint);
    let end = local_of(player.first_slot + 1u + (1u - place) * slots, joint);
    put(player.first_slot, joint, joined_by(start, end, OVERRIDE, pair.part));
}

// Combines one pose of an instance's layers in the first of their slots.
fn blend(player: Player, first_slot: u32, index: u32, joint: u32) {
    let momentum = momentum_of(index);
    var pose = merged(first_slot, 1u, player.layers, joint);
    for (var layer = 0u; layer < player.layers; layer++) {
        pose = joined(pose, first_slot + layer, joint);
        if INERTIA == 1u && layer == momentum.layer {
            pose = carried(pose, player, first_slot, momentum, joint);
        }
    }
    put(first_slot, joint, pose);
}

fn momentum_of(index: u32) -> Momentum {
    if INERTIA == 1u {
        return momenta[index];
    }
    return Momentum(NONE, 0u, 0.0, 0.0);
}

fn local_of(slot: u32, joint: u32) -> Local {
    let at = local_at(slot, joint);
    return Local(locals[at], locals[at + posed.joints].xyz, locals[at + 2u * posed.joints].xyz);
}

fn put(slot: u32, joint: u32, pose: Local) {
    let at = local_at(slot, joint);
    locals[at] = pose.rotation;
    locals[at + posed.joints] = vec4f(pose.translation, 0.0);
    locals[at + 2u * posed.joints] = vec4f(pose.scale, 0.0);
}

fn kind_of(cursor: Cursor) -> u32 {
    return cursor.modes & 0xffu;
}

// The weight of a slot at a joint, with its mask.
fn weight_of(cursor: Cursor, joint: u32) -> f32 {
    let mask = cursor.modes >> 8u;
    if mask == 0u || cursor.weight == 0.0 {
        return cursor.weight;
    }
    return cursor.weight * masks[places.first_mask + (mask - 1u) * posed.joints + joint];
}

// A weight with the sign that takes `b` into the hemisphere of `a`.
fn shorter(a: vec4f, b: vec4f, weight: f32) -> f32 {
    return select(weight, -weight, dot(a, b) < 0.0);
}

// Merge layers whose weights add up to less count as none.
const LEAST_SHARE = 8.6736174e-19;

// The weighted mean of the merge layers among `count` slots; the rest pose if their weights are (almost) 0.
fn merged(first: u32, stride: u32, count: u32, joint: u32) -> Local {
    var sum = Local(vec4f(0.0), vec3f(0.0), vec3f(0.0));
    var total = 0.0;
    var terms = 0u;
    for (var index = 0u; index < count; index++) {
        let slot = first + index * stride;
        let cursor = cursors[slot];
        let weight = weight_of(cursor, joint);
        if kind_of(cursor) != MERGE || weight == 0.0 {
            continue;
        }
        let pose = local_of(slot, joint);
        if terms == 0u {
            // The first layer stays unscaled until there is a second one.
            sum = pose;
        } else {
            if terms == 1u {
                sum = Local(total * sum.rotation, total * sum.translation, total * sum.scale);
            }
            sum.rotation += shorter(sum.rotation, pose.rotation, weight) * pose.rotation;
            sum.translation += weight * pose.translation;
            sum.scale += weight * pose.scale;
        }
        terms++;
        total += weight;
    }
    if total < LEAST_SHARE {
        let rest = joints[places.first_rest + joint];
        return Local(rest.rotation, rest.translation, rest.scale);
    }
    if terms == 1u {
        return sum;
    }
    return Local(normalize(sum.rotation), sum.translation / total, sum.scale / total);
}

// The product of two quaternions.
fn product(a: vec4f, b: vec4f) -> vec4f {
    return vec4f(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

// Applies an override or additive layer to the pose beneath it.
fn joined(beneath: Local, slot: u32, joint: u32) -> Local {
    let cursor = cursors[slot];
    let weight = weight_of(cursor, joint);
    if kind_of(cursor) == MERGE || weight == 0.0 {
        return beneath;
    }
    return joined_by(beneath, local_of(slot, joint), kind_of(cursor), weight);
}

fn joined_by(beneath: Local, pose: Local, kind: u32, weight: f32) -> Local {
    if kind == OVERRIDE {
        let signed = shorter(beneath.rotation, pose.rotation, weight);
        return Local(
            normalize((1.0 - weight) * beneath.rotation + signed * pose.rotation),
            mix(beneath.translation, pose.translation, weight),
            mix(beneath.scale, pose.scale, weight),
        );
    }
    let whole = vec4f(0.0, 0.0, 0.0, 1.0 - weight);
    let rotation = whole + select(weight, -weight, pose.rotation.w < 0.0) * pose.rotation;
    return Local(
        normalize(product(rotation, beneath.rotation)),
        beneath.translation + weight * pose.translation,
        beneath.scale * (1.0 + weight * (pose.scale - 1.0)),
    );
}

// The new pose plus the remaining difference of an inertial fade from the old one.
fn carried(reached: Local, player: Player, first_slot: u32, momentum: Momentum, joint: u32) -> Local {
    let now = off(first_slot + player.layers, momentum, joint);
    let before = off(first_slot + player.layers + 1u, momentum, joint);
    // Both differences must be in one hemisphere; otherwise their change would take the longer arc.
    let change = now.rotation - shorter(now.rotation, before.rotation, 1.0) * before.rotation;
    let whole = vec4f(0.0, 0.0, 0.0, 1.0);
    let rotation = whole + momentum.offset * (now.rotation - whole) + momentum.speed * change;
    return Local(
        normalize(product(rotation, reached.rotation)),
        reached.translation + momentum.offset * now.translation + momentum.speed * (now.translation - before.translation),
        reached.scale + momentum.offset * now.scale + momentum.speed * (now.scale - before.scale),
    );
}

// The old pose minus the new one, both before the fade began, at every second slot from `first` on: the rotation from
// new to old, then differences.
fn off(first: u32, momentum: Momentum, joint: u32) -> Local {
    let fading = first + 2u * momentum.layer;
    var without = merged(first, 2u, momentum.layer, joint);
    for (var layer = 0u; layer < momentum.layer; layer++) {
        without = joined(without, first + 2u * layer, joint);
    }
    let whole = joined(without, fading, joint);
    var old = whole;
    var reached = without;
    if momentum.coming == 1u {
        old = without;
        reached = whole;
    }
    let rotation = product(old.rotation, vec4f(-reached.rotation.xyz, reached.rotation.w));
    return Local(select(rotation, -rotation, rotation.w < 0.0), old.translation - reached.translation, old.scale - reached.scale);
}
