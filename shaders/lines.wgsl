// Draws skeletons as coloured lines in world space.
//
// import View from view.wgsl

@group(0) @binding(0) var<uniform> view: View;

struct Line {
    @builtin(position) clip: vec4f,
    @location(0) color: vec4f,
}

@vertex
fn vertex(@location(0) position: vec3f, @location(1) color: vec4f) -> Line {
    return Line(view.view_projection * vec4f(position, 1.0), color);
}

@fragment
fn fragment(in: Line) -> @location(0) vec4f {
    return in.color;
}
