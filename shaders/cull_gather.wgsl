// Stage `cull`, third kernel, one thread per instance: copies the instances in view to a contiguous range.
//
// import counted, cull, everyone, summed, totals from cull.wgsl
// import Player from pose_batch.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

@group(0) @binding(5) var<storage, read_write> players: array<Player>;
// [instance in view] index in the chunk
@group(0) @binding(6) var<storage, read_write> visible: array<u32>;
// Model to world: [instance of the crowd][3 rows]
@group(0) @binding(7) var<storage, read> placements: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> visible_placements: array<vec4f>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of(group, groups, thread);
    let own = counted(instance);
    let place = summed(thread, own) - own;
    if own.x == 0u {
        return;
    }
    let at = totals[instance / WORKGROUP] + place;
    var player = everyone[instance];
    player.first_slot = at.y;
    players[at.x] = player;
    visible[at.x] = instance;
    for (var row = 0u; row < 3u; row++) {
        visible_placements[3u * (cull.first_instance + at.x) + row] = placements[3u * (cull.first_instance + instance) + row];
    }
}
