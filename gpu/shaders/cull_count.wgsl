// Stage `cull`, first kernel, one thread per instance: counts the instances in view of each level and workgroup.
//
// import counted, cull, level_of, summed, totals from cull.wgsl
// import WORKGROUP, thread_of from workgroup.wgsl

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = thread_of(group, groups, thread);
    let own = level_of(instance);
    for (var level = 0u; level < cull.levels; level++) {
        let sum = summed(thread, counted(instance, own, level));
        if thread == WORKGROUP - 1u && instance / WORKGROUP < cull.groups {
            totals[level * cull.groups + instance / WORKGROUP] = sum;
        }
    }
}
