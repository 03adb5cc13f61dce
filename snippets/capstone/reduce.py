"""The capstone's reduction in CUDA C++: the sum of a vector. Threads, then warps, then the block, then the blocks' sums."""
import torch

from snippets.capstone.cuda_build import NEEDS, call, where

REDUCE = r"""
// --8<-- [start:cuda]
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32;

__global__ void part_sums(const float* x, float* parts, int64_t n) {
  // [write] a grid-stride sum in each thread, exchanges in each warp, one number a warp in shared memory, and a barrier
  __shared__ float of_warp[WARPS];
  float total = 0;
  for (int64_t i = int64_t(blockIdx.x) * THREADS + threadIdx.x; i < n; i += int64_t(gridDim.x) * THREADS) total += x[i];
  for (int step = 16; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x < 32) {
    total = threadIdx.x < WARPS ? of_warp[threadIdx.x] : 0;
    for (int step = WARPS / 2; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
  }
  // [/write]
}

extern "C" int launch(const float* x, float* parts, float* out, int64_t n, int64_t blocks, cudaStream_t stream) {
  part_sums<<<blocks, THREADS, 0, stream>>>(x, parts, n);
  part_sums<<<1, THREADS, 0, stream>>>(parts, out, blocks);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


def total(x, blocks=512):
    parts, out = (torch.full((count,), torch.nan, device=x.device) for count in (blocks, 1))
    call(REDUCE, x, parts, out, x.numel(), blocks)
    return out[0]


if __name__ == "__main__":
    device, compiler = where()
    if compiler:
        x = torch.randn(100_003, device=device)
        print("off by rounding only:", torch.allclose(total(x).double(), x.double().sum(), atol=1e-2))
    else:
        print(NEEDS)
