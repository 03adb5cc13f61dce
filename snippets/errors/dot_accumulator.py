"""A matrix product that is added to a float16 block."""
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
def product_kernel(a_ptr, b_ptr, c_ptr, K, BLOCK_K: tl.constexpr):
    lines = tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float16)  # the mistake
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + lines[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * 16 + lines[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + lines[:, None] * 16 + lines[None, :], total)


a, b = torch.rand(16, 64, device=device).half(), torch.rand(64, 16, device=device).half()
c = torch.empty(16, 16, dtype=torch.float16, device=device)
said = error_of(lambda: product_kernel[(1,)](a, b, c, 64, BLOCK_K=32))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, K, BLOCK_K: tl.constexpr):
    lines = tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + lines[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * 16 + lines[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + lines[:, None] * 16 + lines[None, :], total.to(tl.float16))


product_kernel[(1,)](a, b, c, 64, BLOCK_K=32)
print(torch.allclose(c.float(), a.float() @ b.float(), rtol=1e-3))
#> True
# --8<-- [end:right]
