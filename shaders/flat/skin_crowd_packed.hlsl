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

struct Skinned {
    float3 position;
    int _pad1_0;
    float3 normal;
    int _pad2_0;
    float4 tangent;
};

struct Rows {
    float4 x;
    float4 y;
    float4 z;
};

struct LoadedVertex {
    float3 position;
    int _pad1_0;
    float3 normal;
    int _pad2_0;
    float4 tangent;
    uint4 entries;
    float4 weights;
    uint2 more;
    int _end_pad_0;
    int _end_pad_1;
};

struct Influence {
    uint entry;
    float weight;
};

struct PackedVertex {
    uint entries;
    uint weights;
    uint weight_x;
    uint yz;
    uint rest;
};

static const uint WORKGROUP = 64u;
static const uint MESH_ENTRIES = 256u;
static const uint ELEMENTS = 1u;
static const uint MOST_ELEMENTS = 1u;
static const uint FLOATS = 10u;
static const uint NORMALS = 1u;
static const uint INFLUENCES = 16u;
static const uint BUILTIN_PACKING = 0u;
static const uint INSTANCES = 16u;

cbuffer chunk : register(b0) { Chunk chunk; }
ByteAddressBuffer influences : register(t2);
ByteAddressBuffer tangents : register(t3);
ByteAddressBuffer palettes : register(t4);
ByteAddressBuffer vertices_ : register(t1);
RWByteAddressBuffer output : register(u5);

float3 finished(float3 v)
{
    if (true) {
        return v;
    }
    return (v * rsqrt(max(dot(v, v), 4.9303807e-32)));
}

float3 rotated(Rows m, float3 v_1)
{
    return float3(dot(m.x.xyz, v_1), dot(m.y.xyz, v_1), dot(m.z.xyz, v_1));
}

Skinned ConstructSkinned(float3 arg0, float3 arg1, float4 arg2) {
    Skinned ret = (Skinned)0;
    ret.position = arg0;
    ret.normal = arg1;
    ret.tangent = arg2;
    return ret;
}

Skinned transformed(Rows m_1, float3 position, float3 normal, float4 tangent)
{
    Skinned skinned = (Skinned)0;

    float4 p = float4(position, 1.0);
    skinned = ConstructSkinned(float3(dot(m_1.x, p), dot(m_1.y, p), dot(m_1.z, p)), (0.0).xxx, (0.0).xxxx);
    if (true) {
        if (false) {
            float3x3 cofactors = float3x3(cross(m_1.y.xyz, m_1.z.xyz), cross(m_1.z.xyz, m_1.x.xyz), cross(m_1.x.xyz, m_1.y.xyz));
            const float3 _e45 = finished(mul(cofactors, normal));
            skinned.normal = _e45;
        } else {
            const float3 _e47 = rotated(m_1, normal);
            const float3 _e48 = finished(_e47);
            skinned.normal = _e48;
        }
    }
    if (true) {
        const float3 _e55 = rotated(m_1, tangent.xyz);
        const float3 _e56 = finished(_e55);
        skinned.tangent = float4(_e56, tangent.w);
    }
    Skinned _e59 = skinned;
    const Skinned skinned_4 = _e59;
    return skinned_4;
}

uint2 more_of(uint vertex)
{
    uint _e3 = chunk.sixteens;
    uint before = min(vertex, _e3);
    uint _e7 = chunk.mesh_influence;
    uint _e10 = chunk.eights;
    uint first = ((_e7 + ((before - min(before, _e10)) * 4u)) + ((vertex - before) * 12u));
    uint _e24 = chunk.eights;
    uint _e30 = chunk.sixteens;
    return uint2(first, (first + ((vertex >= _e30) ? 12u : ((vertex >= _e24) ? 4u : 0u))));
}

float4 tangent_of(uint vertex_1)
{
    if (true) {
        uint _e8 = chunk.mesh_vertex;
        float4 _e11 = asfloat(tangents.Load4((_e8 + vertex_1)*16));
        return _e11;
    }
    return (0.0).xxxx;
}

Rows ConstructRows(float4 arg0, float4 arg1, float4 arg2) {
    Rows ret = (Rows)0;
    ret.x = arg0;
    ret.y = arg1;
    ret.z = arg2;
    return ret;
}

Rows entry_of(uint instance_1, uint entry)
{
    uint _e4 = chunk.first_entry;
    uint _e7 = chunk.entries;
    uint row = (((_e4 + (instance_1 * _e7)) + entry) * 3u);
    float4 _e15 = asfloat(palettes.Load4(row*16));
    float4 _e20 = asfloat(palettes.Load4((row + 1u)*16));
    float4 _e25 = asfloat(palettes.Load4((row + 2u)*16));
    const Rows rows = ConstructRows(_e15, _e20, _e25);
    return rows;
}

void add(inout Rows m_2, float weight, Rows entry_1)
{
    float4 _e4 = m_2.x;
    m_2.x = (_e4 + (weight * entry_1.x));
    float4 _e9 = m_2.y;
    m_2.y = (_e9 + (weight * entry_1.y));
    float4 _e14 = m_2.z;
    m_2.z = (_e14 + (weight * entry_1.z));
    return;
}

Rows blended(LoadedVertex vertex_2, uint instance_2)
{
    Rows m_3 = (Rows)0;
    uint i = (uint)0;

    const Rows _e4 = entry_of(instance_2, vertex_2.entries.x);
    float4 weights = vertex_2.weights;
    m_3 = ConstructRows((weights.x * _e4.x), (weights.x * _e4.y), (weights.x * _e4.z));
    if ((weights.y > 0.0)) {
        const Rows _e23 = entry_of(instance_2, vertex_2.entries.y);
        add(m_3, weights.y, _e23);
        if ((weights.z > 0.0)) {
            const Rows _e30 = entry_of(instance_2, vertex_2.entries.z);
            add(m_3, weights.z, _e30);
            if ((weights.w > 0.0)) {
                const Rows _e37 = entry_of(instance_2, vertex_2.entries.w);
                add(m_3, weights.w, _e37);
            }
        }
    }
    if (true) {
        i = vertex_2.more.x;
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e61 = i;
                i = (_e61 + 1u);
            }
            loop_init = false;
            uint _e45 = i;
            if ((_e45 < vertex_2.more.y)) {
            } else {
                break;
            }
            {
                uint _e50 = i;
                float _e53 = asfloat(influences.Load(4+_e50*8));
                uint _e55 = i;
                uint _e58 = asuint(influences.Load(0+_e55*8));
                const Rows _e59 = entry_of(instance_2, _e58);
                add(m_3, _e53, _e59);
            }
        }
    }
    Rows _e63 = m_3;
    const Rows rows_1 = _e63;
    return rows_1;
}

Skinned skin(LoadedVertex vertex_3, uint instance_3)
{
    const Rows _e2 = blended(vertex_3, instance_3);
    const Skinned _e6 = transformed(_e2, vertex_3.position, vertex_3.normal, vertex_3.tangent);
    const Skinned skinned_5 = _e6;
    return skinned_5;
}

float3 unfolded(float2 octahedral)
{
    float3 n = (float3)0;

    n = float3(octahedral, ((1.0 - abs(octahedral.x)) - abs(octahedral.y)));
    float _e11 = n.z;
    float fold = max(-(_e11), 0.0);
    float _e16 = n.x;
    float _e19 = n.x;
    n.x = (_e16 - ((_e19 >= 0.0) ? fold : -(fold)));
    float _e25 = n.y;
    float _e28 = n.y;
    n.y = (_e25 - ((_e28 >= 0.0) ? fold : -(fold)));
    float3 _e33 = n;
    return normalize(_e33);
}

LoadedVertex ConstructLoadedVertex(float3 arg0, float3 arg1, float4 arg2, uint4 arg3, float4 arg4, uint2 arg5) {
    LoadedVertex ret = (LoadedVertex)0;
    ret.position = arg0;
    ret.normal = arg1;
    ret.tangent = arg2;
    ret.entries = arg3;
    ret.weights = arg4;
    ret.more = arg5;
    return ret;
}

PackedVertex ConstructPackedVertex(uint arg0, uint arg1, uint arg2, uint arg3, uint arg4) {
    PackedVertex ret = (PackedVertex)0;
    ret.entries = arg0;
    ret.weights = arg1;
    ret.weight_x = arg2;
    ret.yz = arg3;
    ret.rest = arg4;
    return ret;
}

LoadedVertex load_vertex(uint index)
{
    float heaviest = (float)0;
    uint i_1 = (uint)0;

    uint _e4 = chunk.mesh_vertex;
    PackedVertex v_3 = ConstructPackedVertex(asuint(vertices_.Load((_e4 + index)*20+0)), asuint(vertices_.Load((_e4 + index)*20+4)), asuint(vertices_.Load((_e4 + index)*20+8)), asuint(vertices_.Load((_e4 + index)*20+12)), asuint(vertices_.Load((_e4 + index)*20+16)));
    uint3 upper = uint3((v_3.weight_x >> 16u), (v_3.yz & 65535u), (v_3.yz >> 16u));
    uint3 lower = (((v_3.rest).xxx >> uint3(0u, 1u, 2u)) & (1u).xxx);
    float3 _e30 = chunk.origin;
    float3 _e38 = chunk.step_;
    float3 position_1 = (_e30 + (float3(((upper << (1u).xxx) | lower)) * _e38));
    const float3 _e57 = unfolded(((float2((((v_3.rest).xx >> uint2(3u, 17u)) & (16383u).xx)) / (8191.0).xx) - (1.0).xx));
    uint4 entries = (((v_3.entries).xxxx >> uint4(0u, 8u, 16u, 24u)) & (255u).xxxx);
    uint3 others = uint3((v_3.weights & 65535u), (v_3.weights >> 16u), (v_3.weight_x & 65535u));
    heaviest = (1.0 - (float(((others.x + others.y) + others.z)) * 7.629511e-6));
    const uint2 _e90 = more_of(index);
    if (true) {
        i_1 = _e90.x;
        bool loop_init_1 = true;
        while(true) {
            if (!loop_init_1) {
                uint _e108 = i_1;
                i_1 = (_e108 + 1u);
            }
            loop_init_1 = false;
            uint _e97 = i_1;
            if ((_e97 < _e90.y)) {
            } else {
                break;
            }
            {
                float _e100 = heaviest;
                uint _e102 = i_1;
                float _e105 = asfloat(influences.Load(4+_e102*8));
                heaviest = (_e100 - _e105);
            }
        }
    }
    const float4 _e110 = tangent_of(index);
    float _e111 = heaviest;
    const LoadedVertex loadedvertex = ConstructLoadedVertex(position_1, _e57, _e110, entries, float4(_e111, (float3(others) * 7.629511e-6)), _e90);
    return loadedvertex;
}

LoadedVertex morphed(LoadedVertex vertex_4, uint index_1, uint instance_4)
{
    const LoadedVertex loadedvertex_1 = vertex_4;
    return loadedvertex_1;
}

uint packed_pair(float2 pair)
{
    if (false) {
        return uint((int(round(clamp(pair[0], -1.0, 1.0) * 32767.0)) & 0xFFFF) | ((int(round(clamp(pair[1], -1.0, 1.0) * 32767.0)) & 0xFFFF) << 16));
    }
    uint2 bits = asuint(mad(pair, (32767.0).xx, (12582912.0).xx));
    return ((bits.x & 65535u) | (bits.y << 16u));
}

uint packed_direction(float3 v_2)
{
    float sum = ((abs(v_2.x) + abs(v_2.y)) + abs(v_2.z));
    float2 d = (v_2.xy * ((sum > 0.0) ? (1.0 / sum) : 0.0));
    float2 folded = (((1.0).xx - abs(d.yx)) * ((d >= (0.0).xx) ? (1.0).xx : (-1.0).xx));
    const uint _e35 = packed_pair(((v_2.z >= 0.0) ? d : folded));
    return _e35;
}

uint2 packed_place(Skinned skinned_1)
{
    float3 _e4 = chunk.centre;
    float _e8 = chunk.half_;
    float3 in_cube = ((skinned_1.position - _e4) * (1.0 / _e8));
    float3 place = clamp(in_cube, (-1.0).xxx, (1.0).xxx);
    const uint _e18 = packed_pair(place.xy);
    const uint _e23 = packed_pair(float2(place.z, skinned_1.tangent.w));
    return uint2(_e18, _e23);
}

typedef uint4 ret_Constructarray1_uint4_[1];
ret_Constructarray1_uint4_ Constructarray1_uint4_(uint4 arg0) {
    uint4 ret[1] = { arg0 };
    return ret;
}

typedef uint4 ret_elements_of[1];
ret_elements_of elements_of(Skinned skinned_2)
{
    const uint _e2 = packed_direction(skinned_2.normal);
    const uint _e5 = packed_direction(skinned_2.tangent.xyz);
    const uint2 _e6 = packed_place(skinned_2);
    return Constructarray1_uint4_(uint4(_e6, _e2, _e5));
}

void store(uint vertex_5, uint instance_5, Skinned skinned_3)
{
    uint k = 0u;

    uint _e5 = chunk.first_vertex;
    uint _e8 = chunk.vertices_;
    uint at = (((_e5 + (instance_5 * _e8)) + vertex_5) * ELEMENTS);
    const uint4 _e14[1] = elements_of(skinned_3);
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e27 = k;
            k = (_e27 + 1u);
        }
        loop_init_2 = false;
        uint _e17 = k;
        if ((_e17 < ELEMENTS)) {
        } else {
            break;
        }
        {
            uint _e21 = k;
            uint _e24 = k;
            output.Store4((at + _e21)*16, asuint(_e14[_e24]));
        }
    }
    return;
}

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    uint instance = (uint)0;

    uint vertex_6 = ((((group.z * uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other).x) + group.x) * WORKGROUP) + thread);
    uint _e13 = chunk.vertices_;
    if ((vertex_6 >= _e13)) {
        return;
    }
    const LoadedVertex _e15 = load_vertex(vertex_6);
    uint first_1 = (group.y * INSTANCES);
    uint _e23 = chunk.instances;
    uint end = min((first_1 + INSTANCES), _e23);
    instance = first_1;
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e34 = instance;
            instance = (_e34 + 1u);
        }
        loop_init_3 = false;
        uint _e26 = instance;
        if ((_e26 < end)) {
        } else {
            break;
        }
        {
            uint _e28 = instance;
            uint _e29 = instance;
            const LoadedVertex _e30 = morphed(_e15, vertex_6, _e29);
            uint _e31 = instance;
            const Skinned _e32 = skin(_e30, _e31);
            store(vertex_6, _e28, _e32);
        }
    }
    return;
}
