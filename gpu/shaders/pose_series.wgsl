// gpu-full, stage `local_to_model`, one thread per instance: joint after joint, parents first. It needs no barrier, but
// many instances to fill a device.
//
// import batch from pose.wgsl
// import NONE from pose_batch.wgsl
// import joints, model_of, multiplied, own_of, players, put from pose_hierarchy.wgsl
// import Rows from rows.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

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
    let slot = players[batch.first_instance + instance].first_slot;
    // The pose of the joint before, which is the parent of most joints.
    var last: Rows;
    for (var joint = 0u; joint < batch.joints; joint++) {
        let own = own_of(slot, joint);
        let parent = joints[joint].parent;
        if parent == NONE {
            last = own;
        } else {
            if parent + 1u != joint {
                last = model_of(instance, parent);
            }
            last = multiplied(last, own);
        }
        put(instance, joint, last);
    }
}
