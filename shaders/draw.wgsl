// Draws a chunk of the crowd in plain colours with simple lighting.
//
// import lit, place, view from draw_view.wgsl
// import skinned_vertex from source

// Linear RGBA with 8 bits each, one per vertex.
@group(1) @binding(1) var<storage, read> colors: array<u32>;

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) color: vec3f,
    @location(2) world: vec3f,
}

fn drawn(index: u32, instance: u32) -> Fragment {
    let skinned = skinned_vertex(index, instance);
    let world = place(instance, vec4f(skinned.position, 1.0));
    let normal = place(instance, vec4f(skinned.normal, 0.0));
    return Fragment(view.view_projection * vec4f(world, 1.0), normal, unpack4x8unorm(colors[index]).rgb, world);
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Fragment {
    return drawn(index, instance);
}

// For passes without colours: nothing but the position is read.
@vertex
fn vertex_depth(
    @builtin(vertex_index) index: u32,
    @builtin(instance_index) instance: u32,
) -> @builtin(position) vec4f {
    return view.view_projection * vec4f(place(instance, vec4f(skinned_vertex(index, instance).position, 1.0)), 1.0);
}

fn shaded(in: Fragment) -> vec4f {
    return lit(in.color, in.normal, in.world);
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    return shaded(in);
}
