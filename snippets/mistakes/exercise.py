"""The exercise: a kernel with four mistakes, one of them hidden behind another."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:exercise]
@triton.jit
def row_max_broken_kernel(
    x_ptr, out_ptr, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    mask = cols[None, :] < N
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask)
    tl.store(out_ptr + rows, tl.max(x, axis=1))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = -1 - torch.rand(10, 200, device=device)[:, :100]  # below -1
out = torch.full((10,), float("nan"), device=device)
row_max_broken_kernel[(10 // 4,)](x, out, 100, BLOCK_M=4, BLOCK_N=128)
print(out.tolist())
#> [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, nan, nan]
# --8<-- [end:exercise]
assert not torch.equal(out, x.amax(1)), "the mistakes this program shows did not happen"
