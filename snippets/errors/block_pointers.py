"""A kernel with a block pointer, and the same kernel with a descriptor."""
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
def row_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    x_block = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (row, 0), (BLOCK_M, BLOCK_N), (1, 0))  # the mistake
    x = tl.load(x_block, boundary_check=(0, 1), padding_option="zero")
    rows = row + tl.arange(0, BLOCK_M)
    tl.store(y_ptr + rows, tl.sum(x, axis=1), mask=rows < M)


x = torch.rand(30, 60, device=device)
y = torch.empty(30, device=device)
said = error_of(lambda: row_sums_kernel[(1,)](x, y, 30, 60, BLOCK_M=32, BLOCK_N=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def row_sums_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    x = x_desc.load([row, 0])  # what lies outside is 0
    rows = row + tl.arange(0, BLOCK_M)
    tl.store(y_ptr + rows, tl.sum(x, axis=1), mask=rows < M)


# On a GPU the kernel writes its descriptors into memory that this function provides.
triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=device))
y = torch.empty(30, device=device)
row_sums_kernel[(1,)](x, y, 30, 60, BLOCK_M=32, BLOCK_N=64)
print(torch.allclose(y, x.sum(1)))
#> True
# --8<-- [end:right]
