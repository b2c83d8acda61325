// As gpu-compute:instances, for the instances of a list that the device may have written. The others keep their vertices.
//
// import chunk from numbers
// import skin from skinning.wgsl
// import WORKGROUP from workgroup.wgsl
// import load_vertex from mesh
// import morphed from morph
// import store from output

override INSTANCES: u32;

// The number of instances, then their indices.
@group(0) @binding(6) var<storage, read> listed: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let vertex = (group.z * groups.x + group.x) * WORKGROUP + thread;
    let first = group.y * INSTANCES;
    // The list has room for `chunk.instances`, whatever its first number says.
    let end = min(first + INSTANCES, min(listed[0], chunk.instances));
    if vertex >= chunk.vertices || first >= end {
        return;
    }
    let v = load_vertex(vertex);
    for (var place = first; place < end; place++) {
        let instance = listed[1u + place];
        if instance < chunk.instances {
            store(vertex, instance, skin(morphed(v, vertex, instance), instance));
        }
    }
}
