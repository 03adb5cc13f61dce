"""Softmax of every row in PyTorch, CUDA C++ and Triton: one result, counted lines and, on a GPU with nvcc, times of one run."""
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
def pytorch_softmax(x):
    return torch.softmax(x, dim=1)
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def beside_softmax_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    # This program has one row, in registers.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n_columns + columns, e / tl.sum(e, axis=0), mask=mask)


def triton_softmax(x):
    n_rows, n_columns = x.shape
    out = torch.empty_like(x)
    block = triton.next_power_of_2(n_columns)
    beside_softmax_kernel[(n_rows,)](x, out, n_columns, BLOCK=block, num_warps=8)
    return out
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int PIECES = 2;  // of 8 numbers each, in the registers of a thread: rows of 4096 numbers at most

// Brings a value of every thread of the block together, and gives all of them the result.
template <class Op>
__device__ float over_block(float value, Op op) {
  __shared__ float parts[WARPS];
  for (int step = 16; step; step /= 2) value = op(value, __shfl_xor_sync(~0u, value, step));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % WARPS];
  for (int step = WARPS / 2; step; step /= 2) value = op(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

__global__ void __launch_bounds__(THREADS) softmax(const uint4* x, uint4* out, int columns) {
  // This block has one row. A thread reads 16 bytes at a time.
  const int64_t row = int64_t(blockIdx.x) * (columns / 8);
  float values[PIECES][8], peak = -INFINITY, total = 0;
#pragma unroll
  for (int piece = 0; piece < PIECES; ++piece) {
    const int i = piece * THREADS + threadIdx.x;
    uint4 loaded = {};
    if (i < columns / 8) loaded = x[row + i];
    const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(&loaded);
    for (int k = 0; k < 4; ++k) {
      const float2 pair = __bfloat1622float2(pairs[k]);
      values[piece][2 * k] = i < columns / 8 ? pair.x : -INFINITY;
      values[piece][2 * k + 1] = i < columns / 8 ? pair.y : -INFINITY;
      peak = fmaxf(peak, fmaxf(values[piece][2 * k], values[piece][2 * k + 1]));
    }
  }
  peak = over_block(peak, [](float a, float b) { return fmaxf(a, b); });
#pragma unroll
  for (int piece = 0; piece < PIECES; ++piece)
    for (int k = 0; k < 8; ++k) total += values[piece][k] = __expf(values[piece][k] - peak);
  const float scale = 1 / over_block(total, [](float a, float b) { return a + b; });
#pragma unroll
  for (int piece = 0; piece < PIECES; ++piece) {
    const int i = piece * THREADS + threadIdx.x;
    uint4 stored;
    __nv_bfloat162* pairs = reinterpret_cast<__nv_bfloat162*>(&stored);
    for (int k = 0; k < 4; ++k)
      pairs[k] = __floats2bfloat162_rn(values[piece][2 * k] * scale, values[piece][2 * k + 1] * scale);
    if (i < columns / 8) out[row + i] = stored;
  }
}

extern "C" int launch(const uint4* x, uint4* out, int64_t rows, int64_t columns, cudaStream_t stream) {
  if (columns % 8 || columns > PIECES * THREADS * 8) return cudaErrorInvalidValue;
  softmax<<<rows, THREADS, 0, stream>>>(x, out, int(columns));
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x = torch.randn(50, 1000, device=device)
print("off by rounding only:", torch.allclose(triton_softmax(x), pytorch_softmax(x), atol=1e-6))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_softmax(library, x):
    out = torch.empty_like(x)
    call(library.launch, x, out, *x.shape)
    return out


lines = {"eager": code_lines(pytorch_softmax), "cuda": code_lines(CUDA)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(beside_softmax_kernel, triton_softmax)}
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    x = torch.randn(16384, 4096, device="cuda").bfloat16()
    figures["triton"] = triton_build(beside_softmax_kernel, x, x, 4096, BLOCK=4096, num_warps=8)
    compiled = torch.compile(pytorch_softmax, dynamic=False)
    ways = {"eager": lambda: pytorch_softmax(x), "compile": lambda: compiled(x), "triton": lambda: triton_softmax(x)}
    if library:
        ways["cuda"] = lambda: cuda_softmax(library, x)
        narrow = x[:64, :1000].contiguous()
        torch.testing.assert_close(cuda_softmax(library, narrow), torch.softmax(narrow, dim=1))
    else:
        print("skipped: the CUDA C++ build of softmax,", figures["cuda"]["skipped"])
    expected = torch.softmax(x.double(), dim=1)
    ways, figures["failed"] = sound(ways, expected, x.dtype)
    benchmark.case("beside_softmax", "fwd", "16384x4096", x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
