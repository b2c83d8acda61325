// gpu-full, stage `local_to_model`, one thread per joint of an instance: multiplies the matrices on the path to the
// root. It needs no barrier and no order, but does the most work of the three kernels.
//
// import batch from pose.wgsl
// import NONE from pose_batch.wgsl
// import joints, multiplied, own_of, players, put from pose_hierarchy.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of(group, groups, thread);
    if index >= batch.instances * batch.joints {
        return;
    }
    let instance = index / batch.joints;
    let joint = index - instance * batch.joints;
    let slot = players[batch.first_instance + instance].first_slot;
    var rows = own_of(slot, joint);
    var above = joints[joint].parent;
    while above != NONE {
        rows = multiplied(own_of(slot, above), rows);
        above = joints[above].parent;
    }
    put(instance, joint, rows);
}
