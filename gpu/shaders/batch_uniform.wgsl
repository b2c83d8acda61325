// The numbers of the only batch that a dispatch poses.
//
// import Batch, Places from pose_batch.wgsl
// import thread_of from workgroup.wgsl

@group(0) @binding(0) var<uniform> batch: Batch;

// It shares no buffers with other models.
const places = Places(0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);

// The number of a thread among those of its batch.
fn thread_of_batch(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return thread_of(group, groups, thread);
}
