// The numbers of the only chunk that a dispatch or a draw handles.
//
// import Chunk from chunk_numbers.wgsl

// Numbers of the instances and of their mesh.
@group(0) @binding(0) var<uniform> chunk: Chunk;
