"""A descriptor of a transposed matrix, whose columns are not side by side."""
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
def copy_kernel(x_ptr, y_ptr, x_row, x_column, M: tl.constexpr, N: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [x_row, x_column], [M, N])  # the mistake
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [M, N])
    y_desc.store([0, 0], x_desc.load([0, 0]))


x = torch.rand(64, 32, device=device).T
y = torch.empty(32, 64, device=device)
said = error_of(lambda: copy_kernel[(1,)](x, y, x.stride(0), x.stride(1), M=32, N=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_constexpr]
@triton.jit
def copy_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [1, M], [M, N])  # the mistake
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [M, N])
    y_desc.store([0, 0], x_desc.load([0, 0]))


said = error_of(lambda: copy_kernel[(1,)](x, y, M=32, N=64))
# --8<-- [end:wrong_constexpr]
print(said)


# --8<-- [start:right]
@triton.jit
def copy_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, [N, M], [M, 1], [N, M])  # as it lies in memory
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [M, N])
    y_desc.store([0, 0], x_desc.load([0, 0]).T)


# On a GPU the kernel writes its descriptors into memory that this function provides.
triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=device))
copy_kernel[(1,)](x, y, M=32, N=64)
print(torch.equal(y, x))
#> True
# --8<-- [end:right]
