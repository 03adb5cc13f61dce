"""Blocks collected in a list."""
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
def range_kernel(x_ptr, y_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    rows = []
    for row in tl.static_range(ROWS):
        rows.append(tl.load(x_ptr + row * BLOCK + offsets))  # the mistake
    tl.store(y_ptr + offsets, rows[ROWS - 1] - rows[0])


x = torch.rand(4, 128, device=device)
y = torch.empty(128, device=device)
said = error_of(lambda: range_kernel[(1,)](x, y, ROWS=4, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def range_kernel(x_ptr, y_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    rows = ()
    for row in tl.static_range(ROWS):
        rows = rows + (tl.load(x_ptr + row * BLOCK + offsets),)
    tl.store(y_ptr + offsets, rows[ROWS - 1] - rows[0])


range_kernel[(1,)](x, y, ROWS=4, BLOCK=128)
print(torch.equal(y, x[3] - x[0]))
#> True
# --8<-- [end:right]
