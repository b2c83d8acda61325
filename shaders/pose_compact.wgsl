// Sampling of compact clips: the same algorithm as kernels/src/pose/sample_compact.rs, on the same 16-bit numbers.
//
// import Cursor from pose.wgsl
// import angle_between, slerp from pose_curves.wgsl
// import Track, value_of, word, words from pose_keys.wgsl

// Marks rotation tracks whose keys each choose the component that they leave out.
const ANY = 4u;

fn number(index: u32) -> u32 {
    return extractBits(words[index >> 1u], 16u * (index & 1u), 16u);
}

// A track's three numbers in the frame that begins at `frame`.
fn numbers_of(track: Track, frame: u32) -> vec3u {
    let at = frame + 3u * value_of(track);
    return vec3u(number(at), number(at + 1u), number(at + 2u));
}

fn components(track: Track, numbers: vec3u) -> vec3f {
    let at = track.angle;
    let low = vec3f(word(at), word(at + 1u), word(at + 2u));
    return low + vec3f(numbers) * vec3f(word(at + 3u), word(at + 4u), word(at + 5u));
}

fn quaternion(track: Track, numbers: vec3u) -> vec4f {
    var dropped = words[track.angle + 6u];
    var kept = numbers;
    if dropped == ANY {
        dropped = (numbers.x >> 15u) | ((numbers.y >> 15u) << 1u);
        kept &= vec3u(0x7fffu);
    }
    let v = components(track, kept);
    let largest = sqrt(max(1.0 - dot(v, v), 0.0));
    let low = select(vec2f(v.x, v.y), vec2f(v.x, largest), dropped == 1u);
    let without_first = vec4f(low, select(v.y, largest, dropped == 2u), v.z);
    return select(select(without_first, vec4f(v, largest), dropped == 3u), vec4f(largest, v), dropped == 0u);
}

fn turned_packed(track: Track, cursor: Cursor) -> vec4f {
    let a = quaternion(track, numbers_of(track, cursor.key));
    var b = quaternion(track, numbers_of(track, cursor.next));
    b = select(b, -b, dot(a, b) < 0.0);
    return slerp(a, b, angle_between(a, b), cursor.fraction);
}

fn moved_packed(track: Track, cursor: Cursor) -> vec4f {
    let a = components(track, numbers_of(track, cursor.key));
    let b = components(track, numbers_of(track, cursor.next));
    return vec4f(mix(a, b, cursor.fraction), 0.0);
}
