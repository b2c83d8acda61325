// skinbench's skin_mesh_morphed. Generated: see README.md.
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
//# shaders/chunk.wgsl
// Declarations that every skinning kernel shares: the overrides, and the result of skinning.

struct Skinned {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
}

// Floats of a skinned vertex: 3 position, 6 and normal, 10 and tangent.
override FLOATS: u32 = 10;
// Treatment of normals: 0 unit, 1 raw, 2 exact (cofactors).
override NORMALS: u32 = 0;
// Most influences of a vertex of the model.
override INFLUENCES: u32 = 16;
// Baked frames that an instance blends; 1 unless clips are baked.
override LAYERS: u32 = 1;
//# shaders/rows.wgsl
// A 3x4 matrix.

struct Rows {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}
//# shaders/transform.wgsl
// The transformation of a vertex by a matrix, with the treatment of normals that the format asks for.

// Square of the length below which a normal or tangent shrinks to zero instead of having length 1: 2^-104.
const VANISHING = 4.9303807e-32;

fn finished(v: vec3f) -> vec3f {
    if NORMALS == 1u {
        return v;
    }
    return v * inverseSqrt(max(dot(v, v), VANISHING));
}

fn rotated(m: Rows, v: vec3f) -> vec3f {
    return vec3f(dot(m.x.xyz, v), dot(m.y.xyz, v), dot(m.z.xyz, v));
}

fn transformed(m: Rows, position: vec3f, normal: vec3f, tangent: vec4f) -> Skinned {
    let p = vec4f(position, 1.0);
    var skinned = Skinned(vec3f(dot(m.x, p), dot(m.y, p), dot(m.z, p)), vec3f(0.0), vec4f(0.0));
    if FLOATS >= 6u {
        if NORMALS == 2u {
            let cofactors = mat3x3f(cross(m.y.xyz, m.z.xyz), cross(m.z.xyz, m.x.xyz), cross(m.x.xyz, m.y.xyz));
            skinned.normal = finished(normal * cofactors);
        } else {
            skinned.normal = finished(rotated(m, normal));
        }
    }
    if FLOATS >= 10u {
        skinned.tangent = vec4f(finished(rotated(m, tangent.xyz)), tangent.w);
    }
    return skinned;
}
//# shaders/vertex.wgsl
// A vertex in registers, and the streams that all forms of meshes share: tangents, and influences after a vertex's fourth.

// Used for one instance or for several. Weights fall, so those that are 0 come last. `more` is the range of the influences
// after the fourth.
struct LoadedVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
    entries: vec4u,
    weights: vec4f,
    more: vec2u,
}

struct Influence {
    entry: u32,
    weight: f32,
}

// Influences after a vertex's fourth.
@group(0) @binding(2) var<storage, read> influences: array<Influence>;
// One tangent per vertex if FLOATS includes tangents; otherwise a single unused one.
@group(0) @binding(3) var<storage, read> tangents: array<vec4f>;

// Range of a vertex's influences after the fourth.
fn more_of(vertex: u32) -> vec2u {
    let before = min(vertex, chunk.sixteens);
    let first = chunk.mesh_influence + (before - min(before, chunk.eights)) * 4u + (vertex - before) * 12u;
    return vec2u(first, first + select(select(0u, 4u, vertex >= chunk.eights), 12u, vertex >= chunk.sixteens));
}

fn tangent_of(vertex: u32) -> vec4f {
    if FLOATS >= 10u {
        return tangents[chunk.mesh_vertex + vertex];
    }
    return vec4f(0.0);
}
//# shaders/palette_rows.wgsl
// A palette entry as three rows of four: 48 bytes.

// [instance][entry][3 rows]
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

fn entry_of(instance: u32, entry: u32) -> Rows {
    let row = (chunk.first_entry + instance * chunk.entries + entry) * 3u;
    return Rows(palettes[row], palettes[row + 1u], palettes[row + 2u]);
}
//# shaders/blend_linear.wgsl
// Linear blend skinning: v' = sum w_k * palette_k * v.

fn add(m: ptr<function, Rows>, weight: f32, entry: Rows) {
    (*m).x += weight * entry.x;
    (*m).y += weight * entry.y;
    (*m).z += weight * entry.z;
}

fn blended(vertex: LoadedVertex, instance: u32) -> Rows {
    let first = entry_of(instance, vertex.entries.x);
    let weights = vertex.weights;
    var m = Rows(weights.x * first.x, weights.x * first.y, weights.x * first.z);
    // Branches instead of a loop, which would compute what it reads of the vertex again for each instance. Neighbours have
    // equally many influences, and most have two.
    if weights.y > 0.0 {
        add(&m, weights.y, entry_of(instance, vertex.entries.y));
        if weights.z > 0.0 {
            add(&m, weights.z, entry_of(instance, vertex.entries.z));
            if weights.w > 0.0 {
                add(&m, weights.w, entry_of(instance, vertex.entries.w));
            }
        }
    }
    if INFLUENCES > 4u {
        for (var i = vertex.more.x; i < vertex.more.y; i++) {
            add(&m, influences[i].weight, entry_of(instance, influences[i].entry));
        }
    }
    return m;
}
//# shaders/skinning.wgsl
// Skinning: `skin` transforms a vertex with the matrix that its influences blend.

fn skin(vertex: LoadedVertex, instance: u32) -> Skinned {
    return transformed(blended(vertex, instance), vertex.position, vertex.normal, vertex.tangent);
}
//# shaders/workgroup.wgsl
// Workgroups of compute kernels, and the numbering of their threads.

const WORKGROUP = 64u;

// The number of a thread among all threads of a dispatch in two dimensions.
fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
//# shaders/mesh_plain.wgsl
// A mesh in full precision with 64 bytes per vertex.

struct Vertex {
    position: vec3f,
    padding: u32,
    normal: vec3f,
    more_padding: u32,
    entries: vec4u,
    weights: vec4f,
}

// Palette entries that a vertex can name.
const MESH_ENTRIES = 65536u;

// [vertex]
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;

fn load_vertex(index: u32) -> LoadedVertex {
    let v = vertices[chunk.mesh_vertex + index];
    return LoadedVertex(v.position, v.normal, tangent_of(index), v.entries, v.weights, more_of(index));
}
//# shaders/morph_by_vertex.wgsl
// The deltas of morph targets by vertex, and the weights of instances. gpu/src/forms/morph.rs writes both.

// Four to an element, the elements at which each vertex's deltas begin and those of the last one end; then what
// morph_sparse.wgsl describes.
@group(0) @binding(7) var<storage, read> morph_deltas: array<vec4u>;
// The number of targets, then [instance][target].
@group(0) @binding(8) var<storage, read> morph_weights: array<f32>;

fn first_delta(index: u32) -> u32 {
    return morph_deltas[index / 4u][index % 4u];
}
//# shaders/morph_sparse.wgsl
// Morph targets as the deltas of each vertex: a vertex reads those of the targets that move it, and nothing of the
// others.

// Elements of a delta: the position and the target, the normal if FLOATS includes normals, and the tangent likewise; all
// as bits.
fn morphed(vertex: LoadedVertex, index: u32, instance: u32) -> LoadedVertex {
    var morphed = vertex;
    let stride = select(select(3u, 2u, FLOATS < 10u), 1u, FLOATS < 6u);
    let weights = 1u + instance * u32(morph_weights[0]);
    let end = first_delta(index + 1u);
    for (var at = first_delta(index); at < end; at += stride) {
        let position = morph_deltas[at];
        let weight = morph_weights[weights + position.w];
        if weight != 0.0 {
            morphed.position += weight * bitcast<vec3f>(position.xyz);
            if FLOATS >= 6u {
                morphed.normal += weight * bitcast<vec3f>(morph_deltas[at + 1u].xyz);
            }
            if FLOATS >= 10u {
                morphed.tangent += vec4f(weight * bitcast<vec3f>(morph_deltas[at + 2u].xyz), 0.0);
            }
        }
    }
    return morphed;
}
//# shaders/elements_pairs.wgsl
// Elements of vertices of an even number of floats: pairs. On llvmpipe this makes a kernel a sixth faster.

alias Element = vec2f;
// Elements of a vertex, and the most of any.
override ELEMENTS = FLOATS / 2u;
const MOST_ELEMENTS = 5u;

fn elements_of(skinned: Skinned) -> array<vec2f, MOST_ELEMENTS> {
    let middle = vec2f(skinned.position.z, skinned.normal.x);
    return array(skinned.position.xy, middle, skinned.normal.yz, skinned.tangent.xy, skinned.tangent.zw);
}
//# shaders/store.wgsl
// Output of compute kernels: vertices one after the other.

// [instance][vertex][ELEMENTS]
@group(0) @binding(5) var<storage, read_write> output: array<Element>;

fn store(vertex: u32, instance: u32, skinned: Skinned) {
    let at = (chunk.first_vertex + instance * chunk.vertices + vertex) * ELEMENTS;
    let elements = elements_of(skinned);
    for (var k = 0u; k < ELEMENTS; k++) {
        output[at + k] = elements[k];
    }
}
//# shaders/gpu_compute_naive.wgsl
// gpu-compute:naive: one thread per vertex of each instance.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let pair = (group.y * groups.x + group.x) * WORKGROUP + thread;
    if pair >= chunk.vertices * chunk.instances {
        return;
    }
    let vertex = pair % chunk.vertices;
    let instance = pair / chunk.vertices;
    store(vertex, instance, skin(morphed(load_vertex(vertex), vertex, instance), instance));
}
