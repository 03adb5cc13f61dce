"""A chain of element-wise steps with every tool: PyTorch, its compiler, Triton and CUDA C++; lines, builds, times of one run."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:pytorch]
def pytorch_chain(x, gate, residual, scale, bias):
    return residual + gate * F.silu(x * scale + bias)
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def chain_kernel(x_ptr, gate_ptr, residual_ptr, scale_ptr, bias_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    # This program has BLOCK neighboring elements of a row.
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < n_columns
    offsets = tl.program_id(1).to(tl.int64) * n_columns + columns
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    residual = tl.load(residual_ptr + offsets, mask=mask).to(tl.float32)
    scale = tl.load(scale_ptr + columns, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    z = x * scale + bias
    tl.store(out_ptr + offsets, residual + gate * z * tl.sigmoid(z), mask=mask)


def triton_chain(x, gate, residual, scale, bias):
    out = torch.empty_like(x)
    n_rows, n_columns = x.shape
    grid = (triton.cdiv(n_columns, 1024), n_rows)
    chain_kernel[grid](x, gate, residual, scale, bias, out, n_columns, BLOCK=1024)
    return out
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>
#include <cuda_bf16.h>

struct Eight {  // 16 bytes, read and written at once
  uint4 bits;
  __device__ float2 pair(int i) const { return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&bits)[i]); }
  __device__ void set(int i, float x, float y) { reinterpret_cast<__nv_bfloat162*>(&bits)[i] = __floats2bfloat162_rn(x, y); }
};

__device__ float gated(float x, float gate, float residual, float scale, float bias) {
  const float z = x * scale + bias;
  return residual + gate * z / (1 + __expf(-z));
}

__global__ void chain(const Eight* x, const Eight* gate, const Eight* residual, const Eight* scale, const Eight* bias,
                      Eight* out, int64_t count, int columns) {
  // This thread has eight neighboring elements.
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int column = i % columns;
  const Eight xs = x[i], gates = gate[i], residuals = residual[i], scales = scale[column], biases = bias[column];
  Eight result;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 a = xs.pair(k), g = gates.pair(k), r = residuals.pair(k), s = scales.pair(k), b = biases.pair(k);
    result.set(k, gated(a.x, g.x, r.x, s.x, b.x), gated(a.y, g.y, r.y, s.y, b.y));
  }
  out[i] = result;
}

extern "C" int launch(const Eight* x, const Eight* gate, const Eight* residual, const Eight* scale, const Eight* bias,
                      Eight* out, int64_t rows, int64_t columns, cudaStream_t stream) {
  if (columns % 8) return cudaErrorInvalidValue;
  const int64_t count = rows * columns / 8;
  chain<<<(count + 255) / 256, 256, 0, stream>>>(x, gate, residual, scale, bias, out, count, int(columns / 8));
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
given = [torch.randn(size, device=device) for size in [(20, 1500)] * 3 + [1500] * 2]
print("off by rounding only:", torch.allclose(triton_chain(*given), pytorch_chain(*given), atol=1e-4))
#> off by rounding only: True
# --8<-- [end:check]


def cuda_chain(library, *given):
    out = torch.empty_like(given[0])
    call(library.launch, *given, out, *out.shape)
    return out


lines = {"eager": code_lines(pytorch_chain), "cuda": code_lines(CUDA)}
lines |= {"compile": lines["eager"] + 1, "triton": code_lines(chain_kernel, triton_chain)}
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    given = [torch.randn(size, device="cuda").bfloat16() for size in [(16384, 4096)] * 3 + [4096] * 2]
    x = given[0]
    figures["triton"] = triton_build(chain_kernel, *given, x, 4096, BLOCK=1024)
    compiled = torch.compile(pytorch_chain, dynamic=False)
    ways = {"eager": lambda: pytorch_chain(*given), "compile": lambda: compiled(*given), "triton": lambda: triton_chain(*given)}
    if library:
        ways["cuda"] = lambda: cuda_chain(library, *given)
    else:
        print("skipped: the CUDA C++ build of the chain,", figures["cuda"]["skipped"])
    expected = pytorch_chain(*(value.double() for value in given))
    ways, figures["failed"] = sound(ways, expected, x.dtype)
    benchmark.case("tool_chain", "fwd", "16384x4096", x.dtype, 4 * x.nbytes, 5 * x.numel(), ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
