// The numbers of all chunks of a batch, which a dispatch poses. Each workgroup chooses its chunk.
//
// import PosedChunk, Places from pose_chunk.wgsl
// import WORKGROUP from workgroup.wgsl

const MOST_CHUNKS = 128u;

struct PlacedChunk {
    posed: PosedChunk,
    places: Places,
}

// The part of a chunk that a workgroup poses.
struct ChunkPart {
    chunk: u32,
    workgroup: u32, // its number among those of its chunk
}

@group(0) @binding(0) var<uniform> placed: array<PlacedChunk, MOST_CHUNKS>;
@group(0) @binding(20) var<storage, read> parts: array<ChunkPart>;

var<private> posed: PosedChunk;
var<private> places: Places;

// Chooses the chunk, and returns the number of the thread among those of its chunk. The last row of workgroups may have
// some too many; their chunk is empty.
fn thread_of_chunk(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    let index = group.y * groups.x + group.x;
    if index >= arrayLength(&parts) {
        return 0u;
    }
    let part = parts[index];
    let chosen = placed[part.chunk];
    posed = chosen.posed;
    places = chosen.places;
    return part.workgroup * WORKGROUP + thread;
}
