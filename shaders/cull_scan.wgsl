// Stage `cull`, second kernel, one workgroup: computes the place of each workgroup among the instances in view, their
// number for posing and for skinning, and the workgroups of every later dispatch.
//
// import Chunk from chunk_numbers.wgsl
// import cull, running, summed, totals from cull.wgsl
// import PosedChunk from pose_chunk.wgsl
// import WORKGROUP from workgroup.wgsl

// Rule for computing the workgroups of a dispatch from the number of instances or slots in view.
struct Dispatch {
    slots: u32, // 1: counts slots, 0: counts instances
    at_once: u32, // number of them that share threads
    threads: u32, // for each such part
    workgroup: u32, // threads of a workgroup
    x: u32, // workgroups in x, with the counted ones in y; 0: the counted ones are folded into x and y
    z: u32,
}

// Two uniforms of later kernels, each at a multiple of 256 bytes.
struct Numbers {
    posed: PosedChunk,
    padding_a: array<u32, 52>,
    chunk: Chunk,
    padding_b: array<u32, 44>,
}

// Numbers of the instances in view, of which this kernel writes the counts.
@group(0) @binding(5) var<storage, read_write> numbers: Numbers;
// [dispatch]
@group(0) @binding(6) var<storage, read> dispatches: array<Dispatch>;
// [dispatch][x, y, z]
@group(0) @binding(7) var<storage, read_write> workgroups: array<u32>;

fn parts_of(count: u32, size: u32) -> u32 {
    return (count + size - 1u) / size;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) thread: u32) {
    let share = parts_of(cull.groups, WORKGROUP);
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
        numbers.posed.instances = all.x;
        numbers.posed.slots = all.y;
        numbers.chunk.instances = all.x;
    }
    for (var index = thread; index < cull.dispatches; index += WORKGROUP) {
        let dispatch = dispatches[index];
        let parts = parts_of(select(all.x, all.y, dispatch.slots == 1u), dispatch.at_once);
        let groups = parts_of(parts * dispatch.threads, dispatch.workgroup);
        let rows = max(parts_of(groups, cull.most), 1u);
        let folded = dispatch.x == 0u;
        workgroups[3u * index] = select(dispatch.x, parts_of(groups, rows), folded);
        workgroups[3u * index + 1u] = select(groups, rows, folded);
        workgroups[3u * index + 2u] = dispatch.z;
    }
}
