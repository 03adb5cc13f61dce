"""The exercise's solution: sum every column, a band of columns a program."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:column_sum]
@triton.jit
def column_sum_kernel(
    x_ptr, out_ptr, row_stride, n_rows, n_columns,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)[:, None]
        mask = (rows < n_rows) & (columns < n_columns)
        x = tl.load(x_ptr + rows.to(tl.int64) * row_stride + columns, mask=mask, other=0.0)
        total += x.to(tl.float32)
    sums = tl.sum(total, axis=0, keep_dims=True)  # [1, BLOCK_N]
    tl.store(out_ptr + columns, sums, mask=columns < n_columns)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(500, 300, device=device)
out = torch.full((300,), float("nan"), device=device)
grid = (triton.cdiv(300, 64),)
column_sum_kernel[grid](x, out, x.stride(0), 500, 300, BLOCK_M=32, BLOCK_N=64)
torch.testing.assert_close(out, x.sum(dim=0), rtol=1e-4, atol=1e-4)
print(f"{grid[0]} programs sum 300 columns")
#> 5 programs sum 300 columns
# --8<-- [end:column_sum]
