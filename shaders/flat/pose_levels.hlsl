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

struct Joint {
    float4 rotation;
    float3 translation;
    uint parent;
    float3 scale;
    uint matrix_;
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
static const uint MATRICES = 1u;
static const uint RIGID = 0u;

cbuffer posed : register(b0) { PosedChunk posed; }
ByteAddressBuffer players : register(t3);
ByteAddressBuffer joints : register(t8);
ByteAddressBuffer locals : register(t12);
ByteAddressBuffer levels : register(t13);
ByteAddressBuffer matrices : register(t14);
RWByteAddressBuffer model : register(u15);
groupshared uint depth;

uint thread_of(uint3 group_1, uint3 groups_1, uint thread_1)
{
    return ((((group_1.y * groups_1.x) + group_1.x) * WORKGROUP) + thread_1);
}

uint thread_of_chunk(uint3 group_2, uint3 groups_2, uint thread_2)
{
    const uint _e3 = thread_of(group_2, groups_2, thread_2);
    return _e3;
}

uint local_at(uint slot, uint joint)
{
    uint _e9 = posed.joints;
    return ((0u + ((3u * (slot - 0u)) * _e9)) + joint);
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
    float3 a_2 = (q.x * d);
    float yy = (q.y * d.y);
    float yz = (q.y * d.z);
    float zz = (q.z * d.z);
    const Rows rows = ConstructRows(float4((((1.0 - yy) - zz) * s.x), ((a_2.y - w.z) * s.y), ((a_2.z + w.y) * s.z), t.x), float4(((a_2.y + w.z) * s.x), (((1.0 - a_2.x) - zz) * s.y), ((yz - w.x) * s.z), t.y), float4(((a_2.z - w.y) * s.x), ((yz + w.x) * s.y), (((1.0 - a_2.x) - yy) * s.z), t.z));
    return rows;
}

Rows rigid(float4 rotation, float3 translation)
{
    const Rows rows_1 = ConstructRows(rotation, float4(translation, 0.0), (0.0).xxxx);
    return rows_1;
}

Rows own_of(uint slot_1, uint joint_1)
{
    if (true) {
        uint fixed = asuint(joints.Load(44+(0u + joint_1)*48));
        if ((fixed != NONE)) {
            float4 _e18 = asfloat(matrices.Load4((3u * fixed)*16));
            float4 _e25 = asfloat(matrices.Load4(((3u * fixed) + 1u)*16));
            float4 _e32 = asfloat(matrices.Load4(((3u * fixed) + 2u)*16));
            const Rows rows_2 = ConstructRows(_e18, _e25, _e32);
            return rows_2;
        }
    }
    const uint _e34 = local_at(slot_1, joint_1);
    float4 rotation_1 = asfloat(locals.Load4(_e34*16));
    uint _e41 = posed.joints;
    float4 _e44 = asfloat(locals.Load4((_e34 + _e41)*16));
    float3 translation_1 = _e44.xyz;
    if (false) {
        const Rows _e50 = rigid(rotation_1, translation_1);
        const Rows rows_3 = _e50;
        return rows_3;
    }
    uint _e55 = posed.joints;
    float4 _e59 = asfloat(locals.Load4((_e34 + (2u * _e55))*16));
    const Rows _e61 = affine(rotation_1, translation_1, _e59.xyz);
    const Rows rows_4 = _e61;
    return rows_4;
}

float4 multiplied_row(float4 a, Rows b)
{
    return ((((a.x * b.x) + (a.y * b.y)) + (a.z * b.z)) + float4(0.0, 0.0, 0.0, a.w));
}

Rows multiplied(Rows a_1, Rows b_1)
{
    if (false) {
        float4 q_1 = a_1.x;
        float4 r = b_1.x;
        float3 moved = (b_1.y.xyz + (2.0 * cross(q_1.xyz, (cross(q_1.xyz, b_1.y.xyz) + (q_1.w * b_1.y.xyz)))));
        float4 rotation_2 = float4((((q_1.w * r.xyz) + (r.w * q_1.xyz)) + cross(q_1.xyz, r.xyz)), ((q_1.w * r.w) - dot(q_1.xyz, r.xyz)));
        const Rows _e46 = rigid(rotation_2, (a_1.y.xyz + moved));
        const Rows rows_5 = _e46;
        return rows_5;
    }
    const float4 _e48 = multiplied_row(a_1.x, b_1);
    const float4 _e50 = multiplied_row(a_1.y, b_1);
    const float4 _e52 = multiplied_row(a_1.z, b_1);
    const Rows rows_6 = ConstructRows(_e48, _e50, _e52);
    return rows_6;
}

Rows model_of(uint instance, uint joint_2)
{
    uint _e4 = posed.first_joint;
    uint _e7 = posed.joints;
    uint index = ((_e4 + (instance * _e7)) + joint_2);
    if (false) {
        float4 _e19 = asfloat(model.Load4((2u * index)*16));
        float4 _e26 = asfloat(model.Load4(((2u * index) + 1u)*16));
        const Rows _e28 = rigid(_e19, _e26.xyz);
        const Rows rows_7 = _e28;
        return rows_7;
    }
    float4 _e33 = asfloat(model.Load4((3u * index)*16));
    float4 _e40 = asfloat(model.Load4(((3u * index) + 1u)*16));
    float4 _e47 = asfloat(model.Load4(((3u * index) + 2u)*16));
    const Rows rows_8 = ConstructRows(_e33, _e40, _e47);
    return rows_8;
}

void put(uint instance_1, uint joint_3, Rows pose)
{
    uint _e5 = posed.first_joint;
    uint _e8 = posed.joints;
    uint index_1 = ((_e5 + (instance_1 * _e8)) + joint_3);
    if (false) {
        model.Store4((2u * index_1)*16, asuint(pose.x));
        model.Store4(((2u * index_1) + 1u)*16, asuint(pose.y));
        return;
    } else {
        model.Store4((3u * index_1)*16, asuint(pose.x));
        model.Store4(((3u * index_1) + 1u)*16, asuint(pose.y));
        model.Store4(((3u * index_1) + 2u)*16, asuint(pose.z));
        return;
    }
}

uint parent_of(uint joint_4)
{
    uint _e6 = asuint(joints.Load(28+(0u + joint_4)*48));
    return _e6;
}

uint slot_of(uint instance_2)
{
    uint _e4 = posed.first_instance;
    uint _e8 = asuint(players.Load(8+(_e4 + instance_2)*24));
    return _e8;
}

void pose_joint(uint instance_3, uint slot_2, uint joint_5)
{
    const Rows _e3 = own_of(slot_2, joint_5);
    const uint _e4 = parent_of(joint_5);
    if ((_e4 == NONE)) {
        put(instance_3, joint_5, _e3);
        return;
    } else {
        const Rows _e7 = model_of(instance_3, _e4);
        const Rows _e8 = multiplied(_e7, _e3);
        put(instance_3, joint_5, _e8);
        return;
    }
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    uint level = 0u;
    uint at = (uint)0;

    const uint _e3 = thread_of_chunk(group, uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other), thread);
    uint instance_4 = naga_div(_e3, WORKGROUP);
    if ((thread == 0u)) {
        uint _e12 = posed.levels;
        uint _e15 = posed.instances;
        depth = ((instance_4 < _e15) ? _e12 : 0u);
    }
    GroupMemoryBarrierWithGroupSync();
    uint _e19 = depth;
    GroupMemoryBarrierWithGroupSync();
    if ((_e19 == 0u)) {
        return;
    }
    const uint _e22 = slot_of(instance_4);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e50 = level;
            level = (_e50 + 1u);
        }
        loop_init = false;
        uint _e25 = level;
        if ((_e25 < _e19)) {
        } else {
            break;
        }
        {
            uint _e28 = level;
            uint first = (0u + _e28);
            uint _e32 = asuint(levels.Load(first*4));
            at = (_e32 + thread);
            bool loop_init_1 = true;
            while(true) {
                if (!loop_init_1) {
                    uint _e46 = at;
                    at = (_e46 + WORKGROUP);
                }
                loop_init_1 = false;
                uint _e35 = at;
                uint _e40 = asuint(levels.Load((first + 1u)*4));
                if ((_e35 < _e40)) {
                } else {
                    break;
                }
                {
                    uint _e43 = at;
                    uint _e45 = asuint(levels.Load(_e43*4));
                    pose_joint(instance_4, _e22, _e45);
                }
            }
            DeviceMemoryBarrierWithGroupSync();
        }
    }
    return;
}
