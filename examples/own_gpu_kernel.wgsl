// linked-lists: one workgroup per instance and batch of `VERTICES` vertices. Each vertex follows its own list of
// influences through those of its batch.
//
// import FLOATS from chunk.wgsl
// import chunk from numbers
// import Rows from rows.wgsl
// import entry_of from palette
// import transformed from transform.wgsl
// import store from output

override VERTICES: u32;

// Threads that share a batch: as many as every adapter allows.
const THREADS = 256u;

// An influence, whose weight has the sign bit if it is the last of its vertex; or the head of a batch.
struct Link {
    weight: f32,
    // Of an influence: links between this one and the vertex's next (10 bits), 7 unused bits, palette entry (15 bits).
    // Of a head: links from here to the next head.
    next: u32,
}

struct BoundVertex {
    position: array<f32, 3>,
    normal: array<f32, 3>,
}

@group(0) @binding(1) var<storage, read> vertices: array<BoundVertex>;
@group(0) @binding(2) var<storage, read> influences: array<Link>;
@group(0) @binding(3) var<storage, read> tangents: array<vec4f>;

fn blended(first: u32, instance: u32) -> Rows {
    var m = Rows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
    var at = first;
    loop {
        let link = influences[at];
        let weight = abs(link.weight);
        let entry = entry_of(instance, link.next & 0x7fffu);
        m.x += weight * entry.x;
        m.y += weight * entry.y;
        m.z += weight * entry.z;
        // The bit instead of a comparison: a last weight of zero is -0.
        if (bitcast<u32>(link.weight) >> 31u) == 1u {
            break;
        }
        at += (link.next >> 22u) + 1u;
    }
    return m;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let instance = group.y;
    let batch = group.z * groups.x + group.x;
    let first = batch * VERTICES;
    if first >= chunk.vertices {
        return;
    }
    var head = 0u;
    for (var passed = 0u; passed < batch; passed++) {
        head += influences[head].next;
    }
    let end = min(first + VERTICES, chunk.vertices);
    for (var vertex = first + thread; vertex < end; vertex += THREADS) {
        let bound = vertices[vertex];
        let position = vec3f(bound.position[0], bound.position[1], bound.position[2]);
        let normal = vec3f(bound.normal[0], bound.normal[1], bound.normal[2]);
        var tangent = vec4f(0.0);
        if FLOATS >= 10u {
            tangent = tangents[vertex];
        }
        // The first round of influences has one of each vertex, in their order.
        let matrix = blended(head + 1u + vertex - first, instance);
        store(vertex, instance, transformed(matrix, position, normal, tangent));
    }
}
