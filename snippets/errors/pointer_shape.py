"""A block of sums that kept its second dimension, stored where a line of pointers leads."""
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
def row_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=mask, other=0.0)
    sums = tl.sum(x, axis=1, keep_dims=True)
    tl.store(y_ptr + rows, sums, mask=rows < M)  # the mistake


x = torch.rand(30, 50, device=device)
y = torch.empty(30, device=device)
said = error_of(lambda: row_sums_kernel[(1,)](x, y, 30, 50, BLOCK_M=32, BLOCK_N=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def row_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=mask, other=0.0)
    sums = tl.sum(x, axis=1)  # shape (BLOCK_M,), as the pointers and the mask
    tl.store(y_ptr + rows, sums, mask=rows < M)


row_sums_kernel[(1,)](x, y, 30, 50, BLOCK_M=32, BLOCK_N=64)
print(torch.allclose(y, x.sum(1)))
#> True
# --8<-- [end:right]
