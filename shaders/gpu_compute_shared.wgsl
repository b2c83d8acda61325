// gpu-compute:shared: one workgroup per instance and `VERTICES` neighbouring vertices. It first copies the instance's
// palette to workgroup memory.
//
// import chunk from numbers
// import ROWS, near, palettes from palette_workgroup.wgsl
// import skin from skinning.wgsl
// import load_vertex from mesh
// import morphed from morph
// import store from output

override VERTICES: u32;

// As many threads as every adapter allows share a palette: workgroups of 64 would fill workgroup memory with a quarter of
// the waves that registers have room for.
const SHARING = 256u;

@compute @workgroup_size(SHARING)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = group.y;
    for (var row = thread; row < min(chunk.entries * 3u, ROWS); row += SHARING) {
        near[row] = palettes[(chunk.first_entry + instance * chunk.entries) * 3u + row];
    }
    workgroupBarrier();
    let first = (group.z * groups.x + group.x) * VERTICES;
    let end = min(first + VERTICES, chunk.vertices);
    for (var vertex = first + thread; vertex < end; vertex += SHARING) {
        store(vertex, instance, skin(morphed(load_vertex(vertex), vertex, instance), instance));
    }
}
