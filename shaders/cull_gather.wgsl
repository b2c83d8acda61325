// Stage `cull`, third kernel, one thread per instance: copies the instances in view to a contiguous range.
//
// import counted, cull, everyone, is_in_view, summed, totals from cull.wgsl
// import Player from pose_chunk.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

// [instance in view]
@group(0) @binding(5) var<storage, read_write> players: array<Player>;
// [instance in view] index among those to check
@group(0) @binding(6) var<storage, read_write> visible: array<u32>;
// Model to world: [instance][3 rows]
@group(0) @binding(7) var<storage, read> placements: array<vec4f>;
// Model to world: [instance in view][3 rows]
@group(0) @binding(8) var<storage, read_write> visible_placements: array<vec4f>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of(group, groups, thread);
    let in_view = is_in_view(instance);
    let one = counted(instance, in_view);
    let place = summed(thread, one) - one;
    if in_view {
        put(instance, totals[instance / WORKGROUP] + place);
    }
}

// Copies an instance to a place; its poses take slots from `at.y` on.
fn put(instance: u32, at: vec2u) {
    var player = everyone[instance];
    player.first_slot = at.y;
    players[at.x] = player;
    visible[at.x] = instance;
    for (var row = 0u; row < 3u; row++) {
        visible_placements[3u * (cull.first_instance + at.x) + row] = placements[3u * (cull.first_instance + instance) + row];
    }
}
