// Camera, light and placements: what every drawing of a chunk starts from.
//
// import FLOATS from chunk.wgsl
// import crowd_instance from drawn
// import View from view.wgsl

// Camera and light.
@group(1) @binding(0) var<uniform> view: View;
// Model to world: [instance of the crowd][3 rows]
@group(1) @binding(2) var<storage, read> placements: array<vec4f>;

fn place(instance: u32, v: vec4f) -> vec3f {
    let row = crowd_instance(instance) * 3u;
    return vec3f(dot(placements[row], v), dot(placements[row + 1u], v), dot(placements[row + 2u], v));
}

fn lit(color: vec3f, interpolated: vec3f, world: vec3f) -> vec4f {
    var normal = normalize(interpolated);
    if FLOATS < 6u {
        // Without normals the triangle's own is used, flipped upwards because its side is not known.
        normal = normalize(cross(dpdx(world), dpdy(world)));
        normal *= select(-1.0, 1.0, dot(normal, view.light) > 0.0);
    }
    let sun = max(dot(normal, view.light), 0.0);
    let sky = 0.5 + 0.5 * normal.y;
    return vec4f(color * (0.18 + 0.3 * sky + 0.75 * sun), 1.0);
}
