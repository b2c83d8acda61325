// Sampling of compact clips: the same algorithm as kernels/src/pose/sample_compact.rs, on the same numbers.
//
// import Cursor from pose.wgsl
// import angle_between, slerp from pose_curves.wgsl
// import Track, value_of, word, words from pose_keys.wgsl

// Marks rotation tracks whose keys each choose the component that they leave out.
const ANY = 4u;

// How a track is stored.
struct Coding {
    low: vec3f,
    step: vec3f,
    dropped: u32, // index of the component that is left out, or ANY
    bits: vec3u, // of each number
}

struct Key {
    numbers: vec3u,
    choice: u32, // two bits after the numbers
}

fn coding_of(track: Track) -> Coding {
    let at = track.angle;
    let bits = words[at + 6u];
    return Coding(
        vec3f(word(at), word(at + 1u), word(at + 2u)),
        vec3f(word(at + 3u), word(at + 4u), word(at + 5u)),
        bits & 15u,
        vec3u(bits >> 4u, bits >> 9u, bits >> 14u) & vec3u(31u),
    );
}

// The bits from `first` on of a number of 64 bits, `count` of them.
fn bits_of(low: u32, high: u32, first: u32, count: u32) -> u32 {
    let shift = first & 31u;
    let across = (high << 1u) << (31u - shift);
    let bits = select((low >> shift) | across, high >> shift, first >= 32u);
    return extractBits(bits, 0u, count);
}

// A track's key in the frame whose first word is `frame`.
fn key_of(track: Track, coding: Coding, frame: u32) -> Key {
    let place = value_of(track);
    let at = frame + (place >> 5u);
    let shift = place & 31u;
    let w = vec3u(words[at], words[at + 1u], words[at + 2u]);
    // Moved down, so that the key begins at bit 0.
    let low = (w.x >> shift) | ((w.y << 1u) << (31u - shift));
    let high = (w.y >> shift) | ((w.z << 1u) << (31u - shift));
    let second = coding.bits.x;
    let third = second + coding.bits.y;
    let numbers = vec3u(
        bits_of(low, high, 0u, coding.bits.x),
        bits_of(low, high, second, coding.bits.y),
        bits_of(low, high, third, coding.bits.z),
    );
    return Key(numbers, bits_of(low, high, third + coding.bits.z, 2u));
}

fn components(coding: Coding, key: Key) -> vec3f {
    return coding.low + vec3f(key.numbers) * coding.step;
}

fn quaternion(coding: Coding, key: Key) -> vec4f {
    let dropped = select(coding.dropped, key.choice, coding.dropped == ANY);
    let v = components(coding, key);
    let largest = sqrt(max(1.0 - dot(v, v), 0.0));
    let low = select(vec2f(v.x, v.y), vec2f(v.x, largest), dropped == 1u);
    let without_first = vec4f(low, select(v.y, largest, dropped == 2u), v.z);
    return select(select(without_first, vec4f(v, largest), dropped == 3u), vec4f(largest, v), dropped == 0u);
}

fn turned_packed(track: Track, cursor: Cursor) -> vec4f {
    let coding = coding_of(track);
    let a = quaternion(coding, key_of(track, coding, cursor.key));
    var b = quaternion(coding, key_of(track, coding, cursor.next));
    b = select(b, -b, dot(a, b) < 0.0);
    return slerp(a, b, angle_between(a, b), cursor.fraction);
}

fn moved_packed(track: Track, cursor: Cursor) -> vec4f {
    let coding = coding_of(track);
    let a = components(coding, key_of(track, coding, cursor.key));
    let b = components(coding, key_of(track, coding, cursor.next));
    return vec4f(mix(a, b, cursor.fraction), 0.0);
}
