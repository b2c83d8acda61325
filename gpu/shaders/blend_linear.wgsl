// Linear blend skinning: v' = sum w_k * palette_k * v.
//
// import INFLUENCES from chunk.wgsl
// import Rows from rows.wgsl
// import influences from vertex.wgsl
// import LoadedVertex, heaviest_weight, influence_entry, influence_weight from mesh
// import entry_of from palette

fn add(m: ptr<function, Rows>, weight: f32, entry: Rows) {
    (*m).x += weight * entry.x;
    (*m).y += weight * entry.y;
    (*m).z += weight * entry.z;
}

fn blended(vertex: LoadedVertex, instance: u32) -> Rows {
    let first = entry_of(instance, influence_entry(vertex, 0u));
    let weight = heaviest_weight(vertex);
    var m = Rows(weight * first.x, weight * first.y, weight * first.z);
    // A loop instead of four unrolled terms: neighbours have equally many influences, and most have two.
    for (var k = 1u; k < vertex.count; k++) {
        add(&m, influence_weight(vertex, k), entry_of(instance, influence_entry(vertex, k)));
    }
    if INFLUENCES > 4u {
        for (var i = vertex.more.x; i < vertex.more.y; i++) {
            add(&m, influences[i].weight, entry_of(instance, influences[i].entry));
        }
    }
    return m;
}
