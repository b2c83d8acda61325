// Draws a chunk of the crowd with simple lighting.
//
// import FLOATS, chunk from chunk.wgsl
// import placements, view from draw_inputs.wgsl
// import base_color from color
// import skinned_vertex from source

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) color: vec3f,
    @location(2) world: vec3f,
}

fn place(instance: u32, v: vec4f) -> vec3f {
    let row = (chunk.first_instance + instance) * 3u;
    return vec3f(dot(placements[row], v), dot(placements[row + 1u], v), dot(placements[row + 2u], v));
}

fn drawn(index: u32, instance: u32) -> Fragment {
    let skinned = skinned_vertex(index, instance);
    let world = place(instance, vec4f(skinned.position, 1.0));
    let normal = place(instance, vec4f(skinned.normal, 0.0));
    return Fragment(view.view_projection * vec4f(world, 1.0), normal, base_color(index, instance), world);
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Fragment {
    return drawn(index, instance);
}

fn shaded(in: Fragment) -> vec4f {
    var normal = normalize(in.normal);
    if FLOATS < 6u {
        // Without normals the triangle's own is used, flipped upwards because its side is not known.
        normal = normalize(cross(dpdx(in.world), dpdy(in.world)));
        normal *= select(-1.0, 1.0, dot(normal, view.light) > 0.0);
    }
    let sun = max(dot(normal, view.light), 0.0);
    let sky = 0.5 + 0.5 * normal.y;
    return vec4f(in.color * (0.18 + 0.3 * sky + 0.75 * sun), 1.0);
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    return shaded(in);
}

// Edges over lit triangles.
@fragment
fn fragment_edge(in: Fragment) -> @location(0) vec4f {
    return vec4f(0.25 * shaded(in).rgb, 1.0);
}
