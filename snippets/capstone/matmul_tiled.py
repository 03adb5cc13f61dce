"""The capstone's second product in CUDA C++: a block has a tile of c, and what it loads is used many times."""
import torch

from snippets.capstone.cuda_build import NEEDS, call, where

TILED = r"""
// --8<-- [start:cuda]
#include <cstdint>

constexpr int TILE = 64, DEEP = 16, THREADS = 256;

__global__ void __launch_bounds__(THREADS) tiled(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  __shared__ float slice_a[DEEP][TILE + 1], slice_b[DEEP][TILE];  // a's lies turned; one more, so that banks differ
  const int64_t across = (N + TILE - 1) / TILE;
  const int64_t row = blockIdx.x / across * TILE, column = blockIdx.x % across * TILE;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;  // this thread has rows y + 16 i and columns x + 16 j of the tile
  float sums[4][4] = {};
  for (int64_t k = 0; k < K; k += DEEP) {
    // [write] fill both slices together, zeros outside; wait; add 16 products a step of DEEP; wait before the next filling
    for (int i = threadIdx.x; i < TILE * DEEP; i += THREADS) {
      const int64_t m = row + i / DEEP, of_a = k + i % DEEP, of_b = k + i / TILE, n = column + i % TILE;
      slice_a[i % DEEP][i / DEEP] = m < M && of_a < K ? a[m * K + of_a] : 0;
      slice_b[i / TILE][i % TILE] = of_b < K && n < N ? b[of_b * N + n] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEEP; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += slice_a[d][y + 16 * i] * slice_b[d][x + 16 * j];
    __syncthreads();
    // [/write]
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int64_t m = row + y + 16 * i, n = column + x + 16 * j;
      if (m < M && n < N) c[m * N + n] = sums[i][j];
    }
}

extern "C" int launch(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  tiled<<<(M + TILE - 1) / TILE * ((N + TILE - 1) / TILE), THREADS, 0, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


def tiled_product(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.full((M, N), torch.nan, device=a.device)
    call(TILED, a, b, c, M, N, K)
    return c


if __name__ == "__main__":
    device, compiler = where()
    if compiler:
        a, b = torch.randn(70, 33, device=device), torch.randn(33, 150, device=device)
        print("off by rounding only:", torch.allclose(tiled_product(a, b).double(), a.double() @ b.double(), atol=1e-4))
    else:
        print(NEEDS)
