"""A sum that starts with another dtype or shape than it has after the first round of its loop."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:wrong]
@triton.jit
def row_sum_kernel(x_ptr, y_ptr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    total = 0  # the mistake
    for start in range(0, WIDTH, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < WIDTH, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(y_ptr, total)


x = torch.rand(1000, device=device)
y = torch.empty(1, device=device)
said = error_of(lambda: row_sum_kernel[(1,)](x, y, WIDTH=1000, BLOCK=256))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_shape]
@triton.jit
def row_sum_kernel(x_ptr, y_ptr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    total = 0.0  # the mistake
    for start in range(0, WIDTH, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < WIDTH, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0))


said = error_of(lambda: row_sum_kernel[(1,)](x, y, WIDTH=1000, BLOCK=256))
# --8<-- [end:wrong_shape]
print(said)


# --8<-- [start:right]
@triton.jit
def row_sum_kernel(x_ptr, y_ptr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, WIDTH, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < WIDTH, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0))


row_sum_kernel[(1,)](x, y, WIDTH=1000, BLOCK=256)
print(torch.allclose(y, x.sum()))
#> True
# --8<-- [end:right]
