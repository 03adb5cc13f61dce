"""Double a matrix tile by tile: a grid of two dimensions."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def double_tile_kernel(
    x_ptr, out_ptr, n_rows, n_columns,
    x_row_stride, x_column_stride, out_row_stride, out_column_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    mask = (rows < n_rows) & (columns < n_columns)  # [BLOCK_M, BLOCK_N]
    x_offsets = rows * x_row_stride + columns * x_column_stride  # [BLOCK_M, BLOCK_N]
    out_offsets = rows * out_row_stride + columns * out_column_stride
    x = tl.load(x_ptr + x_offsets, mask=mask)
    tl.store(out_ptr + out_offsets, 2 * x, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def double(x):
    out = torch.full(x.shape, float("nan"), device=x.device)
    n_rows, n_columns = x.shape
    grid = (triton.cdiv(n_rows, 64), triton.cdiv(n_columns, 64))
    double_tile_kernel[grid](
        x, out, n_rows, n_columns, *x.stride(), *out.stride(), BLOCK_M=64, BLOCK_N=64
    )
    return out, grid


device = "cuda" if torch.cuda.is_available() else "cpu"
for shape in ((512, 256), (500, 250), (3, 1000)):
    x = torch.randn(shape, device=device)
    out, grid = double(x)
    assert torch.equal(out, 2 * x)
    print(f"{shape}: a grid of {grid} makes {grid[0] * grid[1]} programs")
    #> (512, 256): a grid of (8, 4) makes 32 programs
    #> (500, 250): a grid of (8, 4) makes 32 programs
    #> (3, 1000): a grid of (1, 16) makes 16 programs
# --8<-- [end:launch]
