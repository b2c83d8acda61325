// Stage `cull`, first kernel, one thread per instance: counts the instances in view of each workgroup.
//
// import counted, cull, is_in_view, summed, totals from cull.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of(group, groups, thread);
    let sum = summed(thread, counted(instance, is_in_view(instance)));
    if thread == WORKGROUP - 1u && instance / WORKGROUP < cull.groups {
        totals[instance / WORKGROUP] = sum;
    }
}
