// Reads a buffer as fast as the device can, four times 16 bytes per thread, to measure its bandwidth. Workgroups in z read
// it again.

@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let at = (group.y * groups.x + group.x) * 1024u + thread;
    if at + 768u >= arrayLength(&source) {
        return;
    }
    let sum = (source[at] + source[at + 256u]) + (source[at + 512u] + source[at + 768u]);
    // The buffer has no such numbers, but the compiler does not know.
    if all(sum == vec4f(1.0, 2.0, 3.0, 4.0)) {
        output[0] = sum;
    }
}
