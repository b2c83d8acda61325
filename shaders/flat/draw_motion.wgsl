// skinbench's draw_motion. Generated: see README.md.
//# shaders/chunk.wgsl
// Declarations that every skinning kernel shares: the overrides, and the result of skinning.

struct Skinned {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
}

// Floats of a skinned vertex: 3 position, 6 and normal, 10 and tangent.
override FLOATS: u32 = 6;
// Treatment of normals: 0 unit, 1 raw, 2 exact (cofactors).
override NORMALS: u32 = 0;
// Most influences of a vertex of the model.
override INFLUENCES: u32 = 4;
// Baked frames that an instance blends; 1 unless clips are baked.
override LAYERS: u32 = 1;
//# shaders/chunk_numbers.wgsl
// The numbers of a chunk.

struct Chunk {
    first_instance: u32, // index in the crowd, or among all instances in view
    instances: u32,
    vertices: u32, // per instance
    entries: u32, // palette entries per instance
    origin: vec3f, // position of step 0 of packed positions
    eights: u32, // first vertex with eight influences instead of up to four
    step: vec3f, // length of one step of a packed position
    sixteens: u32, // first vertex with sixteen influences
    centre: vec3f, // of the cube that packed output is relative to
    half: f32, // half the length of its edge
    // Where the chunk begins in buffers that it shares with other models.
    first_vertex: u32, // among skinned vertices
    first_entry: u32, // among palette entries
    mesh_vertex: u32, // among vertices of meshes
    mesh_influence: u32, // among influences after the fourth of a vertex
}
//# shaders/numbers_uniform.wgsl
// The numbers of the only chunk that a dispatch or a draw handles.

// Numbers of the instances and of their mesh.
@group(0) @binding(0) var<uniform> chunk: Chunk;
//# shaders/drawn_chunk.wgsl
// A draw of the instances of one chunk, counted from the chunk's first one.

// Index in the crowd of a drawn instance.
fn crowd_instance(instance: u32) -> u32 {
    return chunk.first_instance + instance;
}

// Index of a drawn vertex among the skinned ones.
fn skinned_place(vertex: u32, instance: u32) -> u32 {
    return chunk.first_vertex + instance * chunk.vertices + vertex;
}

// Centre, and half the length of the edges, of the cube that packed vertices of an instance are relative to.
fn cube_of(instance: u32) -> vec4f {
    return vec4f(chunk.centre, chunk.half);
}
//# shaders/view.wgsl
// Camera and light of a picture.

struct View {
    view_projection: mat4x4f,
    light: vec3f, // direction towards it, world space
    padding: f32,
}
//# shaders/draw_view.wgsl
// Camera, light and placements: what every drawing of a chunk starts from.

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
//# shaders/preskinned.wgsl
// Vertices that a compute kernel or an upload left in the output buffers. Drawing needs no tangents.

// [instance][vertex][FLOATS]
@group(0) @binding(1) var<storage, read> vertices: array<f32>;

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    let at = skinned_place(vertex, instance) * FLOATS;
    var normal = vec3f(0.0);
    if FLOATS >= 6u {
        normal = vec3f(vertices[at + 3u], vertices[at + 4u], vertices[at + 5u]);
    }
    return Skinned(vec3f(vertices[at], vertices[at + 1u], vertices[at + 2u]), normal, vec4f(0.0));
}
//# shaders/draw.wgsl
// Draws a chunk of the crowd in plain colours with simple lighting.

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
//# shaders/previous.wgsl
// Positions of vertices in the last frame.

// [instance][vertex][FLOATS]
@group(0) @binding(2) var<storage, read> previous: array<f32>;

fn previous_position(vertex: u32, instance: u32) -> vec3f {
    let at = skinned_place(vertex, instance) * FLOATS;
    return vec3f(previous[at], previous[at + 1u], previous[at + 2u]);
}
//# shaders/draw_motion.wgsl
// Draws colours and, for each pixel, its motion since the last frame.

struct MovingFragment {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) color: vec3f,
    @location(2) world: vec3f,
    @location(3) now: vec3f, // clip space x, y, w
    @location(4) before: vec3f,
}

struct ColorAndMotion {
    @location(0) color: vec4f,
    @location(1) motion: vec2f,
}

@vertex
fn vertex_motion(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> MovingFragment {
    let f = drawn(index, instance);
    let world = place(instance, vec4f(previous_position(index, instance), 1.0));
    let before = view.view_projection * vec4f(world, 1.0);
    return MovingFragment(f.clip, f.normal, f.color, f.world, f.clip.xyw, before.xyw);
}

@fragment
fn fragment_motion(in: MovingFragment) -> ColorAndMotion {
    let motion = in.now.xy / in.now.z - in.before.xy / in.before.z;
    return ColorAndMotion(shaded(Fragment(in.clip, in.normal, in.color, in.world)), motion);
}
