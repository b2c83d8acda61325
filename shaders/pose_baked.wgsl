// gpu-baked, stage `sample`, one thread per instance: finds for each of its layers the two baked frames between which it
// is interpolated, and its share of the pose.
//
// import FramePair from baked.wgsl
// import posed, thread_of_chunk from batch
// import Player from pose_chunk.wgsl
// import Layer, clock_of, layers, mode, now, players, time_at, weight_at from pose_time.wgsl
// import WORKGROUP from workgroup.wgsl

struct BakedClip {
    first: u32, // index of its first frame's first entry
    frames: u32,
    interval: f32, // seconds from frame to frame
    padding: u32,
}

// Most layers of an instance; 1 if each shows one whole clip at all times.
override LAYERS: u32;

@group(0) @binding(4) var<storage, read> clips: array<BakedClip>;
// [instance][layer]; an instance with fewer layers than others has weights of 0.
@group(0) @binding(5) var<storage, read_write> frame_pairs: array<FramePair>;

const OVERRIDE = 1u;

fn frame_pair_of(player: Player, layer: Layer, weight: f32) -> FramePair {
    // The rest pose follows the clips.
    let clip = clips[min(layer.clip, arrayLength(&clips) - 1u)];
    if clip.frames == 1u || weight == 0.0 {
        return FramePair(clip.first, clip.first, 0.0, weight);
    }
    let time = time_at(player, layer, now.tick, clock_of(layer, now.tick));
    let place = clamp(time / clip.interval, 0.0, f32(clip.frames - 1u));
    let frame = min(u32(place), clip.frames - 2u);
    let first = clip.first + frame * posed.entries;
    return FramePair(first, first + posed.entries, place - f32(frame), weight);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of_chunk(group, groups, thread);
    if instance >= posed.instances {
        return;
    }
    let player = players[posed.first_instance + instance];
    if LAYERS == 1u {
        frame_pairs[instance] = frame_pair_of(player, layers[player.first_layer], 1.0);
        return;
    }
    // Merge layers come first and share what the layers above leave; an override takes its weight from those beneath.
    var sum = 0.0;
    var left = 1.0;
    for (var index = 0u; index < player.layers; index++) {
        let layer = layers[player.first_layer + index];
        let weight = weight_at(layer, now.tick);
        if mode(layer, 0u) == OVERRIDE {
            left *= 1.0 - weight;
        } else {
            sum += weight;
        }
    }
    let first = instance * LAYERS;
    // From the top down: what the layers above leave.
    var above = 1.0;
    for (var back = 1u; back <= player.layers; back++) {
        let index = player.layers - back;
        let layer = layers[player.first_layer + index];
        var weight = weight_at(layer, now.tick);
        if mode(layer, 0u) != OVERRIDE {
            weight = select(0.0, left * (weight / sum), sum > 0.0);
        } else {
            let rest = above * (1.0 - weight);
            weight *= above;
            above = rest;
        }
        frame_pairs[first + index] = frame_pair_of(player, layer, weight);
    }
    for (var index = player.layers; index < LAYERS; index++) {
        // The rest pose follows the clips; it shows where no layer merges.
        let rest = clips[arrayLength(&clips) - 1u].first;
        let bare = index == player.layers && sum == 0.0;
        frame_pairs[first + index] = FramePair(rest, rest, 0.0, select(0.0, left, bare));
    }
}
