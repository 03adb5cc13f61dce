"""The capstone's vector addition in CUDA C++: a grid-stride loop, so that a grid of any size adds vectors of any length."""
import torch

from snippets.capstone.cuda_build import NEEDS, call, where

ADD = r"""
// --8<-- [start:cuda]
#include <cstdint>

__global__ void add(const float* x, const float* y, float* out, int64_t n) {
  // [write] this thread's first element, a step as wide as the whole grid, and a loop of additions between them
  const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = first; i < n; i += step) out[i] = x[i] + y[i];
  // [/write]
}

extern "C" int launch(const float* x, const float* y, float* out, int64_t n, int64_t blocks, cudaStream_t stream) {
  add<<<blocks, 256, 0, stream>>>(x, y, out, n);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


def add(x, y, blocks=512):
    out = torch.full_like(x, torch.nan)
    call(ADD, x, y, out, x.numel(), blocks)
    return out


if __name__ == "__main__":
    device, compiler = where()
    if compiler:
        x, y = torch.randn(2, 100_003, device=device)
        print("the sum is PyTorch's:", torch.equal(add(x, y), x + y))
    else:
        print(NEEDS)
