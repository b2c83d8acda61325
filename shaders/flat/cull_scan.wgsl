// skinbench's cull_scan. Generated: see README.md.
//# shaders/chunk_numbers.wgsl
// The numbers of a chunk.

struct Chunk {
    first_instance: u32, // index in the crowd, or among all instances in view
    instances: u32,
    vertices: u32, // per instance
    entries: u32, // palette entries per instance
    origin: vec3f, // position of step 0 of packed positions
    eights: u32, // first vertex with eight influences instead of up to four
    step: vec3f, // length of one step of a packed position
    sixteens: u32, // first vertex with sixteen influences
    centre: vec3f, // of the cube that packed output is relative to
    half: f32, // half the length of its edge
    // Where the chunk begins in buffers that it shares with other models.
    first_vertex: u32, // among skinned vertices
    first_entry: u32, // among palette entries
    mesh_vertex: u32, // among vertices of meshes
    mesh_influence: u32, // among influences after the fourth of a vertex
}
//# shaders/pose_chunk.wgsl
// The instances that are posed together, and what each of them plays.

// Index that stands for no layer, clip, joint or mask.
const NONE = 0xffffffffu;

// Neighbouring instances of one model.
struct PosedChunk {
    instances: u32,
    joints: u32, // of the skeleton
    entries: u32, // palette entries per instance
    slots: u32, // poses sampled for all instances
    levels: u32, // of the hierarchy
    clips: u32, // of the model, and its rest pose
    // Where the chunk begins in buffers that it shares with other models.
    first_instance: u32,
    first_joint: u32, // among model poses
    first_entry: u32, // among palette entries
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

// Where a chunk and its model begin in buffers that they share with other models.
struct Places {
    first_slot: u32,
    first_local: u32, // among local poses, each of which takes one place per channel
    first_clip: u32,
    first_rest: u32, // among joints at rest
    first_mask: u32, // among weights of masks
    first_level: u32,
    first_bind: u32, // among inverse bind matrices
    padding: u32,
}

// The layers of an instance and the slots of their poses. A layer with an inertial fade adds two slots for itself and
// for each layer beneath it: their poses when the fade began, and one tick before. An instance that is not posed every
// tick has one slot for the pose that it shows, followed by two sets of the slots above: one for the earlier and one
// for the later pose.
struct Player {
    first_layer: u32,
    layers: u32,
    first_slot: u32,
    inertial: u32, // index of that layer, or NONE
    every: u32, // ticks from pose to pose
    offset: u32, // added to the tick; a pose is due if the sum is a multiple of `every`
}

// Number of slots of an instance's layers, for one pose.
fn slots_of(player: Player) -> u32 {
    return player.layers + select(2u * (player.inertial + 1u), 0u, player.inertial == NONE);
}
//# shaders/workgroup.wgsl
// Workgroups of compute kernels, and the numbering of their threads.

const WORKGROUP = 64u;

// The number of a thread among all threads of a dispatch in two dimensions.
fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
//# shaders/cull.wgsl
// Stage `cull`, shared by its three kernels. They count the instances in view, compute prefix sums of the counts, and
// copy the players and placements of those instances to a contiguous range, in the crowd's order.

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
//# shaders/cull_scan.wgsl
// Stage `cull`, second kernel, one workgroup: computes the place of each workgroup among the instances in view, their
// number for posing and for skinning, and the workgroups of every later dispatch.

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
