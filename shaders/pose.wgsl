// Declarations that every pose kernel shares: the memory layout of poses.
//
// import posed, places from batch

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
