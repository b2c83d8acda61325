// skinbench's pose_sample. Generated: see README.md.
//# shaders/pose_chunk.wgsl
// The instances that are posed together, and what each of them plays.

// Index that stands for no layer, clip, joint or mask.
const NONE = 0xffffffffu;

// Neighbouring instances of one model.
struct PosedChunk {
    instances: u32,
    joints: u32, // of the skeleton
    entries: u32, // palette entries per instance
    slots: u32, // poses sampled for all instances
    levels: u32, // of the hierarchy
    clips: u32, // of the model, and its rest pose
    // Where the chunk begins in buffers that it shares with other models.
    first_instance: u32,
    first_joint: u32, // among model poses
    first_entry: u32, // among palette entries
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

// Where a chunk and its model begin in buffers that they share with other models.
struct Places {
    first_slot: u32,
    first_local: u32, // among local poses, each of which takes one place per channel
    first_clip: u32,
    first_rest: u32, // among joints at rest
    first_mask: u32, // among weights of masks
    first_level: u32,
    first_bind: u32, // among inverse bind matrices
    padding: u32,
}

// The layers of an instance and the slots of their poses. A layer with an inertial fade adds two slots for itself and
// for each layer beneath it: their poses when the fade began, and one tick before. An instance that is not posed every
// tick has one slot for the pose that it shows, followed by two sets of the slots above: one for the earlier and one
// for the later pose.
struct Player {
    first_layer: u32,
    layers: u32,
    first_slot: u32,
    inertial: u32, // index of that layer, or NONE
    every: u32, // ticks from pose to pose
    offset: u32, // added to the tick; a pose is due if the sum is a multiple of `every`
}

// Number of slots of an instance's layers, for one pose.
fn slots_of(player: Player) -> u32 {
    return player.layers + select(2u * (player.inertial + 1u), 0u, player.inertial == NONE);
}
//# shaders/workgroup.wgsl
// Workgroups of compute kernels, and the numbering of their threads.

const WORKGROUP = 64u;

// The number of a thread among all threads of a dispatch in two dimensions.
fn thread_of(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return (group.y * groups.x + group.x) * WORKGROUP + thread;
}
//# shaders/batch_uniform.wgsl
// The numbers of the only chunk that a dispatch poses.

// Numbers of the instances and of their skeleton.
@group(0) @binding(0) var<uniform> posed: PosedChunk;

// It shares no buffers with other models.
const places = Places(0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);

// The number of a thread among those of its chunk.
fn thread_of_chunk(group: vec3u, groups: vec3u, thread: u32) -> u32 {
    return thread_of(group, groups, thread);
}
//# shaders/pose.wgsl
// Declarations that every pose kernel shares: the memory layout of poses.

// The two poses between which an instance is interpolated when it is not posed every tick.
struct PosePair {
    first_tick: u32,
    second_tick: u32,
    modes: u32, // bits 0 and 1: the pose exists; bits 2 and 3: it is computed now; bit 4: index of the earlier one
    part: f32, // fraction of the way from the earlier to the later one
}

// A joint at rest, and its parent.
struct Joint {
    rotation: vec4f,
    translation: vec3f,
    parent: u32, // index, or NONE
    scale: vec3f,
    matrix: u32, // index of the fixed matrix that replaces the transform, or NONE
}

// A slot's position in its clip, and its weight.
struct Cursor {
    tracks: u32, // index of the clip's first track, or NONE: not sampled
    key: u32, // index in the clip's own timeline; compact: of the frame's first word
    next: u32, // compact: index of the next frame's first word
    fraction: f32, // of the way from one to the other
    interval: f32, // in seconds, from one to the other
    time: f32, // in seconds
    weight: f32, // 0: not blended
    modes: u32, // bits 0-7: kind; from bit 8: mask, counted from 1
}

// An inertial fade under way.
struct Momentum {
    layer: u32, // index, or NONE
    coming: u32, // 1: the layer starts; 0: it ends
    offset: f32, // remaining fraction of the offset at the fade's start
    speed: f32, // factor for the change of that offset in the tick before the start
}

// A joint's local pose.
struct Local {
    rotation: vec4f,
    translation: vec3f,
    scale: vec3f,
}

// Index of a joint's rotation among local poses; translations follow all joints' rotations, then scales.
fn local_at(slot: u32, joint: u32) -> u32 {
    return places.first_local + 3u * (slot - places.first_slot) * posed.joints + joint;
}
//# shaders/pose_keys.wgsl
// Keys of tracks, and the search for a time among them.

// A channel of a joint in a clip.
struct Track {
    // Bits 0-3: its form; from bit 4 on: index of its first value among the quads; compact: its first bit in a frame.
    place: u32,
    angle: u32, // index of the first interval's angle among the words; compact: of its lows, steps and bits
    timeline: u32, // index of its own key times, or NONE: those of the cursor
}

// Position of a time among keys: the interval's first key, the fraction of the way to the next one, the interval's
// seconds, and the key that holds under step interpolation.
struct Sought {
    key: u32,
    fraction: f32,
    interval: f32,
    held: u32,
}

// Key times preceded by their count, angles, and the frames of compact clips.
@group(0) @binding(6) var<storage, read> words: array<u32>;

// Index of a track's first value.
fn value_of(track: Track) -> u32 {
    return track.place >> 4u;
}

fn word(index: u32) -> f32 {
    return bitcast<f32>(words[index]);
}

// Position of a time among a timeline's keys.
fn seek(timeline: u32, time: f32) -> Sought {
    let count = words[timeline];
    let first = timeline + 1u;
    // Bisection: the number of keys up to the time.
    var low = 0u;
    var high = count;
    while low < high {
        let middle = (low + high) / 2u;
        if word(first + middle) <= time {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    let key = min(max(low, 1u) - 1u, max(count, 2u) - 2u);
    if count < 2u {
        return Sought(key, 0.0, 0.0, key);
    }
    let interval = word(first + key + 1u) - word(first + key);
    return Sought(key, clamp((time - word(first + key)) / interval, 0.0, 1.0), interval, max(low, 1u) - 1u);
}
//# shaders/pose_curves.wgsl
// Interpolation between keys: the same algorithms as kernels/src/pose/sample.rs.

// Keys, four numbers each.
@group(0) @binding(7) var<storage, read> quads: array<vec4f>;

// sin(x)/x for x in 0..2.9 radians, within 2e-7.
fn sine_over_x(x: f32) -> f32 {
    let u = x * x;
    let high = 2.7211408e-6 - 2.1296863e-8 * u;
    return 1.0 + u * (-0.16666646 + u * (8.333043e-3 + u * (-1.98264e-4 + u * high)));
}

// Spherical interpolation between unit quaternions `angle` radians apart.
fn slerp(a: vec4f, b: vec4f, angle: f32, t: f32) -> vec4f {
    let whole = sine_over_x(angle);
    let share_a = (1.0 - t) * sine_over_x((1.0 - t) * angle) / whole;
    let share_b = t * sine_over_x(t * angle) / whole;
    return share_a * a + share_b * b;
}

// Arc tangent of 0 to 1 within 1e-7: formula 4.4.49 of Abramowitz and Stegun.
fn arc_tangent(x: f32) -> f32 {
    let u = x * x;
    let high = 0.042909615 + u * (-0.016165737 + u * 0.0028662257);
    return x * (1.0 + u * (-0.33333145 + u * (0.19993551 + u * (-0.142089 + u * (0.10656264 + u * (-0.07528964 + u * high))))));
}

// Angle between two unit quaternions, 0 to pi.
fn angle_between(a: vec4f, b: vec4f) -> f32 {
    let chord = length(a - b);
    let other = length(a + b);
    let half = arc_tangent(min(chord, other) / max(chord, other));
    return select(3.1415927 - 2.0 * half, 2.0 * half, chord <= other);
}

// Hermite spline; a key is in-tangent, value, out-tangent.
fn cubic(first: u32, at: Sought) -> vec4f {
    let key = first + 3u * at.key;
    let t = at.fraction;
    let t2 = t * t;
    let t3 = t2 * t;
    let keys = (2.0 * t3 - 3.0 * t2 + 1.0) * quads[key + 1u] + (3.0 * t2 - 2.0 * t3) * quads[key + 4u];
    return keys + at.interval * ((t3 - 2.0 * t2 + t) * quads[key + 2u] + (t3 - t2) * quads[key + 3u]);
}

// Shoemake's squad; a key is value, control point.
fn squad(track: Track, at: Sought) -> vec4f {
    let key = value_of(track) + 2u * at.key;
    let angle = track.angle + 2u * at.key;
    let t = at.fraction;
    let keys = slerp(quads[key], quads[key + 2u], word(angle), t);
    let controls = slerp(quads[key + 1u], quads[key + 3u], word(angle + 1u), t);
    return normalize(slerp(keys, controls, angle_between(keys, controls), 2.0 * t * (1.0 - t)));
}
//# shaders/pose_compact.wgsl
// Sampling of compact clips: the same algorithm as kernels/src/pose/sample_compact.rs, on the same numbers.

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
//# shaders/pose_sample.wgsl
// gpu-full, stage `sample`: one thread per joint of `AT_ONCE` neighbouring slots samples the joint's local pose from
// the clip of each slot.

// Forms of tracks. The value of a still channel is written to memory once, before the first frame.
const STILL = 0u;
const CONSTANT = 1u;
const STEP = 2u;
const LINE = 3u;
const SLERP = 4u;
const NLERP = 5u;
const AUTHORED = 6u;
const CUBIC = 7u;
const SQUAD = 8u;
const PACKED = 9u;

// One bit per form that occurs among the tracks of a channel.
override ROTATIONS: u32 = 1023;
override TRANSLATIONS: u32 = 1023;
override SCALES: u32 = 1023;
// Whether any track has its own key times.
override OWN_TIMES: u32 = 1;
override AT_ONCE: u32 = 1;

// [clip][joint][rotation, translation, scale]
@group(0) @binding(5) var<storage, read> tracks: array<Track>;
// [slot]
@group(0) @binding(9) var<storage, read> cursors: array<Cursor>;
// [slot][rotation, translation, scale][joint]
@group(0) @binding(12) var<storage, read_write> locals: array<vec4f>;

// Whether a track has this form, for a channel whose tracks have the forms in `forms`.
fn is(track: Track, form: u32, forms: u32) -> bool {
    return (forms & (1u << form)) != 0u && (track.place & 0xfu) == form;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of_chunk(group, groups, thread);
    let part = index / posed.joints;
    let joint = index - part * posed.joints;
    let first = part * AT_ONCE;
    let end = min(first + AT_ONCE, posed.slots);
    for (var own = first; own < end; own++) {
        let slot = places.first_slot + own;
        // Checked first, so that a slot that is not due costs a single load.
        let tracks = cursors[slot].tracks;
        if tracks != NONE {
            sample(cursors[slot], tracks + 3u * joint, local_at(slot, joint));
        }
    }
}

// Samples one joint's channels.
fn sample(cursor: Cursor, first: u32, at: u32) {
    if ROTATIONS != 1u << STILL {
        let track = tracks[first];
        if !is(track, STILL, ROTATIONS) {
            locals[at] = turned(track, cursor);
        }
    }
    if TRANSLATIONS != 1u << STILL {
        let track = tracks[first + 1u];
        if !is(track, STILL, TRANSLATIONS) {
            locals[at + posed.joints] = moved(track, cursor, TRANSLATIONS);
        }
    }
    if SCALES != 1u << STILL {
        let track = tracks[first + 2u];
        if !is(track, STILL, SCALES) {
            locals[at + 2u * posed.joints] = moved(track, cursor, SCALES);
        }
    }
}

// Position among the key times of the track: those of its clip, or its own.
fn sought(track: Track, cursor: Cursor) -> Sought {
    if OWN_TIMES == 1u && track.timeline != NONE {
        return seek(track.timeline, cursor.time);
    }
    return Sought(cursor.key, cursor.fraction, cursor.interval, cursor.key);
}

fn turned(track: Track, cursor: Cursor) -> vec4f {
    let at = sought(track, cursor);
    if is(track, CUBIC, ROTATIONS) {
        return normalize(cubic(value_of(track), at));
    }
    if is(track, SQUAD, ROTATIONS) {
        return squad(track, at);
    }
    if is(track, PACKED, ROTATIONS) {
        return turned_packed(track, cursor);
    }
    let key = first_key(track, at, ROTATIONS);
    let a = quads[key];
    if is(track, CONSTANT, ROTATIONS) || is(track, STEP, ROTATIONS) {
        return a;
    }
    let b = quads[key + 1u];
    if is(track, NLERP, ROTATIONS) || (is(track, AUTHORED, ROTATIONS) && abs(dot(a, b)) >= 0.95) {
        return normalize(mix(a, b, at.fraction));
    }
    return slerp(a, b, word(track.angle + at.key), at.fraction);
}

fn moved(track: Track, cursor: Cursor, forms: u32) -> vec4f {
    let at = sought(track, cursor);
    if is(track, CUBIC, forms) {
        return cubic(value_of(track), at);
    }
    if is(track, PACKED, forms) {
        return moved_packed(track, cursor);
    }
    let key = first_key(track, at, forms);
    let a = quads[key];
    if is(track, CONSTANT, forms) || is(track, STEP, forms) {
        return a;
    }
    return mix(a, quads[key + 1u], at.fraction);
}

// For a track with one value per key: the key that holds, or the first key of the interval.
fn first_key(track: Track, at: Sought, forms: u32) -> u32 {
    let key = select(at.key, at.held, is(track, STEP, forms));
    return value_of(track) + select(key, 0u, is(track, CONSTANT, forms));
}
