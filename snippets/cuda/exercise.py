"""Vector addition becomes a x + y, in Triton and in CUDA C++: the same result, and the lines that change in each."""
# --8<-- [start:inspect]
import inspect
# --8<-- [end:inspect]
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
def scaled_add_kernel(a, x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # This program adds BLOCK neighboring numbers, those of x scaled.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, a * x + y, mask=mask)


def scaled_add(a, x, y):
    out = torch.empty_like(x)
    n = x.numel()
    scaled_add_kernel[(triton.cdiv(n, 1024),)](a, x, y, out, n, BLOCK=1024)
    return out
# --8<-- [end:triton]


# --8<-- [start:count]

CUDA = r"""
#include <cstdint>

__global__ void add(float s, const float* x, const float* y, float* out, int64_t n) {
  // This thread adds four neighboring numbers.
  int64_t i = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i + 4 <= n) {
    const float4 a = *reinterpret_cast<const float4*>(x + i);
    const float4 b = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(s * a.x + b.x, s * a.y + b.y, s * a.z + b.z, s * a.w + b.w);
  } else {
    for (; i < n; ++i) out[i] = s * x[i] + y[i];
  }
}

extern "C" int launch(float s, const float* x, const float* y, float* out, int64_t n, cudaStream_t stream) {
  add<<<(n + 1023) / 1024, 256, 0, stream>>>(s, x, y, out, n);
  return cudaGetLastError();
}
"""


def changed(text, words):
    """How many lines are others without these words."""
    before = text
    for word in words:
        before = before.replace(word, "")
    pairs = zip(text.splitlines(), before.splitlines(), strict=True)
    return sum(line != other for line, other in pairs)


triton_text = inspect.getsource(scaled_add_kernel.fn) + inspect.getsource(scaled_add)
print("changed in Triton:", changed(triton_text, ["scaled_", "a * ", "a, "]))
#> changed in Triton: 4
print("changed in CUDA C++:", changed(CUDA, ["float s, ", "s * ", "s, "]))
#> changed in CUDA C++: 5

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
x, y = torch.randn(1023, device=device), torch.randn(1023, device=device)
print("right:", torch.allclose(scaled_add(2.5, x, y), 2.5 * x + y))
#> right: True
# --8<-- [end:count]

library, built = build(CUDA, times=1)
if library:
    out = torch.empty_like(x)
    call(library.launch, 2.5, x, y, out, x.numel())
    torch.testing.assert_close(out, 2.5 * x + y)
elif "skipped" in built:
    print("skipped: the CUDA C++ build of the exercise,", built["skipped"])
