// Arithmetic without memory traffic: keeps the device busy between frames, and shows its clock by the time that it takes.
// A round is a multiplication and an addition that depend on the round before.

// x: number of rounds; y: a result at which a thread writes, so that no result can be left out.
@group(0) @binding(0) var<uniform> rounds: vec4u;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var value = id.x;
    for (var round = 0u; round < rounds.x; round++) {
        value = value * 1664525u + 1013904223u;
    }
    if id.x == 0u || value == rounds.y {
        output[0] = value;
    }
}
