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

struct Rows {
    float4 x;
    float4 y;
    float4 z;
};

Places ConstructPlaces(uint arg0, uint arg1, uint arg2, uint arg3, uint arg4, uint arg5, uint arg6, uint arg7) {
    Places ret = (Places)0;
    ret.first_slot = arg0;
    ret.first_local = arg1;
    ret.first_clip = arg2;
    ret.first_rest = arg3;
    ret.first_mask = arg4;
    ret.first_level = arg5;
    ret.first_bind = arg6;
    ret.padding = arg7;
    return ret;
}

static const uint NONE = 4294967295u;
static const uint WORKGROUP = 64u;
static const Places places = ConstructPlaces(0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
static const uint AT_ONCE = 1u;
static const uint RIGID = 0u;

cbuffer posed : register(b0) { PosedChunk posed; }
ByteAddressBuffer entry_joints : register(t16);
ByteAddressBuffer inverse_binds : register(t18);
ByteAddressBuffer model : register(t15);
RWByteAddressBuffer palettes : register(u17);

uint thread_of(uint3 group_1, uint3 groups_1, uint thread_1)
{
    return ((((group_1.y * groups_1.x) + group_1.x) * WORKGROUP) + thread_1);
}

uint thread_of_chunk(uint3 group_2, uint3 groups_2, uint thread_2)
{
    const uint _e3 = thread_of(group_2, groups_2, thread_2);
    return _e3;
}

Rows ConstructRows(float4 arg0, float4 arg1, float4 arg2) {
    Rows ret = (Rows)0;
    ret.x = arg0;
    ret.y = arg1;
    ret.z = arg2;
    return ret;
}

Rows affine(float4 q, float3 t, float3 s)
{
    float3 d = (q.xyz + q.xyz);
    float3 w = (q.w * d);
    float3 a = (q.x * d);
    float yy = (q.y * d.y);
    float yz = (q.y * d.z);
    float zz = (q.z * d.z);
    const Rows rows = ConstructRows(float4((((1.0 - yy) - zz) * s.x), ((a.y - w.z) * s.y), ((a.z + w.y) * s.z), t.x), float4(((a.y + w.z) * s.x), (((1.0 - a.x) - zz) * s.y), ((yz - w.x) * s.z), t.y), float4(((a.z - w.y) * s.x), ((yz + w.x) * s.y), (((1.0 - a.x) - yy) * s.z), t.z));
    return rows;
}

Rows model_of(uint joint)
{
    if (false) {
        float4 _e9 = asfloat(model.Load4((2u * joint)*16));
        float4 _e16 = asfloat(model.Load4(((2u * joint) + 1u)*16));
        const Rows _e20 = affine(_e9, _e16.xyz, (1.0).xxx);
        const Rows rows_1 = _e20;
        return rows_1;
    }
    float4 _e25 = asfloat(model.Load4((3u * joint)*16));
    float4 _e32 = asfloat(model.Load4(((3u * joint) + 1u)*16));
    float4 _e39 = asfloat(model.Load4(((3u * joint) + 2u)*16));
    const Rows rows_2 = ConstructRows(_e25, _e32, _e39);
    return rows_2;
}

float4 row(float4 m, float3x4 bind)
{
    return (mul(m.xyz, bind) + float4(0.0, 0.0, 0.0, m.w));
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    uint instance = (uint)0;

    const uint _e3 = thread_of_chunk(group, uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other), thread);
    uint _e6 = posed.entries;
    uint part = naga_div(_e3, _e6);
    uint _e10 = posed.entries;
    uint entry = (_e3 - (part * _e10));
    uint first = (part * AT_ONCE);
    uint _e19 = posed.instances;
    uint end = min((first + AT_ONCE), _e19);
    if ((first >= end)) {
        return;
    }
    uint bound = (0u + entry);
    uint own = asuint(entry_joints.Load(bound*4));
    float4 _e31 = asfloat(inverse_binds.Load4((3u * bound)*16));
    float4 _e38 = asfloat(inverse_binds.Load4(((3u * bound) + 1u)*16));
    float4 _e45 = asfloat(inverse_binds.Load4(((3u * bound) + 2u)*16));
    float3x4 bind_1 = float3x4(_e31, _e38, _e45);
    instance = first;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e90 = instance;
            instance = (_e90 + 1u);
        }
        loop_init = false;
        uint _e48 = instance;
        if ((_e48 < end)) {
        } else {
            break;
        }
        {
            uint _e52 = posed.first_joint;
            uint _e53 = instance;
            uint _e56 = posed.joints;
            uint joint_1 = ((_e52 + (_e53 * _e56)) + own);
            uint _e63 = posed.first_entry;
            uint _e64 = instance;
            uint _e67 = posed.entries;
            uint at = (3u * ((_e63 + (_e64 * _e67)) + entry));
            const Rows _e72 = model_of(joint_1);
            const float4 _e76 = row(_e72.x, bind_1);
            palettes.Store4(at*16, asuint(_e76));
            const float4 _e82 = row(_e72.y, bind_1);
            palettes.Store4((at + 1u)*16, asuint(_e82));
            const float4 _e88 = row(_e72.z, bind_1);
            palettes.Store4((at + 2u)*16, asuint(_e88));
        }
    }
    return;
}
