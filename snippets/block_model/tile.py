"""Double a matrix, one tile a program."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:kernel]
import torch
import triton
import triton.language as tl


@triton.jit
def double_matrix_kernel(
    x_ptr, out_ptr, n_columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    # This program owns a tile of BLOCK_M rows and BLOCK_N columns.
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    offsets = rows[:, None] * n_columns + columns[None, :]  # [BLOCK_M, BLOCK_N]
    x = tl.load(x_ptr + offsets)  # [BLOCK_M, BLOCK_N]
    out = x * 2  # [BLOCK_M, BLOCK_N]
    tl.store(out_ptr + offsets, out)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(8, 16, device=device)
out = torch.full_like(x, float("nan"))
double_matrix_kernel[(2, 2)](x, out, 16, BLOCK_M=4, BLOCK_N=8)
print("every element doubled:", torch.equal(out, 2 * x))
#> every element doubled: True
# --8<-- [end:kernel]
