"""Two comparisons joined by & without parentheses: one chain, and no two conditions."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def inside_kernel(inside_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    mask = rows < M & columns < N  # the mistake
    tl.store(inside_ptr + rows * BLOCK + columns, mask)


inside = torch.zeros(8, 8, dtype=torch.int32, device=device)
said = error_of(lambda: inside_kernel[(1,)](inside, 5, 6, BLOCK=8))
# --8<-- [end:wrong]
print(said)
print(inside.sum().item(), "lanes of 30")


# --8<-- [start:right]
@triton.jit
def inside_kernel(inside_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    mask = (rows < M) & (columns < N)
    tl.store(inside_ptr + rows * BLOCK + columns, mask)


inside_kernel[(1,)](inside, 5, 6, BLOCK=8)
print(inside.sum().item() == 5 * 6)
#> True
# --8<-- [end:right]
