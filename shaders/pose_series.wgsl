// gpu-full, stage `local_to_model`, one thread per instance: joint after joint, parents first. It needs no barrier, but
// many instances to fill a device.
//
// import posed, thread_of_chunk from batch
// import NONE from pose_chunk.wgsl
// import model_of, multiplied, own_of, parent_of, put, slot_of from pose_hierarchy.wgsl
// import Rows from rows.wgsl
// import WORKGROUP from workgroup.wgsl

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
    let slot = slot_of(instance);
    // The pose of the joint before, which is the parent of most joints.
    var last: Rows;
    for (var joint = 0u; joint < posed.joints; joint++) {
        let own = own_of(slot, joint);
        let parent = parent_of(joint);
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
