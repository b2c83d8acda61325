struct NagaConstants {
    int first_vertex;
    int first_instance;
    uint other;
};
ConstantBuffer<NagaConstants> _NagaConstants: register(b0, space2);

struct Chunk {
    uint first_instance;
    uint instances;
    uint vertices_;
    uint entries;
    float3 origin;
    uint eights;
    float3 step_;
    uint sixteens;
    float3 centre;
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

struct Dispatch {
    uint slots;
    uint at_once;
    uint threads;
    uint workgroup;
    uint x;
    uint z;
};

struct Numbers {
    PosedChunk posed;
    uint padding_a[52];
    Chunk chunk;
    uint padding_b[44];
};

static const uint NONE = 4294967295u;
static const uint WORKGROUP = 64u;

cbuffer camera : register(b0) { Camera camera; }
cbuffer cull : register(b1) { Cull cull; }
RWByteAddressBuffer totals : register(u2);
ByteAddressBuffer spheres : register(t3);
ByteAddressBuffer everyone : register(t4);
groupshared uint2 running[64];
RWByteAddressBuffer numbers : register(u5);
ByteAddressBuffer dispatches : register(t6);
RWByteAddressBuffer workgroups : register(u7);

uint slots_of(Player player)
{
    return (player.layers + ((player.inertial == NONE) ? 0u : (2u * (player.inertial + 1u))));
}

uint thread_of(uint3 group_2, uint3 groups, uint thread_1)
{
    return ((((group_2.y * groups.x) + group_2.x) * WORKGROUP) + thread_1);
}

uint2 summed(uint thread_2, uint2 own_1)
{
    uint step_ = 1u;
    uint2 sum = (uint2)0;

    running[thread_2] = own_1;
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

uint parts_of(uint count, uint size)
{
    return naga_div(((count + size) - 1u), size);
}

Dispatch ConstructDispatch(uint arg0, uint arg1, uint arg2, uint arg3, uint arg4, uint arg5) {
    Dispatch ret = (Dispatch)0;
    ret.slots = arg0;
    ret.at_once = arg1;
    ret.threads = arg2;
    ret.workgroup = arg3;
    ret.x = arg4;
    ret.z = arg5;
    return ret;
}

[numthreads(64, 1, 1)]
void main(uint thread : SV_GroupIndex)
{
    uint2 own = (0u).xx;
    uint group = (uint)0;
    uint2 before = (uint2)0;
    uint group_1 = (uint)0;
    uint index = (uint)0;

    uint _e3 = cull.groups;
    const uint _e5 = parts_of(_e3, WORKGROUP);
    uint _e9 = cull.groups;
    uint first = min((thread * _e5), _e9);
    uint _e14 = cull.groups;
    uint end = min((first + _e5), _e14);
    group = first;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e29 = group;
            group = (_e29 + 1u);
        }
        loop_init_2 = false;
        uint _e20 = group;
        if ((_e20 < end)) {
        } else {
            break;
        }
        {
            uint2 _e22 = own;
            uint _e24 = group;
            uint2 _e26 = asuint(totals.Load2(_e24*8));
            own = (_e22 + _e26);
        }
    }
    uint2 _e31 = own;
    const uint2 _e32 = summed(thread, _e31);
    uint2 _e33 = own;
    before = (_e32 - _e33);
    group_1 = first;
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e50 = group_1;
            group_1 = (_e50 + 1u);
        }
        loop_init_3 = false;
        uint _e37 = group_1;
        if ((_e37 < end)) {
        } else {
            break;
        }
        {
            uint _e40 = group_1;
            uint2 here = asuint(totals.Load2(_e40*8));
            uint _e44 = group_1;
            uint2 _e46 = before;
            totals.Store2(_e44*8, asuint(_e46));
            uint2 _e47 = before;
            before = (_e47 + here);
        }
    }
    uint2 all_ = running[63];
    if ((thread == 0u)) {
        numbers.Store(0+0, asuint(all_.x));
        numbers.Store(12+0, asuint(all_.y));
        numbers.Store(4+256, asuint(all_.x));
    }
    index = thread;
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e124 = index;
            index = (_e124 + WORKGROUP);
        }
        loop_init_4 = false;
        uint _e70 = index;
        uint _e73 = cull.dispatches;
        if ((_e70 < _e73)) {
        } else {
            break;
        }
        {
            uint _e76 = index;
            Dispatch dispatch = ConstructDispatch(asuint(dispatches.Load(_e76*24+0)), asuint(dispatches.Load(_e76*24+4)), asuint(dispatches.Load(_e76*24+8)), asuint(dispatches.Load(_e76*24+12)), asuint(dispatches.Load(_e76*24+16)), asuint(dispatches.Load(_e76*24+20)));
            const uint _e86 = parts_of(((dispatch.slots == 1u) ? all_.y : all_.x), dispatch.at_once);
            const uint _e90 = parts_of((_e86 * dispatch.threads), dispatch.workgroup);
            uint _e93 = cull.most;
            const uint _e94 = parts_of(_e90, _e93);
            uint rows = max(_e94, 1u);
            bool folded = (dispatch.x == 0u);
            uint _e102 = index;
            const uint _e106 = parts_of(_e90, rows);
            workgroups.Store((3u * _e102)*4, asuint((folded ? _e106 : dispatch.x)));
            uint _e110 = index;
            workgroups.Store(((3u * _e110) + 1u)*4, asuint((folded ? rows : _e90)));
            uint _e118 = index;
            workgroups.Store(((3u * _e118) + 2u)*4, asuint(dispatch.z));
        }
    }
    return;
}
