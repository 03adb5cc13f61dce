"""Arithmetic that a pointer does not take: a fraction as an offset, and a product for want of a load."""
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
def second_half_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements / 2
    x = tl.load(x_ptr + n_elements / 2 + offsets, mask=mask)  # the mistake
    tl.store(y_ptr + offsets, x, mask=mask)


x = torch.rand(100, device=device)
y = torch.empty(50, device=device)
said = error_of(lambda: second_half_kernel[(1,)](x, y, 100, BLOCK=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_no_load]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = x_ptr + offsets  # the mistake
    tl.store(y_ptr + offsets, 2 * x, mask=offsets < n_elements)


said = error_of(lambda: double_kernel[(1,)](x, y, 50, BLOCK=64))
# --8<-- [end:wrong_no_load]
print(said)


# --8<-- [start:right]
@triton.jit
def double_second_half_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements // 2
    x = tl.load(x_ptr + n_elements // 2 + offsets, mask=mask)
    tl.store(y_ptr + offsets, 2 * x, mask=mask)


double_second_half_kernel[(1,)](x, y, 100, BLOCK=64)
print(torch.equal(y, 2 * x[50:]))
#> True
# --8<-- [end:right]
