struct NagaConstants {
    int first_vertex;
    int first_instance;
    uint other;
};
ConstantBuffer<NagaConstants> _NagaConstants: register(b0, space2);

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

struct Camera {
    float4 planes[6];
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

static const uint NONE = 4294967295u;
static const uint WORKGROUP = 64u;

cbuffer camera : register(b0) { Camera camera; }
cbuffer cull : register(b1) { Cull cull; }
RWByteAddressBuffer totals : register(u2);
ByteAddressBuffer spheres : register(t3);
ByteAddressBuffer everyone : register(t4);
groupshared uint2 running[64];

uint slots_of(Player player)
{
    return (player.layers + ((player.inertial == NONE) ? 0u : (2u * (player.inertial + 1u))));
}

uint thread_of(uint3 group_1, uint3 groups_1, uint thread_1)
{
    return ((((group_1.y * groups_1.x) + group_1.x) * WORKGROUP) + thread_1);
}

uint2 summed(uint thread_2, uint2 own)
{
    uint step_ = 1u;
    uint2 sum = (uint2)0;

    running[thread_2] = own;
    GroupMemoryBarrierWithGroupSync();
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e25 = step_;
            step_ = (_e25 << 1u);
        }
        loop_init = false;
        uint _e6 = step_;
        if ((_e6 < WORKGROUP)) {
        } else {
            break;
        }
        {
            uint2 _e11 = running[thread_2];
            sum = _e11;
            uint _e13 = step_;
            if ((thread_2 >= _e13)) {
                uint2 _e15 = sum;
                uint _e17 = step_;
                uint2 _e20 = running[(thread_2 - _e17)];
                sum = (_e15 + _e20);
            }
            GroupMemoryBarrierWithGroupSync();
            uint2 _e24 = sum;
            running[thread_2] = _e24;
            GroupMemoryBarrierWithGroupSync();
        }
    }
    uint2 _e30 = running[thread_2];
    return _e30;
}

bool is_in_view(uint instance)
{
    uint side = 0u;

    uint _e3 = cull.instances;
    if ((instance >= _e3)) {
        return false;
    }
    float4 sphere = asfloat(spheres.Load4(instance*16));
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e29 = side;
            side = (_e29 + 1u);
        }
        loop_init_1 = false;
        uint _e11 = side;
        if ((_e11 < 6u)) {
        } else {
            break;
        }
        {
            uint _e16 = side;
            float4 plane = camera.planes[_e16];
            if (((dot(plane.xyz, sphere.xyz) + plane.w) < -(sphere.w))) {
                return false;
            }
        }
    }
    return true;
}

Player ConstructPlayer(uint arg0, uint arg1, uint arg2, uint arg3, uint arg4, uint arg5) {
    Player ret = (Player)0;
    ret.first_layer = arg0;
    ret.layers = arg1;
    ret.first_slot = arg2;
    ret.inertial = arg3;
    ret.every = arg4;
    ret.offset = arg5;
    return ret;
}

uint2 counted(uint instance_1, bool in_view)
{
    if (!(in_view)) {
        return (0u).xx;
    }
    Player _e8 = ConstructPlayer(asuint(everyone.Load(instance_1*24+0)), asuint(everyone.Load(instance_1*24+4)), asuint(everyone.Load(instance_1*24+8)), asuint(everyone.Load(instance_1*24+12)), asuint(everyone.Load(instance_1*24+16)), asuint(everyone.Load(instance_1*24+20)));
    const uint _e9 = slots_of(_e8);
    return uint2(1u, _e9);
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    bool local = (bool)0;

    const uint _e3 = thread_of(group, uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other), thread);
    const bool _e4 = is_in_view(_e3);
    const uint2 _e5 = counted(_e3, _e4);
    const uint2 _e6 = summed(thread, _e5);
    if ((thread == 63u)) {
        uint _e15 = cull.groups;
        local = (naga_div(_e3, WORKGROUP) < _e15);
    } else {
        local = false;
    }
    bool _e18 = local;
    if (_e18) {
        totals.Store2(naga_div(_e3, WORKGROUP)*8, asuint(_e6));
        return;
    } else {
        return;
    }
}
