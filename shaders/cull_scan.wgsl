// Stage `cull`, one workgroup: where each workgroup's instances in view go, and how many workgroups all kernels after it take.

// How a dispatch follows from what is in view.
struct Dispatch {
    slots: u32, // 1: of all slots, 0: of all instances
    threads: u32, // of each
    workgroup: u32, // threads of a workgroup
    x: u32, // workgroups in x, and those in y follow; 0: they are folded into x and y
    z: u32,
}

@group(0) @binding(5) var<storage, read_write> visible_batch: Batch;
@group(0) @binding(6) var<storage, read> dispatches: array<Dispatch>;
// [dispatch][x, y, z]
@group(0) @binding(7) var<storage, read_write> workgroups: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) thread: u32) {
    let share = (cull.groups + WORKGROUP - 1u) / WORKGROUP;
    let first = min(thread * share, cull.groups);
    let end = min(first + share, cull.groups);
    var own = vec2u(0u);
    for (var group = first; group < end; group++) {
        own += totals[group];
    }
    var before = summed(thread, own) - own;
    for (var group = first; group < end; group++) {
        let here = totals[group];
        totals[group] = before;
        before += here;
    }
    let all = running[WORKGROUP - 1u];
    if thread == 0u {
        visible_batch.instances = all.x;
        visible_batch.slots = all.y;
    }
    for (var index = thread; index < cull.dispatches; index += WORKGROUP) {
        let dispatch = dispatches[index];
        let threads = select(all.x, all.y, dispatch.slots == 1u) * dispatch.threads;
        let groups = (threads + dispatch.workgroup - 1u) / dispatch.workgroup;
        let rows = max((groups + cull.most - 1u) / cull.most, 1u);
        let folded = dispatch.x == 0u;
        workgroups[3u * index] = select(dispatch.x, (groups + rows - 1u) / rows, folded);
        workgroups[3u * index + 1u] = select(groups, rows, folded);
        workgroups[3u * index + 2u] = dispatch.z;
    }
}
