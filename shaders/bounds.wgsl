// Stage `bounds`, one workgroup per instance: the box around the transformed boxes of all palette entries that move
// vertices. The same computation as kernels/src/gameplay.rs.
//
// import chunk from numbers
// import WORKGROUP from workgroup.wgsl
// import entry_of from palette

// The box around the vertices that a palette entry moves, in the mesh's axes.
struct EntryBox {
    centre: vec3f,
    entry: u32,
    half: vec3f, // half its lengths
    margin: f32, // by which an instance's box is larger than what it contains
}

@group(0) @binding(8) var<storage, read> entry_boxes: array<EntryBox>;
// [instance][least x y z, greatest x y z]
@group(0) @binding(9) var<storage, read_write> found: array<f32>;

const FARTHEST = 3.4e38;

var<workgroup> least: array<vec3f, WORKGROUP>;
var<workgroup> greatest: array<vec3f, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = group.y * groups.x + group.x;
    if instance >= chunk.instances {
        return;
    }
    var low = vec3f(FARTHEST);
    var high = vec3f(-FARTHEST);
    for (var index = thread; index < arrayLength(&entry_boxes); index += WORKGROUP) {
        let own = entry_boxes[index];
        let m = entry_of(instance, own.entry);
        let centre = vec4f(own.centre, 1.0);
        let middle = vec3f(dot(m.x, centre), dot(m.y, centre), dot(m.z, centre));
        let reach = vec3f(
            dot(abs(m.x.xyz), own.half),
            dot(abs(m.y.xyz), own.half),
            dot(abs(m.z.xyz), own.half),
        );
        low = min(low, middle - reach);
        high = max(high, middle + reach);
    }
    least[thread] = low;
    greatest[thread] = high;
    for (var kept = WORKGROUP / 2u; kept > 0u; kept /= 2u) {
        workgroupBarrier();
        if thread < kept {
            least[thread] = min(least[thread], least[thread + kept]);
            greatest[thread] = max(greatest[thread], greatest[thread + kept]);
        }
    }
    if thread == 0u {
        let margin = entry_boxes[0].margin;
        for (var axis = 0u; axis < 3u; axis++) {
            found[6u * instance + axis] = least[0][axis] - margin;
            found[6u * instance + 3u + axis] = greatest[0][axis] + margin;
        }
    }
}
