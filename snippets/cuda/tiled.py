"""A float32 product in tiles through shared memory, in CUDA C++ and with `tl.dot` in Triton: lines, builds, times of one run."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build


# --8<-- [start:pytorch]
def pytorch_product(a, b):
    return a @ b
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def beside_tiled_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    # This program computes a tile of c.
    rows = tl.program_id(1).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    inner = tl.arange(0, BLOCK_K)
    a_ptrs, b_ptrs = a_ptr + rows * K + inner[None, :], b_ptr + inner[:, None] * N + columns
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        a, b = tl.load(a_ptrs, mask=rows < M, other=0.0), tl.load(b_ptrs, mask=columns < N, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")  # float32, so no tensor core
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))


TILE = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 16, "num_warps": 8, "num_stages": 3}


def triton_tiled(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device)
    beside_tiled_kernel[(triton.cdiv(N, 128), triton.cdiv(M, 128))](a, b, c, M, N, K, **TILE)
    return c
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>

constexpr int TILE = 128, DEEP = 16;  // a block's tile of c, and the terms of one step
constexpr int THREADS = 256;  // each with 8 x 8 sums

__global__ void __launch_bounds__(THREADS, 2) tiled(const float* a, const float* b, float* c, int64_t N, int64_t K) {
  __shared__ float slice_a[2][DEEP][TILE + 4], slice_b[2][DEEP][TILE];  // one in use, one being filled; a's lies turned
  const int64_t row = blockIdx.x / (N / TILE) * TILE, column = blockIdx.x % (N / TILE) * TILE;
  const int thread = threadIdx.x, x = thread % 16 * 4, y = thread / 16 * 4;
  // What this thread fetches of each slice: two pieces of four numbers of a, and two of b.
  const float* from_a = a + (row + thread / 4) * K + thread % 4 * 4;
  const float* from_b = b + thread / 32 * N + column + thread % 32 * 4;
  float4 next_a[2], next_b[2];
  auto fetch = [&] {
    for (int i = 0; i < 2; ++i) {
      next_a[i] = *reinterpret_cast<const float4*>(from_a + i * 64 * K);
      next_b[i] = *reinterpret_cast<const float4*>(from_b + i * 8 * N);
    }
    from_a += DEEP;
    from_b += DEEP * N;
  };
  auto put = [&](int where) {
    for (int i = 0; i < 2; ++i) {
      const int at = thread % 4 * 4, r = thread / 4 + i * 64;
      slice_a[where][at][r] = next_a[i].x, slice_a[where][at + 1][r] = next_a[i].y;
      slice_a[where][at + 2][r] = next_a[i].z, slice_a[where][at + 3][r] = next_a[i].w;
      *reinterpret_cast<float4*>(&slice_b[where][thread / 32 + i * 8][thread % 32 * 4]) = next_b[i];
    }
  };
  float total[8][8] = {};
  fetch();
  put(0);
  __syncthreads();
  for (int64_t step = 0; step < K / DEEP; ++step) {
    const int now = step % 2;
    if (step + 1 < K / DEEP) fetch();  // on its way while this slice is multiplied
#pragma unroll
    for (int k = 0; k < DEEP; ++k) {
      float of_a[8], of_b[8];
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(of_a + half * 4) = *reinterpret_cast<const float4*>(&slice_a[now][k][y + half * 64]);
        *reinterpret_cast<float4*>(of_b + half * 4) = *reinterpret_cast<const float4*>(&slice_b[now][k][x + half * 64]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) total[i][j] += of_a[i] * of_b[j];
    }
    if (step + 1 < K / DEEP) put(1 - now);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float(&sums)[8] = total[i];
      float* to = c + (row + y + i / 4 * 64 + i % 4) * N + column + x + half * 64;
      *reinterpret_cast<float4*>(to) = make_float4(sums[half * 4], sums[half * 4 + 1], sums[half * 4 + 2], sums[half * 4 + 3]);
    }
}

extern "C" int launch(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  if (M % TILE || N % TILE || K % DEEP || K == 0) return cudaErrorInvalidValue;
  tiled<<<M / TILE * (N / TILE), THREADS, 0, stream>>>(a, b, c, N, K);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
a, b = torch.randn(150, 64, device=device), torch.randn(64, 200, device=device)
print("off by rounding only:", torch.allclose(triton_tiled(a, b), pytorch_product(a, b), atol=1e-4))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_tiled(library, a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device)
    call(library.launch, a, b, c, M, N, K)
    return c


lines = {"eager": code_lines(pytorch_product), "cuda": code_lines(CUDA)}
lines |= {"triton": code_lines(beside_tiled_kernel, triton_tiled) + 1}  # and the line of sizes
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    figures["triton"] = triton_build(beside_tiled_kernel, a, b, a, 4096, 4096, 4096, **TILE)
    ways = {"eager": lambda: pytorch_product(a, b), "triton": lambda: triton_tiled(a, b)}
    if library:
        ways["cuda"] = lambda: cuda_tiled(library, a, b)
    else:
        print("skipped: the CUDA C++ build of the tiled product,", figures["cuda"]["skipped"])
    expected = a.double() @ b.double()
    ways, figures["failed"] = sound(ways, expected, a.dtype)
    benchmark.case("beside_tiled", "fwd", "4096x4096x4096", a.dtype, 3 * a.nbytes, 2 * 4096**3, ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
