"""The sum of every row becomes its maximum, in Triton and in CUDA C++: the same result, and the lines that change in each."""
import inspect
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from snippets.cuda.compare import build, call


# --8<-- [start:triton]
@triton.jit
def beside_row_max_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    # This program finds the largest number of one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=-float("inf"))
    tl.store(out_ptr + row, tl.max(x, axis=0))
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32;

__global__ void __launch_bounds__(THREADS) row_max(const float* x, float* out, int64_t columns) {
  // This block finds the largest number of one row.
  __shared__ float parts[WARPS];
  const float4* row = reinterpret_cast<const float4*>(x + int64_t(blockIdx.x) * columns);
  float most = -INFINITY;
#pragma unroll 4
  for (int i = threadIdx.x; i < columns / 4; i += THREADS) {
    const float4 v = row[i];
    most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x < 32) {
    most = threadIdx.x < WARPS ? parts[threadIdx.x] : -INFINITY;
    for (int step = WARPS / 2; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    if (threadIdx.x == 0) out[blockIdx.x] = most;
  }
}
// --8<-- [end:cuda]

extern "C" int launch(const float* x, float* out, int64_t rows, int64_t columns, cudaStream_t stream) {
  if (columns % 4) return cudaErrorInvalidValue;
  row_max<<<rows, THREADS, 0, stream>>>(x, out, columns);
  return cudaGetLastError();
}
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, largest = torch.randn(3, 1000, device=device) - 9, torch.empty(3, device=device)
beside_row_max_kernel[(3,)](x, largest, 1000, BLOCK=1024)
print("right, with every number below zero:", torch.equal(largest, x.amax(dim=1)))
#> right, with every number below zero: True
# --8<-- [end:check]

triton_text = inspect.getsource(beside_row_max_kernel.fn)
print("lines with infinity or a maximum in Triton:", sum("inf" in line or "tl.max" in line for line in triton_text.splitlines()))
#> lines with infinity or a maximum in Triton: 2
print("lines with infinity or a maximum in CUDA C++:", sum("INF" in line or "fmax" in line for line in CUDA.splitlines()))
#> lines with infinity or a maximum in CUDA C++: 5

library, built = build(CUDA, times=1)
if library:
    found = torch.empty(3, device=device)
    call(library.launch, x, found, *x.shape)
    torch.testing.assert_close(found, x.amax(dim=1))
elif "skipped" in built:
    print("skipped: the CUDA C++ build of the row's maximum,", built["skipped"])
