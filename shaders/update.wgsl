// Stage `update`, one thread per word: writes changed records over the old ones.
//
// import WORKGROUP, thread_of from workgroup.wgsl

// Words of a record.
override WORDS: u32;

// The number of changes; then for each of them the index of its record, and the record.
@group(0) @binding(0) var<storage, read> changes: array<u32>;
@group(0) @binding(1) var<storage, read_write> records: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of(group, groups, thread);
    let change = index / WORDS;
    if change >= changes[0] {
        return;
    }
    let word = index - change * WORDS;
    let at = 1u + change * (1u + WORDS);
    records[changes[at] * WORDS + word] = changes[at + 1u + word];
}
