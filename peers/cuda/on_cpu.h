// The parts of CUDA that main.cu uses, for a C++ compiler: kernels run as loops, device memory is the heap, and events are
// times of the host's clock. So the arithmetic of the kernels is verified where there is no nvcc and no device.
#pragma once
#include <chrono>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __restrict__
#define __launch_bounds__(threads)

struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 blockIdx(0), threadIdx(0), blockDim(1);

// Calls a kernel once for every thread of every block.
template <class... Parameters, class... Arguments>
void launch(dim3 blocks, unsigned threads, void (*kernel)(Parameters...), Arguments... arguments) {
    blockDim = dim3(threads);
    for (blockIdx.y = 0; blockIdx.y < blocks.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < blocks.x; blockIdx.x++)
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) kernel(arguments...);
}

using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline const char* cudaGetErrorString(cudaError_t) { return "out of memory"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
template <class T>
cudaError_t cudaMalloc(T** out, size_t bytes) {
    *out = static_cast<T*>(std::malloc(bytes));
    return *out ? cudaSuccess : 1;
}
inline cudaError_t cudaFree(void* memory) {
    std::free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

using cudaEvent_t = std::chrono::steady_clock::time_point*;
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = new std::chrono::steady_clock::time_point;
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event) {
    *event = std::chrono::steady_clock::now();
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    *milliseconds = std::chrono::duration<float, std::milli>(*end - *start).count();
    return cudaSuccess;
}

struct cudaDeviceProp { char name[256]; };
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
    std::strcpy(out->name, "kernels as loops on the processor");
    return cudaSuccess;
}
