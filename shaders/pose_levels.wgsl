// gpu-full, stage `local_to_model`, one workgroup per instance: level by level, with all joints of a level in parallel.
//
// import posed, places, thread_of_chunk from batch
// import levels, pose_joint, slot_of from pose_hierarchy.wgsl
// import WORKGROUP from workgroup.wgsl

// Levels of the hierarchy of the workgroup's instance.
var<workgroup> depth: u32;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of_chunk(group, groups, thread) / WORKGROUP;
    if thread == 0u {
        depth = select(0u, posed.levels, instance < posed.instances);
    }
    // All threads of a workgroup must repeat the loop equally often because of the barrier in it.
    let count = workgroupUniformLoad(&depth);
    if count == 0u {
        return;
    }
    let slot = slot_of(instance);
    for (var level = 0u; level < count; level++) {
        let first = places.first_level + level;
        for (var at = levels[first] + thread; at < levels[first + 1u]; at += WORKGROUP) {
            pose_joint(instance, slot, levels[at]);
        }
        storageBarrier();
    }
}
