struct NagaConstants {
    int first_vertex;
    int first_instance;
    uint other;
};
ConstantBuffer<NagaConstants> _NagaConstants: register(b0, space2);

struct Skinned {
    float3 position;
    int _pad1_0;
    float3 normal;
    int _pad2_0;
    float4 tangent;
};

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

struct View {
    row_major float4x4 view_projection;
    float3 light;
    float padding;
};

struct Fragment {
    float4 clip_ : SV_Position;
    float3 normal : LOC0;
    float3 color : LOC1;
    float3 world : LOC2;
};

struct MovingFragment {
    float4 clip_ : SV_Position;
    float3 normal : LOC0;
    float3 color : LOC1;
    float3 world : LOC2;
    float3 now : LOC3;
    float3 before : LOC4;
};

struct ColorAndMotion {
    float4 color : SV_Target0;
    float2 motion : SV_Target1;
};

static const uint FLOATS = 6u;

cbuffer chunk : register(b0) { Chunk chunk; }
cbuffer view : register(b0, space1) { View view; }
ByteAddressBuffer placements : register(t2, space1);
ByteAddressBuffer vertices_ : register(t1);
ByteAddressBuffer colors : register(t1, space1);
ByteAddressBuffer previous : register(t2);

struct VertexOutput_vertex {
    float3 normal_2 : LOC0;
    float3 color_1 : LOC1;
    float3 world_1 : LOC2;
    float4 clip_ : SV_Position;
};

struct FragmentInput_fragment {
    float3 normal_3 : LOC0;
    float3 color_2 : LOC1;
    float3 world_2 : LOC2;
    float4 clip_1 : SV_Position;
};

struct VertexOutput_vertex_motion {
    float3 normal_4 : LOC0;
    float3 color_3 : LOC1;
    float3 world_3 : LOC2;
    float3 now : LOC3;
    float3 before : LOC4;
    float4 clip_2 : SV_Position;
};

struct FragmentInput_fragment_motion {
    float3 normal_5 : LOC0;
    float3 color_4 : LOC1;
    float3 world_4 : LOC2;
    float3 now_1 : LOC3;
    float3 before_1 : LOC4;
    float4 clip_3 : SV_Position;
};

uint crowd_instance(uint instance_3)
{
    uint _e3 = chunk.first_instance;
    return (_e3 + instance_3);
}

uint skinned_place(uint vertex_1, uint instance_4)
{
    uint _e4 = chunk.first_vertex;
    uint _e7 = chunk.vertices_;
    return ((_e4 + (instance_4 * _e7)) + vertex_1);
}

float3 place(uint instance_5, float4 v)
{
    const uint _e2 = crowd_instance(instance_5);
    uint row = (_e2 * 3u);
    float4 _e7 = asfloat(placements.Load4(row*16));
    float4 _e13 = asfloat(placements.Load4((row + 1u)*16));
    float4 _e19 = asfloat(placements.Load4((row + 2u)*16));
    return float3(dot(_e7, v), dot(_e13, v), dot(_e19, v));
}

float4 lit_(float3 color, float3 interpolated, float3 world)
{
    float3 normal = (float3)0;

    normal = normalize(interpolated);
    if (false) {
        float3 _e9 = ddx(world);
        float3 _e10 = ddy(world);
        normal = normalize(cross(_e9, _e10));
        float3 _e13 = normal;
        float3 _e14 = normal;
        float3 _e17 = view.light;
        normal = (_e13 * ((dot(_e14, _e17) > 0.0) ? 1.0 : -1.0));
    }
    float3 _e25 = normal;
    float3 _e28 = view.light;
    float sun = max(dot(_e25, _e28), 0.0);
    float _e33 = normal.y;
    float sky = (0.5 + (0.5 * _e33));
    return float4((color * ((0.18 + (0.3 * sky)) + (0.75 * sun))), 1.0);
}

Skinned ConstructSkinned(float3 arg0, float3 arg1, float4 arg2) {
    Skinned ret = (Skinned)0;
    ret.position = arg0;
    ret.normal = arg1;
    ret.tangent = arg2;
    return ret;
}

Skinned skinned_vertex(uint vertex_2, uint instance_6)
{
    float3 normal_1 = (0.0).xxx;

    const uint _e2 = skinned_place(vertex_2, instance_6);
    uint at = (_e2 * FLOATS);
    if (true) {
        float _e16 = asfloat(vertices_.Load((at + 3u)*4));
        float _e21 = asfloat(vertices_.Load((at + 4u)*4));
        float _e26 = asfloat(vertices_.Load((at + 5u)*4));
        normal_1 = float3(_e16, _e21, _e26);
    }
    float _e30 = asfloat(vertices_.Load(at*4));
    float _e35 = asfloat(vertices_.Load((at + 1u)*4));
    float _e40 = asfloat(vertices_.Load((at + 2u)*4));
    float3 _e42 = normal_1;
    const Skinned skinned = ConstructSkinned(float3(_e30, _e35, _e40), _e42, (0.0).xxxx);
    return skinned;
}

Fragment ConstructFragment(float4 arg0, float3 arg1, float3 arg2, float3 arg3) {
    Fragment ret = (Fragment)0;
    ret.clip_ = arg0;
    ret.normal = arg1;
    ret.color = arg2;
    ret.world = arg3;
    return ret;
}

Fragment drawn(uint index_3, uint instance_7)
{
    const Skinned _e2 = skinned_vertex(index_3, instance_7);
    const float3 _e6 = place(instance_7, float4(_e2.position, 1.0));
    const float3 _e10 = place(instance_7, float4(_e2.normal, 0.0));
    float4x4 _e13 = view.view_projection;
    uint _e19 = asuint(colors.Load(index_3*4));
    const Fragment fragment_1 = ConstructFragment(mul(float4(_e6, 1.0), _e13), _e10, (float4(_e19 & 0xFF, _e19 >> 8 & 0xFF, _e19 >> 16 & 0xFF, _e19 >> 24) / 255.0).xyz, _e6);
    return fragment_1;
}

float4 shaded(Fragment in_2)
{
    const float4 _e4 = lit_(in_2.color, in_2.normal, in_2.world);
    return _e4;
}

float3 previous_position(uint vertex_3, uint instance_8)
{
    const uint _e2 = skinned_place(vertex_3, instance_8);
    uint at_1 = (_e2 * FLOATS);
    float _e7 = asfloat(previous.Load(at_1*4));
    float _e12 = asfloat(previous.Load((at_1 + 1u)*4));
    float _e17 = asfloat(previous.Load((at_1 + 2u)*4));
    return float3(_e7, _e12, _e17);
}

VertexOutput_vertex vertex(uint index : SV_VertexID, uint instance : SV_InstanceID)
{
    const Fragment _e2 = drawn((_NagaConstants.first_vertex + index), (_NagaConstants.first_instance + instance));
    const Fragment fragment_2 = _e2;
    const VertexOutput_vertex fragment_2_ = { fragment_2.normal, fragment_2.color, fragment_2.world, fragment_2.clip_ };
    return fragment_2_;
}

float4 vertex_depth(uint index_1 : SV_VertexID, uint instance_1 : SV_InstanceID) : SV_Position
{
    float4x4 _e4 = view.view_projection;
    const Skinned _e5 = skinned_vertex((_NagaConstants.first_vertex + index_1), (_NagaConstants.first_instance + instance_1));
    const float3 _e9 = place((_NagaConstants.first_instance + instance_1), float4(_e5.position, 1.0));
    return mul(float4(_e9, 1.0), _e4);
}

float4 fragment(FragmentInput_fragment fragmentinput_fragment) : SV_Target0
{
    Fragment in_ = { fragmentinput_fragment.clip_1, fragmentinput_fragment.normal_3, fragmentinput_fragment.color_2, fragmentinput_fragment.world_2 };
    const float4 _e1 = shaded(in_);
    return _e1;
}

MovingFragment ConstructMovingFragment(float4 arg0, float3 arg1, float3 arg2, float3 arg3, float3 arg4, float3 arg5) {
    MovingFragment ret = (MovingFragment)0;
    ret.clip_ = arg0;
    ret.normal = arg1;
    ret.color = arg2;
    ret.world = arg3;
    ret.now = arg4;
    ret.before = arg5;
    return ret;
}

VertexOutput_vertex_motion vertex_motion(uint index_2 : SV_VertexID, uint instance_2 : SV_InstanceID)
{
    const Fragment _e2 = drawn((_NagaConstants.first_vertex + index_2), (_NagaConstants.first_instance + instance_2));
    const float3 _e3 = previous_position((_NagaConstants.first_vertex + index_2), (_NagaConstants.first_instance + instance_2));
    const float3 _e6 = place((_NagaConstants.first_instance + instance_2), float4(_e3, 1.0));
    float4x4 _e9 = view.view_projection;
    float4 before_2 = mul(float4(_e6, 1.0), _e9);
    const MovingFragment movingfragment = ConstructMovingFragment(_e2.clip_, _e2.normal, _e2.color, _e2.world, _e2.clip_.xyw, before_2.xyw);
    const VertexOutput_vertex_motion movingfragment_1 = { movingfragment.normal, movingfragment.color, movingfragment.world, movingfragment.now, movingfragment.before, movingfragment.clip_ };
    return movingfragment_1;
}

ColorAndMotion ConstructColorAndMotion(float4 arg0, float2 arg1) {
    ColorAndMotion ret = (ColorAndMotion)0;
    ret.color = arg0;
    ret.motion = arg1;
    return ret;
}

ColorAndMotion fragment_motion(FragmentInput_fragment_motion fragmentinput_fragment_motion)
{
    MovingFragment in_1 = { fragmentinput_fragment_motion.clip_3, fragmentinput_fragment_motion.normal_5, fragmentinput_fragment_motion.color_4, fragmentinput_fragment_motion.world_4, fragmentinput_fragment_motion.now_1, fragmentinput_fragment_motion.before_1 };
    float2 motion = ((in_1.now.xy / (in_1.now.z).xx) - (in_1.before.xy / (in_1.before.z).xx));
    const float4 _e19 = shaded(ConstructFragment(in_1.clip_, in_1.normal, in_1.color, in_1.world));
    const ColorAndMotion colorandmotion = ConstructColorAndMotion(_e19, motion);
    return colorandmotion;
}
