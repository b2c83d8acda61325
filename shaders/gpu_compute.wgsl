// gpu-compute: a thread holds one vertex and skins it for several instances, so that the mesh is read once for all.

const INSTANCES_PER_THREAD = 8u;

// [instance][vertex][FLOATS]
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= chunk.vertices {
        return;
    }
    let vertex = vertices[id.x];
    let first = id.y * INSTANCES_PER_THREAD;
    let end = min(first + INSTANCES_PER_THREAD, chunk.instances);
    for (var instance = first; instance < end; instance++) {
        let skinned = skin(id.x, vertex, instance);
        let at = (instance * chunk.vertices + id.x) * FLOATS;
        output[at] = skinned.position.x;
        output[at + 1u] = skinned.position.y;
        output[at + 2u] = skinned.position.z;
        if FLOATS >= 6u {
            output[at + 3u] = skinned.normal.x;
            output[at + 4u] = skinned.normal.y;
            output[at + 5u] = skinned.normal.z;
        }
        if FLOATS >= 10u {
            output[at + 6u] = skinned.tangent.x;
            output[at + 7u] = skinned.tangent.y;
            output[at + 8u] = skinned.tangent.z;
            output[at + 9u] = skinned.tangent.w;
        }
    }
}
