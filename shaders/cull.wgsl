// Stage `cull`, shared by its three kernels. They count the instances in view, compute prefix sums of the counts, and
// copy the players and placements of those instances to a contiguous range, in the crowd's order.
//
// import Player, slots_of from pose_batch.wgsl
// import WORKGROUP from workgroup.wgsl

// The view frustum, and the instances to check.
struct Cull {
    planes: array<vec4f, 6>, // unit normals that face inwards, and distances
    first_instance: u32, // index in the crowd of the chunk's first instance
    instances: u32, // in the chunk
    groups: u32, // for these instances
    dispatches: u32, // number of dispatches to compute
    most: u32, // workgroups of a dispatch in one dimension
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

@group(0) @binding(1) var<uniform> cull: Cull;
// Instances and slots in view per workgroup, which the second kernel replaces with the sums over all workgroups before
// it.
@group(0) @binding(2) var<storage, read_write> totals: array<vec2u>;
// [instance] centre and radius of the bounding sphere, in the world
@group(0) @binding(3) var<storage, read> spheres: array<vec4f>;
@group(0) @binding(4) var<storage, read> everyone: array<Player>;

var<workgroup> running: array<vec2u, WORKGROUP>;

// Prefix sum over the workgroup: the sum of `own` of all threads up to this one.
fn summed(thread: u32, own: vec2u) -> vec2u {
    running[thread] = own;
    workgroupBarrier();
    for (var step = 1u; step < WORKGROUP; step <<= 1u) {
        var sum = running[thread];
        if thread >= step {
            sum += running[thread - step];
        }
        workgroupBarrier();
        running[thread] = sum;
        workgroupBarrier();
    }
    return running[thread];
}

// 1 and the number of slots for an instance in view, otherwise 0 and 0.
fn counted(instance: u32) -> vec2u {
    if instance >= cull.instances {
        return vec2u(0u);
    }
    let sphere = spheres[instance];
    for (var side = 0u; side < 6u; side++) {
        let plane = cull.planes[side];
        if dot(plane.xyz, sphere.xyz) + plane.w < -sphere.w {
            return vec2u(0u);
        }
    }
    return vec2u(1u, slots_of(everyone[instance]));
}
