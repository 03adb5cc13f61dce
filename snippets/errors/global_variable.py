"""A kernel that uses a number of the module."""
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
SCALE = 3  # the mistake


@triton.jit
def scale_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * SCALE, mask=mask)


x = torch.rand(100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: scale_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
SCALE = tl.constexpr(3)


@triton.jit
def scale_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * SCALE, mask=mask)


scale_kernel[(1,)](x, y, 100, BLOCK=128)
print(torch.equal(y, x * 3))
#> True
# --8<-- [end:right]
