"""A grid of four axes."""
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
def double_kernel(x_ptr, y_ptr, C, H, W, BLOCK: tl.constexpr):
    row = (tl.program_id(0) * C + tl.program_id(1)) * H + tl.program_id(2)
    columns = tl.program_id(3) * BLOCK + tl.arange(0, BLOCK)  # the mistake
    offsets, mask = row * W + columns, columns < W
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x = torch.rand(2, 3, 4, 100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(2, 3, 4, 2)](x, y, 3, 4, 100, BLOCK=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def double_kernel(x_ptr, y_ptr, W, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offsets, mask = row * W + columns, columns < W
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


double_kernel[(2 * 3 * 4, 2)](x, y, 100, BLOCK=64)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
