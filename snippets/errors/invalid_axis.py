"""A program that has one row, and sums along the matrix's second dimension."""
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
def row_sum_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=1))  # the mistake


x = torch.rand(20, 100, device=device)
y = torch.empty(20, device=device)
said = error_of(lambda: row_sum_kernel[(20,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def row_sum_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


row_sum_kernel[(20,)](x, y, 100, BLOCK=128)
print(torch.allclose(y, x.sum(dim=1)))
#> True
# --8<-- [end:right]
