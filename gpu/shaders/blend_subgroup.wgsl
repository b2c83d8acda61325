// Linear blend skinning, v' = sum w_k * palette_k * v, for a subgroup whose vertices belong to one instance. The subgroup
// takes one entry after the other that any of its vertices names. All threads read it from one address, which hardware
// with a scalar unit does once for all of them, and each thread adds it with its own weight, mostly 0. This takes fewer
// loads the fewer entries the vertices of a subgroup name.
//
// import INFLUENCES from chunk.wgsl
// import Rows from rows.wgsl
// import influences from vertex.wgsl
// import LoadedVertex, heaviest_weight, influence_entry, influence_weight from mesh
// import entry_of from palette

// Stands for an influence that is done, or has no weight.
const DONE = 0xffffffffu;

fn add(m: ptr<function, Rows>, weight: f32, entry: Rows) {
    (*m).x += weight * entry.x;
    (*m).y += weight * entry.y;
    (*m).z += weight * entry.z;
}

// The first thread of a ballot; there is one.
fn first_of(ballot: vec4u) -> u32 {
    let upper = select(96u + firstTrailingBit(ballot.w), 64u + firstTrailingBit(ballot.z), ballot.z != 0u);
    let lower = select(32u + firstTrailingBit(ballot.y), firstTrailingBit(ballot.x), ballot.x != 0u);
    return select(upper, lower, (ballot.x | ballot.y) != 0u);
}

fn blended(vertex: LoadedVertex, instance: u32) -> Rows {
    let others = vec3f(influence_weight(vertex, 1u), influence_weight(vertex, 2u), influence_weight(vertex, 3u));
    let weights = vec4f(heaviest_weight(vertex), others);
    let all_entries = vec4u(
        influence_entry(vertex, 0u),
        influence_entry(vertex, 1u),
        influence_entry(vertex, 2u),
        influence_entry(vertex, 3u),
    );
    var entries = select(vec4u(DONE), all_entries, weights > vec4f(0.0));
    var m = Rows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
    loop {
        let own = min(min(entries.x, entries.y), min(entries.z, entries.w));
        let waiting = subgroupBallot(own != DONE);
        if all(waiting == vec4u(0u)) {
            break;
        }
        let entry = subgroupShuffle(own, first_of(waiting));
        let here = entries == vec4u(entry);
        let upper = select(select(0.0, weights.w, here.w), weights.z, here.z);
        let weight = select(select(upper, weights.y, here.y), weights.x, here.x);
        add(&m, weight, entry_of(instance, entry));
        // One influence at a time: a vertex may name an entry twice.
        let later = here & vec4<bool>(false, here.x, here.x | here.y, here.x | here.y | here.z);
        entries = select(entries, vec4u(DONE), here & !later);
    }
    if INFLUENCES > 4u {
        for (var i = vertex.more.x; i < vertex.more.y; i++) {
            add(&m, influences[i].weight, entry_of(instance, influences[i].entry));
        }
    }
    return m;
}
