"""Fractions that are stored into a tensor of integers, without a word."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def halve_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 0.5 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x = torch.arange(-3, 4, device=device)
y = torch.empty_like(x)  # the mistake
halve_kernel[(1,)](x, y, 7, BLOCK=8)
print(y.tolist())
#> [-1, -1, 0, 0, 0, 1, 1]
# --8<-- [end:wrong]


# --8<-- [start:right]
y = torch.empty_like(x, dtype=torch.float32)
halve_kernel[(1,)](x, y, 7, BLOCK=8)
print(y.tolist())
#> [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]
print(torch.equal(y, 0.5 * x))
#> True
# --8<-- [end:right]
