// language: metal2.0
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size2;
    uint size3;
    uint size4;
    uint size5;
};

struct Skinned {
    metal::float3 position;
    metal::float3 normal;
    metal::float4 tangent;
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
struct View {
    metal::float4x4 view_projection;
    metal::packed_float3 light;
    float padding;
};
typedef metal::float4 type_5[1];
typedef float type_6[1];
typedef uint type_7[1];
struct Fragment {
    metal::float4 clip;
    metal::float3 normal;
    metal::float3 color;
    metal::float3 world;
};
struct MovingFragment {
    metal::float4 clip;
    metal::float3 normal;
    metal::float3 color;
    metal::float3 world;
    metal::float3 now;
    metal::float3 before;
};
struct ColorAndMotion {
    metal::float4 color;
    metal::float2 motion;
    char _pad2[8];
};
constant uint FLOATS = 6u;

uint crowd_instance(
    uint instance_3,
    constant Chunk& chunk
) {
    uint _e3 = chunk.first_instance;
    return _e3 + instance_3;
}

uint skinned_place(
    uint vertex_1,
    uint instance_4,
    constant Chunk& chunk
) {
    uint _e4 = chunk.first_vertex;
    uint _e7 = chunk.vertices;
    return (_e4 + (instance_4 * _e7)) + vertex_1;
}

metal::float3 place(
    uint instance_5,
    metal::float4 v,
    constant Chunk& chunk,
    device type_5 const& placements,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = crowd_instance(instance_5, chunk);
    uint row = _e2 * 3u;
    metal::float4 _e7 = placements[row];
    metal::float4 _e13 = placements[row + 1u];
    metal::float4 _e19 = placements[row + 2u];
    return metal::float3(metal::dot(_e7, v), metal::dot(_e13, v), metal::dot(_e19, v));
}

metal::float4 lit(
    metal::float3 color,
    metal::float3 interpolated,
    metal::float3 world,
    constant View& view
) {
    metal::float3 normal = {};
    normal = metal::normalize(interpolated);
    if (false) {
        metal::float3 _e9 = metal::dfdx(world);
        metal::float3 _e10 = metal::dfdy(world);
        normal = metal::normalize(metal::cross(_e9, _e10));
        metal::float3 _e13 = normal;
        metal::float3 _e14 = normal;
        metal::float3 _e17 = view.light;
        normal = _e13 * ((metal::dot(_e14, _e17) > 0.0) ? 1.0 : -1.0);
    }
    metal::float3 _e25 = normal;
    metal::float3 _e28 = view.light;
    float sun = metal::max(metal::dot(_e25, _e28), 0.0);
    float _e33 = normal.y;
    float sky = 0.5 + (0.5 * _e33);
    return metal::float4(color * ((0.18 + (0.3 * sky)) + (0.75 * sun)), 1.0);
}

Skinned skinned_vertex(
    uint vertex_2,
    uint instance_6,
    constant Chunk& chunk,
    device type_6 const& vertices,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float3 normal_1 = metal::float3(0.0);
    uint _e2 = skinned_place(vertex_2, instance_6, chunk);
    uint at = _e2 * FLOATS;
    if (true) {
        float _e16 = vertices[at + 3u];
        float _e21 = vertices[at + 4u];
        float _e26 = vertices[at + 5u];
        normal_1 = metal::float3(_e16, _e21, _e26);
    }
    float _e30 = vertices[at];
    float _e35 = vertices[at + 1u];
    float _e40 = vertices[at + 2u];
    metal::float3 _e42 = normal_1;
    return Skinned {metal::float3(_e30, _e35, _e40), _e42, metal::float4(0.0)};
}

Fragment drawn(
    uint index_3,
    uint instance_7,
    constant Chunk& chunk,
    constant View& view,
    device type_5 const& placements,
    device type_6 const& vertices,
    device type_7 const& colors,
    constant _mslBufferSizes& _buffer_sizes
) {
    Skinned _e2 = skinned_vertex(index_3, instance_7, chunk, vertices, _buffer_sizes);
    metal::float3 _e6 = place(instance_7, metal::float4(_e2.position, 1.0), chunk, placements, _buffer_sizes);
    metal::float3 _e10 = place(instance_7, metal::float4(_e2.normal, 0.0), chunk, placements, _buffer_sizes);
    metal::float4x4 _e13 = view.view_projection;
    uint _e19 = colors[index_3];
    return Fragment {_e13 * metal::float4(_e6, 1.0), _e10, metal::unpack_unorm4x8_to_float(_e19).xyz, _e6};
}

metal::float4 shaded(
    Fragment in_2,
    constant View& view
) {
    metal::float4 _e4 = lit(in_2.color, in_2.normal, in_2.world, view);
    return _e4;
}

metal::float3 previous_position(
    uint vertex_3,
    uint instance_8,
    constant Chunk& chunk,
    device type_6 const& previous,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = skinned_place(vertex_3, instance_8, chunk);
    uint at_1 = _e2 * FLOATS;
    float _e7 = previous[at_1];
    float _e12 = previous[at_1 + 1u];
    float _e17 = previous[at_1 + 2u];
    return metal::float3(_e7, _e12, _e17);
}

struct vertex_Input {
};
struct vertex_Output {
    metal::float4 clip [[position]];
    metal::float3 normal [[user(loc0), center_perspective]];
    metal::float3 color [[user(loc1), center_perspective]];
    metal::float3 world [[user(loc2), center_perspective]];
};
vertex vertex_Output vertex_(
  uint index [[vertex_id]]
, uint instance [[instance_id]]
, constant Chunk& chunk [[buffer(0)]]
, constant View& view [[buffer(20)]]
, device type_5 const& placements [[buffer(22)]]
, device type_6 const& vertices [[buffer(1)]]
, device type_7 const& colors [[buffer(21)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    Fragment _e2 = drawn(index, instance, chunk, view, placements, vertices, colors, _buffer_sizes);
    const auto _tmp = _e2;
    return vertex_Output { _tmp.clip, _tmp.normal, _tmp.color, _tmp.world };
}


struct vertex_depthInput {
};
struct vertex_depthOutput {
    metal::float4 member_1 [[position]];
};
vertex vertex_depthOutput vertex_depth(
  uint index_1 [[vertex_id]]
, uint instance_1 [[instance_id]]
, constant Chunk& chunk [[buffer(0)]]
, constant View& view [[buffer(20)]]
, device type_5 const& placements [[buffer(22)]]
, device type_6 const& vertices [[buffer(1)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    metal::float4x4 _e4 = view.view_projection;
    Skinned _e5 = skinned_vertex(index_1, instance_1, chunk, vertices, _buffer_sizes);
    metal::float3 _e9 = place(instance_1, metal::float4(_e5.position, 1.0), chunk, placements, _buffer_sizes);
    return vertex_depthOutput { _e4 * metal::float4(_e9, 1.0) };
}


struct fragment_Input {
    metal::float3 normal_2 [[user(loc0), center_perspective]];
    metal::float3 color_1 [[user(loc1), center_perspective]];
    metal::float3 world_1 [[user(loc2), center_perspective]];
};
struct fragment_Output {
    metal::float4 member_2 [[color(0)]];
};
fragment fragment_Output fragment_(
  fragment_Input varyings_2 [[stage_in]]
, metal::float4 clip [[position]]
, constant View& view [[buffer(20)]]
) {
    const Fragment in = { clip, varyings_2.normal_2, varyings_2.color_1, varyings_2.world_1 };
    metal::float4 _e1 = shaded(in, view);
    return fragment_Output { _e1 };
}


struct vertex_motionInput {
};
struct vertex_motionOutput {
    metal::float4 clip [[position]];
    metal::float3 normal [[user(loc0), center_perspective]];
    metal::float3 color [[user(loc1), center_perspective]];
    metal::float3 world [[user(loc2), center_perspective]];
    metal::float3 now [[user(loc3), center_perspective]];
    metal::float3 before [[user(loc4), center_perspective]];
};
vertex vertex_motionOutput vertex_motion(
  uint index_2 [[vertex_id]]
, uint instance_2 [[instance_id]]
, constant Chunk& chunk [[buffer(0)]]
, constant View& view [[buffer(20)]]
, device type_5 const& placements [[buffer(22)]]
, device type_6 const& vertices [[buffer(1)]]
, device type_7 const& colors [[buffer(21)]]
, device type_6 const& previous [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(30)]]
) {
    Fragment _e2 = drawn(index_2, instance_2, chunk, view, placements, vertices, colors, _buffer_sizes);
    metal::float3 _e3 = previous_position(index_2, instance_2, chunk, previous, _buffer_sizes);
    metal::float3 _e6 = place(instance_2, metal::float4(_e3, 1.0), chunk, placements, _buffer_sizes);
    metal::float4x4 _e9 = view.view_projection;
    metal::float4 before = _e9 * metal::float4(_e6, 1.0);
    const auto _tmp_1 = MovingFragment {_e2.clip, _e2.normal, _e2.color, _e2.world, _e2.clip.xyw, before.xyw};
    return vertex_motionOutput { _tmp_1.clip, _tmp_1.normal, _tmp_1.color, _tmp_1.world, _tmp_1.now, _tmp_1.before };
}


struct fragment_motionInput {
    metal::float3 normal_2 [[user(loc0), center_perspective]];
    metal::float3 color_1 [[user(loc1), center_perspective]];
    metal::float3 world_1 [[user(loc2), center_perspective]];
    metal::float3 now [[user(loc3), center_perspective]];
    metal::float3 before [[user(loc4), center_perspective]];
};
struct fragment_motionOutput {
    metal::float4 color [[color(0)]];
    metal::float2 motion [[color(1)]];
};
fragment fragment_motionOutput fragment_motion(
  fragment_motionInput varyings_4 [[stage_in]]
, metal::float4 clip_1 [[position]]
, constant View& view [[buffer(20)]]
) {
    const MovingFragment in_1 = { clip_1, varyings_4.normal_2, varyings_4.color_1, varyings_4.world_1, varyings_4.now, varyings_4.before };
    metal::float2 motion = (in_1.now.xy / metal::float2(in_1.now.z)) - (in_1.before.xy / metal::float2(in_1.before.z));
    metal::float4 _e19 = shaded(Fragment {in_1.clip, in_1.normal, in_1.color, in_1.world}, view);
    const auto _tmp_2 = ColorAndMotion {_e19, motion};
    return fragment_motionOutput { _tmp_2.color, _tmp_2.motion };
}
