// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size3;
    uint size4;
    uint size5;
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
struct Skinned {
    metal::float3 position;
    metal::float3 normal;
    metal::float4 tangent;
};
struct Rows {
    metal::float4 x;
    metal::float4 y;
    metal::float4 z;
};
struct LoadedVertex {
    metal::float3 position;
    metal::float3 normal;
    metal::float4 tangent;
    metal::uint4 entries;
    metal::float4 weights;
    metal::uint2 more;
    char _pad6[8];
};
struct Influence {
    uint entry;
    float weight;
};
typedef Influence type_7[1];
typedef metal::float4 type_8[1];
struct Vertex {
    metal::packed_float3 position;
    uint padding;
    metal::packed_float3 normal;
    uint more_padding;
    metal::uint4 entries;
    metal::float4 weights;
};
typedef Vertex type_11[1];
typedef metal::float2 Element;
struct type_13 {
    metal::float2 inner[5];
};
typedef Element type_14[1];
constant uint WORKGROUP = 64u;
constant uint MESH_ENTRIES = 65536u;
constant uint MOST_ELEMENTS = 5u;
constant uint FLOATS = 6u;
constant uint NORMALS = 0u;
constant uint INFLUENCES = 16u;
constant uint ELEMENTS = 3u;

metal::float3 finished(
    metal::float3 v
) {
    if (false) {
        return v;
    }
    return v * metal::rsqrt(metal::max(metal::dot(v, v), 0.000000000000000000000000000000049303807));
}

metal::float3 rotated(
    Rows m,
    metal::float3 v_1
) {
    return metal::float3(metal::dot(m.x.xyz, v_1), metal::dot(m.y.xyz, v_1), metal::dot(m.z.xyz, v_1));
}

Skinned transformed(
    Rows m_1,
    metal::float3 position,
    metal::float3 normal,
    metal::float4 tangent
) {
    Skinned skinned = {};
    metal::float4 p = metal::float4(position, 1.0);
    skinned = Skinned {metal::float3(metal::dot(m_1.x, p), metal::dot(m_1.y, p), metal::dot(m_1.z, p)), metal::float3(0.0), metal::float4(0.0)};
    if (true) {
        if (false) {
            metal::float3x3 cofactors = metal::float3x3(metal::cross(m_1.y.xyz, m_1.z.xyz), metal::cross(m_1.z.xyz, m_1.x.xyz), metal::cross(m_1.x.xyz, m_1.y.xyz));
            metal::float3 _e45 = finished(normal * cofactors);
            skinned.normal = _e45;
        } else {
            metal::float3 _e47 = rotated(m_1, normal);
            metal::float3 _e48 = finished(_e47);
            skinned.normal = _e48;
        }
    }
    if (false) {
        metal::float3 _e55 = rotated(m_1, tangent.xyz);
        metal::float3 _e56 = finished(_e55);
        skinned.tangent = metal::float4(_e56, tangent.w);
    }
    Skinned _e59 = skinned;
    return _e59;
}

metal::uint2 more_of(
    uint vertex_,
    constant Chunk& chunk
) {
    uint _e3 = chunk.sixteens;
    uint before = metal::min(vertex_, _e3);
    uint _e7 = chunk.mesh_influence;
    uint _e10 = chunk.eights;
    uint first = (_e7 + ((before - metal::min(before, _e10)) * 4u)) + ((vertex_ - before) * 12u);
    uint _e24 = chunk.eights;
    uint _e30 = chunk.sixteens;
    return metal::uint2(first, first + ((vertex_ >= _e30) ? 12u : ((vertex_ >= _e24) ? 4u : 0u)));
}

metal::float4 tangent_of(
    uint vertex_1,
    constant Chunk& chunk,
    device type_8 const& tangents,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (false) {
        uint _e8 = chunk.mesh_vertex;
        metal::float4 _e11 = tangents[_e8 + vertex_1];
        return _e11;
    }
    return metal::float4(0.0);
}

Rows entry_of(
    uint instance,
    uint entry,
    constant Chunk& chunk,
    device type_8 const& palettes,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e4 = chunk.first_entry;
    uint _e7 = chunk.entries;
    uint row = ((_e4 + (instance * _e7)) + entry) * 3u;
    metal::float4 _e15 = palettes[row];
    metal::float4 _e20 = palettes[row + 1u];
    metal::float4 _e25 = palettes[row + 2u];
    return Rows {_e15, _e20, _e25};
}

void add(
    thread Rows& m_2,
    float weight,
    Rows entry_1
) {
    metal::float4 _e4 = m_2.x;
    m_2.x = _e4 + (weight * entry_1.x);
    metal::float4 _e9 = m_2.y;
    m_2.y = _e9 + (weight * entry_1.y);
    metal::float4 _e14 = m_2.z;
    m_2.z = _e14 + (weight * entry_1.z);
    return;
}

Rows blended(
    LoadedVertex vertex_2,
    uint instance_1,
    constant Chunk& chunk,
    device type_7 const& influences,
    device type_8 const& palettes,
    constant _mslBufferSizes& _buffer_sizes
) {
    Rows m_3 = {};
    uint i = {};
    Rows _e4 = entry_of(instance_1, vertex_2.entries.x, chunk, palettes, _buffer_sizes);
    metal::float4 weights = vertex_2.weights;
    m_3 = Rows {vertex_2.weights.x * _e4.x, vertex_2.weights.x * _e4.y, vertex_2.weights.x * _e4.z};
    if (vertex_2.weights.y > 0.0) {
        Rows _e23 = entry_of(instance_1, vertex_2.entries.y, chunk, palettes, _buffer_sizes);
        add(m_3, vertex_2.weights.y, _e23);
        if (vertex_2.weights.z > 0.0) {
            Rows _e30 = entry_of(instance_1, vertex_2.entries.z, chunk, palettes, _buffer_sizes);
            add(m_3, vertex_2.weights.z, _e30);
            if (vertex_2.weights.w > 0.0) {
                Rows _e37 = entry_of(instance_1, vertex_2.entries.w, chunk, palettes, _buffer_sizes);
                add(m_3, vertex_2.weights.w, _e37);
            }
        }
    }
    if (true) {
        i = vertex_2.more.x;
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e61 = i;
                i = _e61 + 1u;
            }
            loop_init = false;
            uint _e45 = i;
            if (_e45 < vertex_2.more.y) {
            } else {
                break;
            }
            {
                uint _e50 = i;
                float _e53 = influences[_e50].weight;
                uint _e55 = i;
                uint _e58 = influences[_e55].entry;
                Rows _e59 = entry_of(instance_1, _e58, chunk, palettes, _buffer_sizes);
                add(m_3, _e53, _e59);
            }
        }
    }
    Rows _e63 = m_3;
    return _e63;
}

Skinned skin(
    LoadedVertex vertex_3,
    uint instance_2,
    constant Chunk& chunk,
    device type_7 const& influences,
    device type_8 const& palettes,
    constant _mslBufferSizes& _buffer_sizes
) {
    Rows _e2 = blended(vertex_3, instance_2, chunk, influences, palettes, _buffer_sizes);
    Skinned _e6 = transformed(_e2, vertex_3.position, vertex_3.normal, vertex_3.tangent);
    return _e6;
}

LoadedVertex load_vertex(
    uint index,
    constant Chunk& chunk,
    device type_8 const& tangents,
    device type_11 const& vertices,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e4 = chunk.mesh_vertex;
    Vertex v_2 = vertices[_e4 + index];
    metal::float4 _e10 = tangent_of(index, chunk, tangents, _buffer_sizes);
    metal::uint2 _e13 = more_of(index, chunk);
    return LoadedVertex {v_2.position, v_2.normal, _e10, v_2.entries, v_2.weights, _e13};
}

LoadedVertex morphed(
    LoadedVertex vertex_4,
    uint index_1,
    uint instance_3
) {
    return vertex_4;
}

type_13 elements_of(
    Skinned skinned_1
) {
    metal::float2 middle = metal::float2(skinned_1.position.z, skinned_1.normal.x);
    return type_13 {{skinned_1.position.xy, middle, skinned_1.normal.yz, skinned_1.tangent.xy, skinned_1.tangent.zw}};
}

void store(
    uint vertex_5,
    uint instance_4,
    Skinned skinned_2,
    constant Chunk& chunk,
    device type_14& output,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint k = 0u;
    uint _e5 = chunk.first_vertex;
    uint _e8 = chunk.vertices;
    uint at = ((_e5 + (instance_4 * _e8)) + vertex_5) * ELEMENTS;
    type_13 _e14 = elements_of(skinned_2);
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e27 = k;
            k = _e27 + 1u;
        }
        loop_init_1 = false;
        uint _e17 = k;
        if (_e17 < ELEMENTS) {
        } else {
            break;
        }
        {
            uint _e21 = k;
            uint _e24 = k;
            output[at + _e21] = _e14.inner[_e24];
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
, constant Chunk& chunk [[buffer(0)]]
, device type_7 const& influences [[buffer(2)]]
, device type_8 const& tangents [[buffer(3)]]
, device type_8 const& palettes [[buffer(4)]]
, device type_11 const& vertices [[buffer(1)]]
, device type_14& output [[buffer(5)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    uint pair = (((group.y * groups.x) + group.x) * WORKGROUP) + thread_;
    uint _e13 = chunk.vertices;
    uint _e16 = chunk.instances;
    if (pair >= (_e13 * _e16)) {
        return;
    }
    uint _e21 = chunk.vertices;
    uint vertex_6 = pair % _e21;
    uint _e25 = chunk.vertices;
    uint instance_5 = pair / _e25;
    LoadedVertex _e27 = load_vertex(vertex_6, chunk, tangents, vertices, _buffer_sizes);
    LoadedVertex _e28 = morphed(_e27, vertex_6, instance_5);
    Skinned _e29 = skin(_e28, instance_5, chunk, influences, palettes, _buffer_sizes);
    store(vertex_6, instance_5, _e29, chunk, output, _buffer_sizes);
    return;
}
