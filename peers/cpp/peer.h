// The protocol of docs/peers.md for peers in C++: JSON, the companion of a model, threads and the loop of requests.
#pragma once
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace peer {

// What a library cannot do with a crowd: the peer is skipped, and has not failed.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A text as a JSON string.
inline std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
        if (uint8_t(c) < ' ') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(c));
            out += escape;
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

// A JSON value; numbers are doubles.
struct Json {
    std::string text;
    double number = 0;
    std::vector<Json> items;
    std::vector<std::pair<std::string, Json>> fields;

    const Json* find(const std::string& key) const {
        for (auto& [name, value] : fields)
            if (name == key) return &value;
        return nullptr;
    }
    const Json& operator[](const std::string& key) const {
        auto* found = find(key);
        if (!found) throw std::runtime_error("no field " + key);
        return *found;
    }
    static Json parse(const std::string& text) {
        const char* at = text.c_str();
        return value(at);
    }

  private:
    static void skip(const char*& at) {
        while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t' || *at == ',' || *at == ':') at++;
    }
    static std::string string(const char*& at) {
        std::string out;
        for (at++; *at && *at != '"'; at++) {
            if (*at != '\\') { out += *at; continue; }
            at++;
            if (*at == 'u') { out += '?'; at += 4; }
            else out += *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
        }
        if (*at) at++;
        return out;
    }
    static Json value(const char*& at) {
        Json out;
        skip(at);
        if (*at == '{') {
            for (at++, skip(at); *at && *at != '}'; skip(at)) {
                auto key = string(at);
                out.fields.emplace_back(key, value(at));
            }
            if (*at) at++;
        } else if (*at == '[') {
            for (at++, skip(at); *at && *at != ']'; skip(at)) out.items.push_back(value(at));
            if (*at) at++;
        } else if (*at == '"') {
            out.text = string(at);
        } else {
            char* end;
            out.number = std::strtod(at, &end);
            if (end == at) throw std::runtime_error("not a JSON value");
            at = end;
        }
        return out;
    }
};

inline std::string read_file(const std::string& path) {
    FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("cannot read " + path);
    std::string bytes;
    char chunk[1 << 16];
    for (size_t count; (count = std::fread(chunk, 1, sizeof chunk, file)) > 0;) bytes.append(chunk, count);
    std::fclose(file);
    return bytes;
}

struct Instance {
    uint32_t clip, phase, step;
    float base, scale;
    float seconds(uint32_t tick) const { return float((phase + step * tick) >> 8) * scale + base; }
};

struct Track {
    int joint;
    std::string channel;
    bool step;
    std::vector<float> times, values;
};

struct Clip {
    float duration;
    std::vector<Track> tracks;
};

struct Model {
    std::vector<int> parents;
    int influences;
    float diagonal;
    std::vector<float> rest, inverse_binds, positions, normals, tangents, weights;
    std::vector<uint32_t> palette_joints, joints, indices;
    std::vector<Clip> clips;

    size_t vertices() const { return positions.size() / 3; }

    explicit Model(const std::string& path) {
        auto json = Json::parse(read_file(path));
        auto words = read_file(path.substr(0, path.rfind('/')) + "/model.bin");
        auto array = [&](const Json* at, auto& out) {
            if (!at) return;
            out.resize(size_t(at->items[1].number));
            std::memcpy(out.data(), words.data() + 4 * size_t(at->items[0].number), 4 * out.size());
        };
        for (auto& parent : json["parents"].items) parents.push_back(int(parent.number));
        influences = int(json["influences"].number);
        diagonal = float(json["diagonal"].number);
        array(json.find("rest"), rest);
        array(json.find("inverse_binds"), inverse_binds);
        array(json.find("positions"), positions);
        array(json.find("normals"), normals);
        array(json.find("tangents"), tangents);
        array(json.find("weights"), weights);
        array(json.find("palette_joints"), palette_joints);
        array(json.find("joints"), joints);
        array(json.find("indices"), indices);
        for (auto& clip : json["clips"].items) {
            clips.push_back({float(clip["duration"].number), {}});
            for (auto& track : clip["tracks"].items) {
                Track out{int(track["joint"].number), track["channel"].text, track["interpolation"].text == "step", {}, {}};
                array(track.find("times"), out.times);
                array(track.find("values"), out.values);
                clips.back().tracks.push_back(std::move(out));
            }
        }
    }
};

struct Load {
    Model model;
    std::vector<Instance> instances;
    std::string attributes, normals;
    int threads;

    int floats() const { return attributes == "p" ? 3 : attributes == "pn" ? 6 : 10; }
};

// Threads that divide a range of instances; the caller is one of them.
class Threads {
  public:
    explicit Threads(int count) : count_(count) {
        for (int i = 1; i < count; i++) workers_.emplace_back([this, i] { work(i); });
    }
    ~Threads() {
        { std::lock_guard lock(mutex_); ended_ = true; round_++; }
        start_.notify_all();
        for (auto& worker : workers_) worker.join();
    }
    int count() const { return count_; }
    // Calls `part(first, end, thread)` for each thread's part of 0..total and waits for all.
    void run(size_t total, const std::function<void(size_t, size_t, int)>& part) {
        if (count_ == 1) return part(0, total, 0);
        { std::lock_guard lock(mutex_); part_ = &part; total_ = total; busy_ = count_ - 1; round_++; }
        start_.notify_all();
        part(0, total / count_, 0);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

  private:
    void work(int index) {
        for (uint64_t seen = 0;;) {
            std::unique_lock lock(mutex_);
            start_.wait(lock, [&] { return round_ != seen; });
            seen = round_;
            if (ended_) return;
            auto& part = *part_;
            size_t total = total_;
            lock.unlock();
            part(total * index / count_, total * (index + 1) / count_, index);
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }
    int count_, busy_ = 0;
    bool ended_ = false;
    uint64_t round_ = 0;
    size_t total_ = 0;
    const std::function<void(size_t, size_t, int)>* part_ = nullptr;
    std::mutex mutex_;
    std::condition_variable start_, done_;
    std::vector<std::thread> workers_;
};

// Nanoseconds of the stages of one frame.
class Clock {
  public:
    void stage(const char* name, const std::function<void()>& work) {
        auto start = std::chrono::steady_clock::now();
        work();
        stages.emplace_back(name, since(start));
    }
    static int64_t since(std::chrono::steady_clock::time_point start) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
    }
    std::vector<std::pair<std::string, int64_t>> stages;
};

// A crowd that a library animates.
struct Crowd {
    virtual ~Crowd() = default;
    // Takes one more group, if `hello` says `groups`.
    virtual void add(Load&&) { throw Refused("takes one group"); }
    // The answer to the last `load`.
    virtual std::string loaded() const = 0;
    virtual void frame(uint32_t tick, Clock& clock) = 0;
    // Numbers of an output of the last frame.
    virtual std::vector<float> output(const std::string& name) const = 0;
};

// A crowd of several groups, whose instances all threads share. A `Group` has what a library keeps for a `Load`.
template <class Group>
struct Groups : Crowd {
    struct Character {
        Group* group;
        size_t instance;  // in the group
    };
    Threads threads;
    std::vector<std::unique_ptr<Group>> groups;
    std::vector<Character> characters;

    explicit Groups(Load&& first) : threads(first.threads) { Groups::add(std::move(first)); }
    void add(Load&& given) override {
        size_t count = given.instances.size();
        groups.push_back(std::make_unique<Group>(std::move(given)));
        for (size_t i = 0; i < count; i++) characters.push_back({groups.back().get(), i});
    }
    std::string loaded() const override { return groups.back()->loaded(); }
    std::vector<float> output(const std::string& name) const override {
        std::vector<float> out;
        for (auto& group : groups) group->append(name, out);
        return out;
    }
    // Calls `work(group, instance, thread)` for each instance.
    template <class Work>
    void each(const Work& work) {
        threads.run(characters.size(), [&](size_t first, size_t end, int thread) {
            for (size_t i = first; i < end; i++) work(*characters[i].group, characters[i].instance, thread);
        });
    }
};

// Answers requests until standard input ends. `whole` says whether frames end with vertices; `load` throws `Refused` for a crowd
// that the library cannot play.
inline int serve(const char* hello, bool whole, const std::function<Crowd*(Load&&)>& load) {
    Crowd* crowd = nullptr;
    for (std::string line; std::getline(std::cin, line);) {
        try {
            auto request = Json::parse(line);
            auto name = request["request"].text;
            if (name == "quit") break;
            if (name == "hello") {
                std::cout << hello << std::endl;
            } else if (name == "load") {
                auto bytes = read_file(request["instances"].text);
                std::vector<Instance> instances(bytes.size() / sizeof(Instance));
                std::memcpy(instances.data(), bytes.data(), bytes.size());
                Load group{Model(request["model"].text), instances, request["attributes"].text, request["normals"].text,
                           int(request["threads"].number)};
                if (crowd) crowd->add(std::move(group));
                else crowd = load(std::move(group));
                std::cout << crowd->loaded() << std::endl;
            } else if (name == "write") {
                if (auto* tick = request.find("tick")) {
                    Clock clock;
                    crowd->frame(uint32_t(tick->number), clock);
                }
                for (auto& [output, path] : request["outputs"].fields) {
                    auto numbers = crowd->output(output);
                    FILE* file = std::fopen(path.text.c_str(), "wb");
                    if (!file || std::fwrite(numbers.data(), 4, numbers.size(), file) != numbers.size() || std::fclose(file))
                        throw std::runtime_error("cannot write " + path.text);
                }
                std::cout << "{}" << std::endl;
            } else if (name == "measure") {
                std::map<std::string, std::string> lists;
                auto tick = uint32_t(request["tick"].number), frames = uint32_t(request["frames"].number);
                for (uint32_t i = 0; i < frames; i++) {
                    Clock clock;
                    auto start = std::chrono::steady_clock::now();
                    crowd->frame(tick + i, clock);
                    if (whole) clock.stages.emplace_back("frame", Clock::since(start));
                    for (auto& [stage, ns] : clock.stages) lists[stage] += (lists[stage].empty() ? "" : ",") + std::to_string(ns);
                }
                std::string answer;
                for (auto& [stage, list] : lists) answer += (answer.empty() ? "" : ",") + quoted(stage) + ":[" + list + "]";
                std::cout << "{\"stages\":{" << answer << "}}" << std::endl;
            } else {
                throw std::runtime_error("unknown request");
            }
        } catch (const Refused& refusal) {
            std::cout << "{\"refused\":" << quoted(refusal.what()) << "}" << std::endl;
        } catch (const std::exception& error) {
            std::cout << "{\"failed\":" << quoted(error.what()) << "}" << std::endl;
        }
    }
    delete crowd;
    return 0;
}

}  // namespace peer
