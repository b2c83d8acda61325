// gpu-full, stage `sample`: a thread a joint of a slot finds its local pose in the slot's clip.

// Forms of tracks; FORMS has a bit for each that occurs.
const CONSTANT = 1u;
const STEP = 2u;
const LINE = 3u;
const SLERP = 4u;
const NLERP = 5u;
const AUTHORED = 6u;
const CUBIC = 7u;
const SQUAD = 8u;
const PACKED = 9u;

override FORMS: u32;
// Whether any track has key times of its own.
override OWN_TIMES: u32;

// [clip][joint][rotation, translation, scale]
@group(0) @binding(5) var<storage, read> tracks: array<Track>;
// Keys, four numbers each.
@group(0) @binding(7) var<storage, read> quads: array<vec4f>;
@group(0) @binding(8) var<storage, read> joints: array<Joint>;
@group(0) @binding(9) var<storage, read> cursors: array<Cursor>;
// [slot][joint][rotation, translation, scale]
@group(0) @binding(12) var<storage, read_write> locals: array<vec4f>;

fn is(track: Track, form: u32) -> bool {
    return (FORMS & (1u << form)) != 0u && track.form == form;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of(group, groups, thread);
    if index >= batch.slots * batch.joints {
        return;
    }
    let slot = index / batch.joints;
    let joint = index - slot * batch.joints;
    let cursor = cursors[slot];
    if cursor.weight == 0.0 {
        return;
    }
    let rest = joints[joint];
    let still = (cursor.modes & 0x100u) != 0u;
    var rotation = select(rest.rotation, vec4f(0.0, 0.0, 0.0, 1.0), still);
    var translation = vec4f(select(rest.translation, vec3f(0.0), still), 0.0);
    var scale = vec4f(select(rest.scale, vec3f(1.0), still), 0.0);
    if cursor.tracks != NONE {
        let first = cursor.tracks + 3u * joint;
        rotation = turned(tracks[first], cursor, rotation);
        translation = moved(tracks[first + 1u], cursor, translation);
        scale = moved(tracks[first + 2u], cursor, scale);
    }
    locals[3u * index] = rotation;
    locals[3u * index + 1u] = translation;
    locals[3u * index + 2u] = scale;
}

// Where a track's keys are sought: with all others of its clip, or among times of its own.
fn sought(track: Track, cursor: Cursor) -> Sought {
    if OWN_TIMES == 1u && track.timeline != NONE {
        return seek(track.timeline, cursor.time);
    }
    return Sought(cursor.key, cursor.fraction, cursor.interval, cursor.key);
}
fn turned(track: Track, cursor: Cursor, rest: vec4f) -> vec4f {
    let at = sought(track, cursor);
    let value = track.value;
    if is(track, CONSTANT) {
        return normalize(quads[value]);
    }
    if is(track, STEP) {
        return quads[value + at.held];
    }
    if is(track, SLERP) {
        return slerp(quads[value + at.key], quads[value + at.key + 1u], word(track.angle + at.key), at.fraction);
    }
    if is(track, NLERP) {
        return normalize(mix(quads[value + at.key], quads[value + at.key + 1u], at.fraction));
    }
    if is(track, AUTHORED) {
        let a = quads[value + at.key];
        let b = quads[value + at.key + 1u];
        if abs(dot(a, b)) >= 0.95 {
            return normalize(mix(a, b, at.fraction));
        }
        return slerp(a, b, word(track.angle + at.key), at.fraction);
    }
    if is(track, CUBIC) {
        return normalize(cubic(value, at));
    }
    if is(track, SQUAD) {
        return squad(track, at);
    }
    if is(track, PACKED) {
        return turned_packed(track, cursor);
    }
    return rest;
}

fn moved(track: Track, cursor: Cursor, rest: vec4f) -> vec4f {
    let at = sought(track, cursor);
    let value = track.value;
    if is(track, CONSTANT) {
        return quads[value];
    }
    if is(track, STEP) {
        return quads[value + at.held];
    }
    if is(track, LINE) {
        return mix(quads[value + at.key], quads[value + at.key + 1u], at.fraction);
    }
    if is(track, CUBIC) {
        return cubic(value, at);
    }
    if is(track, PACKED) {
        return moved_packed(track, cursor);
    }
    return rest;
}
