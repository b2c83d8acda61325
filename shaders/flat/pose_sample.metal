// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size3;
    uint size4;
    uint size5;
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
struct Track {
    uint place;
    uint angle;
    uint timeline;
};
struct Sought {
    uint key;
    float fraction;
    float interval;
    uint held;
};
typedef uint type_5[1];
typedef metal::float4 type_6[1];
struct Coding {
    metal::float3 low;
    metal::packed_float3 step;
    uint dropped;
    metal::uint3 bits;
};
struct Key {
    metal::packed_uint3 numbers;
    uint choice;
};
typedef Track type_8[1];
typedef Cursor type_9[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;
constant Places places = Places {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
constant uint ANY = 4u;
constant uint STILL = 0u;
constant uint CONSTANT = 1u;
constant uint STEP = 2u;
constant uint LINE = 3u;
constant uint SLERP = 4u;
constant uint NLERP = 5u;
constant uint AUTHORED = 6u;
constant uint CUBIC = 7u;
constant uint SQUAD = 8u;
constant uint PACKED = 9u;
constant uint ROTATIONS = 1023u;
constant uint TRANSLATIONS = 1023u;
constant uint SCALES = 1023u;
constant uint OWN_TIMES = 1u;
constant uint AT_ONCE = 1u;

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

uint local_at(
    uint slot,
    uint joint,
    constant PosedChunk& posed
) {
    uint _e9 = posed.joints;
    return (0u + ((3u * (slot - 0u)) * _e9)) + joint;
}

uint value_of(
    Track track
) {
    return track.place >> 4u;
}

float word(
    uint index,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e3 = words[index];
    return as_type<float>(_e3);
}

Sought seek(
    uint timeline,
    float time,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint low = 0u;
    uint high = {};
    uint count_1 = words[timeline];
    uint first_3 = timeline + 1u;
    high = count_1;
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
            float _e19 = word(first_3 + middle, words, _buffer_sizes);
            if (_e19 <= time) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
    }
    uint _e23 = low;
    uint key_2 = metal::min(metal::max(_e23, 1u) - 1u, metal::max(count_1, 2u) - 2u);
    if (count_1 < 2u) {
        return Sought {key_2, 0.0, 0.0, key_2};
    }
    float _e41 = word((first_3 + key_2) + 1u, words, _buffer_sizes);
    float _e43 = word(first_3 + key_2, words, _buffer_sizes);
    float interval = _e41 - _e43;
    float _e46 = word(first_3 + key_2, words, _buffer_sizes);
    uint _e52 = low;
    return Sought {key_2, metal::clamp((time - _e46) / interval, 0.0, 1.0), interval, metal::max(_e52, 1u) - 1u};
}

float sine_over_x(
    float x
) {
    float u = x * x;
    float high_2 = 0.0000027211408 - (0.000000021296863 * u);
    return 1.0 + (u * (-0.16666646 + (u * (0.008333043 + (u * (-0.000198264 + (u * high_2)))))));
}

metal::float4 slerp(
    metal::float4 a,
    metal::float4 b,
    float angle,
    float t
) {
    float _e4 = sine_over_x(angle);
    float _e10 = sine_over_x((1.0 - t) * angle);
    float share_a = ((1.0 - t) * _e10) / _e4;
    float _e14 = sine_over_x(t * angle);
    float share_b = (t * _e14) / _e4;
    return (share_a * a) + (share_b * b);
}

float arc_tangent(
    float x_1
) {
    float u_1 = x_1 * x_1;
    float high_3 = 0.042909615 + (u_1 * (-0.016165737 + (u_1 * 0.0028662258)));
    return x_1 * (1.0 + (u_1 * (-0.33333144 + (u_1 * (0.19993551 + (u_1 * (-0.142089 + (u_1 * (0.10656264 + (u_1 * (-0.07528964 + (u_1 * high_3))))))))))));
}

float angle_between(
    metal::float4 a_1,
    metal::float4 b_1
) {
    float chord = metal::length(a_1 - b_1);
    float other = metal::length(a_1 + b_1);
    float _e9 = arc_tangent(metal::min(chord, other) / metal::max(chord, other));
    return (chord <= other) ? (2.0 * _e9) : (3.1415927 - (2.0 * _e9));
}

metal::float4 cubic(
    uint first,
    Sought at,
    device type_6 const& quads,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint key_3 = first + (3u * at.key);
    float t_1 = at.fraction;
    float t2_ = t_1 * t_1;
    float t3_ = t2_ * t_1;
    metal::float4 _e20 = quads[key_3 + 1u];
    metal::float4 _e31 = quads[key_3 + 4u];
    metal::float4 keys = ((((2.0 * t3_) - (3.0 * t2_)) + 1.0) * _e20) + (((3.0 * t2_) - (2.0 * t3_)) * _e31);
    metal::float4 _e43 = quads[key_3 + 2u];
    metal::float4 _e50 = quads[key_3 + 3u];
    return keys + (at.interval * ((((t3_ - (2.0 * t2_)) + t_1) * _e43) + ((t3_ - t2_) * _e50)));
}

metal::float4 squad(
    Track track_1,
    Sought at_1,
    device type_5 const& words,
    device type_6 const& quads,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = value_of(track_1);
    uint key_4 = _e2 + (2u * at_1.key);
    uint angle_1 = track_1.angle + (2u * at_1.key);
    float t_2 = at_1.fraction;
    metal::float4 _e15 = quads[key_4];
    metal::float4 _e20 = quads[key_4 + 2u];
    float _e21 = word(angle_1, words, _buffer_sizes);
    metal::float4 _e22 = slerp(_e15, _e20, _e21, t_2);
    metal::float4 _e27 = quads[key_4 + 1u];
    metal::float4 _e32 = quads[key_4 + 3u];
    float _e35 = word(angle_1 + 1u, words, _buffer_sizes);
    metal::float4 _e36 = slerp(_e27, _e32, _e35, t_2);
    float _e37 = angle_between(_e22, _e36);
    metal::float4 _e43 = slerp(_e22, _e36, _e37, (2.0 * t_2) * (1.0 - t_2));
    return metal::normalize(_e43);
}

Coding coding_of(
    Track track_2,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint at_4 = track_2.angle;
    uint bits = words[at_4 + 6u];
    float _e7 = word(at_4, words, _buffer_sizes);
    float _e10 = word(at_4 + 1u, words, _buffer_sizes);
    float _e13 = word(at_4 + 2u, words, _buffer_sizes);
    float _e17 = word(at_4 + 3u, words, _buffer_sizes);
    float _e20 = word(at_4 + 4u, words, _buffer_sizes);
    float _e23 = word(at_4 + 5u, words, _buffer_sizes);
    return Coding {metal::float3(_e7, _e10, _e13), metal::float3(_e17, _e20, _e23), bits & 15u, metal::uint3(bits >> 4u, bits >> 9u, bits >> 14u) & metal::uint3(31u)};
}

uint bits_of(
    uint low_1,
    uint high_1,
    uint first_1,
    uint count
) {
    uint shift = first_1 & 31u;
    uint across = (high_1 << 1u) << (31u - shift);
    uint bits_1 = (first_1 >= 32u) ? (high_1 >> shift) : ((low_1 >> shift) | across);
    return metal::extract_bits(bits_1, metal::min(0u, 32u), metal::min(count, 32u - metal::min(0u, 32u)));
}

Key key_of(
    Track track_3,
    Coding coding,
    uint frame,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e3 = value_of(track_3);
    uint at_5 = frame + (_e3 >> 5u);
    uint shift_1 = _e3 & 31u;
    uint _e11 = words[at_5];
    uint _e16 = words[at_5 + 1u];
    uint _e21 = words[at_5 + 2u];
    metal::uint3 w = metal::uint3(_e11, _e16, _e21);
    uint low_2 = (w.x >> shift_1) | ((w.y << 1u) << (31u - shift_1));
    uint high_4 = (w.y >> shift_1) | ((w.z << 1u) << (31u - shift_1));
    uint second = coding.bits.x;
    uint third = second + coding.bits.y;
    uint _e49 = bits_of(low_2, high_4, 0u, coding.bits.x);
    uint _e52 = bits_of(low_2, high_4, second, coding.bits.y);
    uint _e55 = bits_of(low_2, high_4, third, coding.bits.z);
    metal::uint3 numbers = metal::uint3(_e49, _e52, _e55);
    uint _e61 = bits_of(low_2, high_4, third + coding.bits.z, 2u);
    return Key {numbers, _e61};
}

metal::float3 components(
    Coding coding_1,
    Key key
) {
    return coding_1.low + (static_cast<metal::float3>(key.numbers) * coding_1.step);
}

metal::float4 quaternion(
    Coding coding_2,
    Key key_1
) {
    uint dropped = (coding_2.dropped == ANY) ? key_1.choice : coding_2.dropped;
    metal::float3 _e8 = components(coding_2, key_1);
    float largest = metal::sqrt(metal::max(1.0 - metal::dot(_e8, _e8), 0.0));
    metal::float2 low_3 = (dropped == 1u) ? metal::float2(_e8.x, largest) : metal::float2(_e8.x, _e8.y);
    metal::float4 without_first = metal::float4(low_3, (dropped == 2u) ? largest : _e8.y, _e8.z);
    return (dropped == 0u) ? metal::float4(largest, _e8) : ((dropped == 3u) ? metal::float4(_e8, largest) : without_first);
}

metal::float4 turned_packed(
    Track track_4,
    Cursor cursor,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 b_2 = {};
    Coding _e2 = coding_of(track_4, words, _buffer_sizes);
    Key _e4 = key_of(track_4, _e2, cursor.key, words, _buffer_sizes);
    metal::float4 _e5 = quaternion(_e2, _e4);
    Key _e7 = key_of(track_4, _e2, cursor.next, words, _buffer_sizes);
    metal::float4 _e8 = quaternion(_e2, _e7);
    b_2 = _e8;
    metal::float4 _e10 = b_2;
    metal::float4 _e11 = b_2;
    metal::float4 _e13 = b_2;
    b_2 = (metal::dot(_e5, _e13) < 0.0) ? -(_e11) : _e10;
    metal::float4 _e18 = b_2;
    metal::float4 _e19 = b_2;
    float _e20 = angle_between(_e5, _e19);
    metal::float4 _e22 = slerp(_e5, _e18, _e20, cursor.fraction);
    return _e22;
}

metal::float4 moved_packed(
    Track track_5,
    Cursor cursor_1,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    Coding _e2 = coding_of(track_5, words, _buffer_sizes);
    Key _e4 = key_of(track_5, _e2, cursor_1.key, words, _buffer_sizes);
    metal::float3 _e5 = components(_e2, _e4);
    Key _e7 = key_of(track_5, _e2, cursor_1.next, words, _buffer_sizes);
    metal::float3 _e8 = components(_e2, _e7);
    return metal::float4(metal::mix(_e5, _e8, cursor_1.fraction), 0.0);
}

bool is(
    Track track_6,
    uint form,
    uint forms
) {
    bool local = {};
    if ((forms & (1u << form)) != 0u) {
        local = (track_6.place & 15u) == form;
    } else {
        local = false;
    }
    bool _e15 = local;
    return _e15;
}

Sought sought(
    Track track_7,
    Cursor cursor_2,
    device type_5 const& words,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_1 = {};
    if (true) {
        local_1 = track_7.timeline != NONE;
    } else {
        local_1 = false;
    }
    bool _e12 = local_1;
    if (_e12) {
        Sought _e15 = seek(track_7.timeline, cursor_2.time, words, _buffer_sizes);
        return _e15;
    }
    return Sought {cursor_2.key, cursor_2.fraction, cursor_2.interval, cursor_2.key};
}

uint first_key(
    Track track_8,
    Sought at_2,
    uint forms_1
) {
    bool _e6 = is(track_8, STEP, forms_1);
    uint key_5 = _e6 ? at_2.held : at_2.key;
    uint _e8 = value_of(track_8);
    bool _e11 = is(track_8, CONSTANT, forms_1);
    return _e8 + (_e11 ? 0u : key_5);
}

metal::float4 turned(
    Track track_9,
    Cursor cursor_3,
    device type_5 const& words,
    device type_6 const& quads,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_2 = {};
    bool local_3 = {};
    bool local_4 = {};
    Sought _e2 = sought(track_9, cursor_3, words, _buffer_sizes);
    bool _e5 = is(track_9, CUBIC, ROTATIONS);
    if (_e5) {
        uint _e6 = value_of(track_9);
        metal::float4 _e7 = cubic(_e6, _e2, quads, _buffer_sizes);
        return metal::normalize(_e7);
    }
    bool _e11 = is(track_9, SQUAD, ROTATIONS);
    if (_e11) {
        metal::float4 _e12 = squad(track_9, _e2, words, quads, _buffer_sizes);
        return _e12;
    }
    bool _e15 = is(track_9, PACKED, ROTATIONS);
    if (_e15) {
        metal::float4 _e16 = turned_packed(track_9, cursor_3, words, _buffer_sizes);
        return _e16;
    }
    uint _e18 = first_key(track_9, _e2, ROTATIONS);
    metal::float4 a_2 = quads[_e18];
    bool _e24 = is(track_9, CONSTANT, ROTATIONS);
    if (!(_e24)) {
        bool _e30 = is(track_9, STEP, ROTATIONS);
        local_2 = _e30;
    } else {
        local_2 = true;
    }
    bool _e32 = local_2;
    if (_e32) {
        return a_2;
    }
    metal::float4 b_3 = quads[_e18 + 1u];
    bool _e40 = is(track_9, NLERP, ROTATIONS);
    if (!(_e40)) {
        bool _e46 = is(track_9, AUTHORED, ROTATIONS);
        if (_e46) {
            local_4 = metal::abs(metal::dot(a_2, b_3)) >= 0.95;
        } else {
            local_4 = false;
        }
        bool _e54 = local_4;
        local_3 = _e54;
    } else {
        local_3 = true;
    }
    bool _e56 = local_3;
    if (_e56) {
        return metal::normalize(metal::mix(a_2, b_3, _e2.fraction));
    }
    float _e63 = word(track_9.angle + _e2.key, words, _buffer_sizes);
    metal::float4 _e65 = slerp(a_2, b_3, _e63, _e2.fraction);
    return _e65;
}

metal::float4 moved(
    Track track_10,
    Cursor cursor_4,
    uint forms_2,
    device type_5 const& words,
    device type_6 const& quads,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_5 = {};
    Sought _e3 = sought(track_10, cursor_4, words, _buffer_sizes);
    bool _e5 = is(track_10, CUBIC, forms_2);
    if (_e5) {
        uint _e6 = value_of(track_10);
        metal::float4 _e7 = cubic(_e6, _e3, quads, _buffer_sizes);
        return _e7;
    }
    bool _e9 = is(track_10, PACKED, forms_2);
    if (_e9) {
        metal::float4 _e10 = moved_packed(track_10, cursor_4, words, _buffer_sizes);
        return _e10;
    }
    uint _e11 = first_key(track_10, _e3, forms_2);
    metal::float4 a_3 = quads[_e11];
    bool _e16 = is(track_10, CONSTANT, forms_2);
    if (!(_e16)) {
        bool _e21 = is(track_10, STEP, forms_2);
        local_5 = _e21;
    } else {
        local_5 = true;
    }
    bool _e23 = local_5;
    if (_e23) {
        return a_3;
    }
    metal::float4 _e28 = quads[_e11 + 1u];
    return metal::mix(a_3, _e28, _e3.fraction);
}

void sample(
    Cursor cursor_5,
    uint first_2,
    uint at_3,
    constant PosedChunk& posed,
    device type_5 const& words,
    device type_6 const& quads,
    device type_8 const& tracks,
    device type_6& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (true) {
        Track track_11 = tracks[first_2];
        bool _e12 = is(track_11, STILL, ROTATIONS);
        if (!(_e12)) {
            metal::float4 _e16 = turned(track_11, cursor_5, words, quads, _buffer_sizes);
            locals[at_3] = _e16;
        }
    }
    if (true) {
        Track track_12 = tracks[first_2 + 1u];
        bool _e28 = is(track_12, STILL, TRANSLATIONS);
        if (!(_e28)) {
            uint _e33 = posed.joints;
            metal::float4 _e37 = moved(track_12, cursor_5, TRANSLATIONS, words, quads, _buffer_sizes);
            locals[at_3 + _e33] = _e37;
        }
    }
    if (true) {
        Track track_13 = tracks[first_2 + 2u];
        bool _e49 = is(track_13, STILL, SCALES);
        if (!(_e49)) {
            uint _e55 = posed.joints;
            metal::float4 _e60 = moved(track_13, cursor_5, SCALES, words, quads, _buffer_sizes);
            locals[at_3 + (2u * _e55)] = _e60;
            return;
        } else {
            return;
        }
    } else {
        return;
    }
}

struct main_Input {
};
kernel void main_(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, uint thread_ [[thread_index_in_threadgroup]]
, constant PosedChunk& posed [[buffer(0)]]
, device type_5 const& words [[buffer(6)]]
, device type_6 const& quads [[buffer(7)]]
, device type_8 const& tracks [[buffer(5)]]
, device type_9 const& cursors [[buffer(9)]]
, device type_6& locals [[buffer(12)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint own = {};
    uint _e3 = thread_of_chunk(group, groups, thread_);
    uint _e6 = posed.joints;
    uint part = _e3 / _e6;
    uint _e10 = posed.joints;
    uint joint_1 = _e3 - (part * _e10);
    uint first_4 = part * AT_ONCE;
    uint _e19 = posed.slots;
    uint end = metal::min(first_4 + AT_ONCE, _e19);
    own = first_4;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e41 = own;
            own = _e41 + 1u;
        }
        loop_init = false;
        uint _e22 = own;
        if (_e22 < end) {
        } else {
            break;
        }
        {
            uint _e25 = own;
            uint slot_1 = 0u + _e25;
            uint tracks_1 = cursors[slot_1].tracks;
            if (tracks_1 != NONE) {
                Cursor _e35 = cursors[slot_1];
                uint _e39 = local_at(slot_1, joint_1, posed);
                sample(_e35, tracks_1 + (3u * joint_1), _e39, posed, words, quads, tracks, locals, _buffer_sizes);
            }
        }
    }
    return;
}
