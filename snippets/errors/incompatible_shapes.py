"""A tile minus one number for each of its rows, without a dimension for the columns."""
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
def center_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x - tl.max(x, axis=1))  # the mistake


x = torch.rand(32, 64, device=device)
y = torch.empty_like(x)
said = error_of(lambda: center_kernel[(1,)](x, y, M=32, N=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_square]
square = torch.rand(32, 32, device=device)
out = torch.empty_like(square)
said = error_of(lambda: center_kernel[(1,)](square, out, M=32, N=32))
print(torch.equal(out, square - square.amax(dim=1, keepdim=True)))
#> False
# --8<-- [end:wrong_square]
print(said)


# --8<-- [start:right]
@triton.jit
def center_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x - tl.max(x, axis=1)[:, None])


center_kernel[(1,)](x, y, M=32, N=64)
print(torch.equal(y, x - x.amax(dim=1, keepdim=True)))
#> True
# --8<-- [end:right]
