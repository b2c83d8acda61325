// Draws a chunk of the crowd for a picture that is not timed: textures, and a tint for each instance.
//
// import crowd_instance from drawn
// import lit, place, placements, view from draw_view.wgsl
// import skinned_vertex from source

// A vertex of a surface.
struct Surface {
    color: u32, // linear RGB with 8 bits each; above them the alpha below which a texel is left out
    layer: u32, // 0 for no texture, or layer + 1; from bit 16 on, wrapping across and down: 0 repeat, 1 mirror, 2 clamp
    uv: vec2f,
}

override TINTED: bool;

@group(1) @binding(1) var<storage, read> surfaces: array<Surface>;
@group(1) @binding(3) var layers: texture_2d_array<f32>;
@group(1) @binding(4) var repeating: sampler;

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) color: vec3f,
    @location(2) world: vec3f,
    @location(3) uv: vec2f,
    @location(4) @interpolate(flat) layer: u32,
    @location(5) @interpolate(flat) cutoff: f32,
}

fn hash(v: u32) -> u32 {
    // PCG output function (O'Neill 2014), as in Jarzynski and Olano, "Hash Functions for GPU Rendering" (2020).
    let state = v * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

// A colour with another hue by a hash of where the instance stands, so that a crowd is not clones. The place, unlike the
// index, does not change when other instances are left out.
fn tinted(color: vec3f, instance: u32, surface: Surface) -> vec3f {
    let row = crowd_instance(instance) * 3u;
    let seed = bitcast<u32>(placements[row].w) ^ hash(bitcast<u32>(placements[row + 2u].w));
    // Shirt and trousers of one instance differ, too.
    let bits = hash(seed ^ hash(surface.color));
    let hue = 6.2831853 * f32(bits & 0xffffu) / 65536.0;
    let light = 0.75 + 0.5 * f32(bits >> 16u) / 65536.0;
    // Three cosines a third of a turn apart.
    let tint = 0.6 + 0.4 * cos(hue - vec3f(0.0, 2.0943951, 4.1887902));
    if surface.layer != 0u {
        // A texture has colours of its own to keep.
        return color * mix(vec3f(1.0), tint * 1.5, 0.15) * mix(1.0, light, 0.5);
    }
    let luminance = vec3f(0.2126, 0.7152, 0.0722);
    let dyed = tint * (dot(color, luminance) / dot(tint, luminance));
    // Skin, leather and wood stay as they are: red outweighs blue in them.
    let warm = clamp(2.0 * (color.r - color.b) / max(color.r, 1e-3), 0.0, 1.0);
    return mix(mix(color, dyed, 0.55) * light, color, warm);
}

@vertex
fn vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Fragment {
    let skinned = skinned_vertex(index, instance);
    let surface = surfaces[index];
    let world = place(instance, vec4f(skinned.position, 1.0));
    let normal = place(instance, vec4f(skinned.normal, 0.0));
    let rgba = unpack4x8unorm(surface.color);
    var color = rgba.rgb;
    if TINTED {
        color = tinted(color, instance, surface);
    }
    let clip = view.view_projection * vec4f(world, 1.0);
    return Fragment(clip, normal, color, world, surface.uv, surface.layer, rgba.a);
}

// A coordinate inside the image. `edge` is half a texel: beyond it, filtering would mix in the opposite edge.
fn wrapped(at: f32, mode: u32, edge: f32) -> f32 {
    switch mode {
        case 1u: {
            return clamp(1.0 - abs(1.0 - (at - 2.0 * floor(0.5 * at))), edge, 1.0 - edge);
        }
        case 2u: {
            return clamp(at, edge, 1.0 - edge);
        }
        default: {
            return at;
        }
    }
}

fn surface_color(in: Fragment) -> vec4f {
    let across = dpdx(in.uv);
    let down = dpdy(in.uv);
    let layer = in.layer & 0xffffu;
    if layer == 0u {
        return vec4f(in.color, 1.0);
    }
    let edge = 0.5 / vec2f(textureDimensions(layers));
    let u = wrapped(in.uv.x, (in.layer >> 16u) & 3u, edge.x);
    let v = wrapped(in.uv.y, (in.layer >> 18u) & 3u, edge.y);
    let texel = textureSampleGrad(layers, repeating, vec2f(u, v), layer - 1u, across, down);
    return vec4f(in.color * texel.rgb, texel.a);
}

fn shaded(in: Fragment) -> vec4f {
    let color = surface_color(in);
    let shade = lit(color.rgb, in.normal, in.world);
    if color.a < in.cutoff {
        discard;
    }
    return shade;
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
