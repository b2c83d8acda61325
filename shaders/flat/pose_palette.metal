// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size3;
    uint size4;
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
struct Rows {
    metal::float4 x;
    metal::float4 y;
    metal::float4 z;
};
typedef uint type_4[1];
typedef metal::float4 type_5[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;
constant Places places = Places {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u};
constant uint AT_ONCE = 1u;
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

Rows affine(
    metal::float4 q,
    metal::float3 t,
    metal::float3 s
) {
    metal::float3 d = q.xyz + q.xyz;
    metal::float3 w = q.w * d;
    metal::float3 a = q.x * d;
    float yy = q.y * d.y;
    float yz = q.y * d.z;
    float zz = q.z * d.z;
    return Rows {metal::float4(((1.0 - yy) - zz) * s.x, (a.y - w.z) * s.y, (a.z + w.y) * s.z, t.x), metal::float4((a.y + w.z) * s.x, ((1.0 - a.x) - zz) * s.y, (yz - w.x) * s.z, t.y), metal::float4((a.z - w.y) * s.x, (yz + w.x) * s.y, ((1.0 - a.x) - yy) * s.z, t.z)};
}

Rows model_of(
    uint joint,
    device type_5 const& model,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (false) {
        metal::float4 _e9 = model[2u * joint];
        metal::float4 _e16 = model[(2u * joint) + 1u];
        Rows _e20 = affine(_e9, _e16.xyz, metal::float3(1.0));
        return _e20;
    }
    metal::float4 _e25 = model[3u * joint];
    metal::float4 _e32 = model[(3u * joint) + 1u];
    metal::float4 _e39 = model[(3u * joint) + 2u];
    return Rows {_e25, _e32, _e39};
}

metal::float4 row(
    metal::float4 m,
    metal::float3x4 bind
) {
    return (bind * m.xyz) + metal::float4(0.0, 0.0, 0.0, m.w);
}

struct main_Input {
};
kernel void main_(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, uint thread_ [[thread_index_in_threadgroup]]
, constant PosedChunk& posed [[buffer(0)]]
, device type_4 const& entry_joints [[buffer(16)]]
, device type_5 const& inverse_binds [[buffer(18)]]
, device type_5 const& model [[buffer(15)]]
, device type_5& palettes [[buffer(17)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint instance = {};
    uint _e3 = thread_of_chunk(group, groups, thread_);
    uint _e6 = posed.entries;
    uint part = _e3 / _e6;
    uint _e10 = posed.entries;
    uint entry = _e3 - (part * _e10);
    uint first = part * AT_ONCE;
    uint _e19 = posed.instances;
    uint end = metal::min(first + AT_ONCE, _e19);
    if (first >= end) {
        return;
    }
    uint bound = 0u + entry;
    uint own = entry_joints[bound];
    metal::float4 _e31 = inverse_binds[3u * bound];
    metal::float4 _e38 = inverse_binds[(3u * bound) + 1u];
    metal::float4 _e45 = inverse_binds[(3u * bound) + 2u];
    metal::float3x4 bind_1 = metal::float3x4(_e31, _e38, _e45);
    instance = first;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e90 = instance;
            instance = _e90 + 1u;
        }
        loop_init = false;
        uint _e48 = instance;
        if (_e48 < end) {
        } else {
            break;
        }
        {
            uint _e52 = posed.first_joint;
            uint _e53 = instance;
            uint _e56 = posed.joints;
            uint joint_1 = (_e52 + (_e53 * _e56)) + own;
            uint _e63 = posed.first_entry;
            uint _e64 = instance;
            uint _e67 = posed.entries;
            uint at = 3u * ((_e63 + (_e64 * _e67)) + entry);
            Rows _e72 = model_of(joint_1, model, _buffer_sizes);
            metal::float4 _e76 = row(_e72.x, bind_1);
            palettes[at] = _e76;
            metal::float4 _e82 = row(_e72.y, bind_1);
            palettes[at + 1u] = _e82;
            metal::float4 _e88 = row(_e72.z, bind_1);
            palettes[at + 2u] = _e88;
        }
    }
    return;
}
