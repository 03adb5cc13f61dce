"""Vector addition in PyTorch, CUDA C++ and Triton: one result, counted lines and, on a GPU with nvcc, times of one run."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark, keep
from snippets.cuda.compare import build, call, code_lines, sound, triton_build

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:pytorch]
def pytorch_add(x, y):
    return x + y
# --8<-- [end:pytorch]


# --8<-- [start:triton]
@triton.jit
def beside_add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # This program adds BLOCK neighboring numbers.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def triton_add(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    beside_add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    return out
# --8<-- [end:triton]


CUDA = r"""
// --8<-- [start:cuda]
#include <cstdint>

__global__ void add(const float* x, const float* y, float* out, int64_t n) {
  // This thread adds four neighboring numbers.
  int64_t i = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i + 4 <= n) {
    const float4 a = *reinterpret_cast<const float4*>(x + i);
    const float4 b = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  } else {
    for (; i < n; ++i) out[i] = x[i] + y[i];
  }
}

extern "C" int launch(const float* x, const float* y, float* out, int64_t n, cudaStream_t stream) {
  add<<<(n + 1023) / 1024, 256, 0, stream>>>(x, y, out, n);
  return cudaGetLastError();
}
// --8<-- [end:cuda]
"""


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, y = torch.randn(98_432, device=device), torch.randn(98_432, device=device)
print("Triton's sum is PyTorch's:", torch.equal(triton_add(x, y), pytorch_add(x, y)))
#> Triton's sum is PyTorch's: True
# --8<-- [end:check]


def cuda_add(library, x, y):
    out = torch.empty_like(x)
    call(library.launch, x, y, out, x.numel())
    return out


lines = {"eager": code_lines(pytorch_add), "triton": code_lines(beside_add_kernel, triton_add), "cuda": code_lines(CUDA)}
lines["compile"] = lines["eager"] + 1  # torch.compile, called once
print("lines of code:", lines)
figures = {"lines": lines}
if device == "cuda":
    benchmark = Benchmark()
    library, figures["cuda"] = build(CUDA)
    n = 2**26
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    figures["triton"] = triton_build(beside_add_kernel, x, y, x, n, BLOCK=1024)
    compiled = torch.compile(pytorch_add, dynamic=False)
    ways = {"eager": lambda: pytorch_add(x, y), "compile": lambda: compiled(x, y), "triton": lambda: triton_add(x, y)}
    if library:
        ways["cuda"] = lambda: cuda_add(library, x, y)
        ragged = cuda_add(library, x[:1023], y[:1023])
        assert torch.equal(ragged, x[:1023] + y[:1023]), "the CUDA C++ is wrong where four does not divide the length"
    else:
        print("skipped: the CUDA C++ build of vector addition,", figures["cuda"]["skipped"])
    expected = x.double() + y.double()
    ways, figures["failed"] = sound(ways, expected, x.dtype)
    benchmark.case("beside_add", "fwd", str(n), x.dtype, 3 * x.nbytes, n, ways, expected)
    print(figures)
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
else:
    keep(figures=figures)
