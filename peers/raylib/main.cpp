// raylib: UpdateModelAnimation interpolates keyframes in model space and skins, on one thread. With SKINBENCH, the job of
// capi/ skins instead of raylib, into the same arrays.
#include "../cpp/peer.h"

extern "C" {
#include "raylib.h"
}
#include "raymath.h"

#include <memory>

#ifdef SKINBENCH
#include "skinbench.h"
#endif

namespace {

// Keyframes per second, as raylib's importer of glTF takes them.
constexpr float RATE = 60;

Matrix matrix(const float* m) {
    return {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], 0, 0, 0, 1};
}

Matrix matrix(const Transform& t) {
    return MatrixMultiply(MatrixMultiply(MatrixScale(t.scale.x, t.scale.y, t.scale.z), QuaternionToMatrix(t.rotation)),
                          MatrixTranslate(t.translation.x, t.translation.y, t.translation.z));
}

Transform transform(const Matrix& m) {
    Transform t;
    MatrixDecompose(m, &t.translation, &t.rotation, &t.scale);
    return t;
}

#ifdef SKINBENCH
// Skins what raylib has posed. A mesh without weights is one that raylib itself leaves alone.
struct Skinning {
    static constexpr const char* DEVICE = "skinbench's job";
    SkinbenchJob* job = nullptr;
    std::vector<float> rows;  // of the matrices, without their fourth ones

    ~Skinning() { skinbench_job_free(job); }
    static void check(SkinbenchStatus status) {
        if (status != SKINBENCH_STATUS_OK) throw std::runtime_error(skinbench_error_text());
    }
    void adopt(std::vector<Mesh>& meshes) {
        const Mesh& mesh = meshes[0];
        size_t count = size_t(mesh.vertexCount), floats = 12 * count;
        SkinbenchInput input = {count, 4, SKINBENCH_U8, SKINBENCH_F32, {mesh.boneIndices, 4 * count, 4},
                                {mesh.boneWeights, 16 * count, 16}, {mesh.vertices, floats, 12}, {mesh.normals, floats, 12}, {}};
        check(skinbench_job_new(&input, &job));
        rows.resize(12 * size_t(mesh.boneCount));
        for (auto& each : meshes) each.boneWeights = nullptr;
    }
    void skin(const Model& model) {
        const Mesh& mesh = model.meshes[0];
        size_t count = size_t(mesh.vertexCount);
        for (int bone = 0; bone < mesh.boneCount; bone++)
            std::memcpy(&rows[12 * bone], &model.boneMatrices[bone], 12 * sizeof(float));
        SkinbenchPalette palette = {rows.data(), size_t(mesh.boneCount), SKINBENCH_ROWS};
        SkinbenchOutput output = {{mesh.animVertices, 12 * count, 12}, {mesh.animNormals, 12 * count, 12}, {}};
        check(skinbench_job_run(job, &palette, SKINBENCH_RAW, 0, count, &output));
    }
};
#else
// raylib skins when it poses.
struct Skinning {
    static constexpr const char* DEVICE = "scalar";
    void adopt(std::vector<Mesh>&) {}
    void skin(const Model&) {}
};
#endif

struct RaylibCrowd : peer::Crowd {
    peer::Load load;
    std::vector<Transform> bind;
    std::vector<BoneInfo> bones;
    std::vector<unsigned char> indices;
    std::vector<float> weights;
    std::vector<std::vector<std::vector<Transform>>> keys;  // [clip][frame][bone]
    std::vector<std::vector<ModelAnimPose>> frames;
    std::vector<ModelAnimation> clips;
    std::vector<std::vector<float>> positions, normals;  // one per instance
    std::vector<Mesh> meshes;
    std::vector<Model> models;
    std::vector<Transform> poses;
    std::vector<Matrix> palettes;
    unsigned buffers[16] = {};
    Skinning skinning;
    float error = 0;  // of vertices, over the diagonal

    explicit RaylibCrowd(peer::Load&& given) : load(std::move(given)) {
        auto& model = load.model;
        size_t entries = model.palette_joints.size(), corners = model.influences, vertices = model.vertices();
        if (corners > 4 || entries > 256) throw peer::Refused("raylib skins with 4 influences of 256 bones at most");
        for (size_t e = 0; e < entries; e++) bind.push_back(transform(MatrixInvert(matrix(&model.inverse_binds[12 * e]))));
        bones.resize(entries, BoneInfo{"", -1});
        indices.resize(4 * vertices);
        weights.resize(4 * vertices);
        for (size_t v = 0; v < vertices; v++)
            for (size_t i = 0; i < corners; i++) {
                indices[4 * v + i] = (unsigned char)model.joints[v * corners + i];
                weights[4 * v + i] = model.weights[v * corners + i];
            }
        for (auto& clip : model.clips) {
            int count = std::max(1, int(std::lround(clip.duration * RATE)));
            keys.emplace_back();
            for (int frame = 0; frame < count; frame++) keys.back().push_back(pose(clip, float(frame) / RATE));
            frames.emplace_back();
            for (auto& key : keys.back()) frames.back().push_back(key.data());
        }
        for (auto& list : frames) {
            clips.push_back({"", int(entries), int(list.size()), list.data()});
        }
        size_t count = load.instances.size();
        positions.resize(count, std::vector<float>(3 * vertices));
        normals.resize(count, std::vector<float>(3 * vertices));
        poses.resize(count * entries);
        palettes.resize(count * entries);
        meshes.resize(count);
        models.resize(count);
        for (size_t i = 0; i < count; i++) {
            auto& mesh = meshes[i];
            mesh.vertexCount = int(vertices);
            mesh.vertices = model.positions.data();
            mesh.normals = model.normals.data();
            mesh.boneCount = int(entries);
            mesh.boneIndices = indices.data();
            mesh.boneWeights = weights.data();
            mesh.animVertices = positions[i].data();
            mesh.animNormals = normals[i].data();
            mesh.vboId = buffers;
            models[i].meshCount = 1;
            models[i].meshes = &mesh;
            models[i].skeleton = {int(entries), bones.data(), bind.data()};
            models[i].currentPose = &poses[i * entries];
            models[i].boneMatrices = &palettes[i * entries];
        }
        skinning.adopt(meshes);
        for (size_t c = 0; c < clips.size(); c++) error = std::max(error, error_between_keyframes(c));
    }

    void update(const Model& model, const ModelAnimation& clip, float frame) {
        UpdateModelAnimation(model, clip, frame);
        skinning.skin(model);
    }

    // Distance of vertices from their places half way between keyframes, where blending in model space strays most.
    float error_between_keyframes(size_t clip) {
        float worst = 0;
        for (int frame = 0; frame < clips[clip].keyframeCount; frame++) {
            auto exact = pose(load.model.clips[clip], (float(frame) + 0.5f) / RATE);
            ModelAnimPose key = exact.data();
            update(models[0], {"", int(exact.size()), 1, &key}, 0);
            auto wanted = positions[0];
            update(models[0], clips[clip], float(frame) + 0.5f);
            for (size_t v = 0; v < wanted.size(); v += 3) {
                Vector3 a{wanted[v], wanted[v + 1], wanted[v + 2]}, b{positions[0][v], positions[0][v + 1], positions[0][v + 2]};
                worst = std::max(worst, Vector3Distance(a, b) / load.model.diagonal);
            }
        }
        return worst;
    }

    // Transforms of the bones in model space, which raylib's importer computes for every keyframe.
    std::vector<Transform> pose(const peer::Clip& clip, float seconds) {
        auto& model = load.model;
        std::vector<float> local = model.rest;
        for (auto& track : clip.tracks) {
            size_t k = 0, last = track.times.size() - 1, after;
            while (k < last && seconds >= track.times[k + 1]) k++;
            after = std::min(k + 1, last);
            float gap = track.times[after] - track.times[k];
            float part = gap > 0 ? Clamp((seconds - track.times[k]) / gap, 0, 1) : 0;
            if (track.step) part = std::floor(part);
            bool turn = track.channel == "rotation";
            const float *a = &track.values[k * (turn ? 4 : 3)], *b = &track.values[after * (turn ? 4 : 3)];
            float* out = &local[10 * track.joint + (turn ? 0 : track.channel == "translation" ? 4 : 7)];
            if (turn) {
                auto q = QuaternionSlerp({a[0], a[1], a[2], a[3]}, {b[0], b[1], b[2], b[3]}, part);
                out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
            } else {
                for (int i = 0; i < 3; i++) out[i] = Lerp(a[i], b[i], part);
            }
        }
        std::vector<Matrix> posed;
        for (size_t j = 0; j < model.parents.size(); j++) {
            auto* l = &local[10 * j];
            auto own = matrix(Transform{{l[4], l[5], l[6]}, {l[0], l[1], l[2], l[3]}, {l[7], l[8], l[9]}});
            posed.push_back(model.parents[j] < 0 ? own : MatrixMultiply(own, posed[model.parents[j]]));
        }
        std::vector<Transform> out;
        for (auto joint : model.palette_joints) out.push_back(transform(posed[joint]));
        return out;
    }

    std::string loaded() const override {
        size_t entries = load.model.palette_joints.size(), clip_bytes = 0, vertices = load.model.vertices();
        for (auto& clip : frames) clip_bytes += clip.size() * entries * sizeof(Transform);
        auto field = [](const char* name, size_t bytes) { return "\"" + std::string(name) + "\":" + std::to_string(bytes); };
        // Other moments, normals and tracks that do not end on a keyframe stray a little more.
        auto stated = std::to_string(std::min(1.5f * error, 0.01f)), turned = std::to_string(std::min(5 * error, 0.01f));
        return R"({"device":")" + std::string(Skinning::DEVICE) + R"(","error":{"pose":0,"position":)" + stated + R"(,"normal":)" + turned + R"(},"memory":{)" +
               field("clips", clip_bytes) + "," + field("mesh", vertices * 44) + "," +
               field("palettes", palettes.size() * sizeof(Matrix)) + "," + field("scratch", poses.size() * sizeof(Transform)) +
               "," + field("output", meshes.size() * vertices * 24) + "}}";
    }

    void frame(uint32_t tick, peer::Clock& clock) override {
        clock.stage("pose_skin", [&] {
            for (size_t i = 0; i < models.size(); i++)
                update(models[i], clips[load.instances[i].clip], load.instances[i].seconds(tick) * RATE);
        });
    }

    std::vector<float> output(const std::string&) const override {
        std::vector<float> out;
        for (size_t i = 0; i < meshes.size(); i++)
            for (size_t v = 0; v < positions[i].size(); v += 3)
                for (auto* list : {&positions[i][v], &normals[i][v]}) out.insert(out.end(), list, list + 3);
        return out;
    }
};

}  // namespace

int main() {
    return peer::serve(R"({"protocol":1,"outputs":["vertices"],"attributes":["pn"],"normals":["raw"],"rotations":"slerp"})", true,
                       [](peer::Load&& load) { return new RaylibCrowd(std::move(load)); });
}
