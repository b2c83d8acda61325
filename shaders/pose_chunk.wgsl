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
