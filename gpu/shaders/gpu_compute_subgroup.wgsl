// gpu-compute:subgroup: as gpu-compute:instances, but threads beyond the last vertex stay, because all threads of a
// subgroup must reach its operations. They skin the last vertex once more and write nothing.
//
// import chunk from numbers
// import skin from skinning.wgsl
// import WORKGROUP from workgroup.wgsl
// import load_vertex from mesh
// import morphed from morph
// import store from output

override INSTANCES: u32;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let vertex = (group.z * groups.x + group.x) * WORKGROUP + thread;
    let last = min(vertex, chunk.vertices - 1u);
    let v = load_vertex(last);
    let first = group.y * INSTANCES;
    let end = min(first + INSTANCES, chunk.instances);
    for (var instance = first; instance < end; instance++) {
        let skinned = skin(morphed(v, last, instance), instance);
        if vertex < chunk.vertices {
            store(vertex, instance, skinned);
        }
    }
}
