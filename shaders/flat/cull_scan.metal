// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size2;
    uint size3;
    uint size4;
    uint size7;
    uint size8;
};

struct Chunk {
    uint first_instance;
    uint instances;
    uint vertices;
    uint entries;
    metal::packed_float3 origin;
    uint eights;
    metal::packed_float3 step;
    uint sixteens;
    metal::packed_float3 centre;
    float half_;
    uint first_vertex;
    uint first_entry;
    uint mesh_vertex;
    uint mesh_influence;
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
struct type_5 {
    metal::float4 inner[6];
};
struct Camera {
    type_5 planes;
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
typedef metal::uint2 type_7[1];
typedef metal::float4 type_8[1];
typedef Player type_9[1];
struct type_10 {
    metal::uint2 inner[64];
};
struct Dispatch {
    uint slots;
    uint at_once;
    uint threads;
    uint workgroup;
    uint x;
    uint z;
};
struct type_12 {
    uint inner[52];
};
struct type_13 {
    uint inner[44];
};
struct Numbers {
    PosedChunk posed;
    type_12 padding_a;
    Chunk chunk;
    type_13 padding_b;
};
typedef Dispatch type_14[1];
typedef uint type_15[1];
constant uint NONE = 4294967295u;
constant uint WORKGROUP = 64u;

uint slots_of(
    Player player
) {
    return player.layers + ((player.inertial == NONE) ? 0u : (2u * (player.inertial + 1u)));
}

uint thread_of(
    metal::uint3 group_2,
    metal::uint3 groups,
    uint thread_1
) {
    return (((group_2.y * groups.x) + group_2.x) * WORKGROUP) + thread_1;
}

metal::uint2 summed(
    uint thread_2,
    metal::uint2 own_1,
    threadgroup type_10& running
) {
    uint step = 1u;
    metal::uint2 sum = {};
    running.inner[thread_2] = own_1;
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
    device type_8 const& spheres,
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
    device type_9 const& everyone,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (!(in_view)) {
        return metal::uint2(0u);
    }
    Player _e8 = everyone[instance_1];
    uint _e9 = slots_of(_e8);
    return metal::uint2(1u, _e9);
}

uint parts_of(
    uint count,
    uint size
) {
    return ((count + size) - 1u) / size;
}

struct main_Input {
};
kernel void main_(
  uint thread_ [[thread_index_in_threadgroup]]
, constant Cull& cull [[buffer(1)]]
, device type_7& totals [[buffer(2)]]
, threadgroup type_10& running
, device Numbers& numbers [[buffer(5)]]
, device type_14 const& dispatches [[buffer(6)]]
, device type_15& workgroups [[buffer(7)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    metal::uint2 own = metal::uint2(0u);
    uint group = {};
    metal::uint2 before = {};
    uint group_1 = {};
    uint index = {};
    uint _e3 = cull.groups;
    uint _e5 = parts_of(_e3, WORKGROUP);
    uint _e9 = cull.groups;
    uint first = metal::min(thread_ * _e5, _e9);
    uint _e14 = cull.groups;
    uint end = metal::min(first + _e5, _e14);
    group = first;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e29 = group;
            group = _e29 + 1u;
        }
        loop_init_2 = false;
        uint _e20 = group;
        if (_e20 < end) {
        } else {
            break;
        }
        {
            metal::uint2 _e22 = own;
            uint _e24 = group;
            metal::uint2 _e26 = totals[_e24];
            own = _e22 + _e26;
        }
    }
    metal::uint2 _e31 = own;
    metal::uint2 _e32 = summed(thread_, _e31, running);
    metal::uint2 _e33 = own;
    before = _e32 - _e33;
    group_1 = first;
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e50 = group_1;
            group_1 = _e50 + 1u;
        }
        loop_init_3 = false;
        uint _e37 = group_1;
        if (_e37 < end) {
        } else {
            break;
        }
        {
            uint _e40 = group_1;
            metal::uint2 here = totals[_e40];
            uint _e44 = group_1;
            metal::uint2 _e46 = before;
            totals[_e44] = _e46;
            metal::uint2 _e47 = before;
            before = _e47 + here;
        }
    }
    metal::uint2 all = running.inner[63];
    if (thread_ == 0u) {
        numbers.posed.instances = all.x;
        numbers.posed.slots = all.y;
        numbers.chunk.instances = all.x;
    }
    index = thread_;
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e124 = index;
            index = _e124 + WORKGROUP;
        }
        loop_init_4 = false;
        uint _e70 = index;
        uint _e73 = cull.dispatches;
        if (_e70 < _e73) {
        } else {
            break;
        }
        {
            uint _e76 = index;
            Dispatch dispatch = dispatches[_e76];
            uint _e86 = parts_of((dispatch.slots == 1u) ? all.y : all.x, dispatch.at_once);
            uint _e90 = parts_of(_e86 * dispatch.threads, dispatch.workgroup);
            uint _e93 = cull.most;
            uint _e94 = parts_of(_e90, _e93);
            uint rows = metal::max(_e94, 1u);
            bool folded = dispatch.x == 0u;
            uint _e102 = index;
            uint _e106 = parts_of(_e90, rows);
            workgroups[3u * _e102] = folded ? _e106 : dispatch.x;
            uint _e110 = index;
            workgroups[(3u * _e110) + 1u] = folded ? rows : _e90;
            uint _e118 = index;
            workgroups[(3u * _e118) + 2u] = dispatch.z;
        }
    }
    return;
}
