"""An exponential of float16, and a root of an integer."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def exp_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.exp(x), mask=mask)  # the mistake


x = torch.rand(1000, device=device).half()
y = torch.empty_like(x)
said = error_of(lambda: exp_kernel[(4,)](x, y, 1000, BLOCK=256))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_integer]
@triton.jit
def scale_kernel(x_ptr, y_ptr, width, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * tl.rsqrt(width), mask=mask)


said = error_of(lambda: scale_kernel[(4,)](x, y, 64, 1000, BLOCK=256))
# --8<-- [end:wrong_integer]
print(said)


# --8<-- [start:right]
@triton.jit
def exp_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(y_ptr + offsets, tl.exp(x), mask=mask)


exp_kernel[(4,)](x, y, 1000, BLOCK=256)
print(torch.allclose(y, x.exp(), rtol=1e-2))
#> True
# --8<-- [end:right]
