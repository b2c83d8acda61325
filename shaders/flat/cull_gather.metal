// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size2;
    uint size3;
    uint size4;
    uint size6;
    uint size7;
    uint size8;
    uint size9;
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
struct type_3 {
    metal::float4 inner[6];
};
struct Camera {
    type_3 planes;
};
struct Cull {
    uint first_instance;
    uint instances;
    uint groups;
    uint dispatches;
    uint most;
    uint padding_a;
    uint padding_b;
    uint padding_c;
};
typedef metal::uint2 type_5[1];
typedef metal::float4 type_6[1];
typedef Player type_7[1];
struct type_8 {
    metal::uint2 inner[64];
};
typedef uint type_10[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;

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

metal::uint2 summed(
    uint thread_2,
    metal::uint2 own,
    threadgroup type_8& running
) {
    uint step = 1u;
    metal::uint2 sum = {};
    running.inner[thread_2] = own;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e25 = step;
            step = _e25 << 1u;
        }
        loop_init = false;
        uint _e6 = step;
        if (_e6 < WORKGROUP) {
        } else {
            break;
        }
        {
            metal::uint2 _e11 = running.inner[thread_2];
            sum = _e11;
            uint _e13 = step;
            if (thread_2 >= _e13) {
                metal::uint2 _e15 = sum;
                uint _e17 = step;
                metal::uint2 _e20 = running.inner[thread_2 - _e17];
                sum = _e15 + _e20;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            metal::uint2 _e24 = sum;
            running.inner[thread_2] = _e24;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        }
    }
    metal::uint2 _e30 = running.inner[thread_2];
    return _e30;
}

bool is_in_view(
    uint instance,
    constant Camera& camera,
    constant Cull& cull,
    device type_6 const& spheres,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint side = 0u;
    uint _e3 = cull.instances;
    if (instance >= _e3) {
        return false;
    }
    metal::float4 sphere = spheres[instance];
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e29 = side;
            side = _e29 + 1u;
        }
        loop_init_1 = false;
        uint _e11 = side;
        if (_e11 < 6u) {
        } else {
            break;
        }
        {
            uint _e16 = side;
            metal::float4 plane = camera.planes.inner[_e16];
            if ((metal::dot(plane.xyz, sphere.xyz) + plane.w) < -(sphere.w)) {
                return false;
            }
        }
    }
    return true;
}

metal::uint2 counted(
    uint instance_1,
    bool in_view,
    device type_7 const& everyone,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (!(in_view)) {
        return metal::uint2(0u);
    }
    Player _e8 = everyone[instance_1];
    uint _e9 = slots_of(_e8);
    return metal::uint2(1u, _e9);
}

void put(
    uint instance_2,
    metal::uint2 at,
    constant Cull& cull,
    device type_7 const& everyone,
    device type_7& players,
    device type_10& visible,
    device type_6 const& placements,
    device type_6& visible_placements,
    constant _mslBufferSizes& _buffer_sizes
) {
    Player player_1 = {};
    uint row = 0u;
    Player _e4 = everyone[instance_2];
    player_1 = _e4;
    player_1.first_slot = at.y;
    Player _e11 = player_1;
    players[at.x] = _e11;
    visible[at.x] = instance_2;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e43 = row;
            row = _e43 + 1u;
        }
        loop_init_2 = false;
        uint _e17 = row;
        if (_e17 < 3u) {
        } else {
            break;
        }
        {
            uint _e24 = cull.first_instance;
            uint _e28 = row;
            uint _e35 = cull.first_instance;
            uint _e38 = row;
            metal::float4 _e41 = placements[(3u * (_e35 + instance_2)) + _e38];
            visible_placements[(3u * (_e24 + at.x)) + _e28] = _e41;
        }
    }
    return;
}

struct main_Input {
};
kernel void main_(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, uint thread_ [[thread_index_in_threadgroup]]
, constant Camera& camera [[buffer(0)]]
, constant Cull& cull [[buffer(1)]]
, device type_5 const& totals [[buffer(2)]]
, device type_6 const& spheres [[buffer(3)]]
, device type_7 const& everyone [[buffer(4)]]
, threadgroup type_8& running
, device type_7& players [[buffer(5)]]
, device type_10& visible [[buffer(6)]]
, device type_6 const& placements [[buffer(7)]]
, device type_6& visible_placements [[buffer(8)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint _e3 = thread_of(group, groups, thread_);
    bool _e4 = is_in_view(_e3, camera, cull, spheres, _buffer_sizes);
    metal::uint2 _e5 = counted(_e3, _e4, everyone, _buffer_sizes);
    metal::uint2 _e6 = summed(thread_, _e5, running);
    metal::uint2 place = _e6 - _e5;
    if (_e4) {
        metal::uint2 _e12 = totals[_e3 / WORKGROUP];
        put(_e3, _e12 + place, cull, everyone, players, visible, placements, visible_placements, _buffer_sizes);
        return;
    } else {
        return;
    }
}
