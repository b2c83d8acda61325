// skinbench's pose_schedule. Generated: see README.md.
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
//# shaders/pose_time.wgsl
// Times and weights of an instance's layers at a tick: the same integer arithmetic as kernels/src/crowd/layers.rs and
// kernels/src/crowd/schedule.rs.

const PING_PONG = 1u;
const ONCE = 2u;
const INERTIAL = 1u;
const LONGEST = 0x80000000u;

struct Layer {
    clip: u32,
    phase: u32,
    step: u32,
    time_base: f32,
    time_scale: f32,
    frame_rate: f32,
    modes: u32, // bytes: kind, playback, fade, in step
    weight: f32,
    mask: u32,
    period: u32,
    offset: u32,
    length: u32,
    fade_in: u32,
    fade_out: u32,
    pace: u32,
    frame_time: f32,
}

// Position of a tick in a layer's schedule.
struct Presence {
    state: u32,
    ticks: u32, // into the fade
}

const ABSENT = 0u;
const COMING = 1u;
const FULL = 2u;
const GOING = 3u;

// The tick, which is all that changes from frame to frame.
@group(0) @binding(1) var<uniform> now: Now;
// [layer] Those of all instances, one instance after the other.
@group(0) @binding(2) var<storage, read> layers: array<Layer>;
// [instance]
@group(0) @binding(3) var<storage, read> players: array<Player>;

// The frame's time.
struct Now {
    tick: u32,
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

fn mode(layer: Layer, index: u32) -> u32 {
    return extractBits(layer.modes, 8u * index, 8u);
}

// Ticks since the last start.
fn clock_of(layer: Layer, tick: u32) -> u32 {
    let clock = tick + layer.offset;
    if layer.period == 0u {
        return clock;
    }
    return clock % layer.period;
}

fn presence(layer: Layer, tick: u32) -> Presence {
    if layer.length == 0u {
        return Presence(FULL, 0u);
    }
    let clock = clock_of(layer, tick);
    let going = layer.length - layer.fade_out;
    if clock >= layer.length {
        return Presence(ABSENT, 0u);
    }
    if clock < layer.fade_in {
        return Presence(COMING, clock);
    }
    if clock >= going {
        return Presence(GOING, clock - going);
    }
    return Presence(FULL, 0u);
}

// pace * ticks^2 / 2 fade: the pace is a multiple of 2 fade.
fn rise(pace: u32, ticks: u32, fade: u32) -> u32 {
    if fade == 0u {
        return 0u;
    }
    return bitcast<u32>(bitcast<i32>(pace) / bitcast<i32>(2u * fade)) * ticks * ticks;
}

fn gained_since_start(layer: Layer, since: u32) -> u32 {
    let clock = min(since, layer.length);
    let going = layer.length - layer.fade_out;
    if clock < layer.fade_in {
        return rise(layer.pace, clock, layer.fade_in);
    }
    var gained = rise(layer.pace, layer.fade_in, layer.fade_in) + layer.pace * (clock - layer.fade_in);
    if clock > going {
        gained -= rise(layer.pace, clock - going, layer.fade_out);
    }
    return gained;
}

// The sum of a layer's pace over all ticks so far.
fn gained(layer: Layer, tick: u32) -> u32 {
    let clock = tick + layer.offset;
    if layer.length == 0u || (layer.period == 0u && clock >= LONGEST) {
        return 0u;
    }
    if layer.period == 0u {
        return gained_since_start(layer, clock);
    }
    return (clock / layer.period) * gained_since_start(layer, layer.length)
        + gained_since_start(layer, clock % layer.period);
}

// The phase of a single cycle, which stops at its ends.
fn once(start: u32, step: u32, since: u32) -> u32 {
    let clock = u32(max(bitcast<i32>(since), 0));
    let back = bitcast<i32>(step) < 0;
    let room = select(NONE - start, start, back);
    let pace = select(step, 0u - step, back);
    if pace != 0u && clock > room / pace {
        return select(NONE, 0u, back);
    }
    return start + step * clock;
}

fn phase_of(player: Player, layer: Layer, tick: u32, clock: u32) -> u32 {
    if mode(layer, 1u) == ONCE {
        return once(layer.phase, layer.step, clock);
    }
    var phase = layer.phase + layer.step * tick;
    if mode(layer, 3u) != 0u {
        for (var index = 0u; index < player.layers; index++) {
            let other = layers[player.first_layer + index];
            if mode(other, 3u) != 0u && other.pace != 0u {
                phase += gained(other, tick);
            }
        }
    }
    if mode(layer, 1u) == PING_PONG {
        phase = select(phase << 1u, ~phase << 1u, phase >= LONGEST);
    }
    return phase;
}

// Seconds in the clip; one correctly rounded multiplication, as on the CPU.
fn time_at(player: Player, layer: Layer, tick: u32, clock: u32) -> f32 {
    let time = f32(phase_of(player, layer, tick, clock) >> 8u) * layer.time_scale + layer.time_base;
    if layer.frame_rate == 0.0 {
        return time;
    }
    return floor(time * layer.frame_rate) * layer.frame_time;
}

fn eased(ticks: u32, fade: u32) -> f32 {
    let s = f32(ticks) / f32(fade);
    return s * s * (3.0 - 2.0 * s);
}

// A layer's weight before masks.
fn weight_at(layer: Layer, tick: u32) -> f32 {
    let there = presence(layer, tick);
    let inertial = mode(layer, 2u) == INERTIAL;
    if there.state == ABSENT || (there.state == GOING && inertial) {
        return 0.0;
    }
    if there.state == FULL || inertial {
        return layer.weight;
    }
    if there.state == COMING {
        return layer.weight * eased(there.ticks, layer.fade_in);
    }
    return layer.weight * (1.0 - eased(there.ticks, layer.fade_out));
}
//# shaders/pose_schedule.wgsl
// gpu-full, first kernel of stage `sample`, one thread per instance: computes the clip position and the weight of each
// of its slots.

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
override INERTIA: u32 = 1;
override COMPACT: u32 = 1;
override RATES: u32 = 1;

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
