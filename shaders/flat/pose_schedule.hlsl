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

struct Sought {
    uint key;
    float fraction;
    float interval;
    uint held;
};

struct Layer {
    uint clip_;
    uint phase;
    uint step_;
    float time_base;
    float time_scale;
    float frame_rate;
    uint modes;
    float weight;
    uint mask;
    uint period;
    uint offset;
    uint length_;
    uint fade_in;
    uint fade_out;
    uint pace;
    float frame_time;
};

struct Presence {
    uint state;
    uint ticks;
};

struct Now {
    uint tick;
    uint padding_a;
    uint padding_b;
    uint padding_c;
};

struct Clip {
    uint tracks;
    uint timeline;
    uint frames;
    uint row;
    uint numbers;
    float start;
    float interval;
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
static const uint PING_PONG = 1u;
static const uint ONCE = 2u;
static const uint INERTIAL = 1u;
static const uint LONGEST = 2147483648u;
static const uint ABSENT = 0u;
static const uint COMING = 1u;
static const uint FULL = 2u;
static const uint GOING = 3u;
static const uint INERTIA = 1u;
static const uint COMPACT = 1u;
static const uint RATES = 1u;

cbuffer posed : register(b0) { PosedChunk posed; }
ByteAddressBuffer words : register(t6);
cbuffer now : register(b1) { Now now; }
ByteAddressBuffer layers : register(t2);
ByteAddressBuffer players : register(t3);
ByteAddressBuffer clips : register(t4);
RWByteAddressBuffer cursors : register(u9);
RWByteAddressBuffer momenta : register(u10);
RWByteAddressBuffer pose_pairs : register(u19);

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

    uint count = asuint(words.Load(timeline*4));
    uint first = (timeline + 1u);
    high = count;
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
            const float _e19 = word((first + middle));
            if ((_e19 <= time)) {
                low = (middle + 1u);
            } else {
                high = middle;
            }
        }
    }
    uint _e23 = low;
    uint key = min((max(_e23, 1u) - 1u), (max(count, 2u) - 2u));
    if ((count < 2u)) {
        const Sought sought = ConstructSought(key, 0.0, 0.0, key);
        return sought;
    }
    const float _e41 = word(((first + key) + 1u));
    const float _e43 = word((first + key));
    float interval = (_e41 - _e43);
    const float _e46 = word((first + key));
    uint _e52 = low;
    const Sought sought_1 = ConstructSought(key, clamp(((time - _e46) / interval), 0.0, 1.0), interval, (max(_e52, 1u) - 1u));
    return sought_1;
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
uint mode(Layer layer, uint index_1)
{
    return naga_extractBits(layer.modes, (8u * index_1), 8u);
}

uint naga_mod(uint lhs, uint rhs) {
    return lhs % (rhs == 0u ? 1u : rhs);
}

uint clock_of(Layer layer_1, uint tick)
{
    uint clock_2 = (tick + layer_1.offset);
    if ((layer_1.period == 0u)) {
        return clock_2;
    }
    return naga_mod(clock_2, layer_1.period);
}

Presence ConstructPresence(uint arg0, uint arg1) {
    Presence ret = (Presence)0;
    ret.state = arg0;
    ret.ticks = arg1;
    return ret;
}

Presence presence(Layer layer_2, uint tick_1)
{
    if ((layer_2.length_ == 0u)) {
        const Presence presence_1 = ConstructPresence(2u, 0u);
        return presence_1;
    }
    const uint _e8 = clock_of(layer_2, tick_1);
    uint going = (layer_2.length_ - layer_2.fade_out);
    if ((_e8 >= layer_2.length_)) {
        const Presence presence_2 = ConstructPresence(0u, 0u);
        return presence_2;
    }
    if ((_e8 < layer_2.fade_in)) {
        const Presence presence_3 = ConstructPresence(COMING, _e8);
        return presence_3;
    }
    if ((_e8 >= going)) {
        const Presence presence_4 = ConstructPresence(GOING, (_e8 - going));
        return presence_4;
    }
    const Presence presence_5 = ConstructPresence(2u, 0u);
    return presence_5;
}

int naga_div(int lhs, int rhs) {
    return lhs / (((lhs == int(-2147483647 - 1) & rhs == -1) | (rhs == 0)) ? 1 : rhs);
}

uint rise(uint pace, uint ticks, uint fade)
{
    if ((fade == 0u)) {
        return 0u;
    }
    return ((asuint(naga_div(asint(pace), asint((2u * fade)))) * ticks) * ticks);
}

uint gained_since_start(Layer layer_3, uint since)
{
    uint gained = (uint)0;

    uint clock_3 = min(since, layer_3.length_);
    uint going_1 = (layer_3.length_ - layer_3.fade_out);
    if ((clock_3 < layer_3.fade_in)) {
        const uint _e11 = rise(layer_3.pace, clock_3, layer_3.fade_in);
        return _e11;
    }
    const uint _e15 = rise(layer_3.pace, layer_3.fade_in, layer_3.fade_in);
    gained = (_e15 + (layer_3.pace * (clock_3 - layer_3.fade_in)));
    if ((clock_3 > going_1)) {
        uint _e23 = gained;
        const uint _e27 = rise(layer_3.pace, (clock_3 - going_1), layer_3.fade_out);
        gained = (_e23 - _e27);
    }
    uint _e29 = gained;
    return _e29;
}

uint gained_1(Layer layer_4, uint tick_2)
{
    bool local = (bool)0;
    bool local_1 = (bool)0;

    uint clock_4 = (tick_2 + layer_4.offset);
    if (!((layer_4.length_ == 0u))) {
        if ((layer_4.period == 0u)) {
            local_1 = (clock_4 >= LONGEST);
        } else {
            local_1 = false;
        }
        bool _e18 = local_1;
        local = _e18;
    } else {
        local = true;
    }
    bool _e20 = local;
    if (_e20) {
        return 0u;
    }
    if ((layer_4.period == 0u)) {
        const uint _e25 = gained_since_start(layer_4, clock_4);
        return _e25;
    }
    const uint _e29 = gained_since_start(layer_4, layer_4.length_);
    const uint _e33 = gained_since_start(layer_4, naga_mod(clock_4, layer_4.period));
    return ((naga_div(clock_4, layer_4.period) * _e29) + _e33);
}

uint once(uint start, uint step_, uint since_1)
{
    bool local_2 = (bool)0;

    uint clock_5 = uint(max(asint(since_1), int(0)));
    bool back_1 = (asint(step_) < int(0));
    uint room = (back_1 ? start : (NONE - start));
    uint pace_1 = (back_1 ? (0u - step_) : step_);
    if ((pace_1 != 0u)) {
        local_2 = (clock_5 > naga_div(room, pace_1));
    } else {
        local_2 = false;
    }
    bool _e23 = local_2;
    if (_e23) {
        return (back_1 ? 0u : NONE);
    }
    return (start + (step_ * clock_5));
}

Layer ConstructLayer(uint arg0, uint arg1, uint arg2, float arg3, float arg4, float arg5, uint arg6, float arg7, uint arg8, uint arg9, uint arg10, uint arg11, uint arg12, uint arg13, uint arg14, float arg15) {
    Layer ret = (Layer)0;
    ret.clip_ = arg0;
    ret.phase = arg1;
    ret.step_ = arg2;
    ret.time_base = arg3;
    ret.time_scale = arg4;
    ret.frame_rate = arg5;
    ret.modes = arg6;
    ret.weight = arg7;
    ret.mask = arg8;
    ret.period = arg9;
    ret.offset = arg10;
    ret.length_ = arg11;
    ret.fade_in = arg12;
    ret.fade_out = arg13;
    ret.pace = arg14;
    ret.frame_time = arg15;
    return ret;
}

uint phase_of(Player player_1, Layer layer_5, uint tick_3, uint clock)
{
    uint phase = (uint)0;
    uint index_2 = 0u;
    bool local_3 = (bool)0;

    const uint _e5 = mode(layer_5, 1u);
    if ((_e5 == ONCE)) {
        const uint _e10 = once(layer_5.phase, layer_5.step_, clock);
        return _e10;
    }
    phase = (layer_5.phase + (layer_5.step_ * tick_3));
    const uint _e17 = mode(layer_5, 3u);
    if ((_e17 != 0u)) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e46 = index_2;
                index_2 = (_e46 + 1u);
            }
            loop_init = false;
            uint _e22 = index_2;
            if ((_e22 < player_1.layers)) {
            } else {
                break;
            }
            {
                uint _e27 = index_2;
                Layer other = ConstructLayer(asuint(layers.Load((player_1.first_layer + _e27)*64+0)), asuint(layers.Load((player_1.first_layer + _e27)*64+4)), asuint(layers.Load((player_1.first_layer + _e27)*64+8)), asfloat(layers.Load((player_1.first_layer + _e27)*64+12)), asfloat(layers.Load((player_1.first_layer + _e27)*64+16)), asfloat(layers.Load((player_1.first_layer + _e27)*64+20)), asuint(layers.Load((player_1.first_layer + _e27)*64+24)), asfloat(layers.Load((player_1.first_layer + _e27)*64+28)), asuint(layers.Load((player_1.first_layer + _e27)*64+32)), asuint(layers.Load((player_1.first_layer + _e27)*64+36)), asuint(layers.Load((player_1.first_layer + _e27)*64+40)), asuint(layers.Load((player_1.first_layer + _e27)*64+44)), asuint(layers.Load((player_1.first_layer + _e27)*64+48)), asuint(layers.Load((player_1.first_layer + _e27)*64+52)), asuint(layers.Load((player_1.first_layer + _e27)*64+56)), asfloat(layers.Load((player_1.first_layer + _e27)*64+60)));
                const uint _e32 = mode(other, 3u);
                if ((_e32 != 0u)) {
                    local_3 = (other.pace != 0u);
                } else {
                    local_3 = false;
                }
                bool _e41 = local_3;
                if (_e41) {
                    uint _e42 = phase;
                    const uint _e43 = gained_1(other, tick_3);
                    phase = (_e42 + _e43);
                }
            }
        }
    }
    const uint _e49 = mode(layer_5, 1u);
    if ((_e49 == PING_PONG)) {
        uint _e52 = phase;
        uint _e55 = phase;
        uint _e59 = phase;
        phase = ((_e59 >= LONGEST) ? (~(_e55) << 1u) : (_e52 << 1u));
    }
    uint _e63 = phase;
    return _e63;
}

float time_at(Player player_2, Layer layer_6, uint tick_4, uint clock_1)
{
    const uint _e4 = phase_of(player_2, layer_6, tick_4, clock_1);
    float time_4 = ((float((_e4 >> 8u)) * layer_6.time_scale) + layer_6.time_base);
    if ((layer_6.frame_rate == 0.0)) {
        return time_4;
    }
    return (floor((time_4 * layer_6.frame_rate)) * layer_6.frame_time);
}

float eased(uint ticks_1, uint fade_1)
{
    float s = (float(ticks_1) / float(fade_1));
    return ((s * s) * (3.0 - (2.0 * s)));
}

float weight_at(Layer layer_7, uint tick_5)
{
    bool local_4 = (bool)0;
    bool local_5 = (bool)0;
    bool local_6 = (bool)0;

    const Presence _e2 = presence(layer_7, tick_5);
    const uint _e4 = mode(layer_7, 2u);
    bool inertial = (_e4 == INERTIAL);
    if (!((_e2.state == ABSENT))) {
        if ((_e2.state == GOING)) {
            local_5 = inertial;
        } else {
            local_5 = false;
        }
        bool _e19 = local_5;
        local_4 = _e19;
    } else {
        local_4 = true;
    }
    bool _e21 = local_4;
    if (_e21) {
        return 0.0;
    }
    if (!((_e2.state == FULL))) {
        local_6 = inertial;
    } else {
        local_6 = true;
    }
    bool _e30 = local_6;
    if (_e30) {
        return layer_7.weight;
    }
    if ((_e2.state == COMING)) {
        const float _e38 = eased(_e2.ticks, layer_7.fade_in);
        return (layer_7.weight * _e38);
    }
    const float _e43 = eased(_e2.ticks, layer_7.fade_out);
    return (layer_7.weight * (1.0 - _e43));
}

float upper(float x)
{
    return asfloat((asuint(x) & 4294963200u));
}

float after(Clip clip_, float time_1, uint frame)
{
    float many = float((frame & 4294963200u));
    float few = float((frame & 4095u));
    const float _e10 = upper(clip_.interval);
    float low_1 = (clip_.interval - _e10);
    return (((((time_1 - (many * _e10)) - (few * _e10)) - clip_.start) - (many * low_1)) - (few * low_1));
}

uint naga_f2u32(float value) {
    return uint(clamp(value, 0.0, 4294967000.0));
}

Sought frame_of(Clip clip_1, float time_2)
{
    uint frame_1 = (uint)0;
    float rest = (float)0;
    bool local_7 = (bool)0;

    uint last = (clip_1.frames - 1u);
    if ((last == 0u)) {
        const Sought sought_2 = ConstructSought(0u, 0.0, 0.0, 0u);
        return sought_2;
    }
    float since_2 = max((time_2 - clip_1.start), 0.0);
    frame_1 = min(naga_f2u32(min((since_2 / clip_1.interval), float(last))), (last - 1u));
    uint _e25 = frame_1;
    const float _e26 = after(clip_1, time_2, _e25);
    rest = _e26;
    float _e28 = rest;
    if ((_e28 < 0.0)) {
        uint _e33 = frame_1;
        local_7 = (_e33 > 0u);
    } else {
        local_7 = false;
    }
    bool _e37 = local_7;
    if (_e37) {
        uint _e38 = frame_1;
        frame_1 = (_e38 - 1u);
        uint _e41 = frame_1;
        const float _e42 = after(clip_1, time_2, _e41);
        rest = _e42;
    }
    uint _e43 = frame_1;
    float _e44 = rest;
    uint _e51 = frame_1;
    const Sought sought_3 = ConstructSought(_e43, clamp((_e44 / clip_1.interval), 0.0, 1.0), clip_1.interval, _e51);
    return sought_3;
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

Clip ConstructClip(uint arg0, uint arg1, uint arg2, uint arg3, uint arg4, float arg5, float arg6) {
    Clip ret = (Clip)0;
    ret.tracks = arg0;
    ret.timeline = arg1;
    ret.frames = arg2;
    ret.row = arg3;
    ret.numbers = arg4;
    ret.start = arg5;
    ret.interval = arg6;
    return ret;
}

Cursor cursor_of(Layer layer_8, float time_3, float weight)
{
    Cursor cursor = (Cursor)0;

    const uint _e7 = mode(layer_8, 0u);
    cursor = ConstructCursor(NONE, 0u, 0u, 0.0, 0.0, time_3, weight, (_e7 | ((layer_8.mask + 1u) << 8u)));
    if ((weight == 0.0)) {
        Cursor _e20 = cursor;
        const Cursor cursor_1 = _e20;
        return cursor_1;
    }
    uint _e26 = posed.clips;
    Clip clip_2 = ConstructClip(asuint(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+0)), asuint(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+4)), asuint(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+8)), asuint(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+12)), asuint(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+16)), asfloat(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+20)), asfloat(clips.Load((0u + min(layer_8.clip_, (_e26 - 1u)))*28+24)));
    cursor.tracks = clip_2.tracks;
    if ((clip_2.frames == 0u)) {
        if ((clip_2.timeline != NONE)) {
            const Sought _e42 = seek(clip_2.timeline, time_3);
            cursor.key = _e42.key;
            cursor.fraction = _e42.fraction;
            cursor.interval = _e42.interval;
        }
        Cursor _e49 = cursor;
        const Cursor cursor_2 = _e49;
        return cursor_2;
    }
    if (true) {
        const Sought _e54 = frame_of(clip_2, time_3);
        cursor.key = (clip_2.numbers + (_e54.key * clip_2.row));
        uint _e63 = cursor.key;
        cursor.next = (_e63 + ((clip_2.frames > 1u) ? clip_2.row : 0u));
        cursor.fraction = _e54.fraction;
    }
    Cursor _e73 = cursor;
    const Cursor cursor_3 = _e73;
    return cursor_3;
}

Momentum ConstructMomentum(uint arg0, uint arg1, float arg2, float arg3) {
    Momentum ret = (Momentum)0;
    ret.layer = arg0;
    ret.coming = arg1;
    ret.offset = arg2;
    ret.speed = arg3;
    return ret;
}

Momentum inertia(Player player_3, uint first_slot, uint tick_6)
{
    bool local_8 = (bool)0;
    uint index_3 = 0u;
    uint back = (uint)0;

    if ((player_3.inertial == NONE)) {
        const Momentum momentum_1 = ConstructMomentum(4294967295u, 0u, 0.0, 0.0);
        return momentum_1;
    }
    Layer fading = ConstructLayer(asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+0)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+4)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+8)), asfloat(layers.Load((player_3.first_layer + player_3.inertial)*64+12)), asfloat(layers.Load((player_3.first_layer + player_3.inertial)*64+16)), asfloat(layers.Load((player_3.first_layer + player_3.inertial)*64+20)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+24)), asfloat(layers.Load((player_3.first_layer + player_3.inertial)*64+28)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+32)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+36)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+40)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+44)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+48)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+52)), asuint(layers.Load((player_3.first_layer + player_3.inertial)*64+56)), asfloat(layers.Load((player_3.first_layer + player_3.inertial)*64+60)));
    const Presence _e17 = presence(fading, tick_6);
    if (!((_e17.state == ABSENT))) {
        local_8 = (_e17.state == FULL);
    } else {
        local_8 = true;
    }
    bool _e28 = local_8;
    if (_e28) {
        const Momentum momentum_2 = ConstructMomentum(4294967295u, 0u, 0.0, 0.0);
        return momentum_2;
    }
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e80 = index_3;
            index_3 = (_e80 + 1u);
        }
        loop_init_1 = false;
        uint _e36 = index_3;
        if ((_e36 <= player_3.inertial)) {
        } else {
            break;
        }
        {
            uint _e41 = index_3;
            Layer layer_9 = ConstructLayer(asuint(layers.Load((player_3.first_layer + _e41)*64+0)), asuint(layers.Load((player_3.first_layer + _e41)*64+4)), asuint(layers.Load((player_3.first_layer + _e41)*64+8)), asfloat(layers.Load((player_3.first_layer + _e41)*64+12)), asfloat(layers.Load((player_3.first_layer + _e41)*64+16)), asfloat(layers.Load((player_3.first_layer + _e41)*64+20)), asuint(layers.Load((player_3.first_layer + _e41)*64+24)), asfloat(layers.Load((player_3.first_layer + _e41)*64+28)), asuint(layers.Load((player_3.first_layer + _e41)*64+32)), asuint(layers.Load((player_3.first_layer + _e41)*64+36)), asuint(layers.Load((player_3.first_layer + _e41)*64+40)), asuint(layers.Load((player_3.first_layer + _e41)*64+44)), asuint(layers.Load((player_3.first_layer + _e41)*64+48)), asuint(layers.Load((player_3.first_layer + _e41)*64+52)), asuint(layers.Load((player_3.first_layer + _e41)*64+56)), asfloat(layers.Load((player_3.first_layer + _e41)*64+60)));
            back = 0u;
            bool loop_init_2 = true;
            while(true) {
                if (!loop_init_2) {
                    uint _e77 = back;
                    back = (_e77 + 1u);
                }
                loop_init_2 = false;
                uint _e47 = back;
                if ((_e47 < 2u)) {
                } else {
                    break;
                }
                {
                    uint _e51 = back;
                    uint ago = (_e17.ticks + _e51);
                    uint then = (tick_6 - ago);
                    uint _e54 = index_3;
                    bool own = (_e54 == player_3.inertial);
                    const uint _e57 = clock_of(layer_9, then);
                    const uint _e58 = clock_of(layer_9, tick_6);
                    uint clock_6 = (own ? (_e58 - ago) : _e57);
                    const float _e61 = weight_at(layer_9, then);
                    float weight_1 = (own ? layer_9.weight : _e61);
                    uint _e67 = index_3;
                    uint _e70 = back;
                    uint slot_1 = (((first_slot + player_3.layers) + (2u * _e67)) + _e70);
                    const float _e74 = time_at(player_3, layer_9, then, clock_6);
                    const Cursor _e75 = cursor_of(layer_9, _e74, weight_1);
                    {
                        Cursor _value6 = _e75;
                        cursors.Store(slot_1*32+0, asuint(_value6.tracks));
                        cursors.Store(slot_1*32+4, asuint(_value6.key));
                        cursors.Store(slot_1*32+8, asuint(_value6.next));
                        cursors.Store(slot_1*32+12, asuint(_value6.fraction));
                        cursors.Store(slot_1*32+16, asuint(_value6.interval));
                        cursors.Store(slot_1*32+20, asuint(_value6.time));
                        cursors.Store(slot_1*32+24, asuint(_value6.weight));
                        cursors.Store(slot_1*32+28, asuint(_value6.modes));
                    }
                }
            }
        }
    }
    bool coming = (_e17.state == COMING);
    float length_ = float((coming ? fading.fade_in : fading.fade_out));
    float s_1 = (float(_e17.ticks) / length_);
    float s3_ = ((s_1 * s_1) * s_1);
    float offset = (1.0 - (s3_ * (10.0 - (s_1 * (15.0 - (6.0 * s_1))))));
    float speed = (length_ * (s_1 - (s3_ * (6.0 - (s_1 * (8.0 - (3.0 * s_1)))))));
    const Momentum momentum_3 = ConstructMomentum(player_3.inertial, uint(coming), offset, speed);
    return momentum_3;
}

void schedule(Player player_4, uint first_slot_1, uint momentum, uint tick_7)
{
    uint index_4 = 0u;

    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e24 = index_4;
            index_4 = (_e24 + 1u);
        }
        loop_init_3 = false;
        uint _e6 = index_4;
        if ((_e6 < player_4.layers)) {
        } else {
            break;
        }
        {
            uint _e11 = index_4;
            Layer layer_10 = ConstructLayer(asuint(layers.Load((player_4.first_layer + _e11)*64+0)), asuint(layers.Load((player_4.first_layer + _e11)*64+4)), asuint(layers.Load((player_4.first_layer + _e11)*64+8)), asfloat(layers.Load((player_4.first_layer + _e11)*64+12)), asfloat(layers.Load((player_4.first_layer + _e11)*64+16)), asfloat(layers.Load((player_4.first_layer + _e11)*64+20)), asuint(layers.Load((player_4.first_layer + _e11)*64+24)), asfloat(layers.Load((player_4.first_layer + _e11)*64+28)), asuint(layers.Load((player_4.first_layer + _e11)*64+32)), asuint(layers.Load((player_4.first_layer + _e11)*64+36)), asuint(layers.Load((player_4.first_layer + _e11)*64+40)), asuint(layers.Load((player_4.first_layer + _e11)*64+44)), asuint(layers.Load((player_4.first_layer + _e11)*64+48)), asuint(layers.Load((player_4.first_layer + _e11)*64+52)), asuint(layers.Load((player_4.first_layer + _e11)*64+56)), asfloat(layers.Load((player_4.first_layer + _e11)*64+60)));
            const uint _e15 = clock_of(layer_10, tick_7);
            const float _e16 = time_at(player_4, layer_10, tick_7, _e15);
            uint _e18 = index_4;
            const float _e21 = weight_at(layer_10, tick_7);
            const Cursor _e22 = cursor_of(layer_10, _e16, _e21);
            {
                Cursor _value4 = _e22;
                cursors.Store((first_slot_1 + _e18)*32+0, asuint(_value4.tracks));
                cursors.Store((first_slot_1 + _e18)*32+4, asuint(_value4.key));
                cursors.Store((first_slot_1 + _e18)*32+8, asuint(_value4.next));
                cursors.Store((first_slot_1 + _e18)*32+12, asuint(_value4.fraction));
                cursors.Store((first_slot_1 + _e18)*32+16, asuint(_value4.interval));
                cursors.Store((first_slot_1 + _e18)*32+20, asuint(_value4.time));
                cursors.Store((first_slot_1 + _e18)*32+24, asuint(_value4.weight));
                cursors.Store((first_slot_1 + _e18)*32+28, asuint(_value4.modes));
            }
        }
    }
    if (true) {
        const Momentum _e32 = inertia(player_4, first_slot_1, tick_7);
        {
            Momentum _value3 = _e32;
            momenta.Store(momentum*16+0, asuint(_value3.layer));
            momenta.Store(momentum*16+4, asuint(_value3.coming));
            momenta.Store(momentum*16+8, asuint(_value3.offset));
            momenta.Store(momentum*16+12, asuint(_value3.speed));
        }
        return;
    } else {
        return;
    }
}

PosePair ConstructPosePair(uint arg0, uint arg1, uint arg2, float arg3) {
    PosePair ret = (PosePair)0;
    ret.first_tick = arg0;
    ret.second_tick = arg1;
    ret.modes = arg2;
    ret.part = arg3;
    return ret;
}

PosePair between(Player player_5, uint instance, PosePair before)
{
    uint2 ticks_2 = (uint2)0;
    uint modes = (uint)0;
    uint which = 0u;
    bool local_9 = (bool)0;
    uint slot = (uint)0;

    uint tick_8 = now.tick;
    uint rest_1 = (naga_mod(tick_8, player_5.every) + player_5.offset);
    uint past = naga_mod(rest_1, player_5.every);
    uint place = naga_mod((naga_div(tick_8, player_5.every) + naga_div(rest_1, player_5.every)), 2u);
    uint elapsed = min(past, tick_8);
    uint start_1 = (tick_8 - elapsed);
    uint end = (((NONE - tick_8) < (player_5.every - past)) ? NONE : (tick_8 + (player_5.every - past)));
    ticks_2 = uint2(before.first_tick, before.second_tick);
    modes = ((before.modes & 3u) | (place << 4u));
    const uint _e42 = slots_of(player_5);
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e96 = which;
            which = (_e96 + 1u);
        }
        loop_init_4 = false;
        uint _e45 = which;
        if ((_e45 < 2u)) {
        } else {
            break;
        }
        {
            uint _e48 = which;
            uint needed = ((_e48 == place) ? start_1 : end);
            uint _e54 = which;
            uint first_slot_2 = ((player_5.first_slot + 1u) + (_e54 * _e42));
            uint _e57 = which;
            uint _e59 = ticks_2[_e57];
            if ((_e59 == needed)) {
                uint _e63 = modes;
                uint _e65 = which;
                local_9 = ((_e63 & (1u << _e65)) != 0u);
            } else {
                local_9 = false;
            }
            bool _e71 = local_9;
            if (_e71) {
                slot = first_slot_2;
                bool loop_init_5 = true;
                while(true) {
                    if (!loop_init_5) {
                        uint _e82 = slot;
                        slot = (_e82 + 1u);
                    }
                    loop_init_5 = false;
                    uint _e73 = slot;
                    if ((_e73 < (first_slot_2 + _e42))) {
                    } else {
                        break;
                    }
                    {
                        uint _e77 = slot;
                        cursors.Store(0+_e77*32, asuint(NONE));
                    }
                }
                continue;
            }
            uint _e84 = which;
            ticks_2[_e84] = needed;
            uint _e86 = modes;
            uint _e88 = which;
            modes = (_e86 | (5u << _e88));
            uint _e93 = which;
            schedule(player_5, first_slot_2, ((2u * instance) + _e93), needed);
        }
    }
    cursors.Store(0+player_5.first_slot*32, asuint(NONE));
    uint _e104 = ticks_2.x;
    uint _e106 = ticks_2.y;
    uint _e107 = modes;
    const PosePair posepair = ConstructPosePair(_e104, _e106, _e107, (float(elapsed) / float(max((end - start_1), 1u))));
    return posepair;
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

[numthreads(64, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 groups : SV_GroupID, uint thread : SV_GroupIndex)
{
    const uint _e3 = thread_of_chunk(group, uint3(_NagaConstants.first_vertex, _NagaConstants.first_instance, _NagaConstants.other), thread);
    uint _e6 = posed.instances;
    if ((_e3 >= _e6)) {
        return;
    }
    uint _e10 = posed.first_instance;
    uint instance_1 = (_e10 + _e3);
    Player player_6 = ConstructPlayer(asuint(players.Load(instance_1*24+0)), asuint(players.Load(instance_1*24+4)), asuint(players.Load(instance_1*24+8)), asuint(players.Load(instance_1*24+12)), asuint(players.Load(instance_1*24+16)), asuint(players.Load(instance_1*24+20)));
    if (false) {
        uint _e22 = now.tick;
        schedule(player_6, player_6.first_slot, instance_1, _e22);
        return;
    } else {
        if ((player_6.every == 1u)) {
            uint _e31 = now.tick;
            schedule(player_6, player_6.first_slot, (2u * instance_1), _e31);
            return;
        } else {
            PosePair _e36 = ConstructPosePair(asuint(pose_pairs.Load(instance_1*16+0)), asuint(pose_pairs.Load(instance_1*16+4)), asuint(pose_pairs.Load(instance_1*16+8)), asfloat(pose_pairs.Load(instance_1*16+12)));
            const PosePair _e37 = between(player_6, instance_1, _e36);
            {
                PosePair _value4 = _e37;
                pose_pairs.Store(instance_1*16+0, asuint(_value4.first_tick));
                pose_pairs.Store(instance_1*16+4, asuint(_value4.second_tick));
                pose_pairs.Store(instance_1*16+8, asuint(_value4.modes));
                pose_pairs.Store(instance_1*16+12, asuint(_value4.part));
            }
            return;
        }
    }
}
