// gpu-compute:merged: as gpu-compute:instances, for chunks of all models at once. The workgroups of all chunks have one
// numbering, and a table says what each of them skins.
//
// import choose_chunk, workgroups from numbers_table.wgsl
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
    let index = group.y * groups.x + group.x;
    // The last row of workgroups may have some too many.
    if index >= arrayLength(&workgroups) {
        return;
    }
    let part = workgroups[index];
    choose_chunk(part.chunk);
    let vertex = part.vertex + thread;
    if vertex >= chunk.vertices {
        return;
    }
    let v = load_vertex(vertex);
    let end = min(part.instance + INSTANCES, chunk.instances);
    for (var instance = part.instance; instance < end; instance++) {
        store(vertex, instance, skin(morphed(v, vertex, instance), instance));
    }
}
