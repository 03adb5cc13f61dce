"""Three dimensions: a batch of matrices, one grid axis each."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:batch]
@triton.jit
def add_one_kernel(
    x_ptr, out_ptr, n_rows, n_columns,
    batch_stride, row_stride, column_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    start = tl.program_id(2) * batch_stride  # where this program's matrix begins
    offsets = start + rows * row_stride + columns * column_stride
    mask = (rows < n_rows) & (columns < n_columns)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(5, 100, 70, device=device)  # batch, rows, columns
out = torch.full_like(x, float("nan"))
batch, n_rows, n_columns = x.shape
grid = (triton.cdiv(n_rows, 32), triton.cdiv(n_columns, 64), batch)
add_one_kernel[grid](x, out, n_rows, n_columns, *x.stride(), BLOCK_M=32, BLOCK_N=64)
print("grid:", grid, "strides:", x.stride(), "right:", torch.equal(out, x + 1))
#> grid: (4, 2, 5) strides: (7000, 70, 1) right: True
# --8<-- [end:batch]
