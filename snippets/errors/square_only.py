"""Rows that are as far apart as the matrix has rows: right for a square matrix alone."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def row_sums_kernel(x_ptr, y_ptr, ROW: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * ROW + tl.arange(0, N)[None, :]
    tl.store(y_ptr + tl.arange(0, M), tl.sum(tl.load(x_ptr + offsets), axis=1))


for M, N in ((8, 8), (4, 8)):
    x = torch.arange(float(M * N), device=device).view(M, N)
    y = torch.full((M,), float("nan"), device=device)
    row_sums_kernel[(1,)](x, y, M, M, N)  # the mistake
    print(f"{M} by {N}: {[bool(same) for same in y == x.sum(dim=1)]}")
    #> 8 by 8: [True, True, True, True, True, True, True, True]
    #> 4 by 8: [True, False, False, False]
# --8<-- [end:wrong]

# --8<-- [start:right]
row_sums_kernel[(1,)](x, y, x.stride(0), 4, 8)
print(torch.equal(y, x.sum(dim=1)))
#> True
# --8<-- [end:right]
