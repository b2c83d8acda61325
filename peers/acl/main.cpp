// ACL: clips are compressed at load; a frame seeks and decompresses every instance's clip to local poses.
#include "../cpp/peer.h"

#include <acl/compression/compress.h>
#include <acl/compression/track_error.h>
#include <acl/compression/transform_error_metrics.h>
#include <acl/core/ansi_allocator.h>
#include <acl/decompression/decompress.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

namespace {

using Context = acl::decompression_context<acl::default_transform_decompression_settings>;

struct Writer : acl::track_writer {
    rtm::qvvf* pose = nullptr;
    void write_rotation(uint32_t track, rtm::quatf_arg0 rotation) { pose[track].rotation = rotation; }
    void write_translation(uint32_t track, rtm::vector4f_arg0 translation) { pose[track].translation = translation; }
    void write_scale(uint32_t track, rtm::vector4f_arg0 scale) { pose[track].scale = scale; }
};

void numbers(const rtm::qvvf& joint, float* out) {
    rtm::quat_store(joint.rotation, out);
    rtm::vector_store3(joint.translation, out + 4);
    rtm::vector_store3(joint.scale, out + 7);
}

// Metres by which compression may move points at 3 cm from joints: ACL_PRECISION, or ACL's default of 0.01 cm.
float precision() {
    const char* chosen = std::getenv("ACL_PRECISION");
    return chosen ? std::stof(chosen) : 0.0001f;
}

// The instances of one model.
struct Group {
    acl::ansi_allocator allocator;
    peer::Load load;
    std::vector<acl::compressed_tracks*> clips;
    std::deque<Context> contexts;  // one per instance
    std::vector<rtm::qvvf> poses;
    size_t bytes = 0;
    float local_error = 0, shell_error = 0;

    explicit Group(peer::Load&& given) : load(std::move(given)) {
        for (auto& clip : load.model.clips) clips.push_back(compressed(clip));
        for (auto& instance : load.instances) {
            contexts.emplace_back();
            contexts.back().initialize(*clips[instance.clip]);
        }
        poses.resize(load.instances.size() * load.model.parents.size());
    }
    ~Group() {
        for (auto* clip : clips) allocator.deallocate(clip, clip->get_size());
    }

    acl::compressed_tracks* compressed(const peer::Clip& clip) {
        auto& model = load.model;
        uint32_t joints = uint32_t(model.parents.size()), samples = 1;
        for (auto& track : clip.tracks) {
            auto count = track.times.size();
            for (size_t k = 0; k < count; k++)
                if (track.step || std::abs(track.times[k] - clip.duration * float(k) / float(std::max<size_t>(count - 1, 1))) > 1e-5f)
                    throw peer::Refused("ACL samples clips at a constant rate");
            if (count > 1 && samples > 1 && count != samples) throw peer::Refused("ACL samples clips at one rate");
            samples = std::max(samples, uint32_t(count));
        }
        float rate = samples > 1 ? float(samples - 1) / clip.duration : 30.0f;
        acl::track_array_qvvf tracks(allocator, joints);
        std::vector<std::vector<float>> raw(samples, model.rest);
        for (auto& track : clip.tracks) {
            size_t width = track.channel == "rotation" ? 4 : 3, first = width == 4 ? 0 : track.channel == "translation" ? 4 : 7;
            for (uint32_t k = 0; k < samples; k++)
                std::copy_n(&track.values[std::min<size_t>(k, track.times.size() - 1) * width], width, &raw[k][10 * track.joint + first]);
        }
        for (uint32_t joint = 0; joint < joints; joint++) {
            acl::track_desc_transformf desc;
            desc.output_index = joint;
            desc.parent_index = model.parents[joint] < 0 ? acl::k_invalid_track_index : uint32_t(model.parents[joint]);
            desc.precision = precision();
            desc.shell_distance = 0.03f;
            auto track = acl::track_qvvf::make_reserve(desc, allocator, samples, rate);
            for (uint32_t k = 0; k < samples; k++) {
                const float* v = &raw[k][10 * joint];
                track[k] = rtm::qvv_set(rtm::quat_load(v), rtm::vector_load3(v + 4), rtm::vector_load3(v + 7));
            }
            tracks[joint] = std::move(track);
        }
        acl::qvvf_transform_error_metric metric;
        auto settings = acl::get_default_compression_settings();
        settings.error_metric = &metric;
        acl::compressed_tracks* out = nullptr;
        acl::output_stats stats;
        auto result = acl::compress_track_list(allocator, tracks, settings, out, stats);
        if (result.any()) throw std::runtime_error(result.c_str());
        bytes += out->get_size();
        Context context;
        context.initialize(*out);
        shell_error = std::max(shell_error, acl::calculate_compression_error(allocator, tracks, context, metric).error);
        std::vector<rtm::qvvf> pose(joints);
        Writer writer;
        writer.pose = pose.data();
        for (uint32_t k = 0; k < samples; k++) {
            context.seek(float(k) / rate, acl::sample_rounding_policy::nearest);
            context.decompress_tracks(writer);
            for (uint32_t joint = 0; joint < joints; joint++) {
                float got[10], *want = &raw[k][10 * joint];
                numbers(pose[joint], got);
                float sign = got[0] * want[0] + got[1] * want[1] + got[2] * want[2] + got[3] * want[3] < 0 ? -1.0f : 1.0f;
                for (int i = 0; i < 10; i++) {
                    float off = std::abs(got[i] - (i < 4 ? sign : 1.0f) * want[i]);
                    local_error = std::max(local_error, i >= 4 && i < 7 ? 1.8f * off / load.model.diagonal : off);
                }
            }
        }
        return out;
    }

    std::string loaded() const {
        char text[400];
        std::snprintf(text, sizeof text,
                      R"({"device":"clips of %zu bytes, off by %.2g on a shell of 3 cm","error":{"pose":%g,"position":0,"normal":0},)"
                      R"("memory":{"clips":%zu,"scratch":%zu}})",
                      bytes, shell_error, std::min(1.2 * local_error, 0.01), bytes + contexts.size() * sizeof(Context),
                      poses.size() * sizeof(rtm::qvvf));
        return text;
    }

    void sample(size_t instance, uint32_t tick) {
        Writer writer;
        writer.pose = &poses[instance * load.model.parents.size()];
        contexts[instance].seek(load.instances[instance].seconds(tick), acl::sample_rounding_policy::none);
        contexts[instance].decompress_tracks(writer);
    }

    void append(const std::string&, std::vector<float>& out) const {
        for (auto& pose : poses) {
            out.resize(out.size() + 10);
            numbers(pose, &out[out.size() - 10]);
        }
    }
};

struct AclCrowd : peer::Groups<Group> {
    using Groups::Groups;
    void frame(uint32_t tick, peer::Clock& clock) override {
        clock.stage("sample", [&] { each([&](Group& group, size_t i, int) { group.sample(i, tick); }); });
    }
};

}  // namespace

int main() {
    return peer::serve(R"({"protocol":1,"outputs":["local"],"attributes":[],"normals":[],"rotations":"nlerp","groups":true})", false,
                       [](peer::Load&& load) { return new AclCrowd(std::move(load)); });
}
