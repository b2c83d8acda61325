// Stage `sockets`, one thread per socket of an instance: the model pose of its joint, which is the joint's palette entry
// with the inverse bind matrix undone. The same computation as kernels/src/gameplay.rs.
//
// import chunk from numbers
// import WORKGROUP, thread_of from workgroup.wgsl
// import entry_of from palette

// A joint whose pose gameplay reads: the inverse of its inverse bind matrix, a row in each column, and its palette entry.
struct Socket {
    bind: mat3x4f,
    entry: u32,
    padding: array<u32, 3>,
}

@group(0) @binding(8) var<storage, read> joint_sockets: array<Socket>;
// [instance][socket][3 rows]
@group(0) @binding(9) var<storage, read_write> found: array<vec4f>;

fn row_of(row: vec4f, socket: Socket) -> vec4f {
    let bind = socket.bind;
    return row.x * bind[0] + row.y * bind[1] + row.z * bind[2] + vec4f(0.0, 0.0, 0.0, row.w);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of(group, groups, thread);
    let count = arrayLength(&joint_sockets);
    let instance = index / count;
    if instance >= chunk.instances {
        return;
    }
    let socket = joint_sockets[index - instance * count];
    let m = entry_of(instance, socket.entry);
    found[3u * index] = row_of(m.x, socket);
    found[3u * index + 1u] = row_of(m.y, socket);
    found[3u * index + 2u] = row_of(m.z, socket);
}
