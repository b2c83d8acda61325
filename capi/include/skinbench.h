/*
 * The skinning kernels of skinbench. README.md beside this folder shows how to use and to link them.
 *
 * - Matrices move column vectors. Lengths of arrays of floats count floats.
 * - Every function that can fail returns a SkinbenchStatus; skinbench_error_text then has one line on what was wrong.
 * - Objects do not change after they were made: any number of threads may use one at a time. Only functions that make
 *   an object, and those that fail, allocate.
 * - What a call writes must not overlap what it reads.
 * - Pointers to floats, integers and structures are aligned as C has them; data of a SkinbenchArray need not be.
 * - C99 or C++.
 */

#ifndef SKINBENCH_H
#define SKINBENCH_H

/* Generated from capi/src by cbindgen; a test compares them. */

#include <stddef.h>
#include <stdint.h>

// Type of numbers: float. Of weights alone.
#define SKINBENCH_F32 0

// Type of numbers: uint8_t. As a weight, 255 is 1.
#define SKINBENCH_U8 1

// Type of numbers: uint16_t. As a weight, 65535 is 1.
#define SKINBENCH_U16 2

// Form of a matrix: three rows of four floats.
#define SKINBENCH_ROWS 0

// Form of a matrix: four columns of four floats. The fourth float of each is not read.
#define SKINBENCH_COLUMNS 1

// Treatment of normals and tangents: normalised after they were moved by the 3x3 part of the matrix.
#define SKINBENCH_UNIT 0

// Treatment of normals and tangents: moved, and left with the length that they have then.
#define SKINBENCH_RAW 1

// Treatment of normals: moved by cofactors and normalised, right under uneven scale too; tangents as SKINBENCH_UNIT.
#define SKINBENCH_EXACT 2

// Attributes of clusters' output: position, 3 floats.
#define SKINBENCH_P 0

// Attributes of clusters' output: position and normal, 6 floats.
#define SKINBENCH_PN 1

// Attributes of clusters' output: position, normal, tangent and its handedness, 10 floats.
#define SKINBENCH_PNT 2

// Channel of a track: rotation, quaternion x y z w.
#define SKINBENCH_ROTATION 0

// Channel of a track: translation, x y z.
#define SKINBENCH_TRANSLATION 1

// Channel of a track: scale, x y z.
#define SKINBENCH_SCALE 2

// Interpolation of a track: the earlier key holds.
#define SKINBENCH_STEP 0

// Interpolation of a track: linear, for rotations along the arc between two keys.
#define SKINBENCH_LINEAR 1

// Interpolation of a track: cubic spline of glTF, with in-tangent, value and out-tangent for each key.
#define SKINBENCH_CUBIC 2

// Result of a call. A call that fails, but for SKINBENCH_STATUS_INTERNAL, leaves outputs as they were and sets new objects to
// null.
typedef enum {
  // The call succeeded; 0.
  SKINBENCH_STATUS_OK,
  // A pointer is null where the call would read or write.
  SKINBENCH_STATUS_NULL_POINTER,
  // A buffer is too short, or its stride less than what a vertex has there.
  SKINBENCH_STATUS_BUFFER,
  // A number or a list is not what the function accepts.
  SKINBENCH_STATUS_INVALID,
  // The library has a fault; please report it.
  SKINBENCH_STATUS_INTERNAL,
} SkinbenchStatus;

// An animation of a skeleton.
typedef struct SkinbenchClip SkinbenchClip;

// A copy of vertices, sorted so that many are skinned at a time: faster than a job.
typedef struct SkinbenchClusters SkinbenchClusters;

// Vertices that have been checked, to be skinned frame after frame, one vertex at a time.
typedef struct SkinbenchJob SkinbenchJob;

// Joints and their transforms at rest.
typedef struct SkinbenchSkeleton SkinbenchSkeleton;

// Numbers of vertices in memory of the caller, which need no alignment. Null data stand for an attribute that may be
// absent and is, or for the numbers of 0 vertices.
typedef struct {
  // Address of the first vertex.
  const void *data;
  // Bytes of the buffer from there on.
  size_t bytes;
  // Bytes from one vertex to the next.
  size_t stride;
} SkinbenchArray;

// Vertices before skinning.
typedef struct {
  // Number of vertices.
  size_t vertices;
  // Influences of each vertex, 1 to 256.
  size_t influences;
  // SKINBENCH_U8 or SKINBENCH_U16.
  uint32_t joint_type;
  // SKINBENCH_F32, SKINBENCH_U8 or SKINBENCH_U16.
  uint32_t weight_type;
  // Indices into the palette, one for each influence; also where the weight is 0.
  SkinbenchArray joints;
  // Weights, one for each influence; their sum should be 1.
  SkinbenchArray weights;
  // x y z, float.
  SkinbenchArray positions;
  // x y z, float. May be absent.
  SkinbenchArray normals;
  // x y z, float; for clusters, the handedness follows. May be absent.
  SkinbenchArray tangents;
} SkinbenchInput;

// Matrices that move vertices: model poses times inverse binds. One that is not finite also spoils vertices that name it
// with weight 0, and with clusters their neighbours.
typedef struct {
  // The matrices, one after the other.
  const float *matrices;
  // Number of matrices.
  size_t count;
  // SKINBENCH_ROWS or SKINBENCH_COLUMNS.
  uint32_t form;
} SkinbenchPalette;

// Places for numbers of vertices, as SkinbenchArray.
typedef struct {
  // Address of the first vertex.
  void *data;
  // Bytes of the buffer from there on.
  size_t bytes;
  // Bytes from one vertex to the next.
  size_t stride;
} SkinbenchOutputArray;

// Places for skinned vertices, x y z each. Attributes may lie between each other, and what else lies between them is left
// as it is; of places that overlap, the later one stays.
typedef struct {
  // Positions.
  SkinbenchOutputArray positions;
  // Normals. May be absent.
  SkinbenchOutputArray normals;
  // Tangents. May be absent.
  SkinbenchOutputArray tangents;
} SkinbenchOutput;

// Keys of a joint's channel.
typedef struct {
  // Joint, as the skeleton was given.
  uint32_t joint;
  // SKINBENCH_ROTATION, SKINBENCH_TRANSLATION or SKINBENCH_SCALE.
  uint32_t channel;
  // SKINBENCH_STEP, SKINBENCH_LINEAR or SKINBENCH_CUBIC.
  uint32_t interpolation;
  // Number of keys.
  size_t keys;
  // Seconds of each key, rising.
  const float *times;
  // Values of each key: 4 floats for a rotation, else 3, and three times as many for cubic splines.
  const float *values;
} SkinbenchTrack;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of the library: 65536 * major + 256 * minor + patch.
uint32_t skinbench_version(void);

// Returns one line about the last call of this thread that failed, for use after a failure: calls that succeed leave it as
// it is. The text stays valid until another call fails.
const char *skinbench_error_text(void);

// Makes a job. The buffers of `input` stay the caller's: until the job is freed, they must stay where they are and not
// change.
SkinbenchStatus skinbench_job_new(const SkinbenchInput *input,
                                  SkinbenchJob **job);

// Frees a job. Null is left alone.
void skinbench_job_free(SkinbenchJob *job);

// Skins `count` vertices of a job from vertex `first` on; `output` begins with that vertex. Several threads
// may skin parts of a job at a time. `normals` is SKINBENCH_UNIT, SKINBENCH_RAW or SKINBENCH_EXACT. Outputs must not
// overlap the input.
SkinbenchStatus skinbench_job_run(const SkinbenchJob *job,
                                  const SkinbenchPalette *palette,
                                  uint32_t normals,
                                  size_t first,
                                  size_t count,
                                  const SkinbenchOutput *output);

// Makes clusters. They copy what they need: the buffers of `input` may change or go afterwards.
SkinbenchStatus skinbench_clusters_new(const SkinbenchInput *input, SkinbenchClusters **clusters);

// Frees clusters. Null is left alone.
void skinbench_clusters_free(SkinbenchClusters *clusters);

// Skins all vertices, one after the other in the order of the input. `attributes` is SKINBENCH_P, SKINBENCH_PN or
// SKINBENCH_PNT, and `length` the number of floats at `vertices`. Attributes that the input lacks become 0. The palette
// has the form SKINBENCH_ROWS; skinbench_rows_of_columns makes it of SKINBENCH_COLUMNS. Threads that share a character
// have clusters of a part of its vertices each.
SkinbenchStatus skinbench_clusters_run(const SkinbenchClusters *clusters,
                                       const SkinbenchPalette *palette,
                                       uint32_t normals,
                                       uint32_t attributes,
                                       float *vertices,
                                       size_t length);

// Turns `count` matrices of four columns into matrices of three rows: 16 floats each into 12.
SkinbenchStatus skinbench_rows_of_columns(const float *columns, size_t count, float *rows);

// Makes a skeleton of `joints` joints in any order. `parents` has the parent of each, or -1; `rest` 10 floats for each:
// rotation x y z w, translation x y z, scale x y z, relative to the parent.
SkinbenchStatus skinbench_skeleton_new(size_t joints,
                                       const int32_t *parents,
                                       const float *rest,
                                       SkinbenchSkeleton **skeleton);

// Frees a skeleton. Null is left alone.
void skinbench_skeleton_free(SkinbenchSkeleton *skeleton);

// Writes the index in poses of each joint as it was given: poses have parents before children.
SkinbenchStatus skinbench_skeleton_indices(const SkinbenchSkeleton *skeleton,
                                           uint16_t *indices,
                                           size_t length);

// Makes a clip for a skeleton. `seconds` is the length of its loop; if negative, that of its last key. The tracks are
// copied.
SkinbenchStatus skinbench_clip_new(const SkinbenchSkeleton *skeleton,
                                   float seconds,
                                   const SkinbenchTrack *tracks,
                                   size_t count,
                                   SkinbenchClip **clip);

// Frees a clip. Null is left alone.
void skinbench_clip_free(SkinbenchClip *clip);

// Samples a clip, or without one the rest pose, at a time in seconds, which is clamped to the keys. `local` takes 10 floats
// for each joint, in the order of poses; `length` is the number of floats there.
SkinbenchStatus skinbench_sample(const SkinbenchSkeleton *skeleton,
                                 const SkinbenchClip *clip,
                                 float seconds,
                                 float *local,
                                 size_t length);

// Turns a local pose into a model pose: 10 floats for each joint into three rows of four. Lengths are numbers of floats.
SkinbenchStatus skinbench_local_to_model(const SkinbenchSkeleton *skeleton,
                                         const float *local,
                                         size_t local_length,
                                         float *model,
                                         size_t model_length);

// Multiplies poses by inverse binds: `entries` matrices for skinning, three rows of four each. `joints` has the index in
// the model pose of each, `inverse_binds` three rows of four. `poses` is the number of joints of `model`.
SkinbenchStatus skinbench_palette(const float *model,
                                  size_t poses,
                                  const uint16_t *joints,
                                  const float *inverse_binds,
                                  size_t entries,
                                  float *palette);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SKINBENCH_H */
