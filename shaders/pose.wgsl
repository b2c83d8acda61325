// What every pose kernel shares: the numbers of a batch, how threads are counted, and how a local pose lies in memory.

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

// What an instance plays: its layers, and the slots of their poses. A layer that fades inertially has two more slots for
// itself and each layer beneath: as they were when the fade began, and a tick before. An instance that is not posed at
// every tick has one slot for what it shows, and then all of these twice: for the poses before and after.
struct Player {
    first_layer: u32,
    layers: u32,
    first_slot: u32,
    inertial: u32, // index of that layer, or NONE
    every: u32, // ticks from pose to pose
    offset: u32, // added to the ticks that are multiples of that
}

// The two poses that an instance shows what is between of, where it is not posed at every tick.
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

// A slot's place in its clip, and what it counts for.
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
