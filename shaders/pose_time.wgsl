// Times and weights of an instance's layers at a tick: the same integer arithmetic as kernels/src/crowd/layers.rs and
// kernels/src/crowd/schedule.rs.
//
// import NONE, Player from pose_chunk.wgsl

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
