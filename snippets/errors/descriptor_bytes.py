"""A descriptor whose tiles are eight bytes wide."""
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
def double_kernel(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])  # the mistake
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    column = tl.program_id(0) * BLOCK_N
    y_desc.store([0, column], 2 * x_desc.load([0, column]))


x = torch.rand(64, 16, dtype=torch.float16, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(4,)](x, y, 64, 16, BLOCK_M=64, BLOCK_N=4))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
# On a GPU the kernel writes its descriptors into memory that this function provides.
triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=device))
double_kernel[(2,)](x, y, 64, 16, BLOCK_M=64, BLOCK_N=8)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
