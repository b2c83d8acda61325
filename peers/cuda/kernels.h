// CUDA kernels of this peer: clips to local poses, local poses to palettes, palettes to vertices. They are the equals by hand
// of what skinbench does in WGSL, and answer what a portable graphics API costs.
//
// A matrix is three rows of four (`float4`), applied to column vectors.
#pragma once
#include <cmath>
#include <cstdint>

// One channel of one joint in a clip: `count` keys from number `first` on, whose values begin at `values`. Without keys, `values`
// is that of the rest pose.
struct Channel {
    uint32_t first, count, values, step;
};

// What one instance plays; seconds as in docs/peers.md.
struct Player {
    uint32_t clip, phase, step;
    float base, scale;
};

// Clips and skeleton on the device. `channels` is [clip][joint][rotation, translation, scale].
struct Clips {
    const Channel* channels;
    const float* times;
    const float* values;
    const int* parents;
    int joints;
};

// The two keys around a time, as places in `values`, and the way from one to the other, 0 to 1.
struct Keys {
    uint32_t before, after;
    float way;
};

__device__ inline Keys keys_at(const Clips& clips, const Channel& channel, float seconds, uint32_t width) {
    uint32_t low = 0, high = channel.count;
    const float* times = clips.times + channel.first;
    while (high > low + 1) {
        uint32_t middle = (low + high) / 2;
        if (times[middle] <= seconds) low = middle;
        else high = middle;
    }
    Keys keys{channel.values + low * width, channel.values + low * width, 0};
    if (low + 1 < channel.count && !channel.step) {
        keys.after += width;
        float way = (seconds - times[low]) / (times[low + 1] - times[low]);
        keys.way = fminf(fmaxf(way, 0.0f), 1.0f);
    }
    return keys;
}

__device__ inline float between(const float* values, const Keys& keys, int component) {
    float before = values[keys.before + component];
    return before + keys.way * (values[keys.after + component] - before);
}

// One thread per joint (x) and instance (y): samples a clip, normalises the rotation, and writes the local matrix to
// [instance][joint]. Along the shorter arc, component by component.
__global__ void sample(Clips clips, const Player* __restrict__ players, uint32_t tick, float4* __restrict__ locals) {
    int joint = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (joint >= clips.joints) return;
    Player player = players[blockIdx.y];
    float seconds = float((player.phase + player.step * tick) >> 8) * player.scale + player.base;
    const Channel* channels = clips.channels + (size_t(player.clip) * clips.joints + joint) * 3;
    const float* values = clips.values;

    Keys turn = keys_at(clips, channels[0], seconds, 4);
    float dot = 0;
    for (int i = 0; i < 4; i++) dot += values[turn.before + i] * values[turn.after + i];
    float sign = dot < 0 ? -1.0f : 1.0f;
    float q[4], square = 0;
    for (int i = 0; i < 4; i++) {
        float before = values[turn.before + i];
        q[i] = before + turn.way * (sign * values[turn.after + i] - before);
        square += q[i] * q[i];
    }
    float length = 1 / sqrtf(square);
    float x = q[0] * length, y = q[1] * length, z = q[2] * length, w = q[3] * length;

    Keys move = keys_at(clips, channels[1], seconds, 3);
    Keys size = keys_at(clips, channels[2], seconds, 3);
    float sx = between(values, size, 0), sy = between(values, size, 1), sz = between(values, size, 2);
    float4* out = locals + (size_t(blockIdx.y) * clips.joints + joint) * 3;
    out[0] = make_float4((1 - 2 * (y * y + z * z)) * sx, 2 * (x * y - w * z) * sy, 2 * (x * z + w * y) * sz, between(values, move, 0));
    out[1] = make_float4(2 * (x * y + w * z) * sx, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z - w * x) * sz, between(values, move, 1));
    out[2] = make_float4(2 * (x * z - w * y) * sx, 2 * (y * z + w * x) * sy, (1 - 2 * (x * x + y * y)) * sz, between(values, move, 2));
}

// A row times a matrix; the matrix' fourth row is 0 0 0 1.
__device__ inline float4 row_times(float4 row, const float4* matrix) {
    float4 a = matrix[0], b = matrix[1], c = matrix[2];
    return make_float4(row.x * a.x + row.y * b.x + row.z * c.x, row.x * a.y + row.y * b.y + row.z * c.y,
                       row.x * a.z + row.y * b.z + row.z * c.z, row.x * a.w + row.y * b.w + row.z * c.w + row.w);
}

// One thread per row of an instance's matrices: a row of a product needs only the same row of its left factor, so no thread waits
// for another. Writes model matrices [instance][joint] and palettes [instance][entry].
__global__ void palette(const int* __restrict__ parents, int joints, const uint32_t* __restrict__ entry_joints,
                        const float4* __restrict__ inverse_binds, int entries, int instances, const float4* __restrict__ locals,
                        float4* models, float4* __restrict__ palettes) {
    int thread = int(blockIdx.x * blockDim.x + threadIdx.x);
    int instance = thread / 3, row = thread % 3;
    if (instance >= instances) return;
    const float4* local = locals + size_t(instance) * joints * 3;
    float4* model = models + size_t(instance) * joints * 3;
    for (int joint = 0; joint < joints; joint++) {
        int parent = parents[joint];
        model[joint * 3 + row] = parent < 0 ? local[joint * 3 + row] : row_times(model[parent * 3 + row], local + joint * 3);
    }
    float4* out = palettes + size_t(instance) * entries * 3;
    for (int entry = 0; entry < entries; entry++)
        out[entry * 3 + row] = row_times(model[entry_joints[entry] * 3 + row], inverse_binds + entry * 3);
}

// The mesh on the device, sorted by the number of influences and the set of joints: neighbouring threads loop equally often and
// read the same matrices. Influences are [slot][vertex], largest weight first.
struct Mesh {
    const float* positions;
    const float* normals;
    const float4* tangents;
    const uint32_t* counts;
    const uint32_t* entries;
    const float* weights;
    int vertices;
};

// The cube that packed positions relate to.
struct Cube {
    float x, y, z, half;
};

struct Direction {
    float x, y, z;
};

__device__ inline Direction turned(const float4* rows, float x, float y, float z, bool unit) {
    Direction out{rows[0].x * x + rows[0].y * y + rows[0].z * z, rows[1].x * x + rows[1].y * y + rows[1].z * z,
                  rows[2].x * x + rows[2].y * y + rows[2].z * z};
    float square = out.x * out.x + out.y * out.y + out.z * out.z;
    float scale = unit && square > 0 ? 1 / sqrtf(square) : 1.0f;
    return {out.x * scale, out.y * scale, out.z * scale};
}

// Adds a matrix times a weight.
__device__ inline void add(float4* rows, float weight, const float4* matrix) {
    for (int i = 0; i < 3; i++) {
        float4 row = matrix[i];
        rows[i].x += weight * row.x;
        rows[i].y += weight * row.y;
        rows[i].z += weight * row.z;
        rows[i].w += weight * row.w;
    }
}

// Two numbers from -1 to 1 in 16 bits each. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits of the mantissa.
__device__ inline uint32_t bits_of_rounded(float number) {
    float shifted = fmaf(number, 32767.0f, 12582912.0f);
    uint32_t bits;
    memcpy(&bits, &shifted, 4);
    return bits;
}
__device__ inline uint32_t pair(float low, float high) { return (bits_of_rounded(low) & 0xffff) | (bits_of_rounded(high) << 16); }

// A direction on the octahedron |x| + |y| + |z| = 1, whose lower half is folded outwards.
__device__ inline uint32_t octahedral(const Direction& v) {
    float sum = fabsf(v.x) + fabsf(v.y) + fabsf(v.z);
    float scale = sum > 0 ? 1 / sum : 0.0f;
    float x = v.x * scale, y = v.y * scale;
    if (v.z < 0) {
        float folded = (1 - fabsf(y)) * (x >= 0 ? 1.0f : -1.0f);
        y = (1 - fabsf(x)) * (y >= 0 ? 1.0f : -1.0f);
        x = folded;
    }
    return pair(x, y);
}

__device__ inline float clamped(float number) { return fminf(fmaxf(number, -1.0f), 1.0f); }

// One thread per vertex (x) and AT neighbouring instances (y): the vertex is loaded once. Vertices have FLOATS numbers: 3, with a
// normal 6, with a tangent 10; written as pairs of floats where that is possible. Packed ones have a word for two numbers, and
// directions on an octahedron.
template <int FLOATS, bool PACKED, int AT>
__global__ void __launch_bounds__(128) skin(Mesh mesh, const float4* __restrict__ palettes, int entries, int instances, bool unit,
                                            Cube cube, float* __restrict__ output) {
    int vertex = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (vertex >= mesh.vertices) return;
    float px = mesh.positions[3 * vertex], py = mesh.positions[3 * vertex + 1], pz = mesh.positions[3 * vertex + 2];
    float nx = 0, ny = 0, nz = 0;
    if (FLOATS >= 6) nx = mesh.normals[3 * vertex], ny = mesh.normals[3 * vertex + 1], nz = mesh.normals[3 * vertex + 2];
    float4 tangent = FLOATS >= 10 ? mesh.tangents[vertex] : make_float4(0, 0, 0, 0);
    uint32_t count = mesh.counts[vertex];
    uint32_t entry[4];
    float weight[4];
    for (uint32_t slot = 0; slot < 4; slot++) {
        bool weighs = slot < count;
        entry[slot] = weighs ? mesh.entries[size_t(slot) * mesh.vertices + vertex] * 3 : 0;
        weight[slot] = weighs ? mesh.weights[size_t(slot) * mesh.vertices + vertex] : 0;
    }

    int first = int(blockIdx.y) * AT;
    int end = first + AT < instances ? first + AT : instances;
    for (int instance = first; instance < end; instance++) {
        const float4* matrices = palettes + size_t(instance) * entries * 3;
        float4 rows[3] = {};
        // Branches instead of a loop: influences stay in registers.
        add(rows, weight[0], matrices + entry[0]);
        if (count > 1) {
            add(rows, weight[1], matrices + entry[1]);
            if (count > 2) {
                add(rows, weight[2], matrices + entry[2]);
                if (count > 3) add(rows, weight[3], matrices + entry[3]);
            }
        }
        for (uint32_t slot = 4; slot < count; slot++) {
            size_t at = size_t(slot) * mesh.vertices + vertex;
            add(rows, mesh.weights[at], matrices + mesh.entries[at] * 3);
        }
        float x = rows[0].x * px + rows[0].y * py + rows[0].z * pz + rows[0].w;
        float y = rows[1].x * px + rows[1].y * py + rows[1].z * pz + rows[1].w;
        float z = rows[2].x * px + rows[2].y * py + rows[2].z * pz + rows[2].w;
        // Packing a direction takes no notice of its length.
        bool to_unit = unit && !PACKED;
        Direction normal = FLOATS >= 6 ? turned(rows, nx, ny, nz, to_unit) : Direction{0, 0, 0};
        Direction side = FLOATS >= 10 ? turned(rows, tangent.x, tangent.y, tangent.z, to_unit) : Direction{0, 0, 0};

        size_t place = size_t(instance) * mesh.vertices + vertex;
        if (PACKED) {
            float scale = 1 / cube.half;
            uint32_t* out = reinterpret_cast<uint32_t*>(output) + place * (FLOATS == 3 ? 2 : FLOATS == 6 ? 3 : 4);
            out[0] = pair(clamped((x - cube.x) * scale), clamped((y - cube.y) * scale));
            out[1] = pair(clamped((z - cube.z) * scale), tangent.w);
            if (FLOATS >= 6) out[2] = octahedral(normal);
            if (FLOATS >= 10) out[3] = octahedral(side);
        } else if (FLOATS == 3) {
            float* out = output + place * 3;
            out[0] = x, out[1] = y, out[2] = z;
        } else {
            float2* out = reinterpret_cast<float2*>(output + place * FLOATS);
            out[0] = make_float2(x, y);
            out[1] = make_float2(z, normal.x);
            out[2] = make_float2(normal.y, normal.z);
            if (FLOATS >= 10) {
                out[3] = make_float2(side.x, side.y);
                out[4] = make_float2(side.z, tangent.w);
            }
        }
    }
}
