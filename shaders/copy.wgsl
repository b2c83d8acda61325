// Copies a buffer as fast as the device can, one thread per 16 bytes, to measure its bandwidth. Workgroups in z copy it
// again.

@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let at = (group.y * groups.x + group.x) * 256u + thread;
    if at < arrayLength(&output) {
        output[at] = source[at];
    }
}
