// The numbers of all chunks that a dispatch handles. Their meshes, palettes and vertices lie in shared buffers. Each
// workgroup chooses its chunk.
//
// import Chunk from chunk.wgsl

struct MergedChunk {
    numbers: Chunk,
    vertex: u32, // index of its model's first vertex, in the meshes
    influence: u32, // of its model's first influence after the fourth of a vertex
    entry: u32, // of its first palette entry
    place: u32, // of its first skinned vertex
}

// What a workgroup skins: one load. A search among the first workgroups of all chunks would take as many loads as their
// number has bits, each of which waits for the one before.
struct Workgroup {
    chunk: u32,
    vertex: u32, // first of WORKGROUP
    instance: u32, // first of INSTANCES, relative to the chunk
}

@group(0) @binding(0) var<storage, read> chunks: array<MergedChunk>;
@group(0) @binding(6) var<storage, read> workgroups: array<Workgroup>;

var<private> merged: MergedChunk;
var<private> chunk: Chunk;

fn choose_chunk(index: u32) {
    merged = chunks[index];
    chunk = merged.numbers;
}

fn stored_vertex(vertex: u32) -> u32 {
    return merged.vertex + vertex;
}

fn first_influence() -> u32 {
    return merged.influence;
}

fn first_entry(instance: u32) -> u32 {
    return merged.entry + instance * chunk.entries;
}

fn stored_place(vertex: u32, instance: u32) -> u32 {
    return merged.place + instance * chunk.vertices + vertex;
}
