// gpu-full, stage `local_to_model`, one thread per joint of an instance: multiplies the matrices on the path to the
// root. It needs no barrier and no order, but does the most work of the three kernels.
//
// import posed, thread_of_chunk from batch
// import NONE from pose_chunk.wgsl
// import multiplied, own_of, parent_of, put, slot_of from pose_hierarchy.wgsl
// import WORKGROUP from workgroup.wgsl

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of_chunk(group, groups, thread);
    if index >= posed.instances * posed.joints {
        return;
    }
    let instance = index / posed.joints;
    let joint = index - instance * posed.joints;
    let slot = slot_of(instance);
    var rows = own_of(slot, joint);
    var above = parent_of(joint);
    while above != NONE {
        rows = multiplied(own_of(slot, above), rows);
        above = parent_of(above);
    }
    put(instance, joint, rows);
}
