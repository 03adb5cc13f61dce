"""A block of zeros whose length is an argument of run time."""
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
def column_sum_kernel(x_ptr, y_ptr, n_rows, n_columns):
    total = tl.zeros((n_columns,), tl.float32)  # the mistake
    columns = tl.arange(0, n_columns)
    for row in range(n_rows):
        total += tl.load(x_ptr + row * n_columns + columns)
    tl.store(y_ptr + columns, total)


x = torch.rand(10, 64, device=device)
y = torch.empty(64, device=device)
said = error_of(lambda: column_sum_kernel[(1,)](x, y, 10, 64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def column_sum_kernel(x_ptr, y_ptr, n_rows, n_columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    for row in range(n_rows):
        total += tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0)
    tl.store(y_ptr + columns, total, mask=mask)


column_sum_kernel[(1,)](x, y, 10, 64, BLOCK=triton.next_power_of_2(64))
print(torch.allclose(y, x.sum(dim=0)))
#> True
# --8<-- [end:right]
