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
    uint size6;
    uint size7;
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
struct Joint {
    metal::float4 rotation;
    metal::packed_float3 translation;
    uint parent;
    metal::packed_float3 scale;
    uint matrix_;
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
struct Local {
    metal::float4 rotation;
    metal::float3 translation;
    metal::float3 scale;
};
typedef Player type_5[1];
typedef Joint type_6[1];
typedef Cursor type_7[1];
typedef Momentum type_8[1];
typedef float type_9[1];
typedef metal::float4 type_10[1];
typedef PosePair type_11[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;
constant Places places = Places {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
constant uint MERGE = 0u;
constant uint OVERRIDE = 1u;
constant uint INERTIA = 1u;
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

uint local_at(
    uint slot,
    uint joint,
    constant PosedChunk& posed
) {
    uint _e9 = posed.joints;
    return (0u + ((3u * (slot - 0u)) * _e9)) + joint;
}

Momentum momentum_of(
    uint index,
    device type_8 const& momenta,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (true) {
        Momentum _e7 = momenta[index];
        return _e7;
    }
    return Momentum {4294967295u, 0u, 0.0, 0.0};
}

float weight_of(
    Cursor cursor,
    uint joint_1,
    constant PosedChunk& posed,
    device type_9 const& masks,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local = {};
    uint mask = cursor.modes >> 8u;
    if (!((mask == 0u))) {
        local = cursor.weight == 0.0;
    } else {
        local = true;
    }
    bool _e14 = local;
    if (_e14) {
        return cursor.weight;
    }
    uint _e23 = posed.joints;
    float _e28 = masks[(0u + ((mask - 1u) * _e23)) + joint_1];
    return cursor.weight * _e28;
}

uint kind_of(
    Cursor cursor_1
) {
    return cursor_1.modes & 255u;
}

Local local_of(
    uint slot_1,
    uint joint_2,
    constant PosedChunk& posed,
    device type_10 const& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = local_at(slot_1, joint_2, posed);
    metal::float4 _e5 = locals[_e2];
    uint _e9 = posed.joints;
    metal::float4 _e12 = locals[_e2 + _e9];
    uint _e18 = posed.joints;
    metal::float4 _e22 = locals[_e2 + (2u * _e18)];
    return Local {_e5, _e12.xyz, _e22.xyz};
}

float shorter(
    metal::float4 a,
    metal::float4 b,
    float weight
) {
    return (metal::dot(a, b) < 0.0) ? -(weight) : weight;
}

Local merged(
    uint first,
    uint stride,
    uint count,
    uint joint_3,
    constant PosedChunk& posed,
    device type_6 const& joints,
    device type_7 const& cursors,
    device type_9 const& masks,
    device type_10 const& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    Local sum = Local {metal::float4(0.0), metal::float3(0.0), metal::float3(0.0)};
    float total = 0.0;
    uint terms = 0u;
    uint index_1 = 0u;
    bool local_1 = {};
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e82 = index_1;
            index_1 = _e82 + 1u;
        }
        loop_init = false;
        uint _e18 = index_1;
        if (_e18 < count) {
        } else {
            break;
        }
        {
            uint _e20 = index_1;
            uint slot_4 = first + (_e20 * stride);
            Cursor cursor_2 = cursors[slot_4];
            float _e26 = weight_of(cursor_2, joint_3, posed, masks, _buffer_sizes);
            uint _e27 = kind_of(cursor_2);
            if (!((_e27 != MERGE))) {
                local_1 = _e26 == 0.0;
            } else {
                local_1 = true;
            }
            bool _e36 = local_1;
            if (_e36) {
                continue;
            }
            Local _e37 = local_of(slot_4, joint_3, posed, locals, _buffer_sizes);
            uint _e38 = terms;
            if (_e38 == 0u) {
                sum = _e37;
            } else {
                uint _e41 = terms;
                if (_e41 == 1u) {
                    float _e44 = total;
                    metal::float4 _e46 = sum.rotation;
                    float _e48 = total;
                    metal::float3 _e50 = sum.translation;
                    float _e52 = total;
                    metal::float3 _e54 = sum.scale;
                    sum = Local {_e44 * _e46, _e48 * _e50, _e52 * _e54};
                }
                metal::float4 _e58 = sum.rotation;
                metal::float4 _e60 = sum.rotation;
                float _e62 = shorter(_e60, _e37.rotation, _e26);
                sum.rotation = _e58 + (_e62 * _e37.rotation);
                metal::float3 _e67 = sum.translation;
                sum.translation = _e67 + (_e26 * _e37.translation);
                metal::float3 _e72 = sum.scale;
                sum.scale = _e72 + (_e26 * _e37.scale);
            }
            uint _e77 = terms;
            terms = _e77 + 1u;
            float _e79 = total;
            total = _e79 + _e26;
        }
    }
    float _e84 = total;
    if (_e84 < 0.00000000000000000086736174) {
        Joint rest = joints[0u + joint_3];
        return Local {rest.rotation, rest.translation, rest.scale};
    }
    uint _e96 = terms;
    if (_e96 == 1u) {
        Local _e99 = sum;
        return _e99;
    }
    metal::float4 _e101 = sum.rotation;
    metal::float3 _e104 = sum.translation;
    float _e105 = total;
    metal::float3 _e109 = sum.scale;
    float _e110 = total;
    return Local {metal::normalize(_e101), _e104 / metal::float3(_e105), _e109 / metal::float3(_e110)};
}

metal::float4 product(
    metal::float4 a_1,
    metal::float4 b_1
) {
    return metal::float4(((a_1.w * b_1.xyz) + (b_1.w * a_1.xyz)) + metal::cross(a_1.xyz, b_1.xyz), (a_1.w * b_1.w) - metal::dot(a_1.xyz, b_1.xyz));
}

Local joined_by(
    Local beneath,
    Local pose,
    uint kind,
    float weight_1
) {
    if (kind == OVERRIDE) {
        float _e8 = shorter(beneath.rotation, pose.rotation, weight_1);
        return Local {metal::normalize(((1.0 - weight_1) * beneath.rotation) + (_e8 * pose.rotation)), metal::mix(beneath.translation, pose.translation, weight_1), metal::mix(beneath.scale, pose.scale, weight_1)};
    }
    metal::float4 whole = metal::float4(0.0, 0.0, 0.0, 1.0 - weight_1);
    metal::float4 rotation = whole + (((pose.rotation.w < 0.0) ? -(weight_1) : weight_1) * pose.rotation);
    metal::float4 _e40 = product(rotation, beneath.rotation);
    return Local {metal::normalize(_e40), beneath.translation + (weight_1 * pose.translation), beneath.scale * (metal::float3(1.0) + (weight_1 * (pose.scale - metal::float3(1.0))))};
}

Local joined(
    Local beneath_1,
    uint slot_2,
    uint joint_4,
    constant PosedChunk& posed,
    device type_7 const& cursors,
    device type_9 const& masks,
    device type_10 const& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_2 = {};
    Cursor cursor_3 = cursors[slot_2];
    float _e6 = weight_of(cursor_3, joint_4, posed, masks, _buffer_sizes);
    uint _e7 = kind_of(cursor_3);
    if (!((_e7 == MERGE))) {
        local_2 = _e6 == 0.0;
    } else {
        local_2 = true;
    }
    bool _e16 = local_2;
    if (_e16) {
        return beneath_1;
    }
    Local _e17 = local_of(slot_2, joint_4, posed, locals, _buffer_sizes);
    uint _e18 = kind_of(cursor_3);
    Local _e19 = joined_by(beneath_1, _e17, _e18, _e6);
    return _e19;
}

Local off(
    uint first_1,
    Momentum momentum,
    uint joint_5,
    constant PosedChunk& posed,
    device type_6 const& joints,
    device type_7 const& cursors,
    device type_9 const& masks,
    device type_10 const& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    Local without = {};
    uint layer = 0u;
    Local old = {};
    Local reached = {};
    uint fading = first_1 + (2u * momentum.layer);
    Local _e9 = merged(first_1, 2u, momentum.layer, joint_5, posed, joints, cursors, masks, locals, _buffer_sizes);
    without = _e9;
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e23 = layer;
            layer = _e23 + 1u;
        }
        loop_init_1 = false;
        uint _e13 = layer;
        if (_e13 < momentum.layer) {
        } else {
            break;
        }
        {
            Local _e16 = without;
            uint _e18 = layer;
            Local _e21 = joined(_e16, first_1 + (2u * _e18), joint_5, posed, cursors, masks, locals, _buffer_sizes);
            without = _e21;
        }
    }
    Local _e25 = without;
    Local _e26 = joined(_e25, fading, joint_5, posed, cursors, masks, locals, _buffer_sizes);
    old = _e26;
    Local _e28 = without;
    reached = _e28;
    if (momentum.coming == 1u) {
        Local _e33 = without;
        old = _e33;
        reached = _e26;
    }
    metal::float4 _e35 = old.rotation;
    metal::float4 _e37 = reached.rotation;
    float _e42 = reached.rotation.w;
    metal::float4 _e44 = product(_e35, metal::float4(-(_e37.xyz), _e42));
    metal::float3 _e51 = old.translation;
    metal::float3 _e53 = reached.translation;
    metal::float3 _e56 = old.scale;
    metal::float3 _e58 = reached.scale;
    return Local {(_e44.w < 0.0) ? -(_e44) : _e44, _e51 - _e53, _e56 - _e58};
}

Local carried(
    Local reached_1,
    Player player_1,
    uint first_slot,
    Momentum momentum_1,
    uint joint_6,
    constant PosedChunk& posed,
    device type_6 const& joints,
    device type_7 const& cursors,
    device type_9 const& masks,
    device type_10 const& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    Local _e7 = off(first_slot + player_1.layers, momentum_1, joint_6, posed, joints, cursors, masks, locals, _buffer_sizes);
    Local _e12 = off((first_slot + player_1.layers) + 1u, momentum_1, joint_6, posed, joints, cursors, masks, locals, _buffer_sizes);
    float _e17 = shorter(_e7.rotation, _e12.rotation, 1.0);
    metal::float4 change = _e7.rotation - (_e17 * _e12.rotation);
    metal::float4 whole_1 = metal::float4(0.0, 0.0, 0.0, 1.0);
    metal::float4 rotation_1 = (whole_1 + (momentum_1.offset * (_e7.rotation - whole_1))) + (momentum_1.speed * change);
    metal::float4 _e35 = product(rotation_1, reached_1.rotation);
    return Local {metal::normalize(_e35), (reached_1.translation + (momentum_1.offset * _e7.translation)) + (momentum_1.speed * (_e7.translation - _e12.translation)), (reached_1.scale + (momentum_1.offset * _e7.scale)) + (momentum_1.speed * (_e7.scale - _e12.scale))};
}

void put(
    uint slot_3,
    uint joint_7,
    Local pose_1,
    constant PosedChunk& posed,
    device type_10& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e3 = local_at(slot_3, joint_7, posed);
    locals[_e3] = pose_1.rotation;
    uint _e10 = posed.joints;
    locals[_e3 + _e10] = metal::float4(pose_1.translation, 0.0);
    uint _e20 = posed.joints;
    locals[_e3 + (2u * _e20)] = metal::float4(pose_1.scale, 0.0);
    return;
}

void blend(
    Player player_2,
    uint first_slot_1,
    uint index_2,
    uint joint_8,
    constant PosedChunk& posed,
    device type_6 const& joints,
    device type_7 const& cursors,
    device type_8 const& momenta,
    device type_9 const& masks,
    device type_10& locals,
    constant _mslBufferSizes& _buffer_sizes
) {
    Local pose_2 = {};
    uint layer_1 = 0u;
    bool local_3 = {};
    Momentum _e4 = momentum_of(index_2, momenta, _buffer_sizes);
    Local _e7 = merged(first_slot_1, 1u, player_2.layers, joint_8, posed, joints, cursors, masks, locals, _buffer_sizes);
    pose_2 = _e7;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e32 = layer_1;
            layer_1 = _e32 + 1u;
        }
        loop_init_2 = false;
        uint _e11 = layer_1;
        if (_e11 < player_2.layers) {
        } else {
            break;
        }
        {
            Local _e14 = pose_2;
            uint _e15 = layer_1;
            Local _e17 = joined(_e14, first_slot_1 + _e15, joint_8, posed, cursors, masks, locals, _buffer_sizes);
            pose_2 = _e17;
            if (true) {
                uint _e24 = layer_1;
                local_3 = _e24 == _e4.layer;
            } else {
                local_3 = false;
            }
            bool _e28 = local_3;
            if (_e28) {
                Local _e29 = pose_2;
                Local _e30 = carried(_e29, player_2, first_slot_1, _e4, joint_8, posed, joints, cursors, masks, locals, _buffer_sizes);
                pose_2 = _e30;
            }
        }
    }
    Local _e34 = pose_2;
    put(first_slot_1, joint_8, _e34, posed, locals, _buffer_sizes);
    return;
}

struct main_Input {
};
kernel void main_(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, uint thread_ [[thread_index_in_threadgroup]]
, constant PosedChunk& posed [[buffer(0)]]
, device type_5 const& players [[buffer(3)]]
, device type_6 const& joints [[buffer(8)]]
, device type_7 const& cursors [[buffer(9)]]
, device type_8 const& momenta [[buffer(10)]]
, device type_9 const& masks [[buffer(11)]]
, device type_10& locals [[buffer(12)]]
, device type_11 const& pose_pairs [[buffer(19)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint which = 0u;
    uint _e3 = thread_of_chunk(group, groups, thread_);
    uint _e6 = posed.instances;
    uint _e9 = posed.joints;
    if (_e3 >= (_e6 * _e9)) {
        return;
    }
    uint _e14 = posed.joints;
    uint own = _e3 / _e14;
    uint _e18 = posed.joints;
    uint joint_9 = _e3 - (own * _e18);
    uint _e23 = posed.first_instance;
    uint instance = _e23 + own;
    Player player_3 = players[instance];
    if (false) {
        blend(player_3, player_3.first_slot, instance, joint_9, posed, joints, cursors, momenta, masks, locals, _buffer_sizes);
        return;
    }
    if (player_3.every == 1u) {
        blend(player_3, player_3.first_slot, 2u * instance, joint_9, posed, joints, cursors, momenta, masks, locals, _buffer_sizes);
        return;
    }
    PosePair pair = pose_pairs[instance];
    uint _e42 = slots_of(player_3);
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e66 = which;
            which = _e66 + 1u;
        }
        loop_init_3 = false;
        uint _e45 = which;
        if (_e45 < 2u) {
        } else {
            break;
        }
        {
            uint _e50 = which;
            if ((pair.modes & (4u << _e50)) != 0u) {
                uint _e58 = which;
                uint _e63 = which;
                blend(player_3, (player_3.first_slot + 1u) + (_e58 * _e42), (2u * instance) + _e63, joint_9, posed, joints, cursors, momenta, masks, locals, _buffer_sizes);
            }
        }
    }
    uint place = pair.modes >> 4u;
    Local _e76 = local_of((player_3.first_slot + 1u) + (place * _e42), joint_9, posed, locals, _buffer_sizes);
    Local _e84 = local_of((player_3.first_slot + 1u) + ((1u - place) * _e42), joint_9, posed, locals, _buffer_sizes);
    Local _e88 = joined_by(_e76, _e84, OVERRIDE, pair.part);
    put(player_3.first_slot, joint_9, _e88, posed, locals, _buffer_sizes);
    return;
}
