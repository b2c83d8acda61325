// Workgroups of compute kernels, and the numbering of their threads.

const WORKGROUP = 64u;

// The number of a thread among all threads of a dispatch in two dimensions.
fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
