// gpu-compute:staged: as gpu-compute:instances, but a workgroup collects its vertices of an instance in its memory, from
// which neighbouring threads write neighbouring elements.
//
// import chunk from numbers
// import skin from skinning.wgsl
// import load_vertex from mesh
// import morphed from morph
// import ELEMENTS, Element, MOST_ELEMENTS, elements_of from elements
// import output from store.wgsl

override INSTANCES: u32;

// As many threads as run together, which do not wait at barriers.
const WORKGROUP = 32u;
const TILE = WORKGROUP * MOST_ELEMENTS;

// Two sides take turns, so that one barrier per instance is enough.
var<workgroup> tile: array<Element, 2u * TILE>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let begin = (group.z * groups.x + group.x) * WORKGROUP;
    if begin >= chunk.vertices {
        return;
    }
    // All threads take part in the writing, also those beyond the last vertex.
    let vertex = min(begin + thread, chunk.vertices - 1u);
    let elements = min(WORKGROUP, chunk.vertices - begin) * ELEMENTS;
    let v = load_vertex(vertex);
    let first = group.y * INSTANCES;
    let end = min(first + INSTANCES, chunk.instances);
    for (var instance = first; instance < end; instance++) {
        let side = (instance & 1u) * TILE;
        let of_vertex = elements_of(skin(morphed(v, vertex, instance), instance));
        for (var k = 0u; k < ELEMENTS; k++) {
            tile[side + thread * ELEMENTS + k] = of_vertex[k];
        }
        workgroupBarrier();
        let to = (chunk.first_vertex + instance * chunk.vertices + begin) * ELEMENTS;
        for (var k = 0u; k < ELEMENTS; k++) {
            let at = thread + k * WORKGROUP;
            if at < elements {
                output[to + at] = tile[side + at];
            }
        }
    }
}
