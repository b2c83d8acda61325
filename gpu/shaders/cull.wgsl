// Stage `cull`, shared by its three kernels. They count the instances in view, compute prefix sums of the counts, and
// copy the players and placements of those instances to a contiguous range: level by level, and in the crowd's order
// within a level.
//
// import NONE, Player, slots_of from pose_batch.wgsl
// import WORKGROUP from workgroup.wgsl

// The camera of a frame.
struct Camera {
    planes: array<vec4f, 6>, // of the view frustum: unit normals that face inwards, and distances
    eye: vec3f, // in the world
    scale: f32, // pixels of a metre at a distance of one metre
}

// The instances to check: those of a chunk, or of the chunks of a family, which are levels of the same instances.
struct Cull {
    sizes: vec3f, // least pixels of every level but the last
    levels: u32, // 1 to 4
    first_instance: u32, // index among all placements
    instances: u32,
    groups: u32, // for these instances
    dispatches: u32, // number of dispatches to compute for each level
    most: u32, // workgroups of a dispatch in one dimension
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<uniform> cull: Cull;
// [level][workgroup] Instances and slots in view, which the second kernel replaces with the sums over all levels and
// workgroups before it; slots over the workgroups of its level alone.
@group(0) @binding(2) var<storage, read_write> totals: array<vec2u>;
// [instance] centre and radius of the bounding sphere, in the world
@group(0) @binding(3) var<storage, read> spheres: array<vec4f>;
@group(0) @binding(4) var<storage, read> everyone: array<Player>;
// [instance] middle of the box of the model at rest, in the world, and the length of its diagonal
@group(0) @binding(9) var<storage, read> boxes: array<vec4f>;

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

// The level of an instance in view, otherwise NONE.
fn level_of(instance: u32) -> u32 {
    if instance >= cull.instances {
        return NONE;
    }
    let sphere = spheres[instance];
    for (var side = 0u; side < 6u; side++) {
        let plane = camera.planes[side];
        if dot(plane.xyz, sphere.xyz) + plane.w < -sphere.w {
            return NONE;
        }
    }
    if cull.levels == 1u {
        return 0u;
    }
    // The size on the screen is `scale` times diagonal over distance. Like frame/src/frustum.rs, without the division.
    let box = boxes[instance];
    let wide = camera.scale * box.w;
    let far = distance(camera.eye, box.xyz);
    var level = 0u;
    for (var finer = 0u; finer + 1u < cull.levels; finer++) {
        level += u32(wide < cull.sizes[finer] * far);
    }
    return level;
}

// 1 and the number of slots for an instance at this level, otherwise 0 and 0.
fn counted(instance: u32, own: u32, level: u32) -> vec2u {
    if own != level {
        return vec2u(0u);
    }
    return vec2u(1u, slots_of(everyone[instance]));
}
