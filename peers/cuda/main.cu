// Poses and skins on a CUDA device: one launch for all samples, one for all palettes, one for all vertices. With --packed, vertices
// are 16-bit words. Stages are timed by CUDA events. With SKINBENCH_ON_CPU the same kernels run as loops (on_cpu.h).
#ifdef SKINBENCH_ON_CPU
#include "on_cpu.h"
#endif
#include "../cpp/peer.h"
#include "kernels.h"

#include <algorithm>
#include <numeric>

namespace {

#ifndef SKINBENCH_ON_CPU
template <class... Parameters, class... Arguments>
void launch(dim3 blocks, unsigned threads, void (*kernel)(Parameters...), Arguments... arguments) {
    kernel<<<blocks, threads>>>(arguments...);
}
#endif

constexpr unsigned THREADS = 128;
// The y dimension of a grid.
constexpr size_t MOST_INSTANCES = 65535;

unsigned blocks(size_t threads) { return unsigned((threads + THREADS - 1) / THREADS); }

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

// An array in device memory.
template <class T>
class Device {
  public:
    explicit Device(size_t count) : count_(count) { check(cudaMalloc(&data_, bytes())); }
    explicit Device(const std::vector<T>& values) : Device(values.size()) {
        check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { cudaFree(data_); }
    T* data() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }
    std::vector<T> read() const {
        std::vector<T> out(count_);
        check(cudaMemcpy(out.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return out;
    }

  private:
    T* data_ = nullptr;
    size_t count_;
};

struct Event {
    cudaEvent_t event;
    Event() { check(cudaEventCreate(&event)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event); }
    void record() { check(cudaEventRecord(event)); }
    int64_t nanoseconds_since(const Event& start) const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start.event, event));
        return std::max<int64_t>(1, std::llround(double(milliseconds) * 1e6));
    }
};

// Clips as the kernel reads them.
struct ClipArrays {
    std::vector<Channel> channels;
    std::vector<float> times, values;

    explicit ClipArrays(const peer::Model& model) {
        size_t joints = model.parents.size();
        values = model.rest;
        for (size_t clip = 0; clip < std::max<size_t>(model.clips.size(), 1); clip++)
            for (size_t joint = 0; joint < joints; joint++)
                for (uint32_t first : {0u, 4u, 7u}) channels.push_back({0, 0, uint32_t(10 * joint) + first, 0});
        for (size_t clip = 0; clip < model.clips.size(); clip++) {
            for (auto& track : model.clips[clip].tracks) {
                size_t channel = track.channel == "rotation" ? 0 : track.channel == "translation" ? 1 : 2;
                channels[(clip * joints + size_t(track.joint)) * 3 + channel] = {
                    uint32_t(times.size()), uint32_t(track.times.size()), uint32_t(values.size()), track.step};
                times.insert(times.end(), track.times.begin(), track.times.end());
                values.insert(values.end(), track.values.begin(), track.values.end());
            }
        }
    }
};

// Vertices sorted by their number of influences, then by the set of joints. `order` has the vertex of each place.
struct SortedMesh {
    std::vector<uint32_t> order, counts, entries;
    std::vector<float> positions, normals, weights;
    std::vector<float4> tangents;

    explicit SortedMesh(const peer::Model& model) {
        size_t vertices = model.vertices(), slots = size_t(model.influences);
        std::vector<std::vector<std::pair<uint32_t, float>>> influences(vertices);
        std::vector<std::vector<uint32_t>> joints(vertices);
        for (size_t v = 0; v < vertices; v++) {
            for (size_t slot = 0; slot < slots; slot++) {
                size_t at = v * slots + slot;
                if (model.weights[at] != 0) influences[v].emplace_back(model.joints[at], model.weights[at]);
            }
            for (auto& influence : influences[v]) joints[v].push_back(influence.first);
            std::sort(joints[v].begin(), joints[v].end());
        }
        order.resize(vertices);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            if (joints[a].size() != joints[b].size()) return joints[a].size() < joints[b].size();
            return joints[a] < joints[b];
        });
        entries.resize(slots * vertices);
        weights.resize(slots * vertices);
        bool with_tangents = !model.tangents.empty();
        for (size_t place = 0; place < vertices; place++) {
            size_t v = order[place];
            counts.push_back(uint32_t(influences[v].size()));
            for (size_t slot = 0; slot < influences[v].size(); slot++) {
                entries[slot * vertices + place] = influences[v][slot].first;
                weights[slot * vertices + place] = influences[v][slot].second;
            }
            positions.insert(positions.end(), &model.positions[3 * v], &model.positions[3 * v] + 3);
            normals.insert(normals.end(), &model.normals[3 * v], &model.normals[3 * v] + 3);
            const float* t = with_tangents ? &model.tangents[4 * v] : nullptr;
            tangents.push_back(t ? make_float4(t[0], t[1], t[2], t[3]) : make_float4(0, 0, 0, 0));
        }
    }
};

std::vector<Player> players(const std::vector<peer::Instance>& instances) {
    std::vector<Player> out;
    for (auto& instance : instances) out.push_back({instance.clip, instance.phase, instance.step, instance.base, instance.scale});
    return out;
}

std::vector<float4> rows(const std::vector<float>& numbers) {
    std::vector<float4> out;
    for (size_t i = 0; i < numbers.size(); i += 4) out.push_back(make_float4(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]));
    return out;
}

size_t words_per_vertex(int floats, bool packed) {
    if (!packed) return size_t(floats);
    return floats == 3 ? 2 : floats == 6 ? 3 : 4;
}

std::vector<float> floats_of(const std::vector<float4>& matrices) {
    std::vector<float> out;
    for (auto& row : matrices) out.insert(out.end(), {row.x, row.y, row.z, row.w});
    return out;
}

float unpacked(uint32_t word, int half) { return std::max(float(int16_t(word >> (16 * half))) / 32767.0f, -1.0f); }

void push_direction(std::vector<float>& out, uint32_t word) {
    float x = unpacked(word, 0), y = unpacked(word, 1), z = 1 - std::abs(x) - std::abs(y);
    float fold = std::max(-z, 0.0f);
    x -= x >= 0 ? fold : -fold;
    y -= y >= 0 ? fold : -fold;
    float length = std::sqrt(x * x + y * y + z * z);
    out.insert(out.end(), {x / length, y / length, z / length});
}

struct CudaCrowd : peer::Crowd {
    peer::Load load;
    bool packed, unit;
    int floats, entries, count, instances_per_thread = 4;
    ClipArrays clip_arrays;
    SortedMesh mesh_arrays;
    Device<Channel> channels;
    Device<float> times, values, positions, normals, weights;
    Device<int> parents;
    Device<uint32_t> entry_joints, counts, mesh_entries;
    Device<float4> tangents, inverse_binds, locals, models, palettes;
    Device<Player> state;
    Device<float> vertices;
    Event start, posed, end;
    Cube cube{};

    CudaCrowd(peer::Load&& given, bool packed)
        : load(std::move(given)), packed(packed), unit(load.normals == "unit"), floats(load.floats()),
          entries(int(load.model.palette_joints.size())), count(int(load.instances.size())), clip_arrays(load.model),
          mesh_arrays(load.model), channels(clip_arrays.channels), times(clip_arrays.times), values(clip_arrays.values),
          positions(mesh_arrays.positions), normals(mesh_arrays.normals), weights(mesh_arrays.weights), parents(load.model.parents),
          entry_joints(load.model.palette_joints), counts(mesh_arrays.counts), mesh_entries(mesh_arrays.entries),
          tangents(mesh_arrays.tangents), inverse_binds(rows(load.model.inverse_binds)), locals(3 * joints() * load.instances.size()),
          models(3 * joints() * load.instances.size()), palettes(3 * size_t(entries) * load.instances.size()),
          state(players(load.instances)),
          vertices(load.instances.size() * load.model.vertices() * words_per_vertex(floats, packed)) {
        if (load.instances.size() > MOST_INSTANCES) throw peer::Refused("more than 65,535 instances");
        if (packed) cube = cube_of_clips();
        instances_per_thread = faster_of_4_and_16();
    }

    size_t joints() const { return load.model.parents.size(); }

    // The cube around every vertex at every tick of the first two seconds, widened by a tenth.
    Cube cube_of_clips() {
        float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        auto& model = load.model;
        for (uint32_t tick = 0; tick < 120; tick += 4) {
            pose(tick);
            auto matrices = palettes.read();
            for (int instance = 0; instance < count; instance += std::max(1, count / 64)) {
                const float4* palette = &matrices[size_t(instance) * entries * 3];
                for (size_t v = 0; v < model.vertices(); v++) {
                    const float* p = &model.positions[3 * v];
                    float place[3] = {};
                    for (int slot = 0; slot < model.influences; slot++) {
                        size_t at = v * size_t(model.influences) + size_t(slot);
                        const float4* matrix = palette + model.joints[at] * 3;
                        for (int i = 0; i < 3; i++)
                            place[i] += model.weights[at] * (matrix[i].x * p[0] + matrix[i].y * p[1] + matrix[i].z * p[2] + matrix[i].w);
                    }
                    for (int i = 0; i < 3; i++) low[i] = std::min(low[i], place[i]), high[i] = std::max(high[i], place[i]);
                }
            }
        }
        float half = 0;
        for (int i = 0; i < 3; i++) half = std::max(half, 0.55f * (high[i] - low[i]));
        return {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2, half};
    }

    void pose(uint32_t tick) {
        Clips clips{channels.data(), times.data(), values.data(), parents.data(), int(joints())};
        launch(dim3(blocks(joints()), unsigned(count)), THREADS, sample, clips, state.data(), tick, locals.data());
        launch(dim3(blocks(3 * size_t(count))), THREADS, palette, parents.data(), int(joints()), entry_joints.data(),
               inverse_binds.data(), entries, count, locals.data(), models.data(), palettes.data());
    }

    template <int FLOATS, bool PACKED, int AT>
    void skin_with() {
        Mesh mesh{positions.data(), normals.data(), tangents.data(), counts.data(), mesh_entries.data(), weights.data(),
                  int(load.model.vertices())};
        dim3 grid(blocks(load.model.vertices()), unsigned((count + AT - 1) / AT));
        launch(grid, THREADS, skin<FLOATS, PACKED, AT>, mesh, palettes.data(), entries, count, unit, cube, vertices.data());
    }

    template <int FLOATS>
    void skin_format() {
        if (packed) instances_per_thread == 4 ? skin_with<FLOATS, true, 4>() : skin_with<FLOATS, true, 16>();
        else instances_per_thread == 4 ? skin_with<FLOATS, false, 4>() : skin_with<FLOATS, false, 16>();
    }

    void skin_all() {
        if (floats == 3) skin_format<3>();
        else if (floats == 6) skin_format<6>();
        else skin_format<10>();
    }

    // Least time of five, each.
    int faster_of_4_and_16() {
        int64_t least[2] = {INT64_MAX, INT64_MAX};
        pose(0);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 2; i++) {
                instances_per_thread = i == 0 ? 4 : 16;
                start.record();
                skin_all();
                end.record();
                check(cudaEventSynchronize(end.event));
                least[i] = std::min(least[i], end.nanoseconds_since(start));
            }
        }
        check(cudaGetLastError());
        return least[0] <= least[1] ? 4 : 16;
    }

    std::string loaded() const override {
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, 0));
        size_t mesh = positions.bytes() + normals.bytes() + tangents.bytes() + counts.bytes() + mesh_entries.bytes() + weights.bytes();
        size_t clips = channels.bytes() + times.bytes() + values.bytes() + parents.bytes() + state.bytes();
        std::string error;
        if (packed) {
            // Half a step of each coordinate; directions on an octahedron of 16 bits are within 4e-5 radians.
            float position = std::sqrt(3.0f) * 0.51f * cube.half / 32767 / load.model.diagonal;
            error = R"(,"error":{"pose":0,"position":)" + std::to_string(position) + R"(,"normal":0.0001})";
        }
        std::string device = std::string(properties.name) + ", " + std::to_string(instances_per_thread) + " instances per thread";
        return R"({"device":)" + peer::quoted(device) + error + R"(,"memory":{"mesh":)" + std::to_string(mesh) + R"(,"clips":)" +
               std::to_string(clips) + R"(,"palettes":)" + std::to_string(palettes.bytes()) + R"(,"output":)" +
               std::to_string(vertices.bytes()) + R"(,"scratch":)" + std::to_string(locals.bytes() + models.bytes()) + "}}";
    }

    void frame(uint32_t tick, peer::Clock& clock) override {
        start.record();
        pose(tick);
        posed.record();
        skin_all();
        end.record();
        check(cudaEventSynchronize(end.event));
        check(cudaGetLastError());
        clock.stages.emplace_back("pose", posed.nanoseconds_since(start));
        clock.stages.emplace_back("skin", end.nanoseconds_since(posed));
    }

    std::vector<float> output(const std::string& name) const override {
        if (name == "model") return floats_of(models.read());
        if (name == "palette") return floats_of(palettes.read());
        auto skinned = vertices.read();
        size_t words = words_per_vertex(floats, packed), total = load.model.vertices();
        std::vector<size_t> places(total);
        for (size_t place = 0; place < total; place++) places[mesh_arrays.order[place]] = place;
        std::vector<float> out;
        for (size_t instance = 0; instance < size_t(count); instance++)
            for (size_t v = 0; v < total; v++) {
                const float* vertex = &skinned[(instance * total + places[v]) * words];
                if (packed) push_unpacked(out, vertex);
                else out.insert(out.end(), vertex, vertex + words);
            }
        return out;
    }

    void push_unpacked(std::vector<float>& out, const float* vertex) const {
        uint32_t words[4];
        std::memcpy(words, vertex, 4 * words_per_vertex(floats, true));
        out.insert(out.end(), {cube.x + cube.half * unpacked(words[0], 0), cube.y + cube.half * unpacked(words[0], 1),
                               cube.z + cube.half * unpacked(words[1], 0)});
        if (floats >= 6) push_direction(out, words[2]);
        if (floats >= 10) {
            push_direction(out, words[3]);
            out.push_back(unpacked(words[1], 1));
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    bool packed = argc > 1 && std::string(argv[1]) == "--packed";
    // Packed directions have the length 1.
    std::string normals = packed ? R"(["unit"])" : R"(["raw","unit"])";
    std::string hello = R"({"protocol":1,"outputs":["model","palette","vertices"],"attributes":["p","pn","pnt"],"normals":)" + normals +
                        R"(,"rotations":"nlerp"})";
    return peer::serve(hello.c_str(), true, [packed](peer::Load&& load) { return new CudaCrowd(std::move(load), packed); });
}
