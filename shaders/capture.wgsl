// Writes skinned vertices to texels, one point per vertex, so that they can be verified.
//
// import chunk from numbers
// import skinned_vertex from source

struct Capture {
    first: u32, // instance of the first texel, relative to the chunk
    width: u32,
    height: u32,
    padding: u32,
}

@group(1) @binding(0) var<uniform> capture: Capture;

struct Point {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) position: vec3f,
    @location(1) @interpolate(flat) normal: vec3f,
    @location(2) @interpolate(flat) tangent: vec4f,
}

// Two targets reach the 32 bytes per sample that every adapter supports, so tangents take a second pass.
struct Texels {
    @location(0) first: vec4f,
    @location(1) second: vec4f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Point {
    let skinned = skinned_vertex(index, instance);
    let texel = (instance - capture.first) * chunk.vertices + index;
    let center = vec2f(f32(texel % capture.width) + 0.5, f32(texel / capture.width) + 0.5);
    let ndc = center / vec2f(f32(capture.width), f32(capture.height)) * 2.0 - 1.0;
    return Point(vec4f(ndc.x, -ndc.y, 0.5, 1.0), skinned.position, skinned.normal, skinned.tangent);
}

@fragment
fn position_and_normal(in: Point) -> Texels {
    return Texels(vec4f(in.position, 1.0), vec4f(in.normal, 1.0));
}

@fragment
fn tangent(in: Point) -> Texels {
    return Texels(in.tangent, in.tangent);
}
