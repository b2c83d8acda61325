// Linear blend skinning: v' = sum w_k * palette_k * v.
//
// import INFLUENCES from chunk.wgsl
// import Rows from rows.wgsl
// import influences from vertex.wgsl
// import LoadedVertex, heaviest_of, influence_of from mesh
// import entry_of from palette

fn add(m: ptr<function, Rows>, weight: f32, entry: Rows) {
    (*m).x += weight * entry.x;
    (*m).y += weight * entry.y;
    (*m).z += weight * entry.z;
}

fn blended(vertex: LoadedVertex, instance: u32) -> Rows {
    let heaviest = heaviest_of(vertex);
    let first = entry_of(instance, heaviest.entry);
    var m = Rows(heaviest.weight * first.x, heaviest.weight * first.y, heaviest.weight * first.z);
    // A loop instead of four unrolled terms: neighbours have equally many influences, and most have two.
    for (var k = 1u; k < vertex.count; k++) {
        let influence = influence_of(vertex, k);
        add(&m, influence.weight, entry_of(instance, influence.entry));
    }
    if INFLUENCES > 4u {
        for (var i = vertex.more.x; i < vertex.more.y; i++) {
            add(&m, influences[i].weight, entry_of(instance, influences[i].entry));
        }
    }
    return m;
}
