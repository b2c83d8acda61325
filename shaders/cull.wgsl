// Stage `cull`, shared by its three kernels. They count the instances in view, compute prefix sums of the counts, and
// copy the players and placements of those instances to a contiguous range, in the crowd's order.
//
// import Player, slots_of from pose_chunk.wgsl
// import WORKGROUP from workgroup.wgsl

// The camera of a frame.
struct Camera {
    planes: array<vec4f, 6>, // of the view frustum: unit normals that face inwards, and distances
}

// The instances to check: those of a chunk.
struct Cull {
    first_instance: u32, // index among all placements
    instances: u32,
    groups: u32, // for these instances
    dispatches: u32, // number of dispatches to compute
    most: u32, // workgroups of a dispatch in one dimension
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

// The view frustum.
@group(0) @binding(0) var<uniform> camera: Camera;
// Numbers of the instances to check.
@group(0) @binding(1) var<uniform> cull: Cull;
// [workgroup] Instances and slots in view, which the second kernel replaces with the sums over all workgroups before it.
@group(0) @binding(2) var<storage, read_write> totals: array<vec2u>;
// [instance] centre and radius of the bounding sphere, in the world
@group(0) @binding(3) var<storage, read> spheres: array<vec4f>;
// [instance] What the instances to check play.
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

fn is_in_view(instance: u32) -> bool {
    if instance >= cull.instances {
        return false;
    }
    let sphere = spheres[instance];
    for (var side = 0u; side < 6u; side++) {
        let plane = camera.planes[side];
        if dot(plane.xyz, sphere.xyz) + plane.w < -sphere.w {
            return false;
        }
    }
    return true;
}

// 1 and the number of slots for an instance in view, otherwise 0 and 0.
fn counted(instance: u32, in_view: bool) -> vec2u {
    if !in_view {
        return vec2u(0u);
    }
    return vec2u(1u, slots_of(everyone[instance]));
}
