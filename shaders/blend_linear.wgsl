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
    let largest = entry_of(instance, vertex.entries.x);
    let weight = vertex.weights.x;
    var m = Rows(weight * largest.x, weight * largest.y, weight * largest.z);
    // A loop instead of four unrolled terms: neighbours have equally many influences, and most have two.
    for (var k = 1u; k < vertex.count; k++) {
        add(&m, vertex.weights[k], entry_of(instance, vertex.entries[k]));
    }
    if INFLUENCES > 4u {
        for (var i = vertex.more.x; i < vertex.more.y; i++) {
            add(&m, influences[i].weight, entry_of(instance, influences[i].entry));
        }
    }
    return m;
}
