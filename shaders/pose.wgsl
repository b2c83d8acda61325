// Declarations that every pose kernel shares: the numbers of a batch, the numbering of threads, and the memory layout
// of a local pose.

// Threads of a workgroup in every compute kernel.
const WORKGROUP = 64u;
// No such layer, clip, joint or mask.
const NONE = 0xffffffffu;

// Neighbouring instances of one model.
struct Batch {
    instances: u32,
    joints: u32, // of the skeleton
    entries: u32, // of a palette
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
    offset: u32, // added to the ticks that are multiples of that
}

// The two poses between which an instance is interpolated when it is not posed every tick.
struct Kept {
    first_tick: u32,
    second_tick: u32,
    modes: u32, // bits 0 and 1: there is such a pose; bits 2 and 3: it is posed now; bit 4: which one comes before
    part: f32, // of the way from one to the other
}

// A joint at rest, and how it hangs on its parent.
struct Joint {
    rotation: vec4f,
    translation: vec3f,
    parent: u32, // or NONE
    scale: vec3f,
    matrix: u32, // the fixed one that it has instead, or NONE
}

// A slot's position in its clip, and its weight.
struct Cursor {
    tracks: u32, // the clip's first track, or NONE: is not sampled
    key: u32, // of the clip's own timeline; compact: where the frame's numbers begin
    next: u32, // compact: where the next frame's begin
    fraction: f32, // of the way from one to the other
    interval: f32, // seconds of that way
    time: f32, // in seconds
    weight: f32, // 0: not looked at
    modes: u32, // bits 0-7: kind; from bit 8: mask, counted from 1
}

// An inertial fade under way.
struct Momentum {
    layer: u32, // its index, or NONE
    coming: u32, // 1: the layer comes; 0: it goes
    offset: f32, // what is left of the offset at the start
    speed: f32, // what has come of its change in the tick before
}

// A joint's local pose.
struct Local {
    rotation: vec4f,
    translation: vec3f,
    scale: vec3f,
}

@group(0) @binding(0) var<uniform> batch: Batch;

// Slots of an instance's layers, for one pose.
fn slots_of(player: Player) -> u32 {
    return player.layers + select(2u * (player.inertial + 1u), 0u, player.inertial == NONE);
}

// Where a joint's rotation is among local poses; translations and scales follow behind all joints' rotations.
fn local_at(slot: u32, joint: u32) -> u32 {
    return 3u * slot * batch.joints + joint;
}

fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
