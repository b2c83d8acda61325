// The numbers of all chunks that a dispatch handles. Each workgroup chooses its chunk.
//
// import Chunk from chunk_numbers.wgsl

// What a workgroup skins: one load. A search among the first workgroups of all chunks would take as many loads as their
// number has bits, each of which waits for the one before.
struct Workgroup {
    chunk: u32,
    vertex: u32, // first of WORKGROUP
    instance: u32, // first of INSTANCES, relative to the chunk
}

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(6) var<storage, read> workgroups: array<Workgroup>;

var<private> chunk: Chunk;

fn choose_chunk(index: u32) {
    chunk = chunks[index];
}
