// gpu-compute:per-character: a dispatch for each character, a thread for each of its vertices.

@group(1) @binding(0) var<uniform> character: vec4u; // x: instance, counted in the chunk

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
    store(vertex, character.x, skin(held(vertex), character.x));
}
