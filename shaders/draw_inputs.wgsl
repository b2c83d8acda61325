// Buffers of group 1 that drawing reads, besides the source of its vertices.
//
// import View from view.wgsl

@group(1) @binding(0) var<uniform> view: View;
// Linear RGBA with 8 bits each, one per vertex.
@group(1) @binding(1) var<storage, read> colors: array<u32>;
// Model to world: [instance of the crowd][3 rows]
@group(1) @binding(2) var<storage, read> placements: array<vec4f>;
