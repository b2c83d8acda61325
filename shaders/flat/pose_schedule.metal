// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size3;
    uint size4;
    uint size5;
    uint size6;
    uint size7;
    uint size8;
};

struct PosedChunk {
    uint instances;
    uint joints;
    uint entries;
    uint slots;
    uint levels;
    uint clips;
    uint first_instance;
    uint first_joint;
    uint first_entry;
    uint padding_a;
    uint padding_b;
    uint padding_c;
};
struct Places {
    uint first_slot;
    uint first_local;
    uint first_clip;
    uint first_rest;
    uint first_mask;
    uint first_level;
    uint first_bind;
    uint padding;
};
struct Player {
    uint first_layer;
    uint layers;
    uint first_slot;
    uint inertial;
    uint every;
    uint offset;
};
struct PosePair {
    uint first_tick;
    uint second_tick;
    uint modes;
    float part;
};
struct Cursor {
    uint tracks;
    uint key;
    uint next;
    float fraction;
    float interval;
    float time;
    float weight;
    uint modes;
};
struct Momentum {
    uint layer;
    uint coming;
    float offset;
    float speed;
};
struct Sought {
    uint key;
    float fraction;
    float interval;
    uint held;
};
typedef uint type_3[1];
struct Layer {
    uint clip;
    uint phase;
    uint step;
    float time_base;
    float time_scale;
    float frame_rate;
    uint modes;
    float weight;
    uint mask;
    uint period;
    uint offset;
    uint length;
    uint fade_in;
    uint fade_out;
    uint pace;
    float frame_time;
};
struct Presence {
    uint state;
    uint ticks;
};
struct Now {
    uint tick;
    uint padding_a;
    uint padding_b;
    uint padding_c;
};
typedef Layer type_4[1];
typedef Player type_5[1];
struct Clip {
    uint tracks;
    uint timeline;
    uint frames;
    uint row;
    uint numbers;
    float start;
    float interval;
};
typedef Clip type_7[1];
typedef Cursor type_8[1];
typedef Momentum type_9[1];
typedef PosePair type_10[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;
constant Places places = Places {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
constant uint PING_PONG = 1u;
constant uint ONCE = 2u;
constant uint INERTIAL = 1u;
constant uint LONGEST = 2147483648u;
constant uint ABSENT = 0u;
constant uint COMING = 1u;
constant uint FULL = 2u;
constant uint GOING = 3u;
constant uint INERTIA = 1u;
constant uint COMPACT = 1u;
constant uint RATES = 1u;

uint slots_of(
    Player player
) {
    return player.layers + ((player.inertial == NONE) ? 0u : (2u * (player.inertial + 1u)));
}

uint thread_of(
    metal::uint3 group_1,
    metal::uint3 groups_1,
    uint thread_1
) {
    return (((group_1.y * groups_1.x) + group_1.x) * WORKGROUP) + thread_1;
}

uint thread_of_chunk(
    metal::uint3 group_2,
    metal::uint3 groups_2,
    uint thread_2
) {
    uint _e3 = thread_of(group_2, groups_2, thread_2);
    return _e3;
}

float word(
    uint index,
    device type_3 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e3 = words[index];
    return as_type<float>(_e3);
}

Sought seek(
    uint timeline,
    float time,
    device type_3 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint low = 0u;
    uint high = {};
    uint count = words[timeline];
    uint first = timeline + 1u;
    high = count;
    while(true) {
        uint _e10 = low;
        uint _e11 = high;
        if (_e10 < _e11) {
        } else {
            break;
        }
        {
            uint _e13 = low;
            uint _e14 = high;
            uint middle = (_e13 + _e14) / 2u;
            float _e19 = word(first + middle, words, _buffer_sizes);
            if (_e19 <= time) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
    }
    uint _e23 = low;
    uint key = metal::min(metal::max(_e23, 1u) - 1u, metal::max(count, 2u) - 2u);
    if (count < 2u) {
        return Sought {key, 0.0, 0.0, key};
    }
    float _e41 = word((first + key) + 1u, words, _buffer_sizes);
    float _e43 = word(first + key, words, _buffer_sizes);
    float interval = _e41 - _e43;
    float _e46 = word(first + key, words, _buffer_sizes);
    uint _e52 = low;
    return Sought {key, metal::clamp((time - _e46) / interval, 0.0, 1.0), interval, metal::max(_e52, 1u) - 1u};
}

uint mode(
    Layer layer,
    uint index_1
) {
    uint _e4 = 8u * index_1;
    return metal::extract_bits(layer.modes, metal::min(_e4, 32u), metal::min(8u, 32u - metal::min(_e4, 32u)));
}

uint clock_of(
    Layer layer_1,
    uint tick
) {
    uint clock_2 = tick + layer_1.offset;
    if (layer_1.period == 0u) {
        return clock_2;
    }
    return clock_2 % layer_1.period;
}

Presence presence(
    Layer layer_2,
    uint tick_1
) {
    if (layer_2.length == 0u) {
        return Presence {2u, 0u};
    }
    uint _e8 = clock_of(layer_2, tick_1);
    uint going = layer_2.length - layer_2.fade_out;
    if (_e8 >= layer_2.length) {
        return Presence {0u, 0u};
    }
    if (_e8 < layer_2.fade_in) {
        return Presence {COMING, _e8};
    }
    if (_e8 >= going) {
        return Presence {GOING, _e8 - going};
    }
    return Presence {2u, 0u};
}

uint rise(
    uint pace,
    uint ticks,
    uint fade
) {
    if (fade == 0u) {
        return 0u;
    }
    return (as_type<uint>(as_type<int>(pace) / as_type<int>(2u * fade)) * ticks) * ticks;
}

uint gained_since_start(
    Layer layer_3,
    uint since
) {
    uint gained = {};
    uint clock_3 = metal::min(since, layer_3.length);
    uint going_1 = layer_3.length - layer_3.fade_out;
    if (clock_3 < layer_3.fade_in) {
        uint _e11 = rise(layer_3.pace, clock_3, layer_3.fade_in);
        return _e11;
    }
    uint _e15 = rise(layer_3.pace, layer_3.fade_in, layer_3.fade_in);
    gained = _e15 + (layer_3.pace * (clock_3 - layer_3.fade_in));
    if (clock_3 > going_1) {
        uint _e23 = gained;
        uint _e27 = rise(layer_3.pace, clock_3 - going_1, layer_3.fade_out);
        gained = _e23 - _e27;
    }
    uint _e29 = gained;
    return _e29;
}

uint gained_1(
    Layer layer_4,
    uint tick_2
) {
    bool local = {};
    bool local_1 = {};
    uint clock_4 = tick_2 + layer_4.offset;
    if (!((layer_4.length == 0u))) {
        if (layer_4.period == 0u) {
            local_1 = clock_4 >= LONGEST;
        } else {
            local_1 = false;
        }
        bool _e18 = local_1;
        local = _e18;
    } else {
        local = true;
    }
    bool _e20 = local;
    if (_e20) {
        return 0u;
    }
    if (layer_4.period == 0u) {
        uint _e25 = gained_since_start(layer_4, clock_4);
        return _e25;
    }
    uint _e29 = gained_since_start(layer_4, layer_4.length);
    uint _e33 = gained_since_start(layer_4, clock_4 % layer_4.period);
    return ((clock_4 / layer_4.period) * _e29) + _e33;
}

uint once(
    uint start,
    uint step,
    uint since_1
) {
    bool local_2 = {};
    uint clock_5 = static_cast<uint>(metal::max(as_type<int>(since_1), 0));
    bool back_1 = as_type<int>(step) < 0;
    uint room = back_1 ? start : (NONE - start);
    uint pace_1 = back_1 ? (0u - step) : step;
    if (pace_1 != 0u) {
        local_2 = clock_5 > (room / pace_1);
    } else {
        local_2 = false;
    }
    bool _e23 = local_2;
    if (_e23) {
        return back_1 ? 0u : NONE;
    }
    return start + (step * clock_5);
}

uint phase_of(
    Player player_1,
    Layer layer_5,
    uint tick_3,
    uint clock,
    device type_4 const& layers,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint phase = {};
    uint index_2 = 0u;
    bool local_3 = {};
    uint _e5 = mode(layer_5, 1u);
    if (_e5 == ONCE) {
        uint _e10 = once(layer_5.phase, layer_5.step, clock);
        return _e10;
    }
    phase = layer_5.phase + (layer_5.step * tick_3);
    uint _e17 = mode(layer_5, 3u);
    if (_e17 != 0u) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e46 = index_2;
                index_2 = _e46 + 1u;
            }
            loop_init = false;
            uint _e22 = index_2;
            if (_e22 < player_1.layers) {
            } else {
                break;
            }
            {
                uint _e27 = index_2;
                Layer other = layers[player_1.first_layer + _e27];
                uint _e32 = mode(other, 3u);
                if (_e32 != 0u) {
                    local_3 = other.pace != 0u;
                } else {
                    local_3 = false;
                }
                bool _e41 = local_3;
                if (_e41) {
                    uint _e42 = phase;
                    uint _e43 = gained_1(other, tick_3);
                    phase = _e42 + _e43;
                }
            }
        }
    }
    uint _e49 = mode(layer_5, 1u);
    if (_e49 == PING_PONG) {
        uint _e52 = phase;
        uint _e55 = phase;
        uint _e59 = phase;
        phase = (_e59 >= LONGEST) ? (~(_e55) << 1u) : (_e52 << 1u);
    }
    uint _e63 = phase;
    return _e63;
}

float time_at(
    Player player_2,
    Layer layer_6,
    uint tick_4,
    uint clock_1,
    device type_4 const& layers,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e4 = phase_of(player_2, layer_6, tick_4, clock_1, layers, _buffer_sizes);
    float time_4 = (static_cast<float>(_e4 >> 8u) * layer_6.time_scale) + layer_6.time_base;
    if (layer_6.frame_rate == 0.0) {
        return time_4;
    }
    return metal::floor(time_4 * layer_6.frame_rate) * layer_6.frame_time;
}

float eased(
    uint ticks_1,
    uint fade_1
) {
    float s = static_cast<float>(ticks_1) / static_cast<float>(fade_1);
    return (s * s) * (3.0 - (2.0 * s));
}

float weight_at(
    Layer layer_7,
    uint tick_5
) {
    bool local_4 = {};
    bool local_5 = {};
    bool local_6 = {};
    Presence _e2 = presence(layer_7, tick_5);
    uint _e4 = mode(layer_7, 2u);
    bool inertial = _e4 == INERTIAL;
    if (!((_e2.state == ABSENT))) {
        if (_e2.state == GOING) {
            local_5 = inertial;
        } else {
            local_5 = false;
        }
        bool _e19 = local_5;
        local_4 = _e19;
    } else {
        local_4 = true;
    }
    bool _e21 = local_4;
    if (_e21) {
        return 0.0;
    }
    if (!((_e2.state == FULL))) {
        local_6 = inertial;
    } else {
        local_6 = true;
    }
    bool _e30 = local_6;
    if (_e30) {
        return layer_7.weight;
    }
    if (_e2.state == COMING) {
        float _e38 = eased(_e2.ticks, layer_7.fade_in);
        return layer_7.weight * _e38;
    }
    float _e43 = eased(_e2.ticks, layer_7.fade_out);
    return layer_7.weight * (1.0 - _e43);
}

float upper(
    float x
) {
    return as_type<float>(as_type<uint>(x) & 4294963200u);
}

float after(
    Clip clip,
    float time_1,
    uint frame
) {
    float many = static_cast<float>(frame & 4294963200u);
    float few = static_cast<float>(frame & 4095u);
    float _e10 = upper(clip.interval);
    float low_1 = clip.interval - _e10;
    return ((((time_1 - (many * _e10)) - (few * _e10)) - clip.start) - (many * low_1)) - (few * low_1);
}

uint naga_f2u32(float value) {
    return static_cast<uint>(metal::clamp(value, 0.0, 4294967000.0));
}

Sought frame_of(
    Clip clip_1,
    float time_2
) {
    uint frame_1 = {};
    float rest = {};
    bool local_7 = {};
    uint last = clip_1.frames - 1u;
    if (last == 0u) {
        return Sought {0u, 0.0, 0.0, 0u};
    }
    float since_2 = metal::max(time_2 - clip_1.start, 0.0);
    frame_1 = metal::min(naga_f2u32(metal::min(since_2 / clip_1.interval, static_cast<float>(last))), last - 1u);
    uint _e25 = frame_1;
    float _e26 = after(clip_1, time_2, _e25);
    rest = _e26;
    float _e28 = rest;
    if (_e28 < 0.0) {
        uint _e33 = frame_1;
        local_7 = _e33 > 0u;
    } else {
        local_7 = false;
    }
    bool _e37 = local_7;
    if (_e37) {
        uint _e38 = frame_1;
        frame_1 = _e38 - 1u;
        uint _e41 = frame_1;
        float _e42 = after(clip_1, time_2, _e41);
        rest = _e42;
    }
    uint _e43 = frame_1;
    float _e44 = rest;
    uint _e51 = frame_1;
    return Sought {_e43, metal::clamp(_e44 / clip_1.interval, 0.0, 1.0), clip_1.interval, _e51};
}

Cursor cursor_of(
    Layer layer_8,
    float time_3,
    float weight,
    constant PosedChunk& posed,
    device type_3 const& words,
    device type_7 const& clips,
    constant _mslBufferSizes& _buffer_sizes
) {
    Cursor cursor = {};
    uint _e7 = mode(layer_8, 0u);
    cursor = Cursor {NONE, 0u, 0u, 0.0, 0.0, time_3, weight, _e7 | ((layer_8.mask + 1u) << 8u)};
    if (weight == 0.0) {
        Cursor _e20 = cursor;
        return _e20;
    }
    uint _e26 = posed.clips;
    Clip clip_2 = clips[0u + metal::min(layer_8.clip, _e26 - 1u)];
    cursor.tracks = clip_2.tracks;
    if (clip_2.frames == 0u) {
        if (clip_2.timeline != NONE) {
            Sought _e42 = seek(clip_2.timeline, time_3, words, _buffer_sizes);
            cursor.key = _e42.key;
            cursor.fraction = _e42.fraction;
            cursor.interval = _e42.interval;
        }
        Cursor _e49 = cursor;
        return _e49;
    }
    if (true) {
        Sought _e54 = frame_of(clip_2, time_3);
        cursor.key = clip_2.numbers + (_e54.key * clip_2.row);
        uint _e63 = cursor.key;
        cursor.next = _e63 + ((clip_2.frames > 1u) ? clip_2.row : 0u);
        cursor.fraction = _e54.fraction;
    }
    Cursor _e73 = cursor;
    return _e73;
}

Momentum inertia(
    Player player_3,
    uint first_slot,
    uint tick_6,
    constant PosedChunk& posed,
    device type_3 const& words,
    device type_4 const& layers,
    device type_7 const& clips,
    device type_8& cursors,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_8 = {};
    uint index_3 = 0u;
    uint back = {};
    if (player_3.inertial == NONE) {
        return Momentum {4294967295u, 0u, 0.0, 0.0};
    }
    Layer fading = layers[player_3.first_layer + player_3.inertial];
    Presence _e17 = presence(fading, tick_6);
    if (!((_e17.state == ABSENT))) {
        local_8 = _e17.state == FULL;
    } else {
        local_8 = true;
    }
    bool _e28 = local_8;
    if (_e28) {
        return Momentum {4294967295u, 0u, 0.0, 0.0};
    }
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e80 = index_3;
            index_3 = _e80 + 1u;
        }
        loop_init_1 = false;
        uint _e36 = index_3;
        if (_e36 <= player_3.inertial) {
        } else {
            break;
        }
        {
            uint _e41 = index_3;
            Layer layer_9 = layers[player_3.first_layer + _e41];
            back = 0u;
            bool loop_init_2 = true;
            while(true) {
                if (!loop_init_2) {
                    uint _e77 = back;
                    back = _e77 + 1u;
                }
                loop_init_2 = false;
                uint _e47 = back;
                if (_e47 < 2u) {
                } else {
                    break;
                }
                {
                    uint _e51 = back;
                    uint ago = _e17.ticks + _e51;
                    uint then = tick_6 - ago;
                    uint _e54 = index_3;
                    bool own = _e54 == player_3.inertial;
                    uint _e57 = clock_of(layer_9, then);
                    uint _e58 = clock_of(layer_9, tick_6);
                    uint clock_6 = own ? (_e58 - ago) : _e57;
                    float _e61 = weight_at(layer_9, then);
                    float weight_1 = own ? layer_9.weight : _e61;
                    uint _e67 = index_3;
                    uint _e70 = back;
                    uint slot_1 = ((first_slot + player_3.layers) + (2u * _e67)) + _e70;
                    float _e74 = time_at(player_3, layer_9, then, clock_6, layers, _buffer_sizes);
                    Cursor _e75 = cursor_of(layer_9, _e74, weight_1, posed, words, clips, _buffer_sizes);
                    cursors[slot_1] = _e75;
                }
            }
        }
    }
    bool coming = _e17.state == COMING;
    float length = static_cast<float>(coming ? fading.fade_in : fading.fade_out);
    float s_1 = static_cast<float>(_e17.ticks) / length;
    float s3_ = (s_1 * s_1) * s_1;
    float offset = 1.0 - (s3_ * (10.0 - (s_1 * (15.0 - (6.0 * s_1)))));
    float speed = length * (s_1 - (s3_ * (6.0 - (s_1 * (8.0 - (3.0 * s_1))))));
    return Momentum {player_3.inertial, static_cast<uint>(coming), offset, speed};
}

void schedule(
    Player player_4,
    uint first_slot_1,
    uint momentum,
    uint tick_7,
    constant PosedChunk& posed,
    device type_3 const& words,
    device type_4 const& layers,
    device type_7 const& clips,
    device type_8& cursors,
    device type_9& momenta,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint index_4 = 0u;
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e24 = index_4;
            index_4 = _e24 + 1u;
        }
        loop_init_3 = false;
        uint _e6 = index_4;
        if (_e6 < player_4.layers) {
        } else {
            break;
        }
        {
            uint _e11 = index_4;
            Layer layer_10 = layers[player_4.first_layer + _e11];
            uint _e15 = clock_of(layer_10, tick_7);
            float _e16 = time_at(player_4, layer_10, tick_7, _e15, layers, _buffer_sizes);
            uint _e18 = index_4;
            float _e21 = weight_at(layer_10, tick_7);
            Cursor _e22 = cursor_of(layer_10, _e16, _e21, posed, words, clips, _buffer_sizes);
            cursors[first_slot_1 + _e18] = _e22;
        }
    }
    if (true) {
        Momentum _e32 = inertia(player_4, first_slot_1, tick_7, posed, words, layers, clips, cursors, _buffer_sizes);
        momenta[momentum] = _e32;
        return;
    } else {
        return;
    }
}

PosePair between(
    Player player_5,
    uint instance,
    PosePair before,
    constant PosedChunk& posed,
    device type_3 const& words,
    constant Now& now,
    device type_4 const& layers,
    device type_7 const& clips,
    device type_8& cursors,
    device type_9& momenta,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint2 ticks_2 = {};
    uint modes = {};
    uint which = 0u;
    bool local_9 = {};
    uint slot = {};
    uint tick_8 = now.tick;
    uint rest_1 = (tick_8 % player_5.every) + player_5.offset;
    uint past = rest_1 % player_5.every;
    uint place = ((tick_8 / player_5.every) + (rest_1 / player_5.every)) % 2u;
    uint elapsed = metal::min(past, tick_8);
    uint start_1 = tick_8 - elapsed;
    uint end = ((NONE - tick_8) < (player_5.every - past)) ? NONE : (tick_8 + (player_5.every - past));
    ticks_2 = metal::uint2(before.first_tick, before.second_tick);
    modes = (before.modes & 3u) | (place << 4u);
    uint _e42 = slots_of(player_5);
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e96 = which;
            which = _e96 + 1u;
        }
        loop_init_4 = false;
        uint _e45 = which;
        if (_e45 < 2u) {
        } else {
            break;
        }
        {
            uint _e48 = which;
            uint needed = (_e48 == place) ? start_1 : end;
            uint _e54 = which;
            uint first_slot_2 = (player_5.first_slot + 1u) + (_e54 * _e42);
            uint _e57 = which;
            uint _e59 = ticks_2[_e57];
            if (_e59 == needed) {
                uint _e63 = modes;
                uint _e65 = which;
                local_9 = (_e63 & (1u << _e65)) != 0u;
            } else {
                local_9 = false;
            }
            bool _e71 = local_9;
            if (_e71) {
                slot = first_slot_2;
                bool loop_init_5 = true;
                while(true) {
                    if (!loop_init_5) {
                        uint _e82 = slot;
                        slot = _e82 + 1u;
                    }
                    loop_init_5 = false;
                    uint _e73 = slot;
                    if (_e73 < (first_slot_2 + _e42)) {
                    } else {
                        break;
                    }
                    {
                        uint _e77 = slot;
                        cursors[_e77].tracks = NONE;
                    }
                }
                continue;
            }
            uint _e84 = which;
            ticks_2[_e84] = needed;
            uint _e86 = modes;
            uint _e88 = which;
            modes = _e86 | (5u << _e88);
            uint _e93 = which;
            schedule(player_5, first_slot_2, (2u * instance) + _e93, needed, posed, words, layers, clips, cursors, momenta, _buffer_sizes);
        }
    }
    cursors[player_5.first_slot].tracks = NONE;
    uint _e104 = ticks_2.x;
    uint _e106 = ticks_2.y;
    uint _e107 = modes;
    return PosePair {_e104, _e106, _e107, static_cast<float>(elapsed) / static_cast<float>(metal::max(end - start_1, 1u))};
}

struct main_Input {
};
kernel void main_(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, uint thread_ [[thread_index_in_threadgroup]]
, constant PosedChunk& posed [[buffer(0)]]
, device type_3 const& words [[buffer(6)]]
, constant Now& now [[buffer(1)]]
, device type_4 const& layers [[buffer(2)]]
, device type_5 const& players [[buffer(3)]]
, device type_7 const& clips [[buffer(4)]]
, device type_8& cursors [[buffer(9)]]
, device type_9& momenta [[buffer(10)]]
, device type_10& pose_pairs [[buffer(19)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint _e3 = thread_of_chunk(group, groups, thread_);
    uint _e6 = posed.instances;
    if (_e3 >= _e6) {
        return;
    }
    uint _e10 = posed.first_instance;
    uint instance_1 = _e10 + _e3;
    Player player_6 = players[instance_1];
    if (false) {
        uint _e22 = now.tick;
        schedule(player_6, player_6.first_slot, instance_1, _e22, posed, words, layers, clips, cursors, momenta, _buffer_sizes);
        return;
    } else {
        if (player_6.every == 1u) {
            uint _e31 = now.tick;
            schedule(player_6, player_6.first_slot, 2u * instance_1, _e31, posed, words, layers, clips, cursors, momenta, _buffer_sizes);
            return;
        } else {
            PosePair _e36 = pose_pairs[instance_1];
            PosePair _e37 = between(player_6, instance_1, _e36, posed, words, now, layers, clips, cursors, momenta, _buffer_sizes);
            pose_pairs[instance_1] = _e37;
            return;
        }
    }
}
