"""The capstone's first product in CUDA C++: one thread an element of c, and every number comes from memory."""
import torch

from snippets.capstone.cuda_build import NEEDS, call, where

NAIVE = r"""
// --8<-- [start:cuda]
#include <cstdint>

__global__ void naive(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  // This block has a square of 16 by 16 elements of c.
  const int64_t across = (N + 15) / 16;
  const int64_t row = blockIdx.x / across * 16 + threadIdx.x / 16, column = blockIdx.x % across * 16 + threadIdx.x % 16;
  // [write] leave threads outside of c, add up a's row times b's column, and store the sum
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int64_t k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + column];
  c[row * N + column] = sum;
  // [/write]
}

extern "C" int launch(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  naive<<<(M + 15) / 16 * ((N + 15) / 16), 256, 0, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


def naive_product(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.full((M, N), torch.nan, device=a.device)
    call(NAIVE, a, b, c, M, N, K)
    return c


if __name__ == "__main__":
    device, compiler = where()
    if compiler:
        a, b = torch.randn(70, 33, device=device), torch.randn(33, 50, device=device)
        print("off by rounding only:", torch.allclose(naive_product(a, b).double(), a.double() @ b.double(), atol=1e-4))
    else:
        print(NEEDS)
