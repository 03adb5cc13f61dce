"""A matrix product whose inner side is shorter than the tensor cores take."""
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
def product_kernel(a_ptr, b_ptr, c_ptr, K: tl.constexpr):
    lines = tl.arange(0, 16)
    inner = tl.arange(0, K)
    a = tl.load(a_ptr + lines[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * 16 + lines[None, :])
    tl.store(c_ptr + lines[:, None] * 16 + lines[None, :], tl.dot(a, b))  # the mistake


a, b = torch.rand(16, 8, device=device).half(), torch.rand(8, 16, device=device).half()
c = torch.empty(16, 16, device=device)
said = error_of(lambda: product_kernel[(1,)](a, b, c, K=8))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_single]
said = error_of(lambda: product_kernel[(1,)](a.float(), b.float(), c, K=8))
# --8<-- [end:wrong_single]
print(said)


# --8<-- [start:right]
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, K, BLOCK_K: tl.constexpr):
    lines = tl.arange(0, 16)
    inner = tl.arange(0, BLOCK_K)
    a = tl.load(a_ptr + lines[:, None] * K + inner[None, :], mask=inner[None, :] < K, other=0.0)
    b = tl.load(b_ptr + inner[:, None] * 16 + lines[None, :], mask=inner[:, None] < K, other=0.0)
    tl.store(c_ptr + lines[:, None] * 16 + lines[None, :], tl.dot(a, b))


product_kernel[(1,)](a, b, c, 8, BLOCK_K=16)
print(torch.allclose(c, a.float() @ b.float(), rtol=1e-4))
#> True
# --8<-- [end:right]
