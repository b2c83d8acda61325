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

struct PosePair {
    uint first_tick;
    uint second_tick;
    uint modes;
    float part;
};

struct Joint {
    float4 rotation;
    float3 translation;
    uint parent;
    float3 scale;
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
    float4 rotation;
    float3 translation;
    int _pad2_0;
    float3 scale;
    int _end_pad_0;
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
static const uint MERGE = 0u;
static const uint OVERRIDE = 1u;
static const uint INERTIA = 1u;
static const uint RATES = 1u;

cbuffer posed : register(b0) { PosedChunk posed; }
ByteAddressBuffer players : register(t3);
ByteAddressBuffer joints : register(t8);
ByteAddressBuffer cursors : register(t9);
ByteAddressBuffer momenta : register(t10);
ByteAddressBuffer masks : register(t11);
RWByteAddressBuffer locals : register(u12);
ByteAddressBuffer pose_pairs : register(t19);

uint slots_of(Player player)
{
    return (player.layers + ((player.inertial == NONE) ? 0u : (2u * (player.inertial + 1u))));
}

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

Momentum ConstructMomentum(uint arg0, uint arg1, float arg2, float arg3) {
    Momentum ret = (Momentum)0;
    ret.layer = arg0;
    ret.coming = arg1;
    ret.offset = arg2;
    ret.speed = arg3;
    return ret;
}

Momentum momentum_of(uint index)
{
    if (true) {
        Momentum _e7 = ConstructMomentum(asuint(momenta.Load(index*16+0)), asuint(momenta.Load(index*16+4)), asfloat(momenta.Load(index*16+8)), asfloat(momenta.Load(index*16+12)));
        const Momentum momentum_2 = _e7;
        return momentum_2;
    }
    const Momentum momentum_3 = ConstructMomentum(4294967295u, 0u, 0.0, 0.0);
    return momentum_3;
}

float weight_of(Cursor cursor, uint joint_1)
{
    bool local = (bool)0;

    uint mask = (cursor.modes >> 8u);
    if (!((mask == 0u))) {
        local = (cursor.weight == 0.0);
    } else {
        local = true;
    }
    bool _e14 = local;
    if (_e14) {
        return cursor.weight;
    }
    uint _e23 = posed.joints;
    float _e28 = asfloat(masks.Load(((0u + ((mask - 1u) * _e23)) + joint_1)*4));
    return (cursor.weight * _e28);
}

uint kind_of(Cursor cursor_1)
{
    return (cursor_1.modes & 255u);
}

Local ConstructLocal(float4 arg0, float3 arg1, float3 arg2) {
    Local ret = (Local)0;
    ret.rotation = arg0;
    ret.translation = arg1;
    ret.scale = arg2;
    return ret;
}

Local local_of(uint slot_1, uint joint_2)
{
    const uint _e2 = local_at(slot_1, joint_2);
    float4 _e5 = asfloat(locals.Load4(_e2*16));
    uint _e9 = posed.joints;
    float4 _e12 = asfloat(locals.Load4((_e2 + _e9)*16));
    uint _e18 = posed.joints;
    float4 _e22 = asfloat(locals.Load4((_e2 + (2u * _e18))*16));
    const Local local_4 = ConstructLocal(_e5, _e12.xyz, _e22.xyz);
    return local_4;
}

float shorter(float4 a, float4 b, float weight)
{
    return ((dot(a, b) < 0.0) ? -(weight) : weight);
}

Cursor ConstructCursor(uint arg0, uint arg1, uint arg2, float arg3, float arg4, float arg5, float arg6, uint arg7) {
    Cursor ret = (Cursor)0;
    ret.tracks = arg0;
    ret.key = arg1;
    ret.next = arg2;
    ret.fraction = arg3;
    ret.interval = arg4;
    ret.time = arg5;
    ret.weight = arg6;
    ret.modes = arg7;
    return ret;
}

Joint ConstructJoint(float4 arg0, float3 arg1, uint arg2, float3 arg3, uint arg4) {
    Joint ret = (Joint)0;
    ret.rotation = arg0;
    ret.translation = arg1;
    ret.parent = arg2;
    ret.scale = arg3;
    ret.matrix_ = arg4;
    return ret;
}

Local merged(uint first, uint stride, uint count, uint joint_3)
{
    Local sum = ConstructLocal((0.0).xxxx, (0.0).xxx, (0.0).xxx);
    float total = 0.0;
    uint terms = 0u;
    uint index_1 = 0u;
    bool local_1 = (bool)0;

    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e82 = index_1;
            index_1 = (_e82 + 1u);
        }
        loop_init = false;
        uint _e18 = index_1;
        if ((_e18 < count)) {
        } else {
            break;
        }
        {
            uint _e20 = index_1;
            uint slot_4 = (first + (_e20 * stride));
            Cursor cursor_2 = ConstructCursor(asuint(cursors.Load(slot_4*32+0)), asuint(cursors.Load(slot_4*32+4)), asuint(cursors.Load(slot_4*32+8)), asfloat(cursors.Load(slot_4*32+12)), asfloat(cursors.Load(slot_4*32+16)), asfloat(cursors.Load(slot_4*32+20)), asfloat(cursors.Load(slot_4*32+24)), asuint(cursors.Load(slot_4*32+28)));
            const float _e26 = weight_of(cursor_2, joint_3);
            const uint _e27 = kind_of(cursor_2);
            if (!((_e27 != MERGE))) {
                local_1 = (_e26 == 0.0);
            } else {
                local_1 = true;
            }
            bool _e36 = local_1;
            if (_e36) {
                continue;
            }
            const Local _e37 = local_of(slot_4, joint_3);
            uint _e38 = terms;
            if ((_e38 == 0u)) {
                sum = _e37;
            } else {
                uint _e41 = terms;
                if ((_e41 == 1u)) {
                    float _e44 = total;
                    float4 _e46 = sum.rotation;
                    float _e48 = total;
                    float3 _e50 = sum.translation;
                    float _e52 = total;
                    float3 _e54 = sum.scale;
                    sum = ConstructLocal((_e44 * _e46), (_e48 * _e50), (_e52 * _e54));
                }
                float4 _e58 = sum.rotation;
                float4 _e60 = sum.rotation;
                const float _e62 = shorter(_e60, _e37.rotation, _e26);
                sum.rotation = (_e58 + (_e62 * _e37.rotation));
                float3 _e67 = sum.translation;
                sum.translation = (_e67 + (_e26 * _e37.translation));
                float3 _e72 = sum.scale;
                sum.scale = (_e72 + (_e26 * _e37.scale));
            }
            uint _e77 = terms;
            terms = (_e77 + 1u);
            float _e79 = total;
            total = (_e79 + _e26);
        }
    }
    float _e84 = total;
    if ((_e84 < 8.6736174e-19)) {
        Joint rest = ConstructJoint(asfloat(joints.Load4((0u + joint_3)*48+0)), asfloat(joints.Load3((0u + joint_3)*48+16)), asuint(joints.Load((0u + joint_3)*48+28)), asfloat(joints.Load3((0u + joint_3)*48+32)), asuint(joints.Load((0u + joint_3)*48+44)));
        const Local local_5 = ConstructLocal(rest.rotation, rest.translation, rest.scale);
        return local_5;
    }
    uint _e96 = terms;
    if ((_e96 == 1u)) {
        Local _e99 = sum;
        const Local local_6 = _e99;
        return local_6;
    }
    float4 _e101 = sum.rotation;
    float3 _e104 = sum.translation;
    float _e105 = total;
    float3 _e109 = sum.scale;
    float _e110 = total;
    const Local local_7 = ConstructLocal(normalize(_e101), (_e104 / (_e105).xxx), (_e109 / (_e110).xxx));
    return local_7;
}

float4 product(float4 a_1, float4 b_1)
{
    return float4((((a_1.w * b_1.xyz) + (b_1.w * a_1.xyz)) + cross(a_1.xyz, b_1.xyz)), ((a_1.w * b_1.w) - dot(a_1.xyz, b_1.xyz)));
}

Local joined_by(Local beneath, Local pose, uint kind, float weight_1)
{
    if ((kind == OVERRIDE)) {
        const float _e8 = shorter(beneath.rotation, pose.rotation, weight_1);
        const Local local_8 = ConstructLocal(normalize((((1.0 - weight_1) * beneath.rotation) + (_e8 * pose.rotation))), lerp(beneath.translation, pose.translation, weight_1), lerp(beneath.scale, pose.scale, weight_1));
        return local_8;
    }
    float4 whole = float4(0.0, 0.0, 0.0, (1.0 - weight_1));
    float4 rotation = (whole + (((pose.rotation.w < 0.0) ? -(weight_1) : weight_1) * pose.rotation));
    const float4 _e40 = product(rotation, beneath.rotation);
    const Local local_9 = ConstructLocal(normalize(_e40), (beneath.translation + (weight_1 * pose.translation)), (beneath.scale * ((1.0).xxx + (weight_1 * (pose.scale - (1.0).xxx)))));
    return local_9;
}

Local joined(Local beneath_1, uint slot_2, uint joint_4)
{
    bool local_2 = (bool)0;

    Cursor cursor_3 = ConstructCursor(asuint(cursors.Load(slot_2*32+0)), asuint(cursors.Load(slot_2*32+4)), asuint(cursors.Load(slot_2*32+8)), asfloat(cursors.Load(slot_2*32+12)), asfloat(cursors.Load(slot_2*32+16)), asfloat(cursors.Load(slot_2*32+20)), asfloat(cursors.Load(slot_2*32+24)), asuint(cursors.Load(slot_2*32+28)));
    const float _e6 = weight_of(cursor_3, joint_4);
    const uint _e7 = kind_of(cursor_3);
    if (!((_e7 == MERGE))) {
        local_2 = (_e6 == 0.0);
    } else {
        local_2 = true;
    }
    bool _e16 = local_2;
    if (_e16) {
        const Local local_10 = beneath_1;
        return local_10;
    }
    const Local _e17 = local_of(slot_2, joint_4);
    const uint _e18 = kind_of(cursor_3);
    const Local _e19 = joined_by(beneath_1, _e17, _e18, _e6);
    const Local local_11 = _e19;
    return local_11;
}

Local off(uint first_1, Momentum momentum, uint joint_5)
{
    Local without = (Local)0;
    uint layer = 0u;
    Local old = (Local)0;
    Local reached = (Local)0;

    uint fading = (first_1 + (2u * momentum.layer));
    const Local _e9 = merged(first_1, 2u, momentum.layer, joint_5);
    without = _e9;
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e23 = layer;
            layer = (_e23 + 1u);
        }
        loop_init_1 = false;
        uint _e13 = layer;
        if ((_e13 < momentum.layer)) {
        } else {
            break;
        }
        {
            Local _e16 = without;
            uint _e18 = layer;
            const Local _e21 = joined(_e16, (first_1 + (2u * _e18)), joint_5);
            without = _e21;
        }
    }
    Local _e25 = without;
    const Local _e26 = joined(_e25, fading, joint_5);
    old = _e26;
    Local _e28 = without;
    reached = _e28;
    if ((momentum.coming == 1u)) {
        Local _e33 = without;
        old = _e33;
        reached = _e26;
    }
    float4 _e35 = old.rotation;
    float4 _e37 = reached.rotation;
    float _e42 = reached.rotation.w;
    const float4 _e44 = product(_e35, float4(-(_e37.xyz), _e42));
    float3 _e51 = old.translation;
    float3 _e53 = reached.translation;
    float3 _e56 = old.scale;
    float3 _e58 = reached.scale;
    const Local local_12 = ConstructLocal(((_e44.w < 0.0) ? -(_e44) : _e44), (_e51 - _e53), (_e56 - _e58));
    return local_12;
}

Local carried(Local reached_1, Player player_1, uint first_slot, Momentum momentum_1, uint joint_6)
{
    const Local _e7 = off((first_slot + player_1.layers), momentum_1, joint_6);
    const Local _e12 = off(((first_slot + player_1.layers) + 1u), momentum_1, joint_6);
    const float _e17 = shorter(_e7.rotation, _e12.rotation, 1.0);
    float4 change = (_e7.rotation - (_e17 * _e12.rotation));
    float4 whole_1 = float4(0.0, 0.0, 0.0, 1.0);
    float4 rotation_1 = ((whole_1 + (momentum_1.offset * (_e7.rotation - whole_1))) + (momentum_1.speed * change));
    const float4 _e35 = product(rotation_1, reached_1.rotation);
    const Local local_13 = ConstructLocal(normalize(_e35), ((reached_1.translation + (momentum_1.offset * _e7.translation)) + (momentum_1.speed * (_e7.translation - _e12.translation))), ((reached_1.scale + (momentum_1.offset * _e7.scale)) + (momentum_1.speed * (_e7.scale - _e12.scale))));
    return local_13;
}

void put(uint slot_3, uint joint_7, Local pose_1)
{
    const uint _e3 = local_at(slot_3, joint_7);
    locals.Store4(_e3*16, asuint(pose_1.rotation));
    uint _e10 = posed.joints;
    locals.Store4((_e3 + _e10)*16, asuint(float4(pose_1.translation, 0.0)));
    uint _e20 = posed.joints;
    locals.Store4((_e3 + (2u * _e20))*16, asuint(float4(pose_1.scale, 0.0)));
    return;
}

void blend(Player player_2, uint first_slot_1, uint index_2, uint joint_8)
{
    Local pose_2 = (Local)0;
    uint layer_1 = 0u;
    bool local_3 = (bool)0;

    const Momentum _e4 = momentum_of(index_2);
    const Local _e7 = merged(first_slot_1, 1u, player_2.layers, joint_8);
    pose_2 = _e7;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e32 = layer_1;
            layer_1 = (_e32 + 1u);
        }
        loop_init_2 = false;
        uint _e11 = layer_1;
        if ((_e11 < player_2.layers)) {
        } else {
            break;
        }
        {
            Local _e14 = pose_2;
            uint _e15 = layer_1;
            const Local _e17 = joined(_e14, (first_slot_1 + _e15), joint_8);
            pose_2 = _e17;
            if (true) {
                uint _e24 = layer_1;
                local_3 = (_e24 == _e4.layer);
            } else {
                local_3 = false;
            }
            bool _e28 = local_3;
            if (_e28) {
                Local _e29 = pose_2;
                const Local _e30 = carried(_e29, player_2, first_slot_1, _e4, joint_8);
                pose_2 = _e30;
            }
        }
    }
    Local _e34 = pose_2;
    put(first_slot_1, joint_8, _e34);
    return;
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
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

PosePair ConstructPosePair(uint arg0, uint arg1, uint arg2, float arg3) {
    PosePair ret = (PosePair)0;
    ret.first_tick = arg0;
    ret.second_tick = arg1;
    ret.modes = arg2;
    ret.part = arg3;
    return ret;
}

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    uint which = 0u;

    const uint _e3 = thread_of_chunk(group, uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other), thread);
    uint _e6 = posed.instances;
    uint _e9 = posed.joints;
    if ((_e3 >= (_e6 * _e9))) {
        return;
    }
    uint _e14 = posed.joints;
    uint own = naga_div(_e3, _e14);
    uint _e18 = posed.joints;
    uint joint_9 = (_e3 - (own * _e18));
    uint _e23 = posed.first_instance;
    uint instance = (_e23 + own);
    Player player_3 = ConstructPlayer(asuint(players.Load(instance*24+0)), asuint(players.Load(instance*24+4)), asuint(players.Load(instance*24+8)), asuint(players.Load(instance*24+12)), asuint(players.Load(instance*24+16)), asuint(players.Load(instance*24+20)));
    if (false) {
        blend(player_3, player_3.first_slot, instance, joint_9);
        return;
    }
    if ((player_3.every == 1u)) {
        blend(player_3, player_3.first_slot, (2u * instance), joint_9);
        return;
    }
    PosePair pair = ConstructPosePair(asuint(pose_pairs.Load(instance*16+0)), asuint(pose_pairs.Load(instance*16+4)), asuint(pose_pairs.Load(instance*16+8)), asfloat(pose_pairs.Load(instance*16+12)));
    const uint _e42 = slots_of(player_3);
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e66 = which;
            which = (_e66 + 1u);
        }
        loop_init_3 = false;
        uint _e45 = which;
        if ((_e45 < 2u)) {
        } else {
            break;
        }
        {
            uint _e50 = which;
            if (((pair.modes & (4u << _e50)) != 0u)) {
                uint _e58 = which;
                uint _e63 = which;
                blend(player_3, ((player_3.first_slot + 1u) + (_e58 * _e42)), ((2u * instance) + _e63), joint_9);
            }
        }
    }
    uint place = (pair.modes >> 4u);
    const Local _e76 = local_of(((player_3.first_slot + 1u) + (place * _e42)), joint_9);
    const Local _e84 = local_of(((player_3.first_slot + 1u) + ((1u - place) * _e42)), joint_9);
    const Local _e88 = joined_by(_e76, _e84, OVERRIDE, pair.part);
    put(player_3.first_slot, joint_9, _e88);
    return;
}
