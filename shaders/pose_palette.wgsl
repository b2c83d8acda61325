// gpu-full, stage `palette`, one thread per palette entry of `AT_ONCE` neighbouring instances: multiplies model poses
// by inverse binds.
//
// import posed, places, thread_of_chunk from batch
// import affine from pose_rows.wgsl
// import Rows from rows.wgsl
// import WORKGROUP from workgroup.wgsl

override AT_ONCE: u32;
// Whether joints only rotate and translate: a model pose is then a rotation and a translation.
override RIGID: u32;

// [entry]
@group(0) @binding(16) var<storage, read> entry_joints: array<u32>;
// [entry][3 rows]
@group(0) @binding(18) var<storage, read> inverse_binds: array<vec4f>;
// [instance][joint][3 rows], or [rotation, translation] if RIGID
@group(0) @binding(15) var<storage, read> model: array<vec4f>;
// [instance][entry][3 rows]
@group(0) @binding(17) var<storage, read_write> palettes: array<vec4f>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of_chunk(group, groups, thread);
    let part = index / posed.entries;
    let entry = index - part * posed.entries;
    let first = part * AT_ONCE;
    let end = min(first + AT_ONCE, posed.instances);
    if first >= end {
        return;
    }
    let bound = places.first_bind + entry;
    let own = entry_joints[bound];
    let bind = mat3x4f(inverse_binds[3u * bound], inverse_binds[3u * bound + 1u], inverse_binds[3u * bound + 2u]);
    for (var instance = first; instance < end; instance++) {
        let joint = posed.first_joint + instance * posed.joints + own;
        let at = 3u * (posed.first_entry + instance * posed.entries + entry);
        let pose = model_of(joint);
        palettes[at] = row(pose.x, bind);
        palettes[at + 1u] = row(pose.y, bind);
        palettes[at + 2u] = row(pose.z, bind);
    }
}

fn model_of(joint: u32) -> Rows {
    if RIGID == 1u {
        return affine(model[2u * joint], model[2u * joint + 1u].xyz, vec3f(1.0));
    }
    return Rows(model[3u * joint], model[3u * joint + 1u], model[3u * joint + 2u]);
}

fn row(m: vec4f, bind: mat3x4f) -> vec4f {
    return bind * m.xyz + vec4f(0.0, 0.0, 0.0, m.w);
}
