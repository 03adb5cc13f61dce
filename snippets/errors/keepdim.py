"""PyTorch's name for a dimension that a sum keeps."""
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
def shares_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    total = tl.sum(x, axis=1, keepdim=True)  # the mistake
    tl.store(y_ptr + offsets, x / total)


x = torch.rand(16, 64, device=device)
y = torch.empty_like(x)
said = error_of(lambda: shares_kernel[(1,)](x, y, M=16, N=64))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def shares_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offsets)
    total = tl.sum(x, axis=1, keep_dims=True)
    tl.store(y_ptr + offsets, x / total)


shares_kernel[(1,)](x, y, M=16, N=64)
print(torch.allclose(y, x / x.sum(dim=1, keepdim=True)))
#> True
# --8<-- [end:right]
