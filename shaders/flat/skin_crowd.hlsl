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

struct Vertex {
    float3 position;
    uint padding;
    float3 normal;
    uint more_padding;
    uint4 entries;
    float4 weights;
};

static const uint WORKGROUP = 64u;
static const uint MESH_ENTRIES = 65536u;
static const uint MOST_ELEMENTS = 5u;
static const uint FLOATS = 6u;
static const uint NORMALS = 0u;
static const uint INFLUENCES = 16u;
static const uint ELEMENTS = 3u;
static const uint INSTANCES = 16u;

cbuffer chunk : register(b0) { Chunk chunk; }
ByteAddressBuffer influences : register(t2);
ByteAddressBuffer tangents : register(t3);
ByteAddressBuffer palettes : register(t4);
ByteAddressBuffer vertices_ : register(t1);
RWByteAddressBuffer output : register(u5);

float3 finished(float3 v)
{
    if (false) {
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
    if (false) {
        const float3 _e55 = rotated(m_1, tangent.xyz);
        const float3 _e56 = finished(_e55);
        skinned.tangent = float4(_e56, tangent.w);
    }
    Skinned _e59 = skinned;
    const Skinned skinned_3 = _e59;
    return skinned_3;
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
    if (false) {
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
    const Skinned skinned_4 = _e6;
    return skinned_4;
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

Vertex ConstructVertex(float3 arg0, uint arg1, float3 arg2, uint arg3, uint4 arg4, float4 arg5) {
    Vertex ret = (Vertex)0;
    ret.position = arg0;
    ret.padding = arg1;
    ret.normal = arg2;
    ret.more_padding = arg3;
    ret.entries = arg4;
    ret.weights = arg5;
    return ret;
}

LoadedVertex load_vertex(uint index)
{
    uint _e4 = chunk.mesh_vertex;
    Vertex v_2 = ConstructVertex(asfloat(vertices_.Load3((_e4 + index)*64+0)), asuint(vertices_.Load((_e4 + index)*64+12)), asfloat(vertices_.Load3((_e4 + index)*64+16)), asuint(vertices_.Load((_e4 + index)*64+28)), asuint(vertices_.Load4((_e4 + index)*64+32)), asfloat(vertices_.Load4((_e4 + index)*64+48)));
    const float4 _e10 = tangent_of(index);
    const uint2 _e13 = more_of(index);
    const LoadedVertex loadedvertex = ConstructLoadedVertex(v_2.position, v_2.normal, _e10, v_2.entries, v_2.weights, _e13);
    return loadedvertex;
}

LoadedVertex morphed(LoadedVertex vertex_4, uint index_1, uint instance_4)
{
    const LoadedVertex loadedvertex_1 = vertex_4;
    return loadedvertex_1;
}

typedef float2 ret_Constructarray5_float2_[5];
ret_Constructarray5_float2_ Constructarray5_float2_(float2 arg0, float2 arg1, float2 arg2, float2 arg3, float2 arg4) {
    float2 ret[5] = { arg0, arg1, arg2, arg3, arg4 };
    return ret;
}

typedef float2 ret_elements_of[5];
ret_elements_of elements_of(Skinned skinned_1)
{
    float2 middle = float2(skinned_1.position.z, skinned_1.normal.x);
    return Constructarray5_float2_(skinned_1.position.xy, middle, skinned_1.normal.yz, skinned_1.tangent.xy, skinned_1.tangent.zw);
}

void store(uint vertex_5, uint instance_5, Skinned skinned_2)
{
    uint k = 0u;

    uint _e5 = chunk.first_vertex;
    uint _e8 = chunk.vertices_;
    uint at = (((_e5 + (instance_5 * _e8)) + vertex_5) * ELEMENTS);
    const float2 _e14[5] = elements_of(skinned_2);
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e27 = k;
            k = (_e27 + 1u);
        }
        loop_init_1 = false;
        uint _e17 = k;
        if ((_e17 < ELEMENTS)) {
        } else {
            break;
        }
        {
            uint _e21 = k;
            uint _e24 = k;
            output.Store2((at + _e21)*8, asuint(_e14[_e24]));
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
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e34 = instance;
            instance = (_e34 + 1u);
        }
        loop_init_2 = false;
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
