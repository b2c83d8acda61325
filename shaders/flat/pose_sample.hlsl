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

struct Track {
    uint place;
    uint angle;
    uint timeline;
};

struct Sought {
    uint key;
    float fraction;
    float interval;
    uint held;
};

struct Coding {
    float3 low;
    int _pad1_0;
    float3 step_;
    uint dropped;
    uint3 bits;
    int _end_pad_0;
};

struct Key {
    uint3 numbers;
    uint choice;
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
static const uint ANY = 4u;
static const uint STILL = 0u;
static const uint CONSTANT = 1u;
static const uint STEP = 2u;
static const uint LINE = 3u;
static const uint SLERP = 4u;
static const uint NLERP = 5u;
static const uint AUTHORED = 6u;
static const uint CUBIC = 7u;
static const uint SQUAD = 8u;
static const uint PACKED = 9u;
static const uint ROTATIONS = 1023u;
static const uint TRANSLATIONS = 1023u;
static const uint SCALES = 1023u;
static const uint OWN_TIMES = 1u;
static const uint AT_ONCE = 1u;

cbuffer posed : register(b0) { PosedChunk posed; }
ByteAddressBuffer words : register(t6);
ByteAddressBuffer quads : register(t7);
ByteAddressBuffer tracks : register(t5);
ByteAddressBuffer cursors : register(t9);
RWByteAddressBuffer locals : register(u12);

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

uint value_of(Track track)
{
    return (track.place >> 4u);
}

float word(uint index)
{
    uint _e3 = asuint(words.Load(index*4));
    return asfloat(_e3);
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

Sought ConstructSought(uint arg0, float arg1, float arg2, uint arg3) {
    Sought ret = (Sought)0;
    ret.key = arg0;
    ret.fraction = arg1;
    ret.interval = arg2;
    ret.held = arg3;
    return ret;
}

Sought seek(uint timeline, float time)
{
    uint low = 0u;
    uint high = (uint)0;

    uint count_1 = asuint(words.Load(timeline*4));
    uint first_3 = (timeline + 1u);
    high = count_1;
    while(true) {
        uint _e10 = low;
        uint _e11 = high;
        if ((_e10 < _e11)) {
        } else {
            break;
        }
        {
            uint _e13 = low;
            uint _e14 = high;
            uint middle = naga_div((_e13 + _e14), 2u);
            const float _e19 = word((first_3 + middle));
            if ((_e19 <= time)) {
                low = (middle + 1u);
            } else {
                high = middle;
            }
        }
    }
    uint _e23 = low;
    uint key_2 = min((max(_e23, 1u) - 1u), (max(count_1, 2u) - 2u));
    if ((count_1 < 2u)) {
        const Sought sought_1 = ConstructSought(key_2, 0.0, 0.0, key_2);
        return sought_1;
    }
    const float _e41 = word(((first_3 + key_2) + 1u));
    const float _e43 = word((first_3 + key_2));
    float interval = (_e41 - _e43);
    const float _e46 = word((first_3 + key_2));
    uint _e52 = low;
    const Sought sought_2 = ConstructSought(key_2, clamp(((time - _e46) / interval), 0.0, 1.0), interval, (max(_e52, 1u) - 1u));
    return sought_2;
}

float sine_over_x(float x)
{
    float u = (x * x);
    float high_2 = (2.7211408e-6 - (2.1296863e-8 * u));
    return (1.0 + (u * (-0.16666646 + (u * (0.008333043 + (u * (-0.000198264 + (u * high_2))))))));
}

float4 slerp(float4 a, float4 b, float angle, float t)
{
    const float _e4 = sine_over_x(angle);
    const float _e10 = sine_over_x(((1.0 - t) * angle));
    float share_a = (((1.0 - t) * _e10) / _e4);
    const float _e14 = sine_over_x((t * angle));
    float share_b = ((t * _e14) / _e4);
    return ((share_a * a) + (share_b * b));
}

float arc_tangent(float x_1)
{
    float u_1 = (x_1 * x_1);
    float high_3 = (0.042909615 + (u_1 * (-0.016165737 + (u_1 * 0.0028662258))));
    return (x_1 * (1.0 + (u_1 * (-0.33333144 + (u_1 * (0.19993551 + (u_1 * (-0.142089 + (u_1 * (0.10656264 + (u_1 * (-0.07528964 + (u_1 * high_3)))))))))))));
}

float angle_between(float4 a_1, float4 b_1)
{
    float chord = length((a_1 - b_1));
    float other = length((a_1 + b_1));
    const float _e9 = arc_tangent((min(chord, other) / max(chord, other)));
    return ((chord <= other) ? (2.0 * _e9) : (3.1415927 - (2.0 * _e9)));
}

float4 cubic(uint first, Sought at)
{
    uint key_3 = (first + (3u * at.key));
    float t_1 = at.fraction;
    float t2_ = (t_1 * t_1);
    float t3_ = (t2_ * t_1);
    float4 _e20 = asfloat(quads.Load4((key_3 + 1u)*16));
    float4 _e31 = asfloat(quads.Load4((key_3 + 4u)*16));
    float4 keys = (((((2.0 * t3_) - (3.0 * t2_)) + 1.0) * _e20) + (((3.0 * t2_) - (2.0 * t3_)) * _e31));
    float4 _e43 = asfloat(quads.Load4((key_3 + 2u)*16));
    float4 _e50 = asfloat(quads.Load4((key_3 + 3u)*16));
    return (keys + (at.interval * ((((t3_ - (2.0 * t2_)) + t_1) * _e43) + ((t3_ - t2_) * _e50))));
}

float4 squad(Track track_1, Sought at_1)
{
    const uint _e2 = value_of(track_1);
    uint key_4 = (_e2 + (2u * at_1.key));
    uint angle_1 = (track_1.angle + (2u * at_1.key));
    float t_2 = at_1.fraction;
    float4 _e15 = asfloat(quads.Load4(key_4*16));
    float4 _e20 = asfloat(quads.Load4((key_4 + 2u)*16));
    const float _e21 = word(angle_1);
    const float4 _e22 = slerp(_e15, _e20, _e21, t_2);
    float4 _e27 = asfloat(quads.Load4((key_4 + 1u)*16));
    float4 _e32 = asfloat(quads.Load4((key_4 + 3u)*16));
    const float _e35 = word((angle_1 + 1u));
    const float4 _e36 = slerp(_e27, _e32, _e35, t_2);
    const float _e37 = angle_between(_e22, _e36);
    const float4 _e43 = slerp(_e22, _e36, _e37, ((2.0 * t_2) * (1.0 - t_2)));
    return normalize(_e43);
}

Coding ConstructCoding(float3 arg0, float3 arg1, uint arg2, uint3 arg3) {
    Coding ret = (Coding)0;
    ret.low = arg0;
    ret.step_ = arg1;
    ret.dropped = arg2;
    ret.bits = arg3;
    return ret;
}

Coding coding_of(Track track_2)
{
    uint at_4 = track_2.angle;
    uint bits = asuint(words.Load((at_4 + 6u)*4));
    const float _e7 = word(at_4);
    const float _e10 = word((at_4 + 1u));
    const float _e13 = word((at_4 + 2u));
    const float _e17 = word((at_4 + 3u));
    const float _e20 = word((at_4 + 4u));
    const float _e23 = word((at_4 + 5u));
    const Coding coding_3 = ConstructCoding(float3(_e7, _e10, _e13), float3(_e17, _e20, _e23), (bits & 15u), (uint3((bits >> 4u), (bits >> 9u), (bits >> 14u)) & (31u).xxx));
    return coding_3;
}

uint naga_extractBits(
    uint e,
    uint offset,
    uint count
) {
    uint w = 32;
    uint o = min(offset, w);
    uint c = min(count, w - o);
    return (c == 0 ? 0 : (e << (w - c - o)) >> (w - c));
}
uint bits_of(uint low_1, uint high_1, uint first_1, uint count)
{
    uint shift = (first_1 & 31u);
    uint across = ((high_1 << 1u) << (31u - shift));
    uint bits_1 = ((first_1 >= 32u) ? (high_1 >> shift) : ((low_1 >> shift) | across));
    return naga_extractBits(bits_1, 0u, count);
}

Key ConstructKey(uint3 arg0, uint arg1) {
    Key ret = (Key)0;
    ret.numbers = arg0;
    ret.choice = arg1;
    return ret;
}

Key key_of(Track track_3, Coding coding, uint frame)
{
    const uint _e3 = value_of(track_3);
    uint at_5 = (frame + (_e3 >> 5u));
    uint shift_1 = (_e3 & 31u);
    uint _e11 = asuint(words.Load(at_5*4));
    uint _e16 = asuint(words.Load((at_5 + 1u)*4));
    uint _e21 = asuint(words.Load((at_5 + 2u)*4));
    uint3 w = uint3(_e11, _e16, _e21);
    uint low_2 = ((w.x >> shift_1) | ((w.y << 1u) << (31u - shift_1)));
    uint high_4 = ((w.y >> shift_1) | ((w.z << 1u) << (31u - shift_1)));
    uint second = coding.bits.x;
    uint third = (second + coding.bits.y);
    const uint _e49 = bits_of(low_2, high_4, 0u, coding.bits.x);
    const uint _e52 = bits_of(low_2, high_4, second, coding.bits.y);
    const uint _e55 = bits_of(low_2, high_4, third, coding.bits.z);
    uint3 numbers = uint3(_e49, _e52, _e55);
    const uint _e61 = bits_of(low_2, high_4, (third + coding.bits.z), 2u);
    const Key key_5 = ConstructKey(numbers, _e61);
    return key_5;
}

float3 components(Coding coding_1, Key key)
{
    return (coding_1.low + (float3(key.numbers) * coding_1.step_));
}

float4 quaternion(Coding coding_2, Key key_1)
{
    uint dropped = ((coding_2.dropped == ANY) ? key_1.choice : coding_2.dropped);
    const float3 _e8 = components(coding_2, key_1);
    float largest = sqrt(max((1.0 - dot(_e8, _e8)), 0.0));
    float2 low_3 = ((dropped == 1u) ? float2(_e8.x, largest) : float2(_e8.x, _e8.y));
    float4 without_first = float4(low_3, ((dropped == 2u) ? largest : _e8.y), _e8.z);
    return ((dropped == 0u) ? float4(largest, _e8) : ((dropped == 3u) ? float4(_e8, largest) : without_first));
}

float4 turned_packed(Track track_4, Cursor cursor)
{
    float4 b_2 = (float4)0;

    const Coding _e2 = coding_of(track_4);
    const Key _e4 = key_of(track_4, _e2, cursor.key);
    const float4 _e5 = quaternion(_e2, _e4);
    const Key _e7 = key_of(track_4, _e2, cursor.next);
    const float4 _e8 = quaternion(_e2, _e7);
    b_2 = _e8;
    float4 _e10 = b_2;
    float4 _e11 = b_2;
    float4 _e13 = b_2;
    b_2 = ((dot(_e5, _e13) < 0.0) ? -(_e11) : _e10);
    float4 _e18 = b_2;
    float4 _e19 = b_2;
    const float _e20 = angle_between(_e5, _e19);
    const float4 _e22 = slerp(_e5, _e18, _e20, cursor.fraction);
    return _e22;
}

float4 moved_packed(Track track_5, Cursor cursor_1)
{
    const Coding _e2 = coding_of(track_5);
    const Key _e4 = key_of(track_5, _e2, cursor_1.key);
    const float3 _e5 = components(_e2, _e4);
    const Key _e7 = key_of(track_5, _e2, cursor_1.next);
    const float3 _e8 = components(_e2, _e7);
    return float4(lerp(_e5, _e8, cursor_1.fraction), 0.0);
}

bool is(Track track_6, uint form, uint forms)
{
    bool local = (bool)0;

    if (((forms & (1u << form)) != 0u)) {
        local = ((track_6.place & 15u) == form);
    } else {
        local = false;
    }
    bool _e15 = local;
    return _e15;
}

Sought sought(Track track_7, Cursor cursor_2)
{
    bool local_1 = (bool)0;

    if (true) {
        local_1 = (track_7.timeline != NONE);
    } else {
        local_1 = false;
    }
    bool _e12 = local_1;
    if (_e12) {
        const Sought _e15 = seek(track_7.timeline, cursor_2.time);
        const Sought sought_3 = _e15;
        return sought_3;
    }
    const Sought sought_4 = ConstructSought(cursor_2.key, cursor_2.fraction, cursor_2.interval, cursor_2.key);
    return sought_4;
}

uint first_key(Track track_8, Sought at_2, uint forms_1)
{
    const bool _e6 = is(track_8, STEP, forms_1);
    uint key_6 = (_e6 ? at_2.held : at_2.key);
    const uint _e8 = value_of(track_8);
    const bool _e11 = is(track_8, CONSTANT, forms_1);
    return (_e8 + (_e11 ? 0u : key_6));
}

float4 turned(Track track_9, Cursor cursor_3)
{
    bool local_2 = (bool)0;
    bool local_3 = (bool)0;
    bool local_4 = (bool)0;

    const Sought _e2 = sought(track_9, cursor_3);
    const bool _e5 = is(track_9, CUBIC, ROTATIONS);
    if (_e5) {
        const uint _e6 = value_of(track_9);
        const float4 _e7 = cubic(_e6, _e2);
        return normalize(_e7);
    }
    const bool _e11 = is(track_9, SQUAD, ROTATIONS);
    if (_e11) {
        const float4 _e12 = squad(track_9, _e2);
        return _e12;
    }
    const bool _e15 = is(track_9, PACKED, ROTATIONS);
    if (_e15) {
        const float4 _e16 = turned_packed(track_9, cursor_3);
        return _e16;
    }
    const uint _e18 = first_key(track_9, _e2, ROTATIONS);
    float4 a_2 = asfloat(quads.Load4(_e18*16));
    const bool _e24 = is(track_9, CONSTANT, ROTATIONS);
    if (!(_e24)) {
        const bool _e30 = is(track_9, STEP, ROTATIONS);
        local_2 = _e30;
    } else {
        local_2 = true;
    }
    bool _e32 = local_2;
    if (_e32) {
        return a_2;
    }
    float4 b_3 = asfloat(quads.Load4((_e18 + 1u)*16));
    const bool _e40 = is(track_9, NLERP, ROTATIONS);
    if (!(_e40)) {
        const bool _e46 = is(track_9, AUTHORED, ROTATIONS);
        if (_e46) {
            local_4 = (abs(dot(a_2, b_3)) >= 0.95);
        } else {
            local_4 = false;
        }
        bool _e54 = local_4;
        local_3 = _e54;
    } else {
        local_3 = true;
    }
    bool _e56 = local_3;
    if (_e56) {
        return normalize(lerp(a_2, b_3, _e2.fraction));
    }
    const float _e63 = word((track_9.angle + _e2.key));
    const float4 _e65 = slerp(a_2, b_3, _e63, _e2.fraction);
    return _e65;
}

float4 moved(Track track_10, Cursor cursor_4, uint forms_2)
{
    bool local_5 = (bool)0;

    const Sought _e3 = sought(track_10, cursor_4);
    const bool _e5 = is(track_10, CUBIC, forms_2);
    if (_e5) {
        const uint _e6 = value_of(track_10);
        const float4 _e7 = cubic(_e6, _e3);
        return _e7;
    }
    const bool _e9 = is(track_10, PACKED, forms_2);
    if (_e9) {
        const float4 _e10 = moved_packed(track_10, cursor_4);
        return _e10;
    }
    const uint _e11 = first_key(track_10, _e3, forms_2);
    float4 a_3 = asfloat(quads.Load4(_e11*16));
    const bool _e16 = is(track_10, CONSTANT, forms_2);
    if (!(_e16)) {
        const bool _e21 = is(track_10, STEP, forms_2);
        local_5 = _e21;
    } else {
        local_5 = true;
    }
    bool _e23 = local_5;
    if (_e23) {
        return a_3;
    }
    float4 _e28 = asfloat(quads.Load4((_e11 + 1u)*16));
    return lerp(a_3, _e28, _e3.fraction);
}

Track ConstructTrack(uint arg0, uint arg1, uint arg2) {
    Track ret = (Track)0;
    ret.place = arg0;
    ret.angle = arg1;
    ret.timeline = arg2;
    return ret;
}

void sample_(Cursor cursor_5, uint first_2, uint at_3)
{
    if (true) {
        Track track_11 = ConstructTrack(asuint(tracks.Load(first_2*12+0)), asuint(tracks.Load(first_2*12+4)), asuint(tracks.Load(first_2*12+8)));
        const bool _e12 = is(track_11, STILL, ROTATIONS);
        if (!(_e12)) {
            const float4 _e16 = turned(track_11, cursor_5);
            locals.Store4(at_3*16, asuint(_e16));
        }
    }
    if (true) {
        Track track_12 = ConstructTrack(asuint(tracks.Load((first_2 + 1u)*12+0)), asuint(tracks.Load((first_2 + 1u)*12+4)), asuint(tracks.Load((first_2 + 1u)*12+8)));
        const bool _e28 = is(track_12, STILL, TRANSLATIONS);
        if (!(_e28)) {
            uint _e33 = posed.joints;
            const float4 _e37 = moved(track_12, cursor_5, TRANSLATIONS);
            locals.Store4((at_3 + _e33)*16, asuint(_e37));
        }
    }
    if (true) {
        Track track_13 = ConstructTrack(asuint(tracks.Load((first_2 + 2u)*12+0)), asuint(tracks.Load((first_2 + 2u)*12+4)), asuint(tracks.Load((first_2 + 2u)*12+8)));
        const bool _e49 = is(track_13, STILL, SCALES);
        if (!(_e49)) {
            uint _e55 = posed.joints;
            const float4 _e60 = moved(track_13, cursor_5, SCALES);
            locals.Store4((at_3 + (2u * _e55))*16, asuint(_e60));
            return;
        } else {
            return;
        }
    } else {
        return;
    }
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

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    uint own = (uint)0;

    const uint _e3 = thread_of_chunk(group, uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other), thread);
    uint _e6 = posed.joints;
    uint part = naga_div(_e3, _e6);
    uint _e10 = posed.joints;
    uint joint_1 = (_e3 - (part * _e10));
    uint first_4 = (part * AT_ONCE);
    uint _e19 = posed.slots;
    uint end = min((first_4 + AT_ONCE), _e19);
    own = first_4;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e41 = own;
            own = (_e41 + 1u);
        }
        loop_init = false;
        uint _e22 = own;
        if ((_e22 < end)) {
        } else {
            break;
        }
        {
            uint _e25 = own;
            uint slot_1 = (0u + _e25);
            uint tracks_1 = asuint(cursors.Load(0+slot_1*32));
            if ((tracks_1 != NONE)) {
                Cursor _e35 = ConstructCursor(asuint(cursors.Load(slot_1*32+0)), asuint(cursors.Load(slot_1*32+4)), asuint(cursors.Load(slot_1*32+8)), asfloat(cursors.Load(slot_1*32+12)), asfloat(cursors.Load(slot_1*32+16)), asfloat(cursors.Load(slot_1*32+20)), asfloat(cursors.Load(slot_1*32+24)), asuint(cursors.Load(slot_1*32+28)));
                const uint _e39 = local_at(slot_1, joint_1);
                sample_(_e35, (tracks_1 + (3u * joint_1)), _e39);
            }
        }
    }
    return;
}
