// Declarations that every pose kernel shares: the numbers of a batch, the numbering of threads, and the memory layout
// of a local pose.

// Threads of a workgroup in every compute kernel.
const WORKGROUP = 64u;
// Index that stands for no layer, clip, joint or mask.
const NONE = 0xffffffffu;

// Neighbouring instances of one model.
struct Batch {
    instances: u32,
    joints: u32, // of the skeleton
    entries: u32, // palette entries per instance
    slots: u32, // poses sampled for all instances
    levels: u32, // of the hierarchy
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
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
    key: u32, // index in the clip's own timeline; compact: offset of the frame's numbers
    next: u32, // compact: offset of the next frame's numbers
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

@group(0) @binding(0) var<uniform> batch: Batch;

// Number of slots of an instance's layers, for one pose.
fn slots_of(player: Player) -> u32 {
    return player.layers + select(2u * (player.inertial + 1u), 0u, player.inertial == NONE);
}

// Index of a joint's rotation among local poses; translations follow all joints' rotations, then scales.
fn local_at(slot: u32, joint: u32) -> u32 {
    return 3u * slot * batch.joints + joint;
}

fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
