// The numbers of all batches that a dispatch poses, which are those of several models. Each workgroup chooses its batch.
//
// import Batch, Places from pose_batch.wgsl
// import WORKGROUP from workgroup.wgsl

const MOST_BATCHES = 128u;

struct PlacedBatch {
    batch: Batch,
    places: Places,
}

// The part of a batch that a workgroup poses.
struct BatchPart {
    batch: u32,
    workgroup: u32, // its number among those of its batch
}

@group(0) @binding(0) var<uniform> batches: array<PlacedBatch, MOST_BATCHES>;
@group(0) @binding(20) var<storage, read> parts: array<BatchPart>;

var<private> batch: Batch;
var<private> places: Places;

// Chooses the batch, and returns the number of the thread among those of its batch. The last row of workgroups may have
// some too many; their batch is empty.
fn thread_of_batch(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    let index = group.y * groups.x + group.x;
    if index >= arrayLength(&parts) {
        return 0u;
    }
    let part = parts[index];
    let chosen = batches[part.batch];
    batch = chosen.batch;
    places = chosen.places;
    return part.workgroup * WORKGROUP + thread;
}
