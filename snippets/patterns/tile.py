"""A template for a two-dimensional tile with strides: add one row of numbers to every row of a matrix."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def add_row_kernel(
    x_ptr, row_ptr, out_ptr, n_rows, n_columns,
    x_row_stride, x_column_stride, out_row_stride, out_column_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x_offsets = rows * x_row_stride + columns * x_column_stride  # [BLOCK_M, BLOCK_N]
    x = tl.load(x_ptr + x_offsets, mask=mask)
    row = tl.load(row_ptr + columns, mask=columns < n_columns)  # [1, BLOCK_N]
    out = x.to(tl.float32) + row  # your function
    out_offsets = rows * out_row_stride + columns * out_column_stride
    tl.store(out_ptr + out_offsets, out, mask=mask)


def add_row(x, row):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 256))
    sizes = (*x.shape, *x.stride(), *out.stride())
    add_row_kernel[grid](x, row.contiguous(), out, *sizes, BLOCK_M=16, BLOCK_N=256)
    return out
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(50, 700, device=device)
for view in (x, x.T, x[::3, 5:]):
    row = torch.randn(view.shape[1], device=device)
    torch.testing.assert_close(add_row(view, row), view + row)
print("add_row agrees with PyTorch, also on views")
#> add_row agrees with PyTorch, also on views
# --8<-- [end:use]
