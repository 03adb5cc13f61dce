"""The sum of every row in PyTorch, CUDA C++ and Triton: one result, counted lines and, on a GPU with nvcc, times of one run."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build


# --8<-- [start:pytorch]
def pytorch_row_sum(x):
    return x.sum(dim=1)
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def beside_row_sum_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    # This program adds up one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


def triton_row_sum(x):
    n_rows, n_columns = x.shape
    out = torch.empty(n_rows, device=x.device)
    block = triton.next_power_of_2(n_columns)
    beside_row_sum_kernel[(n_rows,)](x, out, n_columns, BLOCK=block, num_warps=8)
    return out
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32;

__global__ void __launch_bounds__(THREADS) row_sum(const float* x, float* out, int64_t columns) {
  // This block adds up one row: a thread every 256th piece of four numbers, then a warp, then the block.
  __shared__ float parts[WARPS];
  const float4* row = reinterpret_cast<const float4*>(x + int64_t(blockIdx.x) * columns);
  float total = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < columns / 4; i += THREADS) {
    const float4 v = row[i];
    total += (v.x + v.y) + (v.z + v.w);
  }
  for (int step = 16; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x < 32) {
    total = threadIdx.x < WARPS ? parts[threadIdx.x] : 0;
    for (int step = WARPS / 2; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
    if (threadIdx.x == 0) out[blockIdx.x] = total;
  }
}

extern "C" int launch(const float* x, float* out, int64_t rows, int64_t columns, cudaStream_t stream) {
  if (columns % 4) return cudaErrorInvalidValue;
  row_sum<<<rows, THREADS, 0, stream>>>(x, out, columns);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x = torch.randn(50, 1000, device=device)
print("off by rounding only:", torch.allclose(triton_row_sum(x), pytorch_row_sum(x), atol=1e-4))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_row_sum(library, x):
    out = torch.empty(x.shape[0], device=x.device)
    call(library.launch, x, out, *x.shape)
    return out


lines = {"eager": code_lines(pytorch_row_sum), "cuda": code_lines(CUDA)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(beside_row_sum_kernel, triton_row_sum)}
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    x = torch.randn(16384, 4096, device="cuda")
    figures["triton"] = triton_build(beside_row_sum_kernel, x, x, 4096, BLOCK=4096, num_warps=8)
    compiled = torch.compile(pytorch_row_sum, dynamic=False)
    ways = {"eager": lambda: pytorch_row_sum(x), "compile": lambda: compiled(x), "triton": lambda: triton_row_sum(x)}
    if library:
        ways["cuda"] = lambda: cuda_row_sum(library, x)
    else:
        print("skipped: the CUDA C++ build of the row sum,", figures["cuda"]["skipped"])
    expected = x.double().sum(dim=1)
    ways, figures["failed"] = sound(ways, expected, x.dtype)
    benchmark.case("beside_row_sum", "fwd", "16384x4096", x.dtype, x.nbytes, x.numel(), ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
