// gpu-full, first kernel of stage `sample`, one thread per instance: computes the clip position and the weight of each
// of its slots.
//
// import posed, places, thread_of_chunk from batch
// import Cursor, Momentum, PosePair from pose.wgsl
// import NONE, Player, slots_of from pose_chunk.wgsl
// import Sought, seek from pose_keys.wgsl
// import ABSENT, COMING, FULL, Layer, layers, now, players from pose_time.wgsl
// import clock_of, mode, presence, time_at, weight_at from pose_time.wgsl
// import WORKGROUP from workgroup.wgsl

struct Clip {
    tracks: u32, // index of the first; three per joint
    timeline: u32, // index of most tracks' key times
    frames: u32, // compact: number of frames; 0 for raw clips
    row: u32, // compact: words per frame
    numbers: u32, // compact: index of their first word
    start: f32, // compact: seconds at the first frame
    interval: f32, // compact: seconds from frame to frame
}

// Whether layers may fade inertially, clips may be compact, and instances may not be posed at every tick.
override INERTIA: u32;
override COMPACT: u32;
override RATES: u32;

// [clip] The rest pose follows the model's clips.
@group(0) @binding(4) var<storage, read> clips: array<Clip>;
// [slot]
@group(0) @binding(9) var<storage, read_write> cursors: array<Cursor>;
// [instance]
@group(0) @binding(10) var<storage, read_write> momenta: array<Momentum>;
// [instance]
@group(0) @binding(19) var<storage, read_write> pose_pairs: array<PosePair>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let own = thread_of_chunk(group, groups, thread);
    if own >= posed.instances {
        return;
    }
    let instance = posed.first_instance + own;
    let player = players[instance];
    if RATES == 0u {
        schedule(player, player.first_slot, instance, now.tick);
    } else if player.every == 1u {
        schedule(player, player.first_slot, 2u * instance, now.tick);
    } else {
        pose_pairs[instance] = between(player, instance, pose_pairs[instance]);
    }
}

// Writes the cursors of an instance's layers at a tick, from a slot on.
fn schedule(player: Player, first_slot: u32, momentum: u32, tick: u32) {
    for (var index = 0u; index < player.layers; index++) {
        let layer = layers[player.first_layer + index];
        let time = time_at(player, layer, tick, clock_of(layer, tick));
        cursors[first_slot + index] = cursor_of(layer, time, weight_at(layer, tick));
    }
    if INERTIA == 1u {
        momenta[momentum] = inertia(player, first_slot, tick);
    }
}

// Finds the two poses around this tick and schedules those that are not stored yet: the same algorithm as
// kernels/src/crowd/update_rate.rs.
fn between(player: Player, instance: u32, before: PosePair) -> PosePair {
    let tick = now.tick;
    let rest = tick % player.every + player.offset;
    let past = rest % player.every;
    let place = (tick / player.every + rest / player.every) % 2u;
    // The range of ticks is that of u32: it begins at 0 and does not wrap.
    let elapsed = min(past, tick);
    let start = tick - elapsed;
    let end = select(tick + (player.every - past), NONE, NONE - tick < player.every - past);
    var ticks = vec2u(before.first_tick, before.second_tick);
    var modes = (before.modes & 3u) | (place << 4u);
    let slots = slots_of(player);
    for (var which = 0u; which < 2u; which++) {
        let needed = select(end, start, which == place);
        let first_slot = player.first_slot + 1u + which * slots;
        if ticks[which] == needed && (modes & (1u << which)) != 0u {
            for (var slot = first_slot; slot < first_slot + slots; slot++) {
                cursors[slot].tracks = NONE;
            }
            continue;
        }
        ticks[which] = needed;
        modes |= 5u << which;
        schedule(player, first_slot, 2u * instance + which, needed);
    }
    cursors[player.first_slot].tracks = NONE;
    return PosePair(ticks.x, ticks.y, modes, f32(elapsed) / f32(max(end - start, 1u)));
}

// Position of a layer in its clip at a time.
fn cursor_of(layer: Layer, time: f32, weight: f32) -> Cursor {
    var cursor = Cursor(NONE, 0u, 0u, 0.0, 0.0, time, weight, mode(layer, 0u) | ((layer.mask + 1u) << 8u));
    if weight == 0.0 {
        return cursor;
    }
    // The rest pose follows the clips.
    let clip = clips[places.first_clip + min(layer.clip, posed.clips - 1u)];
    cursor.tracks = clip.tracks;
    if clip.frames == 0u {
        if clip.timeline != NONE {
            let sought = seek(clip.timeline, time);
            cursor.key = sought.key;
            cursor.fraction = sought.fraction;
            cursor.interval = sought.interval;
        }
        return cursor;
    }
    if COMPACT == 1u {
        let place = frame_of(clip, time);
        cursor.key = clip.numbers + place.key * clip.row;
        cursor.next = cursor.key + select(0u, clip.row, clip.frames > 1u);
        cursor.fraction = place.fraction;
    }
    return cursor;
}

// The upper digits of a number: a product of two such parts is exact in f32.
fn upper(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}

// The frame before a time and the fraction of the way to the next one. Far into a long clip an f32 leaves few digits
// for the fraction, so the whole frames are subtracted in parts, each of which is exact.
fn frame_of(clip: Clip, time: f32) -> Sought {
    let last = clip.frames - 1u;
    if last == 0u {
        return Sought(0u, 0.0, 0.0, 0u);
    }
    let since = max(time - clip.start, 0.0);
    var frame = min(u32(min(since / clip.interval, f32(last))), last - 1u);
    var rest = after(clip, time, frame);
    if rest < 0.0 && frame > 0u {
        frame -= 1u;
        rest = after(clip, time, frame);
    }
    return Sought(frame, clamp(rest / clip.interval, 0.0, 1.0), clip.interval, frame);
}

// Seconds from a frame to a time.
fn after(clip: Clip, time: f32, frame: u32) -> f32 {
    let many = f32(frame & 0xfffff000u);
    let few = f32(frame & 0xfffu);
    let high = upper(clip.interval);
    let low = clip.interval - high;
    return time - many * high - few * high - clip.start - many * low - few * low;
}

// State of an inertial fade, and the past ticks that it needs.
fn inertia(player: Player, first_slot: u32, tick: u32) -> Momentum {
    if player.inertial == NONE {
        return Momentum(NONE, 0u, 0.0, 0.0);
    }
    let fading = layers[player.first_layer + player.inertial];
    let there = presence(fading, tick);
    if there.state == ABSENT || there.state == FULL {
        return Momentum(NONE, 0u, 0.0, 0.0);
    }
    for (var index = 0u; index <= player.inertial; index++) {
        let layer = layers[player.first_layer + index];
        for (var back = 0u; back < 2u; back++) {
            let ago = there.ticks + back;
            let then = tick - ago;
            // The fading layer counts in full, from its start on.
            let own = index == player.inertial;
            let clock = select(clock_of(layer, then), clock_of(layer, tick) - ago, own);
            let weight = select(weight_at(layer, then), layer.weight, own);
            let slot = first_slot + player.layers + 2u * index + back;
            cursors[slot] = cursor_of(layer, time_at(player, layer, then, clock), weight);
        }
    }
    let coming = there.state == COMING;
    let length = f32(select(fading.fade_out, fading.fade_in, coming));
    // Hermite's quintics.
    let s = f32(there.ticks) / length;
    let s3 = s * s * s;
    let offset = 1.0 - s3 * (10.0 - s * (15.0 - 6.0 * s));
    let speed = length * (s - s3 * (6.0 - s * (8.0 - 3.0 * s)));
    return Momentum(player.inertial, u32(coming), offset, speed);
}
