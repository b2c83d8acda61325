// Linear blend skinning: v' = sum w_k * palette_k * v.
//
// import INFLUENCES from chunk.wgsl
// import Rows from rows.wgsl
// import LoadedVertex, influences from vertex.wgsl
// import entry_of from palette

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
