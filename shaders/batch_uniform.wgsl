// The numbers of the only chunk that a dispatch poses.
//
// import PosedChunk, Places from pose_chunk.wgsl
// import thread_of from workgroup.wgsl

// Numbers of the instances and of their skeleton.
@group(0) @binding(0) var<uniform> posed: PosedChunk;

// It shares no buffers with other models.
const places = Places(0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);

// The number of a thread among those of its chunk.
fn thread_of_chunk(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return thread_of(group, groups, thread);
}
