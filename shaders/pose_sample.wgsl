// gpu-full, stage `sample`: one thread per joint of `AT_ONCE` neighbouring slots samples the joint's local pose from
// the clip of each slot.
//
// import posed, places, thread_of_chunk from batch
// import Cursor, local_at from pose.wgsl
// import NONE from pose_chunk.wgsl
// import moved_packed, turned_packed from pose_compact.wgsl
// import cubic, quads, slerp, squad from pose_curves.wgsl
// import Sought, Track, seek, value_of, word from pose_keys.wgsl
// import WORKGROUP from workgroup.wgsl

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
override ROTATIONS: u32;
override TRANSLATIONS: u32;
override SCALES: u32;
// Whether any track has its own key times.
override OWN_TIMES: u32;
override AT_ONCE: u32;

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
