"""tl.softmax along the rows of a tile: before Triton 3.9 it divides by the sums of other rows."""
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
def softmax_rows_kernel(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, tl.softmax(x, 1))  # the mistake


x = (torch.arange(64, device=device) % 7 - 3.0).view(8, 8)
y = torch.empty_like(x)
said = error_of(lambda: softmax_rows_kernel[(1,)](x, y, ROWS=8, COLUMNS=8))
# --8<-- [end:wrong]
print(said)
print("the rows' sums:", [round(total, 3) for total in y.sum(dim=1).tolist()])

# --8<-- [start:wrong_tile]
said = error_of(lambda: softmax_rows_kernel[(1,)](x, y, ROWS=4, COLUMNS=8))
# --8<-- [end:wrong_tile]
print(said)


# --8<-- [start:right]
@triton.jit
def softmax_rows_kernel(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + offsets)
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    total = tl.sum(numerator, axis=1, keep_dims=True)
    tl.store(y_ptr + offsets, numerator / total)


softmax_rows_kernel[(1,)](x, y, ROWS=8, COLUMNS=8)
print(torch.allclose(y, torch.softmax(x, dim=1)))
#> True
# --8<-- [end:right]
