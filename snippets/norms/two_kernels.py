"""Backward of layer norm, third step: dx by rows, then dweight and dbias by columns, in a kernel that reads all again."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:kernel]
@triton.jit
def column_step_kernel(
    x_ptr, dy_ptr, mean_ptr, rstd_ptr, dweight_ptr, dbias_ptr,
    n_rows, n_columns, n_part, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns BLOCK columns of n_part rows.
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    part = tl.program_id(1).to(tl.int64)
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    dbias = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, n_part, ROWS):
        rows = part * n_part + start + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
        mask = (rows < n_rows) & (columns < n_columns)  # [ROWS, BLOCK]
        offsets = rows * n_columns + columns  # [ROWS, BLOCK]
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + rows, mask=rows < n_rows, other=0.0)
        rstd = tl.load(rstd_ptr + rows, mask=rows < n_rows, other=0.0)
        dweight += dy * (x - mean) * rstd
        dbias += dy
    out = part * n_columns + columns  # [1, BLOCK]
    mask = columns < n_columns  # [1, BLOCK]
    tl.store(dweight_ptr + out, tl.sum(dweight, axis=0, keep_dims=True), mask=mask)
    tl.store(dbias_ptr + out, tl.sum(dbias, axis=0, keep_dims=True), mask=mask)
# --8<-- [end:kernel]


device = "cuda" if torch.cuda.is_available() else "cpu"
x, dy = torch.randn(2, 20, 300, device=device)
mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + 1e-5)
partials = torch.empty(2, 3, 300, device=device)  # three parts of eight rows
arguments = (x, dy, mean, rstd, *partials, 20, 300, 8)
column_step_kernel[(5, 3)](*arguments, ROWS=4, BLOCK=64)
dweight, dbias = partials.sum(1)
normal = (x - mean[:, None]) * rstd[:, None]
torch.testing.assert_close(dweight, (dy * normal).sum(0), rtol=1e-4, atol=1e-4)
torch.testing.assert_close(dbias, dy.sum(0), rtol=1e-4, atol=1e-4)
print("a second kernel for the columns: right")
#> a second kernel for the columns: right
