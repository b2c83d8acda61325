// gpu-full, stage `local_to_model`, one workgroup per instance: level by level, with all joints of a level in parallel.
//
// import batch from pose.wgsl
// import levels, players, pose_joint from pose_hierarchy.wgsl
// import WORKGROUP from workgroup.wgsl

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    // All threads of a workgroup must take the same branch because of the barrier below.
    let instance = group.y * groups.x + group.x;
    if instance >= batch.instances {
        return;
    }
    let slot = players[batch.first_instance + instance].first_slot;
    for (var level = 0u; level < batch.levels; level++) {
        for (var at = levels[level] + thread; at < levels[level + 1u]; at += WORKGROUP) {
            pose_joint(instance, slot, levels[at]);
        }
        storageBarrier();
    }
}
