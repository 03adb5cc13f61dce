// What the plain CUDA C++ of the chapters needs beyond cuda_emulator.h: static shared memory, which is NaN as a block begins,
// vectors, shuffles, and the copies of cuda_pipeline.h, which arrive as late as they may and leave NaN until then.
#pragma once
#include "cuda_emulator.h"

#undef __shared__
#define __shared__ __attribute__((section("shared"))) static

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float2 __bfloat1622float2(__nv_bfloat162 pair) { return {wide(pair.x.bits), wide(pair.y.bits)}; }
inline float __bfloat162float(__nv_bfloat16 value) { return wide(value.bits); }
inline float __expf(float x) { return std::exp(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

static Index gridDim, blockDim;
static float given[1024], taken[1024];

inline float __shfl_xor_sync(unsigned, float value, int step) {
  const int me = threadIdx.x, first = me / 32 * 32;
  given[me] = value;
  meet(warps[first / 32], 32, [=] {
    for (int lane = 0; lane < 32; ++lane) taken[first + lane] = given[first + (lane ^ step)];
  });
  return taken[me];
}

struct Late {
  void* to;
  const void* from;
};
static std::vector<Late> open_copies[1024];
static std::deque<std::vector<Late>> late_groups[1024];

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes) {
  if (bytes != 16) fault("a copy that is not of 16 bytes");
  std::memset(to, 0xff, 16);
  open_copies[threadIdx.x].push_back({to, from});
}
inline void __pipeline_commit() {
  late_groups[threadIdx.x].push_back(std::move(open_copies[threadIdx.x]));
  open_copies[threadIdx.x].clear();
}
inline void __pipeline_wait_prior(size_t newest) {
  for (auto& groups = late_groups[threadIdx.x]; groups.size() > newest; groups.pop_front())
    for (const Late& copy : groups.front()) std::memcpy(copy.to, copy.from, 16);
}

inline void threads_launch(int64_t blocks, int count, uint32_t bytes, const std::function<void()>& kernel) {
  gridDim.x = int(blocks), blockDim.x = count;
  for (auto& groups : late_groups) groups.clear();
  for (auto& copies : open_copies) copies.clear();
  emulated_launch(blocks, count, bytes, kernel);
}
