// gpu-vat: vertices that are baked frame by frame, 16 bits per number. The vertex shader averages two frames of each
// layer.
//
// import FramePair from baked.wgsl
// import FLOATS, LAYERS, Skinned from chunk.wgsl
// import finished from transform.wgsl

// Origin and scales of the numbers.
struct VertexCube {
    centre: vec3f, // of the cube around all positions
    half: f32, // half the length of its edge
    longest: f32, // largest component of a normal or tangent
    padding: array<u32, 3>,
}

struct VertexFrames {
    cube: VertexCube,
    words: array<u32>, // [frame of a clip][vertex][pairs of numbers]
}

@group(0) @binding(4) var<storage, read> palettes: VertexFrames;
// [instance][layer]
@group(0) @binding(6) var<storage, read> frame_pairs: array<FramePair>;

// A pair of a vertex's numbers, averaged over the layers of an instance.
fn pair_of(vertex: u32, instance: u32, pair: u32) -> vec2f {
    let words = (FLOATS + 1u) / 2u;
    var sum = vec2f();
    for (var layer = 0u; layer < LAYERS; layer++) {
        let at = frame_pairs[LAYERS * instance + layer];
        let earlier = unpack2x16snorm(palettes.words[(at.first + vertex) * words + pair]);
        let later = unpack2x16snorm(palettes.words[(at.next + vertex) * words + pair]);
        sum += at.weight * mix(earlier, later, at.part);
    }
    return sum;
}

fn skinned_vertex(vertex: u32, instance: u32) -> Skinned {
    let xy = pair_of(vertex, instance, 0u);
    let z = pair_of(vertex, instance, 1u);
    let position = palettes.cube.centre + palettes.cube.half * vec3f(xy, z.x);
    var skinned = Skinned(position, vec3f(0.0), vec4f(0.0));
    if FLOATS >= 6u {
        let yz = pair_of(vertex, instance, 2u);
        skinned.normal = finished(palettes.cube.longest * vec3f(z.y, yz));
    }
    if FLOATS >= 10u {
        let tangent = pair_of(vertex, instance, 3u);
        let more = pair_of(vertex, instance, 4u);
        skinned.tangent = vec4f(finished(palettes.cube.longest * vec3f(tangent, more.x)), sign(more.y));
    }
    return skinned;
}
