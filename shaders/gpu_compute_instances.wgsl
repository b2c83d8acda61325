// gpu-compute:instances: one thread per vertex and `INSTANCES` neighbouring instances. The thread loads the vertex
// once, skins it for each instance and writes it.
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
    if vertex >= chunk.vertices {
        return;
    }
    let v = load_vertex(vertex);
    let first = group.y * INSTANCES;
    let end = min(first + INSTANCES, chunk.instances);
    for (var instance = first; instance < end; instance++) {
        store(vertex, instance, skin(morphed(v, vertex, instance), instance));
    }
}
