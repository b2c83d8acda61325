// gpu-full, stage `palette`: a thread an entry of an instance.

// [entry]
@group(0) @binding(16) var<storage, read> entry_joints: array<u32>;
// [entry][3 rows]
@group(0) @binding(18) var<storage, read> inverse_binds: array<vec4f>;
// [instance][joint][3 rows]
@group(0) @binding(15) var<storage, read> model: array<vec4f>;
// [instance][entry][3 rows]
@group(0) @binding(17) var<storage, read_write> palettes: array<vec4f>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of(group, groups, thread);
    if index >= batch.instances * batch.entries {
        return;
    }
    let instance = index / batch.entries;
    let entry = index - instance * batch.entries;
    let joint = instance * batch.joints + entry_joints[entry];
    let bind = mat3x4f(inverse_binds[3u * entry], inverse_binds[3u * entry + 1u], inverse_binds[3u * entry + 2u]);
    for (var row = 0u; row < 3u; row++) {
        let m = model[3u * joint + row];
        palettes[3u * (batch.first_entry + index) + row] = bind * m.xyz + vec4f(0.0, 0.0, 0.0, m.w);
    }
}
