// gpu-compute:naive: one thread per vertex of each instance.
//
// import chunk from numbers
// import skin from skinning.wgsl
// import WORKGROUP from workgroup.wgsl
// import load_vertex from mesh
// import morphed from morph
// import store from output

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let pair = (group.y * groups.x + group.x) * WORKGROUP + thread;
    if pair >= chunk.vertices * chunk.instances {
        return;
    }
    let vertex = pair % chunk.vertices;
    let instance = pair / chunk.vertices;
    store(vertex, instance, skin(morphed(load_vertex(vertex), vertex, instance), instance));
}
