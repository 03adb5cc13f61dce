"""A stream of numbers added up: loads that wait and copies that do not, in Triton and in CUDA C++, timed in one run."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, sound
from snippets.hard.gluon_ring import gluon_sum


# --8<-- [start:triton]
@triton.jit
def streamed_sum_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    # This program adds up one long row, BLOCK numbers a step.
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, n_columns, BLOCK, num_stages=STAGES):
        total += tl.load(x_ptr + row * n_columns + start + tl.arange(0, BLOCK))
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def streamed_sum(x, stages=None):
    out = torch.empty(x.shape[0], device=x.device)
    streamed_sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024, STAGES=stages, num_warps=8)
    return out
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>
#include <cuda_pipeline.h>

constexpr int THREADS = 256;

__device__ void finish(float total, float* out) {  // the sum over the block
  __shared__ float parts[THREADS / 32];
  for (int step = 16; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
  __syncthreads();
  total = parts[threadIdx.x % (THREADS / 32)];
  for (int step = THREADS / 64; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

template <int STAGES>
__global__ void __launch_bounds__(THREADS) ring_sum(const float* x, float* out, int64_t columns) {
  // A ring of STAGES pieces. Each thread reads what it copied itself, so it waits for its own copies and for nobody.
  __shared__ float4 ring[STAGES][THREADS];
  const float4* row = reinterpret_cast<const float4*>(x + int64_t(blockIdx.x) * columns) + threadIdx.x;
  const int64_t steps = columns / (4 * THREADS);
  auto copy = [&](int64_t step) {
    if (step < steps) __pipeline_memcpy_async(&ring[step % STAGES][threadIdx.x], row + step * THREADS, 16);
    __pipeline_commit();  // also where there was nothing to copy: counting groups is counting steps
  };
  for (int step = 0; step < STAGES - 1; ++step) copy(step);
  float total = 0;
  for (int64_t step = 0; step < steps; ++step) {
    copy(step + STAGES - 1);
    __pipeline_wait_prior(STAGES - 1);
    const float4 v = ring[step % STAGES][threadIdx.x];
    total += (v.x + v.y) + (v.z + v.w);
  }
  finish(total, out);
}
// --8<-- [end:cuda]

template <int UNROLL>
__global__ void __launch_bounds__(THREADS) plain_sum(const float* x, float* out, int64_t columns) {
  const float4* row = reinterpret_cast<const float4*>(x + int64_t(blockIdx.x) * columns);
  float total = 0;
#pragma unroll UNROLL
  for (int64_t i = threadIdx.x; i < columns / 4; i += THREADS) {
    const float4 v = row[i];
    total += (v.x + v.y) + (v.z + v.w);
  }
  finish(total, out);
}

extern "C" int launch(const float* x, float* out, int64_t rows, int64_t columns, int64_t way, cudaStream_t stream) {
  if (columns % (4 * THREADS)) return cudaErrorInvalidValue;
  if (way == 1) plain_sum<1><<<rows, THREADS, 0, stream>>>(x, out, columns);
  if (way == 8) plain_sum<8><<<rows, THREADS, 0, stream>>>(x, out, columns);
  if (way == 4) ring_sum<4><<<rows, THREADS, 0, stream>>>(x, out, columns);
  if (way == 2) ring_sum<8><<<rows, THREADS, 0, stream>>>(x, out, columns);
  return cudaGetLastError();
}
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x = torch.randn(3, 4096, device=device)
for stages in (None, 2, 4):
    assert torch.allclose(streamed_sum(x, stages), x.sum(dim=1), atol=1e-3)
print("any number of stages gives the same sums")
#> any number of stages gives the same sums
# --8<-- [end:check]


def cuda_sum(library, x, way):
    out = torch.empty(x.shape[0], device=x.device)
    call(library.launch, x, out, *x.shape, way)
    return out


if device == "cuda":
    benchmark = Benchmark()
    library, built = build(CUDA, times=1)
    figures = {"cuda": built, "failed": {}}
    if not library:
        print("skipped: the CUDA C++ build of the streamed sum,", built["skipped"])
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
    for rows, columns in ((multiprocessors, 2**20), (8 * multiprocessors, 2**17), (2**15, 2**12)):
        x = torch.randn(rows, columns, device="cuda")
        ways = {"eager": lambda: x.sum(dim=1), "loads": lambda: streamed_sum(x)}
        ways["gluon_4"] = lambda: gluon_sum(x)
        ways |= {f"stages_{number}": lambda number=number: streamed_sum(x, number) for number in (2, 4, 8)}
        if library:
            ways |= {"cuda_plain": lambda: cuda_sum(library, x, 1), "cuda_unrolled": lambda: cuda_sum(library, x, 8)}
            ways |= {"cuda_ring_4": lambda: cuda_sum(library, x, 4), "cuda_ring_8": lambda: cuda_sum(library, x, 2)}
        expected, shape = x.double().sum(dim=1), f"{rows}x{columns}"
        ways, failed = sound(ways, expected, x.dtype)
        figures["failed"] |= {f"{shape} {name}": why for name, why in failed.items()}
        benchmark.case("streamed_sum", "fwd", shape, x.dtype, x.nbytes, x.numel(), ways, expected)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
