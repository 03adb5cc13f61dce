"""Sums of rows with block pointers, which Triton 3.9 no longer has."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:before]
@triton.jit
def block_pointer_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    block = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (row, 0), (BLOCK_M, BLOCK_N), (1, 0))
    total = tl.zeros([BLOCK_M], tl.float32)
    for _ in range(0, N, BLOCK_N):
        x = tl.load(block, boundary_check=(0, 1), padding_option="zero")
        total += tl.sum(x, axis=1)
        block = tl.advance(block, (0, BLOCK_N))
    rows = row + tl.arange(0, BLOCK_M)
    tl.store(y_ptr + rows, total, mask=rows < M)


x = torch.rand(30, 100, device=device)
y = torch.zeros(30, device=device)
said = error_of(lambda: block_pointer_sums_kernel[(2,)](x, y, 30, 100, BLOCK_M=16, BLOCK_N=32))
# --8<-- [end:before]
print("right" if torch.allclose(y, x.sum(1)) else "no sums", said, sep="\n")
