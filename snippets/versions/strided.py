"""The same sums with pointers, strides and a mask, on every Triton."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:after]
@triton.jit
def strided_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_M], tl.float32)
    for start in range(0, N, BLOCK_N):
        inside = (rows[:, None] < M) & (start + columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * N + start + columns[None, :], mask=inside, other=0)
        total += tl.sum(x, axis=1)
    tl.store(y_ptr + rows, total, mask=rows < M)


x = torch.rand(30, 100, device=device)
y = torch.zeros(30, device=device)
strided_sums_kernel[(2,)](x, y, 30, 100, BLOCK_M=16, BLOCK_N=32)
print("right" if torch.allclose(y, x.sum(1)) else "wrong")
#> right
# --8<-- [end:after]
