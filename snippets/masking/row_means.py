"""The exercise's solution: the mean of every row, several rows a program."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:row_means]
@triton.jit
def row_means_kernel(
    x_ptr, out_ptr, M, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows, tl.sum(x, axis=1) / N, mask=rows < M)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(10, 100, device=device)
means = torch.full((10,), float("nan"), device=device)
grid = (triton.cdiv(10, 4),)
row_means_kernel[grid](x, means, 10, 100, BLOCK_M=4, BLOCK_N=128)
torch.testing.assert_close(means, x.mean(dim=1))
print("the means agree with PyTorch")
#> the means agree with PyTorch
# --8<-- [end:row_means]
