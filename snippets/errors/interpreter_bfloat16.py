"""Arithmetic on bfloat16 numbers, which the interpreter gets wrong and a GPU gets right."""
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
def pair_sum_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)  # the mistake


x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], device=device).bfloat16()
out = torch.zeros_like(x)
said = error_of(lambda: pair_sum_kernel[(1,)](x, x, out, 5, BLOCK=8))
# --8<-- [end:wrong]
print(said, out.tolist())


# --8<-- [start:wrong_scale]
@triton.jit
def double_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, 2.0 * x, mask=mask)


said = error_of(lambda: double_kernel[(1,)](x, out, 5, BLOCK=8))
# --8<-- [end:wrong_scale]
print(said, out.tolist())


# --8<-- [start:right]
@triton.jit
def pair_sum_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y, mask=mask)  # rounded to bfloat16 here


pair_sum_kernel[(1,)](x, x, out, 5, BLOCK=8)
print(torch.equal(out, x + x))
#> True
# --8<-- [end:right]
