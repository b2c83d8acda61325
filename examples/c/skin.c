/* Poses and skins a mast of two joints by a job and by clusters, from interleaved vertices with bytes as joints and
 * weights, and compares every vertex with a loop in double precision. capi/README.md says how to build this. */
#include "skinbench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 45, JOINTS = 2 };

/* A vertex as an engine keeps it. */
typedef struct {
    float position[3];
    float normal[3];
    uint8_t joints[4];
    uint8_t weights[4];
} Vertex;

static void check(SkinbenchStatus status) {
    if (status != SKINBENCH_STATUS_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, skinbench_error_text());
        exit(1);
    }
}

/* A function refuses what it must not take, and says why. */
static void expect(SkinbenchStatus status, SkinbenchStatus wanted) {
    if (status != wanted || strlen(skinbench_error_text()) == 0) {
        fprintf(stderr, "status %d instead of %d: %s\n", (int)status, (int)wanted, skinbench_error_text());
        exit(1);
    }
}

/* Largest difference of skinned vertices from sum w * M * v, computed here. */
static double difference(const Vertex *vertices, float palette[JOINTS][12], const float *skinned) {
    double worst = 0;
    for (int v = 0; v < VERTICES; v++) {
        const Vertex *vertex = &vertices[v];
        double sum[6] = {0};
        for (int i = 0; i < 4; i++) {
            const float *m = palette[vertex->joints[i]];
            for (int row = 0; row < 3; row++)
                for (int c = 0; c < 4; c++) {
                    double element = vertex->weights[i] / 255.0 * m[4 * row + c];
                    sum[row] += element * (c < 3 ? vertex->position[c] : 1.0);
                    sum[3 + row] += c < 3 ? element * vertex->normal[c] : 0.0;
                }
        }
        double length = sqrt(sum[3] * sum[3] + sum[4] * sum[4] + sum[5] * sum[5]);
        for (int c = 0; c < 6; c++) {
            double error = fabs(skinned[6 * v + c] - (c < 3 ? sum[c] : sum[c] / length));
            /* Written so that NaN is larger than everything. */
            if (!(error <= worst)) worst = error;
        }
    }
    return worst;
}

int main(void) {
    /* A mast of two joints, one metre apart, whose upper half bends by a right angle within a second. */
    const int32_t parents[JOINTS] = {-1, 0};
    const float rest[JOINTS][10] = {{0, 0, 0, 1, 0, 0, 0, 1, 1, 1}, {0, 0, 0, 1, 0, 1, 0, 1, 1, 1}};
    const float inverse_binds[JOINTS][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0}};
    const float times[2] = {0, 1};
    const float turns[2][4] = {{0, 0, 0, 1}, {0, 0, 0.70710678f, 0.70710678f}};
    SkinbenchTrack track = {1, SKINBENCH_ROTATION, SKINBENCH_LINEAR, 2, times, turns[0]};
    SkinbenchSkeleton *skeleton;
    SkinbenchClip *clip;
    uint16_t joints[JOINTS];
    check(skinbench_skeleton_new(JOINTS, parents, rest[0], &skeleton));
    check(skinbench_skeleton_indices(skeleton, joints, JOINTS));
    check(skinbench_clip_new(skeleton, -1, &track, 1, &clip));

    Vertex vertices[VERTICES];
    for (int v = 0; v < VERTICES; v++) {
        float height = 2.0f * (float)v / (VERTICES - 1), angle = (float)v;
        int upper = (int)(255 * height / 2);
        vertices[v] = (Vertex){{0.2f * cosf(angle), height, 0.2f * sinf(angle)},
                               {cosf(angle), 0, sinf(angle)},
                               {0, 1, 0, 0},
                               {(uint8_t)(255 - upper), (uint8_t)upper, 0, 0}};
    }
    SkinbenchInput input = {VERTICES, 4, SKINBENCH_U8, SKINBENCH_U8,
                            {vertices[0].joints, sizeof vertices - offsetof(Vertex, joints), sizeof(Vertex)},
                            {vertices[0].weights, sizeof vertices - offsetof(Vertex, weights), sizeof(Vertex)},
                            {vertices[0].position, sizeof vertices, sizeof(Vertex)},
                            {vertices[0].normal, sizeof vertices - offsetof(Vertex, normal), sizeof(Vertex)},
                            {NULL, 0, 0}};
    SkinbenchJob *job;
    SkinbenchClusters *clusters;
    check(skinbench_job_new(&input, &job));
    check(skinbench_clusters_new(&input, &clusters));

    /* A frame: nothing below allocates. */
    float local[JOINTS][10], model[JOINTS][12], matrices[JOINTS][12], skinned[VERTICES][6];
    check(skinbench_sample(skeleton, clip, 0.75f, local[0], 10 * JOINTS));
    check(skinbench_local_to_model(skeleton, local[0], 10 * JOINTS, model[0], 12 * JOINTS));
    check(skinbench_palette(model[0], JOINTS, joints, inverse_binds[0], JOINTS, matrices[0]));
    SkinbenchPalette palette = {matrices[0], JOINTS, SKINBENCH_ROWS};
    SkinbenchOutput output = {{skinned, sizeof skinned, sizeof skinned[0]},
                              {skinned[0] + 3, sizeof skinned - 3 * sizeof(float), sizeof skinned[0]},
                              {NULL, 0, 0}};
    /* Two parts, as two threads would take them. */
    SkinbenchOutput rest_of_output = {{skinned[20], sizeof skinned - sizeof *skinned * 20, sizeof skinned[0]},
                                      {skinned[20] + 3, sizeof skinned - sizeof *skinned * 20 - 3 * sizeof(float), sizeof skinned[0]},
                                      {NULL, 0, 0}};
    check(skinbench_job_run(job, &palette, SKINBENCH_UNIT, 0, 20, &output));
    check(skinbench_job_run(job, &palette, SKINBENCH_UNIT, 20, VERTICES - 20, &rest_of_output));
    double of_job = difference(vertices, matrices, skinned[0]);
    memset(skinned, 0xff, sizeof skinned);
    check(skinbench_clusters_run(clusters, &palette, SKINBENCH_UNIT, SKINBENCH_PN, skinned[0], 6 * VERTICES));
    double of_clusters = difference(vertices, matrices, skinned[0]);

    /* Three quarters of the bend: the tip is on an arc around the upper joint. */
    double angle = 0.75 * acos(-1.0) / 2, tip[2] = {-sin(angle), 1 + cos(angle)};
    const float *top = matrices[1];
    double bend = fabs(top[1] * 2 + top[3] - tip[0]) + fabs(top[5] * 2 + top[7] - tip[1]);

    /* What is wrong gets a code and a text, and changes nothing. */
    SkinbenchJob *none = job;
    input.positions.bytes -= 1;
    expect(skinbench_job_new(&input, NULL), SKINBENCH_STATUS_NULL_POINTER);
    expect(skinbench_job_new(NULL, &none), SKINBENCH_STATUS_NULL_POINTER);
    if (none != NULL) return 1;
    input.positions.bytes = sizeof(Vertex);
    expect(skinbench_job_new(&input, &none), SKINBENCH_STATUS_BUFFER);
    input.joint_type = 9;
    expect(skinbench_job_new(&input, &none), SKINBENCH_STATUS_INVALID);
    expect(skinbench_job_run(job, &palette, SKINBENCH_UNIT, 1, VERTICES, &output), SKINBENCH_STATUS_INVALID);
    expect(skinbench_clusters_run(clusters, &palette, SKINBENCH_UNIT, SKINBENCH_PN, skinned[0], 6), SKINBENCH_STATUS_BUFFER);
    palette.count = 1;
    expect(skinbench_job_run(job, &palette, SKINBENCH_UNIT, 0, VERTICES, &output), SKINBENCH_STATUS_BUFFER);
    expect(skinbench_clusters_run(clusters, &palette, SKINBENCH_UNIT, SKINBENCH_PN, skinned[0], 6 * VERTICES), SKINBENCH_STATUS_BUFFER);
    expect(skinbench_sample(skeleton, clip, 0, local[0], 10), SKINBENCH_STATUS_BUFFER);
    expect(skinbench_sample(NULL, clip, 0, local[0], 20), SKINBENCH_STATUS_NULL_POINTER);
    track.joint = JOINTS;
    SkinbenchClip *no_clip = clip;
    expect(skinbench_clip_new(skeleton, -1, &track, 1, &no_clip), SKINBENCH_STATUS_INVALID);
    joints[0] = JOINTS;
    expect(skinbench_palette(model[0], JOINTS, joints, inverse_binds[0], JOINTS, matrices[0]), SKINBENCH_STATUS_INVALID);

    skinbench_clusters_free(clusters);
    skinbench_job_free(job);
    skinbench_clip_free(clip);
    skinbench_skeleton_free(skeleton);
    printf("version %u; off by %.1e by the job, %.1e by clusters, %.1e in the bend\n", (unsigned)skinbench_version(),
           of_job, of_clusters, bend);
    return of_job < 1e-6 && of_clusters < 1e-6 && bend < 1e-6 ? 0 : 1;
}
