// Stage `cull`, shared by its three kernels. They count the instances in view, compute prefix sums of the counts, and
// copy the players and placements of those instances to a contiguous range, in the crowd's order.

// The part of the world that is seen, and how much there is to look through.
struct Cull {
    planes: array<vec4f, 6>, // normals of unit length that look inwards, and distances
    first_instance: u32, // of the chunk, in the crowd
    instances: u32, // of the chunk
    groups: u32, // workgroups that they take
    dispatches: u32, // that follow
    most: u32, // workgroups of a dispatch in one dimension
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

@group(0) @binding(1) var<uniform> cull: Cull;
// Instances and slots in view: of each workgroup, then, summed up, of all those before it.
@group(0) @binding(2) var<storage, read_write> totals: array<vec2u>;
// [instance] centre and radius, in the world
@group(0) @binding(3) var<storage, read> spheres: array<vec4f>;
@group(0) @binding(4) var<storage, read> everyone: array<Player>;

var<workgroup> running: array<vec2u, WORKGROUP>;

// The sum of what threads up to this one bring along.
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

// 1 and the slots of an instance in view, else nothing.
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
