// gpu-baked, stage `sample`, one thread per instance: finds the two baked frames of its clip between which it is
// interpolated. An instance plays a single layer.
//
// import Shown from baked.wgsl
// import batch from pose.wgsl
// import clock_of, layers, now, players, time_at from pose_time.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

struct BakedClip {
    first: u32, // index of its first frame's first entry
    frames: u32,
    interval: f32, // seconds from frame to frame
    padding: u32,
}

@group(0) @binding(4) var<storage, read> clips: array<BakedClip>;
@group(0) @binding(5) var<storage, read_write> shown: array<Shown>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of(group, groups, thread);
    if instance >= batch.instances {
        return;
    }
    let player = players[instance];
    let layer = layers[player.first_layer];
    // The rest pose follows the clips.
    let clip = clips[min(layer.clip, arrayLength(&clips) - 1u)];
    if clip.frames == 1u {
        shown[instance] = Shown(clip.first, clip.first, 0.0, 0u);
        return;
    }
    let time = time_at(player, layer, now.tick, clock_of(layer, now.tick));
    let place = clamp(time / clip.interval, 0.0, f32(clip.frames - 1u));
    let frame = min(u32(place), clip.frames - 2u);
    let first = clip.first + frame * batch.entries;
    shown[instance] = Shown(first, first + batch.entries, place - f32(frame), 0u);
}
