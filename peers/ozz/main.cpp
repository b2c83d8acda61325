// ozz-animation: offline builders at load, then SamplingJob, LocalToModelJob and SkinningJob per instance.
#include "../cpp/peer.h"

#include <ozz/animation/offline/animation_builder.h>
#include <ozz/animation/offline/raw_animation.h>
#include <ozz/animation/offline/raw_skeleton.h>
#include <ozz/animation/offline/skeleton_builder.h>
#include <ozz/animation/runtime/animation.h>
#include <ozz/animation/runtime/local_to_model_job.h>
#include <ozz/animation/runtime/sampling_job.h>
#include <ozz/animation/runtime/skeleton.h>
#include <ozz/base/maths/simd_math.h>
#include <ozz/base/maths/soa_transform.h>
#include <ozz/geometry/runtime/skinning_job.h>

#include <memory>

using namespace ozz;
using ozz::animation::SamplingJob;
using ozz::math::Float4x4;

namespace {

math::Transform transform(const float* rest) {
    return {{rest[4], rest[5], rest[6]}, {rest[0], rest[1], rest[2], rest[3]}, {rest[7], rest[8], rest[9]}};
}

void add_children(const peer::Model& model, int parent, animation::offline::RawSkeleton::Joint::Children& children) {
    for (int joint = 0; joint < int(model.parents.size()); joint++) {
        if (model.parents[joint] != parent) continue;
        children.emplace_back();
        children.back().name = std::to_string(joint);
        children.back().transform = transform(&model.rest[10 * joint]);
        add_children(model, joint, children.back().children);
    }
}

// Neighbouring vertices with the same number of influences.
struct Run {
    size_t first, end;
    int influences;
};

// The instances of one model.
struct Group {
    peer::Load load;
    unique_ptr<animation::Skeleton> skeleton;
    std::vector<unique_ptr<animation::Animation>> animations;
    std::vector<std::unique_ptr<SamplingJob::Context>> contexts;
    std::vector<int> ozz_joint;  // of each of the model's joints
    std::vector<Float4x4, ozz::StdAllocator<Float4x4>> binds, models, palettes;
    std::vector<uint16_t> joints;
    std::vector<Run> runs;
    std::vector<float> vertices;
    size_t clip_bytes = 0;

    explicit Group(peer::Load&& given) : load(std::move(given)) {
        auto& model = load.model;
        animation::offline::RawSkeleton raw;
        add_children(model, -1, raw.roots);
        skeleton = animation::offline::SkeletonBuilder()(raw);
        if (!skeleton) throw peer::Refused("ozz refuses the skeleton");
        ozz_joint.resize(model.parents.size());
        for (int i = 0; i < skeleton->num_joints(); i++) ozz_joint[std::atoi(skeleton->joint_names()[i])] = i;
        for (auto& clip : model.clips) animations.push_back(built(clip));
        for (size_t i = 0; i < load.instances.size(); i++)
            contexts.push_back(std::make_unique<SamplingJob::Context>(skeleton->num_joints()));
        size_t entries = model.palette_joints.size();
        binds.resize(entries);
        for (size_t i = 0; i < entries; i++) {
            auto* m = &model.inverse_binds[12 * i];
            for (int c = 0; c < 4; c++) binds[i].cols[c] = math::simd_float4::Load(m[c], m[4 + c], m[8 + c], c == 3);
        }
        models.resize(load.instances.size() * skeleton->num_joints());
        palettes.resize(load.instances.size() * entries);
        joints.assign(model.joints.begin(), model.joints.end());
        for (size_t v = 0; v < model.vertices(); v++) {
            int used = 1;
            for (int i = 0; i < model.influences; i++)
                if (model.weights[v * model.influences + i] != 0) used = i + 1;
            if (runs.empty() || used > runs.back().influences) runs.push_back({v, v, used});
            runs.back().end = v + 1;
        }
        vertices.resize(load.instances.size() * model.vertices() * load.floats());
        if (load.floats() == 10)  // The handedness of tangents does not change.
            for (size_t v = 0; v < vertices.size() / 10; v++) vertices[10 * v + 9] = model.tangents[4 * (v % model.vertices()) + 3];
    }

    unique_ptr<animation::Animation> built(const peer::Clip& clip) {
        auto& model = load.model;
        animation::offline::RawAnimation raw;
        raw.duration = clip.duration > 0 ? clip.duration : 1;
        raw.tracks.resize(skeleton->num_joints());
        std::vector<bool> moved(3 * model.parents.size());
        auto push = [&](const peer::Track& track) {
            auto& out = raw.tracks[ozz_joint[track.joint]];
            int kind = track.channel == "rotation" ? 0 : track.channel == "translation" ? 1 : 2;
            moved[3 * track.joint + kind] = true;
            for (size_t k = 0; k < track.times.size(); k++) {
                auto* v = &track.values[k * (kind == 0 ? 4 : 3)];
                float time = std::min(track.times[k], raw.duration);
                if (kind == 0) out.rotations.push_back({time, {v[0], v[1], v[2], v[3]}});
                if (kind == 1) out.translations.push_back({time, {v[0], v[1], v[2]}});
                if (kind == 2) out.scales.push_back({time, {v[0], v[1], v[2]}});
            }
        };
        for (auto& track : clip.tracks) {
            if (track.step) throw peer::Refused("ozz has no stepped keys");
            push(track);
        }
        for (int joint = 0; joint < int(model.parents.size()); joint++) {
            auto* rest = &model.rest[10 * joint];
            if (!moved[3 * joint]) push({joint, "rotation", false, {0}, {rest, rest + 4}});
            if (!moved[3 * joint + 1]) push({joint, "translation", false, {0}, {rest + 4, rest + 7}});
            if (!moved[3 * joint + 2]) push({joint, "scale", false, {0}, {rest + 7, rest + 10}});
        }
        auto animation = animation::offline::AnimationBuilder()(raw);
        if (!animation) throw peer::Refused("ozz refuses a clip");
        clip_bytes += animation->size();
        return animation;
    }

    std::string loaded() const {
        size_t context = sizeof(SamplingJob::Context) + skeleton->num_soa_joints() * 4 * 60;  // as ozz allocates them, about
        auto field = [](const char* name, size_t bytes) { return "\"" + std::string(name) + "\":" + std::to_string(bytes); };
        // Rotations are stored in 15 bits per component, translations and scales in half floats.
        std::string device = math::SimdImplementationName() + (", " + std::to_string(load.threads)) + " threads";
        return "{\"device\":" + peer::quoted(device) + ",\"error\":{\"pose\":1e-3,\"position\":4e-4,\"normal\":1e-3},\"memory\":{" +
               field("clips", clip_bytes + contexts.size() * context) + "," +
               field("palettes", (models.size() + palettes.size()) * sizeof(Float4x4)) + "," +
               field("mesh", 4 * (2 * load.model.positions.size() + load.model.tangents.size() + load.model.weights.size()) +
                                 2 * joints.size()) +
               "," + field("output", 4 * vertices.size()) + "}}";
    }

    void pose(size_t instance, uint32_t tick, std::vector<math::SoaTransform>& local) {
        auto& [clip, phase, step, base, scale] = load.instances[instance];
        SamplingJob sampling;
        sampling.animation = animations[clip].get();
        sampling.context = contexts[instance].get();
        sampling.ratio = load.instances[instance].seconds(tick) / sampling.animation->duration();
        sampling.output = make_span(local);
        animation::LocalToModelJob to_model;
        to_model.skeleton = skeleton.get();
        to_model.input = make_span(local);
        size_t count = skeleton->num_joints(), entries = binds.size();
        to_model.output = {&models[instance * count], count};
        if (!sampling.Run() || !to_model.Run()) throw std::runtime_error("ozz refuses a job");
        for (size_t i = 0; i < entries; i++)
            palettes[instance * entries + i] = models[instance * count + ozz_joint[load.model.palette_joints[i]]] * binds[i];
    }

    void skin(size_t instance) {
        auto& model = load.model;
        size_t floats = load.floats(), entries = binds.size(), corners = model.influences;
        float* out = &vertices[instance * model.vertices() * floats];
        for (auto& [first, end, influences] : runs) {
            size_t count = end - first;
            geometry::SkinningJob job;
            job.vertex_count = int(count);
            job.influences_count = influences;
            job.joint_matrices = {&palettes[instance * entries], entries};
            job.joint_indices = {&joints[first * corners], count * corners};
            job.joint_indices_stride = 2 * corners;
            if (influences > 1) {
                job.joint_weights = {&model.weights[first * corners], count * corners};
                job.joint_weights_stride = 4 * corners;
            }
            job.in_positions = {&model.positions[3 * first], 3 * count};
            job.in_positions_stride = 12;
            // ozz asks for whole strides from each attribute on, which the last vertex has not; it writes three numbers.
            job.out_positions = {out + first * floats, count * floats};
            job.out_positions_stride = 4 * floats;
            if (floats > 3) {
                job.in_normals = {&model.normals[3 * first], 3 * count};
                job.in_normals_stride = 12;
                job.out_normals = {out + first * floats + 3, count * floats};
                job.out_normals_stride = 4 * floats;
            }
            if (floats > 6) {
                job.in_tangents = {&model.tangents[4 * first], 4 * count};
                job.in_tangents_stride = 16;
                job.out_tangents = {out + first * floats + 6, count * floats};
                job.out_tangents_stride = 4 * floats;
            }
            if (!job.Run()) throw std::runtime_error("ozz refuses to skin");
        }
    }

    void append(const std::string& name, std::vector<float>& out) const {
        if (name == "vertices") return void(out.insert(out.end(), vertices.begin(), vertices.end()));
        auto push = [&](const Float4x4& m) {
            float columns[16];
            for (int c = 0; c < 4; c++) math::StorePtrU(m.cols[c], columns + 4 * c);
            for (int i = 0; i < 12; i++) out.push_back(columns[4 * (i % 4) + i / 4]);
        };
        if (name == "palette") {
            for (auto& m : palettes) push(m);
        } else {
            for (size_t i = 0; i < models.size(); i += ozz_joint.size())
                for (int joint : ozz_joint) push(models[i + joint]);
        }
    }
};

struct OzzCrowd : peer::Groups<Group> {
    std::vector<std::vector<math::SoaTransform>> locals;  // one per thread

    explicit OzzCrowd(peer::Load&& first) : Groups(std::move(first)), locals(threads.count()) { fit_locals(); }
    void add(peer::Load&& given) override {
        Groups::add(std::move(given));
        fit_locals();
    }
    void fit_locals() {
        size_t joints = groups.back()->skeleton->num_soa_joints();
        for (auto& local : locals) local.resize(std::max(local.size(), joints));
    }
    void frame(uint32_t tick, peer::Clock& clock) override {
        clock.stage("pose", [&] { each([&](Group& group, size_t i, int thread) { group.pose(i, tick, locals[thread]); }); });
        clock.stage("skin", [&] { each([](Group& group, size_t i, int) { group.skin(i); }); });
    }
};

}  // namespace

int main() {
    return peer::serve(
        R"({"protocol":1,"outputs":["model","palette","vertices"],"attributes":["p","pn","pnt"],"normals":["raw"],"rotations":"nlerp","groups":true})",
        true, [](peer::Load&& load) { return new OzzCrowd(std::move(load)); });
}
