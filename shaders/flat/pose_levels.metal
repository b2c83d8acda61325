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
struct Joint {
    metal::float4 rotation;
    metal::packed_float3 translation;
    uint parent;
    metal::packed_float3 scale;
    uint matrix_;
};
struct Rows {
    metal::float4 x;
    metal::float4 y;
    metal::float4 z;
};
typedef Player type_4[1];
typedef Joint type_5[1];
typedef metal::float4 type_6[1];
typedef uint type_7[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;
constant Places places = Places {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
constant uint MATRICES = 1u;
constant uint RIGID = 0u;

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

Rows affine(
    metal::float4 q,
    metal::float3 t,
    metal::float3 s
) {
    metal::float3 d = q.xyz + q.xyz;
    metal::float3 w = q.w * d;
    metal::float3 a_2 = q.x * d;
    float yy = q.y * d.y;
    float yz = q.y * d.z;
    float zz = q.z * d.z;
    return Rows {metal::float4(((1.0 - yy) - zz) * s.x, (a_2.y - w.z) * s.y, (a_2.z + w.y) * s.z, t.x), metal::float4((a_2.y + w.z) * s.x, ((1.0 - a_2.x) - zz) * s.y, (yz - w.x) * s.z, t.y), metal::float4((a_2.z - w.y) * s.x, (yz + w.x) * s.y, ((1.0 - a_2.x) - yy) * s.z, t.z)};
}

Rows rigid(
    metal::float4 rotation,
    metal::float3 translation
) {
    return Rows {rotation, metal::float4(translation, 0.0), metal::float4(0.0)};
}

Rows own_of(
    uint slot_1,
    uint joint_1,
    constant PosedChunk& posed,
    device type_5 const& joints,
    device type_6 const& locals,
    device type_6 const& matrices,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (true) {
        uint fixed = joints[0u + joint_1].matrix_;
        if (fixed != NONE) {
            metal::float4 _e18 = matrices[3u * fixed];
            metal::float4 _e25 = matrices[(3u * fixed) + 1u];
            metal::float4 _e32 = matrices[(3u * fixed) + 2u];
            return Rows {_e18, _e25, _e32};
        }
    }
    uint _e34 = local_at(slot_1, joint_1, posed);
    metal::float4 rotation_1 = locals[_e34];
    uint _e41 = posed.joints;
    metal::float4 _e44 = locals[_e34 + _e41];
    metal::float3 translation_1 = _e44.xyz;
    if (false) {
        Rows _e50 = rigid(rotation_1, translation_1);
        return _e50;
    }
    uint _e55 = posed.joints;
    metal::float4 _e59 = locals[_e34 + (2u * _e55)];
    Rows _e61 = affine(rotation_1, translation_1, _e59.xyz);
    return _e61;
}

metal::float4 multiplied_row(
    metal::float4 a,
    Rows b
) {
    return (((a.x * b.x) + (a.y * b.y)) + (a.z * b.z)) + metal::float4(0.0, 0.0, 0.0, a.w);
}

Rows multiplied(
    Rows a_1,
    Rows b_1
) {
    if (false) {
        metal::float4 q_1 = a_1.x;
        metal::float4 r = b_1.x;
        metal::float3 moved = b_1.y.xyz + (2.0 * metal::cross(q_1.xyz, metal::cross(q_1.xyz, b_1.y.xyz) + (a_1.x.w * b_1.y.xyz)));
        metal::float4 rotation_2 = metal::float4(((a_1.x.w * r.xyz) + (b_1.x.w * q_1.xyz)) + metal::cross(q_1.xyz, r.xyz), (a_1.x.w * b_1.x.w) - metal::dot(q_1.xyz, r.xyz));
        Rows _e46 = rigid(rotation_2, a_1.y.xyz + moved);
        return _e46;
    }
    metal::float4 _e48 = multiplied_row(a_1.x, b_1);
    metal::float4 _e50 = multiplied_row(a_1.y, b_1);
    metal::float4 _e52 = multiplied_row(a_1.z, b_1);
    return Rows {_e48, _e50, _e52};
}

Rows model_of(
    uint instance,
    uint joint_2,
    constant PosedChunk& posed,
    device type_6 const& model,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e4 = posed.first_joint;
    uint _e7 = posed.joints;
    uint index = (_e4 + (instance * _e7)) + joint_2;
    if (false) {
        metal::float4 _e19 = model[2u * index];
        metal::float4 _e26 = model[(2u * index) + 1u];
        Rows _e28 = rigid(_e19, _e26.xyz);
        return _e28;
    }
    metal::float4 _e33 = model[3u * index];
    metal::float4 _e40 = model[(3u * index) + 1u];
    metal::float4 _e47 = model[(3u * index) + 2u];
    return Rows {_e33, _e40, _e47};
}

void put(
    uint instance_1,
    uint joint_3,
    Rows pose,
    constant PosedChunk& posed,
    device type_6& model,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e5 = posed.first_joint;
    uint _e8 = posed.joints;
    uint index_1 = (_e5 + (instance_1 * _e8)) + joint_3;
    if (false) {
        model[2u * index_1] = pose.x;
        model[(2u * index_1) + 1u] = pose.y;
        return;
    } else {
        model[3u * index_1] = pose.x;
        model[(3u * index_1) + 1u] = pose.y;
        model[(3u * index_1) + 2u] = pose.z;
        return;
    }
}

uint parent_of(
    uint joint_4,
    device type_5 const& joints,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e6 = joints[0u + joint_4].parent;
    return _e6;
}

uint slot_of(
    uint instance_2,
    constant PosedChunk& posed,
    device type_4 const& players,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e4 = posed.first_instance;
    uint _e8 = players[_e4 + instance_2].first_slot;
    return _e8;
}

void pose_joint(
    uint instance_3,
    uint slot_2,
    uint joint_5,
    constant PosedChunk& posed,
    device type_5 const& joints,
    device type_6 const& locals,
    device type_6 const& matrices,
    device type_6& model,
    constant _mslBufferSizes& _buffer_sizes
) {
    Rows _e3 = own_of(slot_2, joint_5, posed, joints, locals, matrices, _buffer_sizes);
    uint _e4 = parent_of(joint_5, joints, _buffer_sizes);
    if (_e4 == NONE) {
        put(instance_3, joint_5, _e3, posed, model, _buffer_sizes);
        return;
    } else {
        Rows _e7 = model_of(instance_3, _e4, posed, model, _buffer_sizes);
        Rows _e8 = multiplied(_e7, _e3);
        put(instance_3, joint_5, _e8, posed, model, _buffer_sizes);
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
, device type_4 const& players [[buffer(3)]]
, device type_5 const& joints [[buffer(8)]]
, device type_6 const& locals [[buffer(12)]]
, device type_7 const& levels [[buffer(13)]]
, device type_6 const& matrices [[buffer(14)]]
, device type_6& model [[buffer(15)]]
, threadgroup uint& depth
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint level = 0u;
    uint at = {};
    uint _e3 = thread_of_chunk(group, groups, thread_);
    uint instance_4 = _e3 / WORKGROUP;
    if (thread_ == 0u) {
        uint _e12 = posed.levels;
        uint _e15 = posed.instances;
        depth = (instance_4 < _e15) ? _e12 : 0u;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint unnamed = depth;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (unnamed == 0u) {
        return;
    }
    uint _e22 = slot_of(instance_4, posed, players, _buffer_sizes);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e50 = level;
            level = _e50 + 1u;
        }
        loop_init = false;
        uint _e25 = level;
        if (_e25 < unnamed) {
        } else {
            break;
        }
        {
            uint _e28 = level;
            uint first = 0u + _e28;
            uint _e32 = levels[first];
            at = _e32 + thread_;
            bool loop_init_1 = true;
            while(true) {
                if (!loop_init_1) {
                    uint _e46 = at;
                    at = _e46 + WORKGROUP;
                }
                loop_init_1 = false;
                uint _e35 = at;
                uint _e40 = levels[first + 1u];
                if (_e35 < _e40) {
                } else {
                    break;
                }
                {
                    uint _e43 = at;
                    uint _e45 = levels[_e43];
                    pose_joint(instance_4, _e22, _e45, posed, joints, locals, matrices, model, _buffer_sizes);
                }
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_device);
        }
    }
    return;
}
