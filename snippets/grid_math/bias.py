"""The exercise's solution: add a bias to every row of a matrix, tile by tile."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:bias]
@triton.jit
def bias_tile_kernel(
    x_ptr, bias_ptr, out_ptr, M, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    offsets = rows * N + columns
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + offsets, mask=mask)  # [BLOCK_M, BLOCK_N]
    bias = tl.load(bias_ptr + columns, mask=columns < N)  # [1, BLOCK_N]
    tl.store(out_ptr + offsets, x + bias, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(50, 30, device=device)
bias = torch.randn(30, device=device)
out = torch.full_like(x, float("nan"))
grid = (triton.cdiv(50, 16), triton.cdiv(30, 16))
bias_tile_kernel[grid](x, bias, out, 50, 30, BLOCK_M=16, BLOCK_N=16)
print("grid:", grid, "right:", torch.equal(out, x + bias))
#> grid: (4, 2) right: True
# --8<-- [end:bias]
