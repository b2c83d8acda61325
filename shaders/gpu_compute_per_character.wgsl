// gpu-compute:per-character: one dispatch per character, one thread per vertex.
//
// import chunk from numbers
// import skin from skinning.wgsl
// import WORKGROUP from workgroup.wgsl
// import load_vertex from mesh
// import morphed from morph
// import store from output

@group(1) @binding(0) var<uniform> character: vec4u; // x: instance, relative to the chunk

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
    store(vertex, character.x, skin(morphed(load_vertex(vertex), vertex, character.x), character.x));
}
