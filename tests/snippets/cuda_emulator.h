// Runs one CUDA C++ kernel on a CPU, thread by thread: what the instructions do is written down after the PTX ISA.
//
// Every thread of a block is a coroutine. Those of a warp wait for each other at its collective instructions, those of a
// block at its barrier. An asynchronous copy arrives as late as it may, when it is waited for, and until then its place
// holds NaN: what reads too early, or overwrites too early, comes out as NaN. Bad addresses end the program. A launch whose
// threads wait for others that never come is given up: cudaGetLastError has a status of it, and cuda_said() has words.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __shared__
#define __align__(n)
#define __launch_bounds__(...)

using cudaError_t = int;
using cudaStream_t = void*;
constexpr int cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorLaunchFailure = 719;
constexpr int cudaFuncAttributeMaxDynamicSharedMemorySize = 8;
constexpr int SHARED_LIMIT = 232448;  // bytes a block may have, sm_90
constexpr int warpSize = 32;

struct __nv_bfloat16 {
  uint16_t bits;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline float wide(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}
inline uint16_t narrow(float value) {  // to nearest, ties to even
  uint32_t word;
  std::memcpy(&word, &value, 4);
  if (std::isnan(value)) return 0x7fff;
  return uint16_t((word + 0x7fff + ((word >> 16) & 1)) >> 16);
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {{narrow(x)}, {narrow(y)}}; }
inline int min(int a, int b) { return a < b ? a : b; }

alignas(128) __nv_bfloat16 slices[SHARED_LIMIT / 2];
// The ends of the section in which cuda_threads.h puts static shared memory, where there is some.
extern "C" char __start_shared[] __attribute__((weak)), __stop_shared[] __attribute__((weak));
inline size_t __cvta_generic_to_shared(const void* place) {
  return size_t(static_cast<const char*>(place) - reinterpret_cast<const char*>(slices));
}
inline char* shared_at(uint32_t address) { return reinterpret_cast<char*>(slices) + address; }

struct Index {
  int x;
} threadIdx, blockIdx;

[[noreturn]] inline void fault(const char* what) {
  std::fprintf(stderr, "block %d, thread %d: %s\n", blockIdx.x, threadIdx.x, what);
  std::exit(1);
}

// Threads

struct Copy {
  uint32_t to;
  const void* from;
  int bytes;
};
struct Lane {  // what a thread brings to a collective instruction, and takes from it
  uint32_t address;
  uint32_t *to, a[4], b[2];
  float* c;
};
struct Meeting {
  int arrived = 0, turn = 0;
};
struct Thread {
  ucontext_t context;
  std::vector<char> stack;
  bool ended = false;
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;
};

static std::vector<Thread> threads;
static std::vector<Meeting> warps;
static std::vector<Lane> lanes;
static Meeting block;
static ucontext_t scheduler;
static const std::function<void()>* body;
static uint32_t shared_bytes;
static long conflicts = 0, arrivals = 0;
static char given_up[200];  // what is wrong with a launch that was given up
static std::vector<std::pair<const char*, const char*>> readable;

inline void pass() { swapcontext(&threads[threadIdx.x].context, &scheduler); }

// Waits until `all` threads are here; the last one does the work for all of them.
template <class Work>
void meet(Meeting& here, int all, Work work) {
  const int turn = here.turn, me = threadIdx.x;
  ++arrivals;
  if (++here.arrived == all) {
    work();
    here.arrived = 0;
    ++here.turn;
  }
  while (here.turn == turn) {
    pass();
    threadIdx.x = me;
  }
}
inline void __syncthreads() {
  meet(block, int(threads.size()), [] {});
}

static void enter() {
  (*body)();
  threads[threadIdx.x].ended = true;
  pass();
}

// Says who waits. A warp's exchange comes first: threads at the barrier may wait for that warp.
inline void give_up() {
  const char* never = "which the others never reach";
  for (size_t i = 0; i < warps.size(); ++i)
    if (warps[i].arrived) {
      const char* words = "block %d, warp %d: %d of 32 threads wait at an exchange between the threads of a warp, %s";
      std::snprintf(given_up, sizeof given_up, words, blockIdx.x, int(i), warps[i].arrived, never);
      return;
    }
  const char* words = "block %d: %d of %d threads wait at a barrier, %s";
  std::snprintf(given_up, sizeof given_up, words, blockIdx.x, block.arrived, int(threads.size()), never);
}

inline void run_block(int number) {
  const size_t count = threads.size();
  blockIdx.x = number;
  std::memset(slices, 0xff, sizeof slices);  // NaN
  if (__start_shared) std::memset(__start_shared, 0xff, __stop_shared - __start_shared);
  for (Thread& thread : threads) {
    thread.ended = false;
    thread.open.clear();
    thread.groups.clear();
    thread.stack.resize(1 << 16);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = thread.stack.size();
    thread.context.uc_link = &scheduler;
    makecontext(&thread.context, enter, 0);
  }
  for (size_t ended = 0; ended < count;) {
    const size_t ended_before = ended;
    const long arrivals_before = arrivals;
    ended = 0;
    for (size_t i = 0; i < count; ++i) {
      threadIdx.x = int(i);
      if (!threads[i].ended) swapcontext(&scheduler, &threads[i].context);
      ended += threads[i].ended;
    }
    if (ended == ended_before && arrivals == arrivals_before) return give_up();  // nobody advanced
  }
}

inline void emulated_launch(int64_t blocks, int count, uint32_t bytes, const std::function<void()>& kernel) {
  shared_bytes = bytes;
  body = &kernel;
  threads = std::vector<Thread>(count);
  warps = std::vector<Meeting>(count / 32);
  lanes = std::vector<Lane>(count);
  block = {};
  for (int64_t number = 0; number < blocks && !*given_up; ++number) run_block(int(number));
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, int, int bytes) {
  return bytes > SHARED_LIMIT ? cudaErrorInvalidValue : cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return *given_up ? cudaErrorLaunchFailure : cudaSuccess; }
extern "C" const char* cuda_said() {  // the words, once: the next launch begins anew
  static char words[sizeof given_up];
  std::memcpy(words, given_up, sizeof words);
  *given_up = 0;
  return words;
}

// Instructions

inline void cp_async(uint32_t to, const void* from, int bytes) {
  if (to % 16 || to + 16 > shared_bytes) fault("a copy to a bad place in shared memory");
  if (bytes) {
    bool good = reinterpret_cast<uintptr_t>(from) % 16 == 0, found = false;
    for (auto [first, last] : readable) found |= from >= first && static_cast<const char*>(from) + 16 <= last;
    if (!good || !found) fault("a copy from a bad place in global memory");
  }
  std::memset(shared_at(to), 0xff, 16);
  threads[threadIdx.x].open.push_back({to, from, bytes});
}
inline void cp_async_commit_group() {
  Thread& thread = threads[threadIdx.x];
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}
inline void cp_async_wait_group(size_t newest) {
  Thread& thread = threads[threadIdx.x];
  for (; thread.groups.size() > newest; thread.groups.pop_front())
    for (const Copy& copy : thread.groups.front()) {
      std::memset(shared_at(copy.to), 0, 16);
      std::memcpy(shared_at(copy.to), copy.from, copy.bytes);
    }
}

// ldmatrix .m8n8.x4 .b16: lane 8 i + r names row r of piece i; lane l receives, of each piece, elements 2 (l % 4) and the
// next of row l / 4. With .trans it receives those of column l / 4.
inline void ldmatrix(uint32_t* to, uint32_t address, bool transposed) {
  const int first = threadIdx.x / 32 * 32;
  if (address % 16 || address + 16 > shared_bytes) fault("a row read from a bad place in shared memory");
  lanes[threadIdx.x].to = to;
  lanes[threadIdx.x].address = address;
  meet(warps[first / 32], 32, [=] {
    for (int piece = 0; piece < 4; ++piece) {
      unsigned banks = 0;  // eight rows of 16 bytes fill the 32 banks once where nothing collides
      for (int r = 0; r < 8; ++r) banks |= 1u << (lanes[first + 8 * piece + r].address / 16 % 8);
      conflicts += banks != 0xff;
      auto element = [&](int r, int c) {
        uint16_t bits;
        std::memcpy(&bits, shared_at(lanes[first + 8 * piece + r].address + 2 * c), 2);
        return uint32_t(bits);
      };
      for (int l = 0; l < 32; ++l) {
        const int r = l / 4, c = l % 4 * 2;
        const uint32_t low = transposed ? element(c, r) : element(r, c), high = transposed ? element(c + 1, r) : element(r, c + 1);
        lanes[first + l].to[piece] = low | high << 16;
      }
    }
  });
}

// mma .m16n8k16 .row.col .f32.bf16.bf16.f32, with g = l / 4 and t = 2 (l % 4): lane l holds of a rows g and g + 8 at columns
// t, t + 1 (registers 0 and 1) and t + 8, t + 9 (2 and 3); of b column g at rows t, t + 1 (0) and t + 8, t + 9 (1); of c row g
// at columns t, t + 1 (0 and 1) and row g + 8 at the same (2 and 3).
inline void mma(float* c, const uint32_t* a, uint32_t b0, uint32_t b1) {
  const int first = threadIdx.x / 32 * 32;
  Lane& mine = lanes[threadIdx.x];
  std::memcpy(mine.a, a, sizeof mine.a);
  mine.b[0] = b0, mine.b[1] = b1, mine.c = c;
  meet(warps[first / 32], 32, [=] {
    float left[16][16], right[16][8];
    for (int l = 0; l < 32; ++l) {
      const Lane& lane = lanes[first + l];
      const int g = l / 4, t = l % 4 * 2;
      for (int half = 0; half < 2; ++half) {
        for (int i = 0; i < 4; ++i) left[g + i % 2 * 8][t + i / 2 * 8 + half] = wide(uint16_t(lane.a[i] >> 16 * half));
        for (int i = 0; i < 2; ++i) right[t + i * 8 + half][g] = wide(uint16_t(lane.b[i] >> 16 * half));
      }
    }
    for (int l = 0; l < 32; ++l)
      for (int i = 0; i < 4; ++i) {
        const int row = l / 4 + i / 2 * 8, column = l % 4 * 2 + i % 2;
        for (int k = 0; k < 16; ++k) lanes[first + l].c[i] += left[row][k] * right[k][column];
      }
  });
}

extern "C" int emulated(const void* a, const void* b, void* c, int64_t M, int64_t N, int64_t K, long* found);
